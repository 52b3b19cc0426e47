//! The threshold of over-use, which follows what is usual (section 5.4).

/// Further above the threshold than this, ms, it is left alone.
const OUTLIER: f64 = 15.0;
/// Its bounds, ms.
const LEAST: f64 = 6.0;
const MOST: f64 = 600.0;
/// Longest time that counts for one step, ms.
const STEP: f64 = 100.0;

/// The threshold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    /// In ms.
    pub at: f64,
    /// How fast it goes up and down, per ms.
    up: f64,
    down: f64,
}

impl Threshold {
    pub(super) const fn new(up: f64, down: f64) -> Self {
        Self { at: 12.5, up, down }
    }

    /// A drift of so many ms was seen, `passed` ms after the last.
    pub(super) fn adapt(&mut self, drift: f64, passed: f64) {
        let size = drift.abs();
        if size <= self.at + OUTLIER {
            let speed = if size < self.at { self.down } else { self.up };
            self.at += passed.min(STEP) * speed * (size - self.at);
            self.at = self.at.clamp(LEAST, MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_follows_what_is_usual() {
        let mut threshold = Threshold::new(0.01, 0.00018);
        for _ in 0..2000 {
            threshold.adapt(0.0, 33.0);
        }
        assert_eq!(threshold.at, LEAST);
        // A drift of 18 ms for a while lifts it there; one of 60 ms is too far away to do so.
        for _ in 0..200 {
            threshold.adapt(18.0, 33.0);
        }
        assert!((threshold.at - 18.0).abs() < 0.1, "{}", threshold.at);
        threshold.adapt(-60.0, 33.0);
        assert!((threshold.at - 18.0).abs() < 0.1, "{}", threshold.at);
    }
}
