//! The draft's over-use detector (section 5.4).

use super::kalman::Gradient;
use super::threshold::Threshold;
use super::usage::{GROUPS, LASTING, Use};

/// The detector.
#[derive(Clone, Debug)]
pub(super) struct Detector {
    threshold: Threshold,
    last: f64,
    /// How long it has been above, ms.
    over: f64,
}

impl Default for Detector {
    fn default() -> Self {
        Self { threshold: Threshold::new(0.01, 0.00018), last: 0.0, over: 0.0 }
    }
}

impl Detector {
    /// What a new gradient says.
    pub(super) fn judge(&mut self, gradient: &Gradient) -> Use {
        let &Gradient { estimate, groups, spacing } = gradient;
        let drift = estimate * f64::from(groups.min(GROUPS));
        let found = if drift > self.threshold.at {
            self.over += spacing;
            if self.over >= LASTING && estimate >= self.last { Use::Over } else { Use::Normal }
        } else {
            self.over = 0.0;
            if drift < -self.threshold.at { Use::Under } else { Use::Normal }
        };
        self.last = estimate;
        self.threshold.adapt(drift, spacing);
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
}
