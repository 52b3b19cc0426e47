//! Packets and bytes at a link, and the laws that they must obey.

use crate::ratio;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Packets and bytes at a link's queue during the measuring window.
///
/// "Arrived" is every packet offered to the queue, "enqueued" those that it took (some of which a
/// discipline such as CoDel drops later), "dequeued" those whose transmission began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each pair of packets and bytes is described once")]
pub struct LinkCounts {
    /// Offered to the queue.
    pub arrived: u64,
    pub arrived_bytes: u64,
    /// Accepted by the queue.
    pub enqueued: u64,
    pub enqueued_bytes: u64,
    /// Taken out for transmission.
    pub dequeued: u64,
    pub dequeued_bytes: u64,
    /// Dropped for any reason, on arrival or later: the sum of the next two.
    pub dropped: u64,
    pub dropped_bytes: u64,
    /// Dropped because the queue was full.
    pub dropped_overflow: u64,
    pub dropped_overflow_bytes: u64,
    /// Dropped by the discipline's decision before the queue was full.
    pub dropped_early: u64,
    pub dropped_early_bytes: u64,
    /// Given the mark CE here (packets that arrived with CE do not count).
    pub marked: u64,
    pub marked_bytes: u64,
    /// In the queue when the window began.
    pub queued_at_start: u64,
    pub queued_at_start_bytes: u64,
    /// In the queue when the window ended.
    pub queued_at_end: u64,
    pub queued_at_end_bytes: u64,
}

impl LinkCounts {
    /// Checks that no packet and no byte appeared or vanished: what stood in the queue at the
    /// start and what arrived is what left, was dropped, or stands there at the end; the reasons
    /// of drops add up; and each arrival was either enqueued or dropped.
    ///
    /// # Errors
    /// The first law that does not hold.
    pub fn check_conservation(&self) -> Result<(), Imbalance> {
        let sum = |terms: &[u64]| terms.iter().map(|&n| u128::from(n)).sum::<u128>();
        let equal = |law, left: &[u64], right: &[u64]| {
            let (left, right) = (sum(left), sum(right));
            if left == right { Ok(()) } else { Err(Imbalance { law, left, right }) }
        };
        let at_most = |law, left: &[u64], right: &[u64]| {
            let (left, right) = (sum(left), sum(right));
            if left <= right { Ok(()) } else { Err(Imbalance { law, left, right }) }
        };
        equal(
            "packets: queued at start + arrived = dequeued + dropped + queued at end",
            &[self.queued_at_start, self.arrived],
            &[self.dequeued, self.dropped, self.queued_at_end],
        )?;
        equal(
            "bytes: queued at start + arrived = dequeued + dropped + queued at end",
            &[self.queued_at_start_bytes, self.arrived_bytes],
            &[self.dequeued_bytes, self.dropped_bytes, self.queued_at_end_bytes],
        )?;
        equal(
            "packets: dropped = overflow + early",
            &[self.dropped],
            &[self.dropped_overflow, self.dropped_early],
        )?;
        equal(
            "bytes: dropped = overflow + early",
            &[self.dropped_bytes],
            &[self.dropped_overflow_bytes, self.dropped_early_bytes],
        )?;
        at_most("packets: enqueued <= arrived", &[self.enqueued], &[self.arrived])?;
        at_most(
            "packets: arrived <= enqueued + dropped",
            &[self.arrived],
            &[self.enqueued, self.dropped],
        )?;
        at_most("bytes: enqueued <= arrived", &[self.enqueued_bytes], &[self.arrived_bytes])?;
        at_most(
            "bytes: arrived <= enqueued + dropped",
            &[self.arrived_bytes],
            &[self.enqueued_bytes, self.dropped_bytes],
        )?;
        at_most(
            "packets: marked <= arrived + queued at start",
            &[self.marked],
            &[self.arrived, self.queued_at_start],
        )
    }

    /// Packets that left the queue: sent on or dropped.
    fn left(&self) -> u64 {
        self.dequeued + self.dropped
    }

    /// Dropped packets as a fraction of those that left the queue, dropped or sent on. Not of those
    /// that arrived: in a short window more can be dropped than came, of what stood there before.
    #[must_use]
    pub fn loss(&self) -> Option<f64> {
        ratio(self.dropped, self.left())
    }

    /// Marked packets as a fraction of those that arrived or of those that left the queue,
    /// whichever are more: some disciplines mark what comes and others what leaves.
    #[must_use]
    pub fn mark_fraction(&self) -> Option<f64> {
        ratio(self.marked, self.arrived.max(self.left()))
    }
}

/// A law of conservation that a link's counters break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imbalance {
    /// The law, in words.
    pub law: &'static str,
    /// Value of its left side.
    pub left: u128,
    /// Value of its right side.
    pub right: u128,
}

impl Imbalance {
    /// Fails unless both sides of a law are the same.
    pub(crate) fn unless_equal(
        law: &'static str,
        left: [u64; 2],
        right: [u64; 2],
    ) -> Result<(), Self> {
        let [left, right] = [left, right].map(|side| side.map(u128::from).iter().sum());
        if left == right { Ok(()) } else { Err(Self { law, left, right }) }
    }

    /// Fails unless the left side of a law is at most the right one.
    pub(crate) fn unless_at_most(law: &'static str, left: u64, right: u64) -> Result<(), Self> {
        let (left, right) = (u128::from(left), u128::from(right));
        if left <= right { Ok(()) } else { Err(Self { law, left, right }) }
    }
}

impl fmt::Display for Imbalance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} does not hold: {} against {}", self.law, self.left, self.right)
    }
}

impl std::error::Error for Imbalance {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_stay_within_one_where_more_leaves_than_comes() {
        let counts = LinkCounts {
            queued_at_start: 30,
            arrived: 10,
            dequeued: 22,
            dropped: 18,
            marked: 20,
            ..LinkCounts::default()
        };
        assert_eq!((counts.loss(), counts.mark_fraction()), (Some(0.45), Some(0.5)));
    }

    #[test]
    fn conservation_finds_a_vanished_packet_or_byte() {
        let good = LinkCounts {
            arrived: 100,
            arrived_bytes: 100_000,
            enqueued: 95,
            enqueued_bytes: 95_000,
            dequeued: 90,
            dequeued_bytes: 90_000,
            dropped: 8,
            dropped_bytes: 8_000,
            dropped_overflow: 5,
            dropped_overflow_bytes: 5_000,
            dropped_early: 3,
            dropped_early_bytes: 3_000,
            marked: 1,
            marked_bytes: 1_000,
            queued_at_start: 2,
            queued_at_start_bytes: 2_000,
            queued_at_end: 4,
            queued_at_end_bytes: 4_000,
        };
        assert_eq!(good.check_conservation(), Ok(()));
        assert_eq!(good.loss(), Some(8.0 / 98.0));
        assert_eq!(good.mark_fraction(), Some(0.01));
        let broken: [fn(&mut LinkCounts); 6] = [
            |c| c.dequeued -= 1,
            |c| c.queued_at_end_bytes += 1,
            |c| c.dropped_early += 1,
            |c| c.dropped_overflow_bytes -= 1,
            |c| c.enqueued = 91,
            |c| c.marked = 103,
        ];
        for (i, damage) in broken.iter().enumerate() {
            let mut counts = good;
            damage(&mut counts);
            let error = counts.check_conservation().expect_err(&format!("case {i}"));
            assert!(error.to_string().contains("does not hold"));
        }
    }
}
