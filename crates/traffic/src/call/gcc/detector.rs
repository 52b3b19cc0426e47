//! The over-use detector and its adaptive threshold (section 5.4).

use super::Use;
use super::filter::Gradient;

/// How long a gradient above the threshold must last, ms.
const LASTING: f64 = 10.0;
/// How fast the threshold goes up and down, per ms.
const UP: f64 = 0.01;
const DOWN: f64 = 0.00018;
/// Further above the threshold than this, ms, it is left alone.
const OUTLIER: f64 = 15.0;
/// The threshold's bounds, ms.
const LEAST: f64 = 6.0;
const MOST: f64 = 600.0;
/// Groups that a gradient is multiplied with at most.
const GROUPS: u32 = 60;

/// The detector.
#[derive(Clone, Debug)]
pub(super) struct Detector {
    threshold: f64,
    last: f64,
    /// How long it has been above, ms.
    over: f64,
}

impl Default for Detector {
    fn default() -> Self {
        Self { threshold: 12.5, last: 0.0, over: 0.0 }
    }
}

impl Detector {
    /// What a new gradient says.
    pub(super) fn judge(&mut self, gradient: &Gradient) -> Use {
        let &Gradient { estimate, groups, spacing } = gradient;
        let drift = estimate * f64::from(groups.min(GROUPS));
        let found = if drift > self.threshold {
            self.over += spacing;
            if self.over >= LASTING && estimate >= self.last { Use::Over } else { Use::Normal }
        } else {
            self.over = 0.0;
            if drift < -self.threshold { Use::Under } else { Use::Normal }
        };
        self.last = estimate;
        if drift.abs() <= self.threshold + OUTLIER {
            let speed = if drift.abs() < self.threshold { DOWN } else { UP };
            self.threshold += spacing.min(100.0) * speed * (drift.abs() - self.threshold);
            self.threshold = self.threshold.clamp(LEAST, MOST);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_that_lasts_is_over_use() {
        let mut detector = Detector::default();
        let at = |estimate, groups| Gradient { estimate, groups, spacing: 7.0 };
        assert_eq!(detector.judge(&at(1.0, 10)), Use::Normal, "10 ms are below the threshold");
        assert_eq!(detector.judge(&at(1.0, 20)), Use::Normal, "not for 10 ms yet");
        assert_eq!(detector.judge(&at(1.0, 20)), Use::Over);
        assert_eq!(detector.judge(&at(0.9, 60)), Use::Normal, "it grows more slowly");
        assert_eq!(detector.judge(&at(-1.0, 60)), Use::Under);
        assert_eq!(detector.judge(&at(0.0, 60)), Use::Normal);
    }

    #[test]
    fn threshold_follows_what_is_usual() {
        let mut detector = Detector::default();
        let calm = Gradient { estimate: 0.0, groups: 60, spacing: 33.0 };
        for _ in 0..2000 {
            detector.judge(&calm);
        }
        assert_eq!(detector.threshold, LEAST);
        // A drift of 18 ms for a while lifts it there; one of 60 ms is too far away to do so.
        let rough = Gradient { estimate: 0.3, ..calm };
        for _ in 0..200 {
            detector.judge(&rough);
        }
        assert!((detector.threshold - 18.0).abs() < 0.1, "{}", detector.threshold);
        detector.judge(&Gradient { estimate: 1.0, ..calm });
        assert!((detector.threshold - 18.0).abs() < 0.1, "{}", detector.threshold);
    }
}
