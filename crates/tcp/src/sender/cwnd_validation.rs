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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::State;
    use crate::ecn::Feedback;

    /// A paced sender's window grows in slow start while half of it is in use, told by the most
    /// that was outstanding.
    #[test]
    fn the_most_of_a_round_trip_counts_and_the_next_begins_anew() {
        let mut conn = Connection::new(State::Established, 1000, Feedback::Latched);
        let mut limited = CwndLimited::new(conn.snd_nxt);
        for (nxt, una, most) in [
            (6000, 1000, 5000),
            (11_000, 1000, 10_000),
            // Less is outstanding, in the same round trip.
            (12_000, 8000, 10_000),
            // All that was sent then is acknowledged.
            (15_000, 12_000, 3000),
        ] {
            (conn.snd_nxt, conn.snd_una) = (nxt, una);
            limited.note(false, &conn);
            assert!(limited.holds(2 * most - 1, true), "{nxt}");
            assert!(!limited.holds(2 * most, true) && !limited.holds(1, false), "{nxt}");
        }
        limited.note(true, &conn);
        assert!(limited.holds(u32::MAX, false));
        limited.note(false, &conn);
        assert!(limited.holds(u32::MAX, false), "until the round trip is over");
        conn.snd_una = conn.snd_nxt;
        limited.note(false, &conn);
        assert!(!limited.holds(u32::MAX, false));
    }

    #[test]
    fn what_was_used_is_told_after_a_timeout() {
        let rto = Time::from_millis(300);
        let mut unused = Unused::new(Time::from_secs(1));
        assert_eq!(unused.after(Time::from_millis(1100), 5000, rto), None);
        assert_eq!(unused.after(Time::from_millis(1299), 2000, rto), None);
        assert_eq!(unused.after(Time::from_millis(1300), 3000, rto), Some(5000));
    }
}
