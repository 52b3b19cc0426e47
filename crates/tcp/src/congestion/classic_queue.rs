//! Whether the queue that marks is a classic one, as RFC 3168 means it, found by its delay alone.
//!
//! Briscoe and Ahmed, "TCP Prague Fall-back on Detection of a Classic ECN AQM" (arXiv 1911.00710),
//! the passive test, with the constants of the L4S team's Linux (`prague_ecn_fallback = 1`). Queues
//! for L4S are shallow and steady; classic ones stand for milliseconds and vary by as much. A score
//! rises with both, once in every round trip after the first mark:
//!
//! `score += lg(v / 750 µs) / 2 + max(0, lg(d / 2 ms) / 2)`
//!
//! where v is the mean deviation of the round trip and d the smoothed round trip less the least. It
//! lies from 0 to 17: up to 8 the queue is taken for one for L4S, from 9 on for a classic one, and
//! between them marks take more and more. Both ends are sticky.
//!
//! Numbers: times are nanoseconds with 16 fraction bits, logarithms and the score Q.16.
//!
//! # Differences from Linux
//!
//! 1. Logarithms have a fraction; there they are whole, and the rest is carried to the next one.
//! 2. The least round trip is the connection's; there it is that of the last five minutes.

use super::fixed;
use sojourn_base::Time;

/// Fraction bits of times, of logarithms and of the score.
const BITS: u32 = 16;

/// The deviation and the queue at which the score stands still, and the least deviation that
/// counts, nanoseconds.
const DEVIATION: u64 = 750_000;
const QUEUE: u64 = 2_000_000;
const LEAST_DEVIATION: u64 = 1_000;

/// The score above which marks begin to take more, and how far above they take all.
const STICKY: i64 = 8 << BITS;
const BETWEEN: i64 = 1 << BITS;

/// The averages' slowest gain: one in 2 to the power of this.
const SLOWEST: u32 = 18;

/// Longer round trips are not told apart, so that nothing overflows.
const LONGEST: u64 = 1 << 44;

/// What is known of the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassicQueue {
    /// Smoothed round trip and its mean deviation; zero before the first sample.
    smoothed: u64,
    deviation: u64,
    /// The least round trip, nanoseconds.
    least: u64,
    score: i64,
    marked: bool,
}

/// The binary logarithm, Q.16; of 0 as of 1.
fn lg(value: u64) -> i64 {
    let whole = value.max(1).ilog2();
    // The mantissa from 1 to 2, Q.31: each squaring gives a bit.
    let mut mantissa =
        if whole > 31 { value >> (whole - 31) } else { value.max(1) << (31 - whole) };
    let mut found = i64::from(whole);
    for _ in 0..BITS {
        mantissa = (mantissa * mantissa) >> 31;
        let bit = mantissa >> 32;
        mantissa >>= bit;
        found = 2 * found + bit as i64;
    }
    found
}

impl ClassicQueue {
    /// A round trip was measured, while `ssthresh` was so many segments: the average goes over
    /// several windows.
    #[inline]
    pub(crate) fn on_rtt(&mut self, rtt: Time, ssthresh: u32) {
        let now = rtt.0.clamp(1, LONGEST) << BITS;
        if self.smoothed == 0 {
            (self.smoothed, self.least) = (now, now >> BITS);
            self.deviation = LEAST_DEVIATION << BITS;
            return;
        }
        self.least = self.least.min(now >> BITS);
        let power = ssthresh.max(1).ilog2();
        let gain = (power + power / 2 + 1).min(SLOWEST);
        let off = now.abs_diff(self.smoothed);
        self.smoothed = toward(self.smoothed, now, gain);
        self.deviation = toward(self.deviation, off, gain + 1);
    }

    /// A mark came back: a queue on the path marks.
    pub(crate) const fn on_mark(&mut self) {
        self.marked = true;
    }

    /// A round trip is over.
    pub(crate) fn on_round(&mut self) {
        if !self.marked || self.smoothed == 0 {
            return;
        }
        let deviation = (self.deviation >> BITS).max(LEAST_DEVIATION);
        let queue = (self.smoothed >> BITS).saturating_sub(self.least);
        let deep = (lg(queue) - lg(QUEUE)).max(0);
        let step = (lg(deviation) - lg(DEVIATION) + deep) / 2;
        self.score = (self.score + step).clamp(0, 2 * STICKY + BETWEEN);
    }

    /// What a mark is to take at least, twice its share of the window, Q.32: nothing while the
    /// queue is taken for one for L4S, five eighths when it is taken for a classic one.
    pub(crate) fn least_alpha(&self) -> u64 {
        let above = (self.score - STICKY).clamp(0, BETWEEN) as u64;
        (above << (fixed::SHARE_BITS - BITS)) / 8 * 5
    }
}

/// A moving average after a sample, with a gain of one in 2 to the power of `gain`.
const fn toward(average: u64, sample: u64, gain: u32) -> u64 {
    if sample >= average {
        average + ((sample - average) >> gain)
    } else {
        average - ((average - sample) >> gain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A connection that measured alternating round trips until averages stand.
    fn settled(low: u64, high: u64) -> ClassicQueue {
        let mut queue = ClassicQueue::default();
        queue.on_rtt(Time(20 * MS), 4);
        for _ in 0..1000 {
            queue.on_rtt(Time(low), 4);
            queue.on_rtt(Time(high), 4);
        }
        queue.on_mark();
        queue
    }

    fn rounds(mut queue: ClassicQueue, n: usize) -> ClassicQueue {
        (0..n).for_each(|_| queue.on_round());
        queue
    }

    fn score(queue: &ClassicQueue) -> f64 {
        queue.score as f64 / f64::from(1 << BITS)
    }

    #[test]
    fn logarithms_are_those_of_floating_point() {
        for value in [1, 2, 3, 999, 750_000, 2_000_000, u64::from(u32::MAX), 1 << 43, u64::MAX] {
            let exact = (value as f64).log2();
            let ours = lg(value) as f64 / f64::from(1 << BITS);
            assert!((ours - exact).abs() < 1e-4, "{value}: {ours} {exact}");
        }
        assert_eq!(lg(0), 0);
    }

    #[test]
    fn a_round_adds_the_logarithms_of_deviation_and_depth() {
        // Around 29 ms by 3 ms: the queue is 9 ms.
        let queue = rounds(settled(26 * MS, 32 * MS), 1);
        let expected = (3.0f64 / 0.75).log2() / 2.0 + (9.0f64 / 2.0).log2() / 2.0;
        assert!((score(&queue) - expected).abs() < 0.1, "{} {expected}", score(&queue));
    }

    #[test]
    fn a_deep_queue_is_found_and_stays_so_for_some_rounds() {
        let deep = settled(26 * MS, 32 * MS);
        assert_eq!(rounds(deep, 3).least_alpha(), 0);
        let found = rounds(deep, 30);
        assert_eq!(found.least_alpha(), fixed::ONE / 8 * 5);
        assert!((score(&found) - 17.0).abs() < 1e-9, "at its end");
        // Half a millisecond and 30 µs: lg(0.04)/2 = −2.3 a round, from 17 to below 9 in four.
        let shallow = settled(20 * MS + 470_000, 20 * MS + 530_000);
        let mut changed = ClassicQueue { score: found.score, ..shallow };
        changed = rounds(changed, 3);
        assert_eq!(changed.least_alpha(), fixed::ONE / 8 * 5);
        assert_eq!(rounds(changed, 1).least_alpha(), 0);
    }

    #[test]
    fn a_shallow_steady_queue_is_never_taken_for_a_classic_one() {
        let shallow = rounds(settled(20 * MS + 200_000, 21 * MS), 1000);
        assert_eq!((shallow.score, shallow.least_alpha()), (0, 0));
    }

    #[test]
    fn half_way_between_marks_take_half() {
        let queue = ClassicQueue { score: STICKY + BETWEEN / 2, ..ClassicQueue::default() };
        assert_eq!(queue.least_alpha(), fixed::ONE / 16 * 5);
    }

    #[test]
    fn nothing_is_judged_before_a_mark_or_overflows() {
        let mut queue = ClassicQueue { marked: false, ..settled(26 * MS, 32 * MS) };
        queue.on_round();
        assert_eq!(queue.score, 0);
        let mut ends = settled(0, u64::MAX);
        ends.on_rtt(Time(u64::MAX), u32::MAX);
        ends.on_round();
        assert!(ends.score > 0);
    }
}
