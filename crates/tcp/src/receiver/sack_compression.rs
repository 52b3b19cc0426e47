//! SACK compression: what Linux's receivers do since 4.18 (`__tcp_ack_snd_check`,
//! `tcp_compressed_ack_kick`). Beyond a hole every segment would be acknowledged at once (RFC 5681
//! section 4.2). Here the first three are, so that the sender finds its loss; from then on, until
//! the hole is filled, one acknowledgement reports what came in a twentieth of a round trip, or in
//! a millisecond.
//!
//! # Differences from Linux
//!
//! 1. The timer runs to the end of its slack; Linux's goes off before if the machine is awake in
//!    it.
//! 2. Segments that came twice are acknowledged at once; Linux's next sixteen then are, too.

use sojourn_base::Time;

/// Segments above a hole that are acknowledged at once (`TCP_FASTRETRANS_THRESH`).
const AT_ONCE: u8 = 3;
/// Segments that one acknowledgement may report (`tcp_comp_sack_nr`).
const MOST: u8 = 44;
/// The longest wait (`tcp_comp_sack_delay_ns`), the part of a round trip that it is otherwise, and
/// what the timer may be late (`tcp_comp_sack_slack_ns`).
const LONGEST: Time = Time::from_millis(1);
const PART: u64 = 20;
const SLACK: Time = Time::from_micros(100);

/// State of a receiver.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Compression {
    /// Where the hole begins.
    edge: u32,
    /// How many segments above it were acknowledged at once.
    at_once: u8,
    /// How many are not acknowledged yet.
    waiting: u8,
}

impl Compression {
    /// An acknowledgement goes out because the hole has become smaller, which begins it anew at
    /// `edge`.
    pub(super) fn moved(&mut self, edge: u32) {
        *self = Self { edge, at_once: 1, waiting: 0 };
    }

    /// Whether an acknowledgement waits that segments above the hole have asked for.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting > 0
    }

    /// A segment came above a hole at `edge`: whether its acknowledgement may wait, when one is
    /// `pending` or not.
    pub(super) fn waits(&mut self, edge: u32, pending: bool) -> bool {
        if self.edge != edge || !pending {
            self.waiting = 0;
        }
        if self.edge != edge {
            (self.edge, self.at_once) = (edge, 0);
        }
        if self.at_once < AT_ONCE {
            self.at_once += 1;
            return false;
        }
        self.waiting += 1;
        self.waiting <= MOST
    }
}

/// How long an acknowledgement of what came above a hole waits, by the round trip that the receiver
/// sees and that which the sender has measured; zero if not known.
pub(super) fn delay(seen: Time, srtt: Time) -> Time {
    let rtt = match seen {
        Time::ZERO => srtt,
        _ if srtt == Time::ZERO => seen,
        _ => seen.min(srtt),
    };
    LONGEST.min(Time(rtt.0 / PART)) + SLACK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ack_above_hole_waits_a_twentieth_of_the_shorter_round_trip() {
        let us = Time::from_micros;
        for (seen, srtt, waits) in [
            (us(4000), us(10_000), 200),
            (us(10_000), us(4000), 200),
            (Time::ZERO, us(10_000), 500),
            (us(10_000), Time::ZERO, 500),
            (us(100_000), us(100_000), 1000),
        ] {
            assert_eq!(delay(seen, srtt), us(waits) + SLACK, "{seen} {srtt}");
        }
    }

    #[test]
    fn acks_above_hole_are_compressed_from_the_fourth_on() {
        let mut c = Compression::default();
        let waits: [bool; 5] = core::array::from_fn(|_| c.waits(1000, true));
        assert_eq!(waits, [false, false, false, true, true]);
        assert!(c.is_waiting());
        // 44 are reported at once.
        assert_eq!((3..100).find(|_| !c.waits(1000, true)), Some(45));
        assert!(c.waits(1000, false), "and the next ones wait again");
        assert!(!c.waits(2000, true), "another hole begins anew");
    }
}
