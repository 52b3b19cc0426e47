//! What was sent in a space and is not yet acknowledged or lost, and how loss is found: RFC 9002
//! section 6.1 and appendix A.

use crate::packet::{CryptoFrame, MOST_STREAMS, Packet, StreamFrame};
use alloc::collections::VecDeque;
use core::num::NonZeroU64;
use sojourn_base::Time;
use sojourn_tcp::congestion::Stamp;

/// `kPacketThreshold` (RFC 9002 section 6.1.1).
pub const PACKET_THRESHOLD: u64 = 3;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Outstanding,
    Acked,
    Lost,
}

/// A packet that was sent. What is in flight has [`Content`] too; an acknowledgement alone may wait
/// long for its own, and a receiver sends many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// When it was sent.
    pub at: Time,
    /// One more than the largest number of its ACK frame.
    above: Option<NonZeroU64>,
    /// The place of its content.
    place: u32,
    /// Whether it counts in flight: it asks for an acknowledgement or has padding.
    in_flight: bool,
    /// Whether it was a 0-RTT packet.
    pub early: bool,
    /// Whether it was ECN-capable.
    pub capable: bool,
    fate: Fate,
}

impl Sent {
    /// The largest number of its ACK frame.
    pub(crate) fn acknowledges(&self) -> Option<u64> {
        self.above.map(|above| above.get() - 1)
    }
}

/// A packet in flight, and the frames of which it must be known what became of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content {
    /// How the connection stood when it was sent, and when that was.
    pub stamp: Stamp,
    pub bytes: u16,
    pub eliciting: bool,
    /// Whether the application set the pace then.
    pub app_limited: bool,
    pub done: bool,
    pub max_data: bool,
    count: u8,
    /// The stream of a MAX_STREAM_DATA.
    pub max_stream_data: Option<u32>,
    pub crypto: Option<CryptoFrame>,
    streams: [StreamFrame; MOST_STREAMS],
}

impl Content {
    /// That of a packet of so many bytes.
    #[inline]
    pub(crate) fn new(
        packet: &Packet,
        bytes: u32,
        eliciting: bool,
        stamp: Stamp,
        app_limited: bool,
    ) -> Self {
        Self {
            stamp,
            bytes: bytes as u16,
            eliciting,
            app_limited,
            done: packet.done,
            max_data: packet.max_data.is_some(),
            count: packet.count,
            max_stream_data: packet.max_stream_data.map(|(id, _)| id),
            crypto: packet.crypto,
            streams: packet.streams,
        }
    }

    pub(crate) fn streams(&self) -> &[StreamFrame] {
        &self.streams[..usize::from(self.count)]
    }
}

/// The packets of a space that were sent, from the first of which the fate is open.
#[derive(Clone, Debug, Default)]
pub(crate) struct SentLog {
    packets: VecDeque<Sent>,
    /// What those of them have that are in flight, in their order.
    contents: VecDeque<Content>,
    /// The place of the first of these; it wraps.
    first_place: u32,
    /// The number of the next packet.
    pub next: u64,
    pub largest_acked: Option<u64>,
    /// Outstanding packets that ask for an acknowledgement, and when the last of them was sent.
    pub eliciting: u32,
    pub last_eliciting: Time,
    /// When the next packet is lost by time (`loss_time`); [`Time::MAX`] if none is.
    pub loss_at: Time,
}

impl SentLog {
    pub(crate) fn new() -> Self {
        Self { loss_at: Time::MAX, ..Self::default() }
    }

    /// A packet was sent at `at`; its number is the next. If it is in flight, its
    /// [content](Self::push_content) follows.
    #[inline]
    pub(crate) fn push(&mut self, packet: &Packet, at: Time, capable: bool, in_flight: bool) {
        debug_assert_eq!(packet.number, self.next);
        self.next += 1;
        self.packets.push_back(Sent {
            at,
            above: packet.ack.as_ref().and_then(|ack| NonZeroU64::new(ack.largest + 1)),
            place: self.first_place.wrapping_add(self.contents.len() as u32),
            in_flight,
            early: packet.early,
            capable,
            fate: Fate::Outstanding,
        });
    }

    /// What the packet that was pushed last has in flight.
    #[inline]
    pub(crate) fn push_content(&mut self, content: Content) {
        if content.eliciting {
            self.eliciting += 1;
            self.last_eliciting = content.stamp.sent;
        }
        self.contents.push_back(content);
    }

    /// The lowest number of which the fate is open, or the next.
    pub(crate) fn first(&self) -> u64 {
        self.next - self.packets.len() as u64
    }

    /// Acknowledges what is outstanding in `start..end`, in order, and tells of each.
    pub(crate) fn acknowledge(
        &mut self,
        start: u64,
        end: u64,
        mut tell: impl FnMut(u64, &Sent, Option<&Content>),
    ) {
        let base = self.first();
        let from = start.saturating_sub(base) as usize;
        let to = (end.saturating_sub(base) as usize).min(self.packets.len());
        if from >= to {
            return;
        }
        let (contents, first_place) = (&self.contents, self.first_place);
        for at in from..to {
            // Mostly one or two.
            let (number, sent) = (base + at as u64, &mut self.packets[at]);
            if sent.fate == Fate::Outstanding {
                sent.fate = Fate::Acked;
                let content = content(contents, first_place, sent);
                self.eliciting -= content.map_or(0, |content| u32::from(content.eliciting));
                tell(number, sent, content);
            }
        }
    }

    /// `DetectAndRemoveLostPackets` (appendix A.10): tells of each packet that is lost, in order,
    /// and whether the one before it was lost too, so that they are of one run. Sets the time at
    /// which the next will be.
    pub(crate) fn detect(
        &mut self,
        now: Time,
        delay: Time,
        mut tell: impl FnMut(u64, &Sent, Option<&Content>, bool),
    ) {
        self.loss_at = Time::MAX;
        let Some(largest) = self.largest_acked else { return };
        self.forget();
        let first = self.first();
        if first > largest {
            return;
        }
        let mut run = false;
        let (contents, first_place) = (&self.contents, self.first_place);
        for (number, sent) in (first..largest + 1).zip(&mut self.packets) {
            match sent.fate {
                Fate::Acked => run = false,
                Fate::Lost => {}
                Fate::Outstanding => {
                    let lost_at = sent.at + delay;
                    if lost_at <= now || largest >= number + PACKET_THRESHOLD {
                        sent.fate = Fate::Lost;
                        let content = content(contents, first_place, sent);
                        self.eliciting -= content.map_or(0, |content| u32::from(content.eliciting));
                        tell(number, sent, content, run);
                        run = true;
                    } else {
                        run = false;
                        self.loss_at = self.loss_at.min(lost_at);
                    }
                }
            }
        }
        self.forget();
    }

    /// Forgets packets up to the first of which the fate is open.
    fn forget(&mut self) {
        while let Some(sent) = self.packets.front().filter(|sent| sent.fate != Fate::Outstanding) {
            if sent.in_flight {
                self.contents.pop_front();
                self.first_place = self.first_place.wrapping_add(1);
            }
            self.packets.pop_front();
        }
    }

    /// What is outstanding and in flight.
    fn outstanding(&self) -> impl Iterator<Item = &Content> {
        let outstanding = self.packets.iter().filter(|sent| sent.fate == Fate::Outstanding);
        outstanding.filter_map(|sent| content(&self.contents, self.first_place, sent))
    }

    /// The first packet that is outstanding and asks for an acknowledgement.
    pub(crate) fn oldest(&self) -> Option<Content> {
        self.outstanding().find(|content| content.eliciting).copied()
    }

    /// The space is no more (RFC 9002 section 6.4): nothing of it is outstanding. Returns the
    /// bytes that were in flight.
    pub(crate) fn discard(&mut self) -> u32 {
        let in_flight = self.in_flight();
        self.packets.clear();
        self.contents.clear();
        (self.eliciting, self.loss_at) = (0, Time::MAX);
        in_flight
    }

    /// Bytes in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        self.outstanding().map(|content| u32::from(content.bytes)).sum()
    }
}

/// The content of a packet, if it is in flight.
fn content<'a>(
    contents: &'a VecDeque<Content>,
    first_place: u32,
    sent: &Sent,
) -> Option<&'a Content> {
    if sent.in_flight { contents.get(sent.place.wrapping_sub(first_place) as usize) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Space;
    use alloc::vec::Vec;

    fn ms(n: u64) -> Time {
        Time::from_millis(n)
    }

    /// Packets sent a millisecond apart.
    fn log(packets: u64) -> SentLog {
        let mut log = SentLog::new();
        for number in 0..packets {
            let packet = Packet { number, ping: true, ..Packet::empty(Space::Data) };
            let stamp = Stamp { sent: ms(number), ..Stamp::default() };
            log.push(&packet, ms(number), false, true);
            log.push_content(Content::new(&packet, packet.bytes(), true, stamp, false));
        }
        log
    }

    fn acknowledge(log: &mut SentLog, start: u64, end: u64) -> Vec<u64> {
        let mut told = Vec::new();
        log.acknowledge(start, end, |number, _, _| told.push(number));
        log.largest_acked = log.largest_acked.max(Some(end - 1));
        told
    }

    fn lost(log: &mut SentLog, now: u64, delay: u64) -> Vec<(u64, bool)> {
        let mut told = Vec::new();
        log.detect(ms(now), ms(delay), |number, _, _, run| told.push((number, run)));
        told
    }

    #[test]
    fn three_packets_later_is_lost_and_two_are_not() {
        let mut log = log(10);
        assert_eq!(acknowledge(&mut log, 4, 6), [4, 5]);
        // RFC 9002 section 6.1.1: 0, 1 and 2 are three or more before 5; 3 is not.
        assert_eq!(lost(&mut log, 100, 1000), [(0, false), (1, true), (2, true)]);
        // Appendix A.10: `loss_time`.
        assert_eq!(log.loss_at, ms(1003));
        assert_eq!((log.eliciting, log.oldest().unwrap().stamp.sent), (5, ms(3)));
    }

    #[test]
    fn time_finds_what_the_threshold_does_not() {
        let mut log = log(10);
        acknowledge(&mut log, 2, 3);
        assert_eq!(lost(&mut log, 112, 112), [(0, false)]);
        assert_eq!(log.loss_at, ms(113));
        assert_eq!(lost(&mut log, 113, 112), [(1, false)]);
        assert_eq!(log.loss_at, Time::MAX);
    }

    #[test]
    fn an_acknowledged_packet_ends_a_run_of_losses() {
        let mut log = log(20);
        acknowledge(&mut log, 3, 4);
        acknowledge(&mut log, 10, 11);
        let runs: Vec<_> = lost(&mut log, 0, 1000).iter().map(|told| told.1).collect();
        assert_eq!(runs, [false, true, true, false, true, true, true]);
    }

    #[test]
    fn acknowledging_twice_tells_once() {
        let mut log = log(5);
        assert_eq!(acknowledge(&mut log, 0, 2), [0, 1]);
        assert_eq!(acknowledge(&mut log, 0, 3), [2]);
        lost(&mut log, 0, 1000);
        assert!(acknowledge(&mut log, 0, 3).is_empty());
        assert_eq!(log.in_flight(), 2 * u32::from(log.oldest().unwrap().bytes));
        assert_eq!(log.discard(), 2 * 27);
    }
}
