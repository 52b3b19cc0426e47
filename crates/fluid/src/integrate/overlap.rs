//! Whether steps may be longer than the shortest lag, and so look at themselves.

use super::tableau::{EXACT, Pair, STEADY};

/// A step that is longer than the shortest lag is at most this much over the rate at which small
/// differences die. The steady pair is stable up to 5.7, but what a step looks up of itself is
/// extrapolated; with more, rounding would grow until the control of the error sees it, and what
/// stands still would tremble.
const STABLE: f64 = 3.0;
/// The exact pair, which is stable up to 3.3, takes steps up to this much over that rate.
const EXACT_UP_TO: f64 = 1.5;
/// What is left of a rate that was higher, a step later.
const FADING: f64 = 0.7;
/// Steps that stay within the shortest lag after one that did not agree: the first time, and at
/// most.
const PAUSE: (u32, u32) = (4, 64);

/// Whether steps may be longer than the shortest lag.
pub(super) struct Overlap {
    /// Steps that are still to stay within the shortest lag, and how many after the next that does
    /// not agree with itself.
    waits: u32,
    pause: u32,
    /// How fast small differences died of late, per second; 0 if nothing was seen of it.
    rate: f64,
}

impl Overlap {
    pub(super) fn new() -> Self {
        Self { waits: 0, pause: PAUSE.0, rate: 0.0 }
    }

    /// How far a step may go beyond the shortest lag, the last one having been so long.
    pub(super) fn reach(&self, shortest: f64, last: f64) -> f64 {
        if self.waits > 0 || self.rate <= 0.0 {
            0.0
        } else {
            (STABLE / self.rate - shortest).clamp(0.0, last)
        }
    }

    /// The pair for a step: the steady one if the exact one would not be stable.
    pub(super) fn pair(&self, step: f64) -> &'static Pair {
        if step * self.rate > EXACT_UP_TO { &STEADY } else { &EXACT }
    }

    /// A step counts; small differences died at `rate` in it, if that was seen.
    pub(super) fn stepped(&mut self, rate: Option<f64>) {
        if let Some(rate) = rate {
            self.rate = rate.max(FADING * self.rate);
        }
        self.waits = self.waits.saturating_sub(1);
    }

    /// A step agreed with itself: the next one that does not is a first one again.
    pub(super) fn agreed(&mut self) {
        self.pause = PAUSE.0;
    }

    /// A step did not agree with itself: the next ones do not try.
    pub(super) fn failed(&mut self) {
        self.waits = self.pause;
        self.pause = (2 * self.pause).min(PAUSE.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_died_fast_once_is_forgotten_step_by_step() {
        let mut overlap = Overlap::new();
        assert_eq!(overlap.reach(0.001, 1.0), 0.0);
        overlap.stepped(Some(100.0));
        let rate = |overlap: &Overlap| STABLE / (overlap.reach(0.001, 1e9) + 0.001);
        for steps in 0..30 {
            // In between nothing may be seen of it: that is no reason to forget.
            overlap.stepped(None);
            let wanted = f64::max(100.0 * libm::pow(0.7, f64::from(steps)), 1.0);
            assert!((rate(&overlap) / wanted - 1.0).abs() < 1e-9, "{steps}: {}", rate(&overlap));
            overlap.stepped(Some(1.0));
        }
        // No step is more than twice as long as the last one and the lag together.
        assert_eq!(overlap.reach(0.001, 0.25), 0.25);
    }

    #[test]
    fn the_steady_pair_takes_over_where_the_exact_one_is_not_stable() {
        let mut overlap = Overlap::new();
        overlap.stepped(Some(10.0));
        assert!(std::ptr::eq(overlap.pair(0.149), &raw const EXACT));
        assert!(std::ptr::eq(overlap.pair(0.151), &raw const STEADY));
    }

    #[test]
    fn after_failures_steps_stay_within_the_lag_for_longer_and_longer() {
        let mut overlap = Overlap::new();
        for pause in [4, 8, 16, 32, 64, 64] {
            overlap.stepped(Some(1.0));
            overlap.failed();
            for _ in 0..pause {
                assert_eq!(overlap.reach(0.001, 1.0), 0.0);
                overlap.stepped(None);
            }
            assert!(overlap.reach(0.001, 1.0) > 0.0);
        }
    }
}
