//! Congestion window validation: a window that goes unused says little of the path, and decays.
//! RFC 2861, as in Linux (`tcp_cwnd_validate`, `tcp_cwnd_application_limited`). RFC 7661 has taken
//! its place among the RFCs and keeps the window for five minutes; Linux has stayed with the older
//! rule.
//!
//! # Differences from Linux
//!
//! 1. An application counts as the limit when it has written nothing more; Linux asks whether it
//!    waits for room in the send buffer.

use crate::connection::Connection;
use crate::segment::before;
use sojourn_base::Time;

/// Whether the window held the sender back in the round trip that ends at `end`, and the most that
/// was outstanding in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CwndLimited {
    limited: bool,
    end: u32,
    most: u32,
}

impl CwndLimited {
    pub(super) fn new(nxt: u32) -> Self {
        Self { limited: false, end: nxt, most: 0 }
    }

    /// Notes whether the window has just held the sender back (`tcp_cwnd_validate` of Linux).
    pub(super) fn note(&mut self, limited: bool, conn: &Connection) {
        let most = conn.in_flight();
        if !before(conn.snd_una, self.end) || limited || !self.limited && most > self.most {
            *self = Self { limited, most, end: conn.snd_nxt };
        }
    }

    /// Whether the window `cwnd` is what holds the sender back; in slow start also if half of it
    /// was in use, so that a paced sender's grows (`tcp_is_cwnd_limited` of Linux).
    pub(super) fn holds(&self, cwnd: u32, slow_start: bool) -> bool {
        self.limited || slow_start && cwnd < 2 * self.most
    }
}

/// How much of the window was used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unused {
    /// The most that was outstanding since.
    used: u32,
    /// The window was full, or was brought down.
    since: Time,
}

impl Unused {
    pub(super) fn new(now: Time) -> Self {
        Self { used: 0, since: now }
    }

    /// `outstanding` bytes are in use of a window that is not full. The most that was, once that
    /// has gone on for `rto`.
    pub(super) fn after(&mut self, now: Time, outstanding: u32, rto: Time) -> Option<u32> {
        self.used = self.used.max(outstanding);
        (now - self.since >= rto).then_some(self.used)
    }
}
