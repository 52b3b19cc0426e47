//! Whether the path lets ECN through (RFC 9000 section 13.4.2 and appendix A.4).
//!
//! # Differences from the source
//!
//! 1. Counts are validated in the space of data alone; Initial and Handshake packets are not
//!    ECN-capable.
//! 2. A path that failed is not tested again.

use crate::packet::EcnCounts;
use sojourn_base::Ecn;

/// Packets that are sent ECN-capable before any of them is reported (appendix A.4).
const TESTED: u32 = 10;

/// What is known of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So many more packets test it.
    Testing(u32),
    /// The test is over, nothing is reported yet.
    Unknown,
    Capable,
    Failed,
}

/// The sender's side of ECN.
#[derive(Clone, Debug)]
pub(crate) struct EcnPath {
    state: State,
    /// What the peer has reported.
    counts: EcnCounts,
    /// Packets sent ECN-capable, and those of them that were lost.
    sent: u64,
    lost: u64,
}

impl EcnPath {
    pub(crate) fn new(wanted: bool) -> Self {
        let state = if wanted { State::Testing(TESTED) } else { State::Failed };
        Self { state, counts: EcnCounts::default(), sent: 0, lost: 0 }
    }

    /// The codepoint of the next packet, `ect` where the path is not known to fail.
    pub(crate) fn next(&mut self, ect: Ecn) -> Ecn {
        match &mut self.state {
            State::Testing(left) => {
                *left -= 1;
                if *left == 0 {
                    self.state = State::Unknown;
                }
            }
            State::Capable => {}
            State::Unknown | State::Failed => return Ecn::NotEct,
        }
        self.sent += 1;
        ect
    }

    /// A packet that was sent ECN-capable is lost. Where all are that tested the path, ECN is not
    /// used (section 13.4.2).
    pub(crate) fn lost(&mut self) {
        self.lost += 1;
        if self.state != State::Capable && self.lost == self.sent {
            self.state = State::Failed;
        }
    }

    /// Whether a report has confirmed the path.
    #[cfg(test)]
    pub(crate) fn is_capable(&self) -> bool {
        self.state == State::Capable
    }

    /// An ACK that raises the largest acknowledged has these counts; it newly acknowledges so many
    /// packets that were sent with `ect`. Returns how many more are marked (section 13.4.2.1).
    pub(crate) fn report(&mut self, ect: Ecn, newly: u64, counts: Option<EcnCounts>) -> u64 {
        if self.state == State::Failed {
            return 0;
        }
        let Some(now) = counts else {
            if newly > 0 {
                self.state = State::Failed; // the peer, or the path, takes the codepoint away
            }
            return 0;
        };
        let then = core::mem::replace(&mut self.counts, now);
        let marked = now.ce.saturating_sub(then.ce);
        let (own, own_then, other) = match ect {
            Ecn::Ect1 => (now.ect1, then.ect1, now.ect0),
            _ => (now.ect0, then.ect0, now.ect1),
        };
        let falls = now.ce < then.ce || own < own_then;
        let more = own.saturating_sub(own_then) + marked;
        // What was acknowledged must have been counted, and no more than was sent.
        if falls || more < newly || own + now.ce > self.sent || other > 0 {
            self.state = State::Failed;
            return 0;
        }
        if newly > 0 {
            self.state = State::Capable;
        }
        marked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(ect0: u64, ce: u64) -> Option<EcnCounts> {
        Some(EcnCounts { ect0, ce, ..EcnCounts::default() })
    }

    fn sent(n: usize) -> EcnPath {
        let mut path = EcnPath::new(true);
        (0..n).for_each(|_| _ = path.next(Ecn::Ect0));
        path
    }

    #[test]
    fn ten_packets_test_the_path() {
        let mut path = EcnPath::new(true);
        let capable = (0..20).filter(|_| path.next(Ecn::Ect0) == Ecn::Ect0).count();
        assert_eq!(capable, 10);
        assert_eq!(path.report(Ecn::Ect0, 2, counts(2, 0)), 0);
        assert_eq!(path.next(Ecn::Ect0), Ecn::Ect0);
    }

    #[test]
    fn marks_are_told_once() {
        let mut path = sent(8);
        assert_eq!(path.report(Ecn::Ect0, 4, counts(2, 2)), 2);
        assert_eq!(path.report(Ecn::Ect0, 2, counts(4, 2)), 0);
        assert!(path.is_capable());
    }

    #[test]
    fn paths_that_take_ecn_away_fail() {
        for reported in [None, counts(1, 0), counts(9, 0)] {
            let mut path = sent(8);
            assert_eq!(path.report(Ecn::Ect0, 2, reported), 0);
            assert_eq!(path.next(Ecn::Ect0), Ecn::NotEct, "{reported:?}");
        }
        let other = Some(EcnCounts { ect0: 2, ect1: 1, ce: 0 });
        let mut path = sent(8);
        path.report(Ecn::Ect0, 2, other);
        assert_eq!(path.next(Ecn::Ect0), Ecn::NotEct);
    }

    #[test]
    fn counts_that_fall_fail() {
        let mut path = sent(8);
        path.report(Ecn::Ect0, 4, counts(2, 2));
        path.report(Ecn::Ect0, 1, counts(5, 1));
        assert!(!path.is_capable());
    }

    #[test]
    fn losing_every_test_fails() {
        for (lost, capable) in [(10, false), (9, true)] {
            let mut path = sent(10);
            (0..lost).for_each(|_| path.lost());
            assert_eq!(path.next(Ecn::Ect0), Ecn::NotEct, "the test is over");
            path.report(Ecn::Ect0, 1, counts(1, 0));
            assert_eq!(path.is_capable(), capable, "{lost}");
        }
    }
}
