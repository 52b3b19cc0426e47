//! What was sent in a space and is not yet acknowledged or lost, and how loss is found: RFC 9002
//! section 6.1 and appendix A.
//!
//! # Differences from the source
//!
//! 1. An acknowledgement that comes after its packet was taken for lost tells nothing: what was in
//!    it is sent again. RFC 9002 leaves that open.

use crate::packet::{CryptoFrame, Packet, StreamFrame};
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

/// A frame of which it must be known what became of it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Frame {
    Stream(StreamFrame),
    Crypto(CryptoFrame),
    /// HANDSHAKE_DONE.
    Done,
    /// MAX_DATA.
    MaxData,
    /// MAX_STREAM_DATA of a stream.
    MaxStreamData(u32),
}

/// A packet that was sent. Its frames lie apart: most have one or none, and an acknowledgement
/// alone, of which a receiver sends many, may wait long for its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// When it was sent.
    pub at: Time,
    /// One more than the largest number of its ACK frame.
    above: Option<NonZeroU64>,
    /// The place of its first frame, and how many it has.
    place: u32,
    count: u8,
    /// Its bytes if it counts in flight: if it asks for an acknowledgement or has padding.
    pub in_flight: u16,
    /// Whether it asks for an acknowledgement.
    pub eliciting: bool,
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

    /// A packet of so many bytes.
    #[cfg(test)]
    pub(crate) fn full(at: Time, bytes: u32) -> Self {
        Self {
            at,
            above: None,
            place: 0,
            count: 0,
            in_flight: bytes as u16,
            eliciting: true,
            early: false,
            capable: false,
            fate: Fate::Outstanding,
        }
    }
}

/// How the connection stood when a packet was sent, and whether the application set the pace then.
pub(crate) type Stamped = (Stamp, bool);

/// What a log has of a packet beside it.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'a> {
    frames: &'a VecDeque<Frame>,
    first: usize,
    count: usize,
    /// Nothing if no algorithm looks.
    pub stamped: Option<&'a Stamped>,
}

impl<'a> Beside<'a> {
    pub(crate) fn frames(self) -> impl Iterator<Item = &'a Frame> {
        (self.first..self.first + self.count).filter_map(|at| self.frames.get(at))
    }
}

/// The packets of a space that were sent, from the first of which the fate is open.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct SentLog {
    /// Outstanding packets that ask for an acknowledgement, and when the last of them was sent.
    pub eliciting: u32,
    pub last_eliciting: Time,
    /// When the next packet is lost by time (`loss_time`); [`Time::MAX`] if none is.
    pub loss_at: Time,
    /// The number of the next packet.
    pub next: u64,
    pub largest_acked: Option<u64>,
    packets: VecDeque<Sent>,
    beside: Queues,
}

/// What lies beside the packets of a log, in their order.
#[derive(Clone, Debug, Default)]
struct Queues {
    frames: VecDeque<Frame>,
    /// The place of the first of these; it wraps.
    first_place: u32,
    /// One for each packet, for algorithms that look at rates; none for others.
    stamps: VecDeque<Stamped>,
}

impl Queues {
    /// What there is of a packet, the `at`-th of the log.
    #[inline]
    fn of(&self, at: usize, sent: &Sent) -> Beside<'_> {
        Beside {
            frames: &self.frames,
            first: sent.place.wrapping_sub(self.first_place) as usize,
            count: usize::from(sent.count),
            stamped: self.stamps.get(at),
        }
    }

    /// The first packet of the log is forgotten.
    fn forget(&mut self, sent: &Sent) {
        for _ in 0..sent.count {
            self.frames.pop_front();
        }
        self.first_place = self.first_place.wrapping_add(u32::from(sent.count));
        self.stamps.pop_front();
    }
}

/// The frames of a packet that few packets have.
#[cold]
fn push_control(frames: &mut VecDeque<Frame>, packet: &Packet) {
    let rare = packet.rare();
    frames.extend(rare.and_then(|rare| rare.crypto).map(Frame::Crypto));
    frames.extend(packet.done.then_some(Frame::Done));
    frames.extend(rare.and_then(|rare| rare.max_data).map(|_| Frame::MaxData));
    let grant = rare.and_then(|rare| rare.max_stream_data);
    frames.extend(grant.map(|(id, _)| Frame::MaxStreamData(id)));
}

impl SentLog {
    pub(crate) fn new() -> Self {
        Self { loss_at: Time::MAX, ..Self::default() }
    }

    /// A packet was sent at `at`; its number is the next. `in_flight` are its bytes if it counts
    /// there.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        packet: &Packet,
        at: Time,
        capable: bool,
        eliciting: bool,
        in_flight: u32,
    ) {
        debug_assert_eq!(packet.number, self.next);
        let Queues { frames, first_place, .. } = &mut self.beside;
        let before = frames.len() as u32;
        for &frame in packet.streams() {
            frames.push_back(Frame::Stream(frame));
        }
        if packet.done || packet.rare().is_some() {
            push_control(frames, packet);
        }
        let sent = Sent {
            at,
            above: packet.ack.as_ref().and_then(|ack| NonZeroU64::new(ack.largest + 1)),
            place: first_place.wrapping_add(before),
            count: (frames.len() as u32 - before) as u8,
            in_flight: in_flight as u16,
            eliciting,
            early: packet.early,
            capable,
            fate: Fate::Outstanding,
        };
        self.add(sent);
    }

    /// The same of a packet with one STREAM frame and nothing else.
    #[inline(always)]
    pub(crate) fn push_full(&mut self, frame: StreamFrame, at: Time, capable: bool, bytes: u32) {
        let Queues { frames, first_place, .. } = &mut self.beside;
        let place = first_place.wrapping_add(frames.len() as u32);
        frames.push_back(Frame::Stream(frame));
        self.add(Sent {
            at,
            above: None,
            place,
            count: 1,
            in_flight: bytes as u16,
            eliciting: true,
            early: false,
            capable,
            fate: Fate::Outstanding,
        });
    }

    /// The same of a packet with nothing but an ACK frame, of which this is the largest number.
    #[inline(always)]
    pub(crate) fn push_ack(&mut self, largest: u64, at: Time, capable: bool) {
        let Queues { frames, first_place, .. } = &self.beside;
        self.add(Sent {
            at,
            above: NonZeroU64::new(largest + 1),
            place: first_place.wrapping_add(frames.len() as u32),
            count: 0,
            in_flight: 0,
            eliciting: false,
            early: false,
            capable,
            fate: Fate::Outstanding,
        });
    }

    #[inline(always)]
    fn add(&mut self, sent: Sent) {
        self.next += 1;
        if sent.eliciting {
            self.eliciting += 1;
            self.last_eliciting = sent.at;
        }
        self.packets.push_back(sent);
    }

    /// How the connection stood when the packet was sent that was pushed last: for all, or for
    /// none.
    pub(crate) fn push_stamp(&mut self, stamped: Stamped) {
        self.beside.stamps.push_back(stamped);
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
        mut tell: impl FnMut(u64, &Sent, Beside<'_>),
    ) {
        let base = self.first();
        let from = start.saturating_sub(base) as usize;
        let to = (end.saturating_sub(base) as usize).min(self.packets.len());
        for at in from..to {
            // Mostly one or two.
            let (number, sent) = (base + at as u64, &mut self.packets[at]);
            if sent.fate == Fate::Outstanding {
                sent.fate = Fate::Acked;
                self.eliciting -= u32::from(sent.eliciting);
                tell(number, sent, self.beside.of(at, sent));
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
        mut tell: impl FnMut(u64, &Sent, Beside<'_>, bool),
    ) {
        self.loss_at = Time::MAX;
        let Some(largest) = self.largest_acked else { return };
        self.forget();
        let first = self.first();
        if first > largest {
            return;
        }
        let mut run = false;
        for (at, sent) in self.packets.iter_mut().take((largest + 1 - first) as usize).enumerate() {
            match sent.fate {
                Fate::Acked => run = false,
                Fate::Lost => {}
                Fate::Outstanding => {
                    let (number, lost_at) = (first + at as u64, sent.at + delay);
                    if lost_at <= now || largest >= number + PACKET_THRESHOLD {
                        sent.fate = Fate::Lost;
                        self.eliciting -= u32::from(sent.eliciting);
                        tell(number, sent, self.beside.of(at, sent), run);
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
            self.beside.forget(sent);
            self.packets.pop_front();
        }
    }

    /// The frames of the first packet that is outstanding and asks for an acknowledgement.
    pub(crate) fn oldest(&self) -> Option<Beside<'_>> {
        let asks = |sent: &Sent| sent.fate == Fate::Outstanding && sent.eliciting;
        let mut packets = self.packets.iter().enumerate();
        packets.find(|(_, sent)| asks(sent)).map(|(at, sent)| self.beside.of(at, sent))
    }

    /// The space is no more (RFC 9002 section 6.4): nothing of it is outstanding. Returns the
    /// bytes that were in flight.
    pub(crate) fn discard(&mut self) -> u32 {
        let in_flight = self.in_flight();
        self.packets.clear();
        self.beside.frames.clear();
        self.beside.stamps.clear();
        (self.eliciting, self.loss_at) = (0, Time::MAX);
        in_flight
    }

    /// Bytes in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        let outstanding = self.packets.iter().filter(|sent| sent.fate == Fate::Outstanding);
        outstanding.map(|sent| u32::from(sent.in_flight)).sum()
    }
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
            let mut packet = Packet::empty(Space::Data);
            (packet.number, packet.ping) = (number, true);
            log.push(&packet, ms(number), false, true, packet.bytes());
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
        assert_eq!(log.eliciting, 5);
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
        assert_eq!(log.in_flight(), 2 * 27);
        assert_eq!(log.discard(), 2 * 27);
    }
}
