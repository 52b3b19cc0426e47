//! What was sent in a space and is not yet acknowledged or lost, and how loss is found: RFC 9002
//! section 6.1 and appendix A.

use crate::packet::{CryptoFrame, MOST_STREAMS, Packet, StreamFrame};
use alloc::collections::VecDeque;
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

/// A packet that was sent, and the frames of which it must be known what became of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub number: u64,
    /// Whether it was a 0-RTT packet.
    pub early: bool,
    /// How the connection stood then, and when that was.
    pub stamp: Stamp,
    pub bytes: u16,
    pub fate: Fate,
    pub eliciting: bool,
    /// Whether it counts in flight: it asks for an acknowledgement or has padding.
    pub in_flight: bool,
    /// Whether it was ECN-capable.
    pub capable: bool,
    /// Whether the application set the pace then.
    pub app_limited: bool,
    pub done: bool,
    pub max_data: bool,
    pub count: u8,
    /// The stream of a MAX_STREAM_DATA.
    pub max_stream_data: Option<u32>,
    /// The largest number of an ACK frame.
    pub acknowledges: Option<u64>,
    pub crypto: Option<CryptoFrame>,
    streams: [StreamFrame; MOST_STREAMS],
}

impl Sent {
    /// A packet of so many bytes that is sent now.
    pub(crate) fn new(
        packet: &Packet,
        bytes: u32,
        stamp: Stamp,
        capable: bool,
        app_limited: bool,
    ) -> Self {
        Self {
            number: packet.number,
            early: packet.early,
            stamp,
            bytes: bytes as u16,
            fate: Fate::Outstanding,
            eliciting: packet.is_eliciting(),
            in_flight: packet.is_eliciting() || packet.padding > 0,
            capable,
            app_limited,
            done: packet.done,
            max_data: packet.max_data.is_some(),
            count: packet.count,
            max_stream_data: packet.max_stream_data.map(|(id, _)| id),
            acknowledges: packet.ack.map(|ack| ack.largest),
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

    /// A packet was sent; its number is the next.
    pub(crate) fn push(&mut self, sent: Sent) {
        debug_assert_eq!(sent.number, self.next);
        self.next += 1;
        if sent.eliciting {
            self.eliciting += 1;
            self.last_eliciting = sent.stamp.sent;
        }
        self.packets.push_back(sent);
    }

    /// Acknowledges what is outstanding in `start..end`, in order, and tells of each.
    pub(crate) fn acknowledge(&mut self, start: u64, end: u64, mut tell: impl FnMut(&Sent)) {
        let Some(base) = self.packets.front().map(|sent| sent.number) else { return };
        let from = start.saturating_sub(base) as usize;
        let to = (end.saturating_sub(base) as usize).min(self.packets.len());
        if from >= to {
            return;
        }
        for sent in self.packets.range_mut(from..to) {
            if sent.fate == Fate::Outstanding {
                sent.fate = Fate::Acked;
                self.eliciting -= u32::from(sent.eliciting);
                tell(sent);
            }
        }
    }

    /// `DetectAndRemoveLostPackets` (appendix A.10): tells of each packet that is lost, in order,
    /// and whether the one before it was lost too, so that they are of one run. Sets the time at
    /// which the next will be.
    pub(crate) fn detect(&mut self, now: Time, delay: Time, mut tell: impl FnMut(&Sent, bool)) {
        self.loss_at = Time::MAX;
        let Some(largest) = self.largest_acked else { return };
        let mut run = false;
        for sent in &mut self.packets {
            if sent.number > largest {
                break;
            }
            match sent.fate {
                Fate::Acked => run = false,
                Fate::Lost => {}
                Fate::Outstanding => {
                    let lost_at = sent.stamp.sent + delay;
                    if lost_at <= now || largest >= sent.number + PACKET_THRESHOLD {
                        sent.fate = Fate::Lost;
                        self.eliciting -= u32::from(sent.eliciting);
                        tell(sent, run);
                        run = true;
                    } else {
                        run = false;
                        self.loss_at = self.loss_at.min(lost_at);
                    }
                }
            }
        }
        while self.packets.front().is_some_and(|sent| sent.fate != Fate::Outstanding) {
            self.packets.pop_front();
        }
    }

    /// The first packet that is outstanding and asks for an acknowledgement.
    pub(crate) fn oldest(&self) -> Option<Sent> {
        let outstanding = |sent: &&Sent| sent.eliciting && sent.fate == Fate::Outstanding;
        self.packets.iter().find(outstanding).copied()
    }

    /// The space is no more (RFC 9002 section 6.4): nothing of it is outstanding. Returns the
    /// bytes that were in flight.
    pub(crate) fn discard(&mut self) -> u32 {
        let in_flight = self.in_flight();
        self.packets.clear();
        (self.eliciting, self.loss_at) = (0, Time::MAX);
        in_flight
    }

    /// Bytes in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        let counts = |sent: &&Sent| sent.in_flight && sent.fate == Fate::Outstanding;
        self.packets.iter().filter(counts).map(|sent| u32::from(sent.bytes)).sum()
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
            let packet = Packet { number, ping: true, ..Packet::empty(Space::Data) };
            let stamp = Stamp { sent: ms(number), ..Stamp::default() };
            log.push(Sent::new(&packet, packet.bytes(), stamp, false, false));
        }
        log
    }

    fn acknowledge(log: &mut SentLog, start: u64, end: u64) -> Vec<u64> {
        let mut told = Vec::new();
        log.acknowledge(start, end, |sent| told.push(sent.number));
        log.largest_acked = log.largest_acked.max(Some(end - 1));
        told
    }

    fn lost(log: &mut SentLog, now: u64, delay: u64) -> Vec<(u64, bool)> {
        let mut told = Vec::new();
        log.detect(ms(now), ms(delay), |sent, run| told.push((sent.number, run)));
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
        assert_eq!((log.eliciting, log.oldest().unwrap().number), (5, 3));
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
