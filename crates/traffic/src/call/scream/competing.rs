//! The target for the queue's delay, which gives way to flows that go by loss alone: without it a
//! call beside them would be left with nothing.

use std::collections::VecDeque;

/// Bounds of the target, seconds: `QDELAY_TARGET_LO` and `QDELAY_TARGET_HI`.
const LOW: f64 = 0.06;
const HIGH: f64 = 0.4;
/// Looks over which the variance is taken, and over which the mean is.
const LONG: usize = 200;
const SHORT: usize = 50;
/// A share of round trips with losses that others cause.
const LOSSES: f64 = 0.002;
/// A variance, in squares of [`LOW`], below which the queue stands.
const STEADY: f64 = 0.2;

/// The delays that were seen, in units of [`LOW`], and the target.
#[derive(Clone, Debug)]
pub(super) struct Competing {
    seen: VecDeque<f64>,
    target: f64,
}

impl Default for Competing {
    fn default() -> Self {
        Self { seen: VecDeque::new(), target: LOW }
    }
}

impl Competing {
    /// Seconds.
    pub(super) fn target(&self) -> f64 {
        self.target
    }

    /// A delay of the queue, while so many of the round trips had losses.
    pub(super) fn look(&mut self, qdelay: f64, losses: f64) {
        if self.seen.len() == LONG {
            self.seen.pop_front();
        }
        self.seen.push_back(qdelay / LOW);
        let count = self.seen.len() as f64;
        let mean = self.seen.iter().sum::<f64>() / count;
        let variance =
            self.seen.iter().map(|each| (each - mean) * (each - mean)).sum::<f64>() / count;
        let short = self.seen.iter().rev().take(SHORT);
        let recent = short.clone().sum::<f64>() / short.len() as f64;
        let wanted = LOW * (recent + variance.sqrt());
        self.target = if losses > LOSSES {
            1.5 * wanted
        } else if variance < STEADY {
            wanted
        } else if wanted < LOW {
            wanted.max(self.target / 2.0)
        } else {
            0.9 * self.target
        }
        .clamp(LOW, HIGH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(delays: impl Iterator<Item = f64>, losses: f64) -> f64 {
        let mut competing = Competing::default();
        delays.for_each(|delay| competing.look(delay, losses));
        competing.target()
    }

    #[test]
    fn target_gives_way_to_a_queue_that_stands_and_comes_back() {
        assert_eq!(after([0.01; 300].into_iter(), 0.0), LOW);
        // Of a steady 150 ms the mean is the target, with losses half as much again.
        assert!((after([0.15; 300].into_iter(), 0.0) - 0.15).abs() < 1e-9);
        assert!((after([0.15; 300].into_iter(), 0.1) - 0.225).abs() < 1e-9);
        assert!((after([0.15; 300].into_iter(), LOSSES) - 0.15).abs() < 1e-9, "not above");
        assert_eq!(after([0.5; 300].into_iter(), 0.1), HIGH);
        let gone = [0.15; 300].into_iter().chain([0.0; 300]);
        assert_eq!(after(gone, 0.0), LOW);
    }

    #[test]
    fn target_does_not_follow_a_queue_that_swings() {
        let swings = (0..400).map(|n| if n / 20 % 2 == 0 { 0.0 } else { 0.15 });
        assert!(after(swings, 0.0) < 0.1);
    }

    #[test]
    fn target_is_a_standard_deviation_above_the_mean() {
        // 120 ms and 12 more or less.
        let sways = (0..200).map(|n| if n % 2 == 0 { 0.108 } else { 0.132 });
        assert!((after(sways, 0.0) - 0.132).abs() < 1e-9);
    }
}
