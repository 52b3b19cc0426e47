//! Undoing a spurious recovery or timeout: shown by the echoed time (Eifel, RFC 3522, with the
//! response of RFC 4015 as in Linux), by the peer's report that everything sent again came twice
//! (D-SACK, RFC 3708), or, for a timeout, by the arrival of what was sent only before it (F-RTO,
//! RFC 5682).
//!
//! # Differences from the sources
//!
//! 1. The windows become what they were, at once (RFC 4015 section 3.4 would raise the window to
//!    what is in flight plus at most the initial window); so does the timeout's back-off. The
//!    estimate of the round trip is not made more careful (section 3.6).
//! 2. A reduction after a mark is never undone; what is spurious beside it ends all the same.
//! 3. An older echoed time is enough, as in Linux: RFC 3522 section 3.2 step 5 would also have the
//!    acknowledgement bring no D-SACK, and leave data outstanding unless D-SACKs were seen before.
//! 4. Retransmissions and D-SACKs are counted, as in Linux, not matched: RFC 3708 section 3 gives
//!    up where a segment was sent again twice (A.3) or the network made the duplicate (A.4).

use crate::congestion::Window;
use crate::segment::{SackBlock, before};
use sojourn_base::Time;

/// What is kept to undo the last reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The windows before it, while it may be found spurious, and the first sequence number then
    /// not acknowledged.
    before: Option<(Window, u32)>,
    /// When something was first sent again, in units of timestamps.
    first_again: Option<u32>,
    /// When so many bytes are acknowledged, all that was sent again is.
    again_until: u64,
    /// Segments sent again that did not come twice, as far as is known.
    unexplained: u32,
}

/// In place of windows where nothing is given back.
const NOTHING: Window = Window { cwnd: 0, ssthresh: 0 };

impl Undo {
    /// A recovery follows; until it is known to be justified it may be undone, and with it the
    /// reduction of the window that was before, unless that has another cause. What was sent again
    /// before and is still on its way counts on, as in Linux (`retrans_stamp`, `retrans_out`): its
    /// acknowledgement says nothing about this reduction. `acked` bytes are acknowledged by now.
    pub(super) fn start(&mut self, window: Option<Window>, una: u32, acked: u64) {
        let outstanding = self.first_again.is_some() && acked < self.again_until;
        let kept = if outstanding { *self } else { Self::default() };
        *self = Self { before: Some((window.unwrap_or(NOTHING), una)), ..kept };
    }

    /// Takes the windows before the last reduction, if they are to be given back.
    pub(super) fn take(&mut self) -> Option<Window> {
        self.before.take().map(|(window, _)| window).filter(|window| *window != NOTHING)
    }

    /// Whether a reduction may be undone that was followed by no retransmission before the echoed
    /// time `tsecr`.
    pub(super) fn precedes_retransmissions(&self, tsecr: u32) -> bool {
        self.before.is_some() && self.first_again.is_some_and(|first| before(tsecr, first))
    }

    /// A mark has come, which justifies the reduction of a recovery that is under way, if
    /// `recovering` (`prior_ssthresh = 0` of Linux); outside of one nothing may be undone.
    pub(super) fn marked(&mut self, recovering: bool) {
        self.before = self.before.filter(|_| recovering).map(|(_, una)| (NOTHING, una));
    }

    /// A segment was sent again, all of which is acknowledged when `until` bytes are.
    pub(super) fn sent_again(&mut self, now: Time, until: u64) {
        self.first_again.get_or_insert((now.0 / 1000) as u32);
        self.again_until = self.again_until.max(until);
        self.unexplained += 1;
    }

    /// The peer got something twice.
    pub(super) fn twice(&mut self, block: SackBlock) {
        if self.before.is_some_and(|(_, una)| !before(block.start, una)) {
            // Everything may come twice only once.
            self.unexplained = self.unexplained.saturating_sub(1);
        }
    }

    /// Whether all that was sent again came twice (`tcp_may_undo` of Linux).
    pub(super) fn all_twice(&self) -> bool {
        self.before.is_some() && self.first_again.is_some() && self.unexplained == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_keeps_outstanding_retransmissions_for_next_reduction() {
        let window = Window { cwnd: 10_000, ssthresh: 10_000 };
        let mut undo = Undo::default();
        undo.start(Some(window), 0, 0);
        undo.sent_again(Time(5_000_000), 3000);
        undo.start(Some(window), 1000, 1000);
        assert_eq!((undo.first_again, undo.unexplained), (Some(5000), 1));
        undo.sent_again(Time(9_000_000), 2000);
        assert_eq!((undo.first_again, undo.unexplained, undo.again_until), (Some(5000), 2, 3000));
        // All of it has come once: a new reduction begins from nothing.
        undo.start(Some(window), 3000, 3000);
        assert_eq!((undo.first_again, undo.unexplained), (None, 0));
        assert!(!undo.all_twice());
    }

    #[test]
    fn a_retransmission_is_outstanding_no_more_when_sequence_numbers_have_gone_round() {
        let window = Window { cwnd: 10_000, ssthresh: 10_000 };
        let mut undo = Undo::default();
        undo.start(Some(window), 0, 0);
        undo.sent_again(Time(5_000_000), 3000);
        // More than 2 GiB later without a loss: by its sequence number it lies ahead again.
        let acked = 3_000_000_000;
        undo.start(Some(window), acked as u32, acked);
        assert!(before(acked as u32, 3000));
        assert_eq!(undo.first_again, None);
    }
}
