//! AccECN's tests of the path, RFC 9768: whether it changes the ECN field (section 3.2.2.3),
//! empties the counter in the flags (section 3.2.2.4) or AccECN's option (section 3.2.3.2.3). They
//! are the data sender's; as a receiver an end goes on counting whatever it finds.
//!
//! # Differences from the source
//!
//! 1. A counter that is 0 at first is believed where the option beside it reports marked bytes:
//!    three marks may have come before, of which the acknowledgements were lost.
//! 2. Whether everything comes marked is not tested (section 3.2.2.3 leaves open how): a queue that
//!    marks each packet for some round trips is what DCTCP and Prague are made for.

use crate::segment::SackBlock;

/// What the sender has found out about the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    /// It has changed the ECN field of the handshake: no data are sent ECN-capable, but marks are
    /// answered, as they may be real.
    mangles: bool,
    /// The counter comes as 0, or ends disagree on what was agreed: no ECN, and no answer to marks.
    zeroes: bool,
    /// The option's counters came as 0: it is passed over.
    empties: bool,
    /// The first counter has come.
    counted: bool,
    /// The first option has come.
    optioned: bool,
    /// The next segment to be tested answers the handshake: its flags are no counter.
    handshake: bool,
}

impl Path {
    /// The peer reports how the handshake's segment arrived, which was sent without ECN: any other
    /// codepoint is not from the sender.
    pub(super) fn arrived_capable(&mut self, capable: bool) {
        self.mangles |= capable;
    }

    /// The answer to the handshake has come, in which 0 means that the peer does without (table 4).
    pub(super) fn answered(&mut self, field: u8) {
        self.handshake = true;
        self.zeroes |= field == 0;
    }

    /// The counter and the option of a segment after the handshake. Returns the option, unless it
    /// is to be passed over.
    pub(super) fn test(&mut self, field: u8, option: Option<SackBlock>) -> Option<SackBlock> {
        if let Some(first) = option
            && !self.optioned
        {
            // Section 3.2.1: that of unmarked bytes begins with 1.
            (self.optioned, self.empties) = (true, first.start == 0);
        }
        let option = option.filter(|_| !self.empties);
        let handshake = core::mem::take(&mut self.handshake);
        if !self.counted && !handshake {
            self.counted = true;
            self.zeroes |= field == 0 && option.is_none_or(|option| option.end == 0);
        }
        option
    }

    /// Whether data are to be sent ECN-capable.
    pub(super) fn is_trusted(&self) -> bool {
        !self.mangles && !self.zeroes
    }

    /// Whether marks that the peer reports are to be answered.
    pub(super) fn counts_marks(&self) -> bool {
        !self.zeroes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option(unmarked: u32, marked: u32) -> Option<SackBlock> {
        Some(SackBlock { start: unmarked, end: marked })
    }

    #[test]
    fn path_test_reads_first_counter_only() {
        let mut path = Path::default();
        path.test(5, None);
        path.test(0, None);
        assert!(path.is_trusted() && path.counts_marks());
        let mut path = Path::default();
        path.test(0, None);
        assert!(!path.is_trusted() && !path.counts_marks());
    }

    #[test]
    fn path_test_skips_flags_of_handshake_answer() {
        let mut path = Path::default();
        path.answered(2);
        path.test(0, None);
        assert!(path.is_trusted());
        path.test(0, None);
        assert!(!path.is_trusted());
        let mut path = Path::default();
        path.answered(0);
        assert!(!path.is_trusted() && !path.counts_marks());
    }

    #[test]
    fn path_test_accepts_wrapped_counter_with_option() {
        let mut path = Path::default();
        assert_eq!(path.test(0, option(1, 3000)), option(1, 3000));
        assert!(path.is_trusted());
        let mut path = Path::default();
        path.test(0, option(1, 0));
        assert!(!path.is_trusted());
    }

    #[test]
    fn path_test_ignores_zeroed_option_for_good() {
        let mut path = Path::default();
        assert_eq!(path.test(5, option(0, 0)), None);
        assert_eq!(path.test(5, option(4000, 1000)), None);
        assert!(path.is_trusted() && path.counts_marks());
        let mut path = Path::default();
        path.test(5, option(1, 0));
        assert_eq!(path.test(5, option(0, 1000)), option(0, 1000), "it may go round");
    }

    #[test]
    fn mangled_ecn_field_stops_ect_but_not_response() {
        let mut path = Path::default();
        path.arrived_capable(false);
        assert!(path.is_trusted());
        path.arrived_capable(true);
        assert!(!path.is_trusted() && path.counts_marks());
    }
}
