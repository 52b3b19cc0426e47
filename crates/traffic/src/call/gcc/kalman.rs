//! The draft's arrival-time filter: how fast the queueing delay grows (section 5.3).

use super::groups::Variation;

/// State noise q.
const NOISE: f64 = 1e-3;
/// Coefficient χ of the measured noise's variance.
const CHI: f64 = 0.01;
/// Groups over which their highest rate is looked for, K.
const RECENT: usize = 5;

/// What is known when a group is complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gradient {
    /// By how much the delay grows from group to group, ms.
    pub estimate: f64,
    /// How many groups it is made of.
    pub groups: u32,
    /// Time between the last two groups at the sender, ms.
    pub spacing: f64,
}

/// The filter.
#[derive(Clone, Debug)]
pub(super) struct Kalman {
    estimate: f64,
    error: f64,
    variance: f64,
    spacings: [f64; RECENT],
    groups: u32,
}

impl Default for Kalman {
    fn default() -> Self {
        Self {
            estimate: 0.0,
            error: 0.1,
            variance: 1.0,
            spacings: [f64::INFINITY; RECENT],
            groups: 0,
        }
    }
}

impl Kalman {
    /// A group is complete.
    pub(super) fn take(&mut self, group: &Variation) -> Gradient {
        self.update(group.delay, group.sent);
        Gradient { estimate: self.estimate, groups: self.groups, spacing: group.sent }
    }

    /// A step of the Kalman filter.
    fn update(&mut self, variation: f64, spacing: f64) {
        self.spacings[self.groups as usize % RECENT] = spacing;
        self.groups += 1;
        let shortest = self.spacings.iter().copied().fold(f64::INFINITY, f64::min);
        // 30/(1000 f) with f the highest rate of groups per millisecond.
        let keep = libm::pow(1.0 - CHI, 30.0 * shortest / 1000.0);
        let new = variation - self.estimate;
        let bounded = new.clamp(-3.0 * self.variance.sqrt(), 3.0 * self.variance.sqrt());
        self.variance = (keep * self.variance + (1.0 - keep) * bounded * bounded).max(1.0);
        let gain = (self.error + NOISE) / (self.variance + self.error + NOISE);
        self.estimate += new * gain;
        self.error = (1.0 - gain) * (self.error + NOISE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_converges_to_how_the_delay_grows() {
        for growth in [0.0, 0.5, -0.5, 2.0] {
            let mut filter = Kalman::default();
            for _ in 0..600 {
                filter.take(&Variation { delay: growth, sent: 33.0, received: 33.0 + growth });
            }
            let estimate = filter.estimate;
            assert!((estimate - growth).abs() < 0.05 * growth.abs() + 1e-6, "{growth} {estimate}");
        }
    }
}
