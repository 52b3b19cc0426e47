//! AccECN, RFC 9768: what a sender reads of the peer's counters. The receiver's side, and what
//! differs from the source, is in `receiver/accecn.rs`; the tests of the path in `accecn_path.rs`.

use super::accecn_path::Path;
use crate::ecn::{FIRST_COUNT, WRAP, number};
use crate::segment::{SackBlock, Segment};

/// What the peer has reported: marked packets modulo 8, bytes modulo 2²⁴.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    /// Marked packets (`s.cep`).
    packets: u8,
    /// Marked bytes (`s.ceb`).
    bytes: u32,
    /// The same since the connection began.
    total: u64,
    /// What the path was seen to do to all that.
    pub path: Path,
}

impl Default for Reported {
    fn default() -> Self {
        Self { packets: FIRST_COUNT, bytes: 0, total: 0, path: Path::default() }
    }
}

impl Reported {
    /// Marked bytes since the connection began.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// The handshake is acknowledged; the SYN-ACK came `marked` or not.
    pub(super) fn begin(&mut self, marked: bool) {
        self.packets = FIRST_COUNT + u8::from(marked);
    }

    /// An acknowledgement brings the peer's counters and delivers `bytes` in segments of `mss`.
    /// Returns how many of them were marked.
    pub(super) fn read(
        &mut self,
        segment: &Segment,
        option: Option<SackBlock>,
        bytes: u32,
        mss: u32,
    ) -> u32 {
        if self.path.counts_marks() {
            self.told(number(segment.flags), option, bytes, mss)
        } else {
            0
        }
    }

    fn told(&mut self, field: u8, option: Option<SackBlock>, bytes: u32, mss: u32) -> u32 {
        let least = u32::from(field.wrapping_sub(self.packets) & 7);
        self.packets = field;
        let marked = if let Some(SackBlock { end, .. }) = option {
            // Appendix A.1. Below zero where more was taken for marked than was, while no option
            // came.
            let more = end.wrapping_sub(self.bytes) % WRAP;
            self.bytes = end;
            if more >= WRAP / 2 {
                self.total = self.total.saturating_sub(u64::from(WRAP - more));
                return 0;
            }
            more
        } else {
            // Appendix A.2.1: if the counter may have gone round, the most that it may mean.
            let packets = bytes.div_ceil(mss);
            let most = if packets > 7 { packets - ((packets - least) & 7) } else { least };
            let more = most.saturating_mul(mss).min(bytes);
            self.bytes = (self.bytes + more) % WRAP;
            more
        };
        self.total += u64::from(marked);
        marked.min(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receiver::accecn::MarkCounters;
    use sojourn_base::{Ecn, Kind, Stream};

    const MSS: u32 = 1000;

    fn packet(marked: bool) -> Segment {
        let ecn = if marked { Ecn::Ce } else { Ecn::Ect0 };
        Segment { len: MSS as u16, ecn, ..Segment::EMPTY }
    }

    #[test]
    fn packet_counter_wraps() {
        let (mut receiver, mut sender) = (MarkCounters::default(), Reported::default());
        let mut told = 0;
        for n in 1..=50 {
            receiver.count(&packet(true), false);
            if n % 3 == 0 {
                told += sender.told(number(receiver.tell()), None, 4 * MSS, MSS);
            }
        }
        assert_eq!(told, 48 * MSS);
    }

    /// Appendix A.2.1: with ten segments acknowledged, a difference of 1 may mean 9.
    #[test]
    fn packet_counter_alone_is_read_at_its_worst() {
        let mut sender = Reported::default();
        assert_eq!(sender.told((FIRST_COUNT + 1) & 7, None, 10 * MSS, MSS), 9 * MSS);
        assert_eq!(sender.told((FIRST_COUNT + 1) & 7, None, 7 * MSS, MSS), 0);
    }

    #[test]
    fn option_counts_every_marked_byte_despite_lost_acks() {
        let mut coin = Stream::new(1, Kind::Test, 0, 0);
        let (mut receiver, mut sender) = (MarkCounters::default(), Reported::default());
        let (mut marked, mut told, mut waiting) = (0u64, 0u64, 0);
        // 40 MB: the counter of bytes goes round.
        for _ in 0..40_000 {
            let ce = coin.below(3) == 0;
            marked += u64::from(ce) * u64::from(MSS);
            receiver.count(&packet(ce), false);
            waiting += MSS;
            // One in 60 gets through.
            if coin.below(60) == 0 {
                let option = receiver.option();
                told += u64::from(sender.told(number(receiver.tell()), Some(option), waiting, MSS));
                waiting = 0;
            }
        }
        let option = receiver.option();
        told += u64::from(sender.told(number(receiver.tell()), Some(option), waiting, MSS));
        assert!(marked > u64::from(WRAP / 2));
        assert_eq!((told, sender.total), (marked, marked));
    }

    #[test]
    fn option_corrects_earlier_guess() {
        let (mut receiver, mut sender) = (MarkCounters::default(), Reported::default());
        for n in 0..10 {
            receiver.count(&packet(n == 0), false);
        }
        assert_eq!(sender.told(number(receiver.tell()), None, 10 * MSS, MSS), 9 * MSS);
        for n in 0..10 {
            receiver.count(&packet(n < 9), false);
        }
        let option = Some(receiver.option());
        assert_eq!(sender.told(number(receiver.tell()), option, 10 * MSS, MSS), MSS);
    }
}
