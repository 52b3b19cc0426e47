//! How the rate grows: by a factor far from where it last fell, by steps near it (section 5.5).

use sojourn_base::Time;

/// Growth in a second.
const FACTOR: f64 = 1.08;
/// Share of a new value in the averages.
const SHARE: f64 = 0.05;
/// Bounds of the variance over the mean, in kb/s.
const LEAST: f64 = 0.4;
const MOST: f64 = 2.5;
/// A packet of a frame at most, bits.
const PACKET: f64 = 1200.0 * 8.0;

/// Where the rate fell before.
#[derive(Clone, Debug)]
pub(super) struct Increase {
    /// Mean of the received rate at decreases, kb/s.
    mean: Option<f64>,
    /// Its variance over its mean, kb/s.
    variance: f64,
}

impl Default for Increase {
    fn default() -> Self {
        Self { mean: None, variance: LEAST }
    }
}

impl Increase {
    /// Whether a rate in kb/s is that far above the mean, in standard deviations; none without a
    /// mean.
    fn deviations(&self, rate: f64) -> Option<f64> {
        self.mean.map(|mean| (rate - mean) / (self.variance * mean).sqrt())
    }

    /// The rate falls, with so many bits per second received.
    pub(super) fn at_decrease(&mut self, received: f64) {
        let rate = received / 1e3;
        if self.deviations(rate).is_some_and(|far| far.abs() > 3.0) {
            self.mean = None;
        }
        let mean = self.mean.map_or(rate, |mean| mean + SHARE * (rate - mean));
        let off = (rate - mean) * (rate - mean) / mean.max(1.0);
        self.variance = ((1.0 - SHARE) * self.variance + SHARE * off).clamp(LEAST, MOST);
        self.mean = Some(mean);
    }

    /// What a rate becomes after `passed`, all in bits per second.
    pub(super) fn grown(
        &mut self,
        rate: f64,
        received: f64,
        passed: Time,
        round_trip: Time,
    ) -> f64 {
        if self.deviations(received / 1e3).is_some_and(|far| far > 3.0) {
            // The network has become faster.
            self.mean = None;
        }
        let seconds = passed.as_secs_f64().min(1.0);
        if self.deviations(received / 1e3).is_none_or(|far| far < -3.0) {
            return rate * libm::pow(FACTOR, seconds);
        }
        let response = 0.1 + round_trip.as_secs_f64();
        let frame = rate / 30.0;
        let packet = frame / libm::ceil(frame / PACKET);
        // Half a packet in a response time.
        rate + (0.5 * (seconds / response).min(1.0) * packet).max(1000.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_by_steps_near_the_last_fall_and_by_a_factor_elsewhere() {
        let mut increase = Increase::default();
        let second = Time::from_secs(1);
        let grown = |increase: &mut Increase, received| {
            increase.grown(1e6, received, second, Time::from_millis(100)) - 1e6
        };
        assert!((grown(&mut increase, 1e6) - 80_000.0).abs() < 1e-6);
        increase.at_decrease(1e6);
        // 1 Mb/s are 33.3 kbit in a frame, four packets of 8.33 kbit.
        assert!((grown(&mut increase, 1e6) - 0.5 * 1e6 / 120.0).abs() < 1e-6);
        // The deviation of 1 Mb/s is 20 kb/s at the least variance; three of them are near.
        for near in [0.945e6, 1.055e6] {
            assert!((grown(&mut increase, near) - 0.5 * 1e6 / 120.0).abs() < 1e-6, "{near}");
        }
        assert!((grown(&mut increase, 0.935e6) - 80_000.0).abs() < 1e-6, "far below");
        assert!((grown(&mut increase, 1e6) - 0.5 * 1e6 / 120.0).abs() < 1e-6);
        // Half of a response time of 100 ms and a round trip.
        let half = increase.grown(1e6, 1e6, second / 10, second / 10) - 1e6;
        assert!((half - 0.25 * 1e6 / 120.0).abs() < 1e-6, "{half}");
        assert!((grown(&mut increase, 1.2e6) - 80_000.0).abs() < 1e-6, "far above: forgotten");
        assert!((grown(&mut increase, 1e6) - 80_000.0).abs() < 1e-6);
    }

    #[test]
    fn averages_of_falls_take_a_twentieth_of_the_new() {
        let mut increase = Increase::default();
        increase.at_decrease(1e6);
        assert_eq!((increase.mean, increase.variance), (Some(1000.0), LEAST));
        // 55 kb/s more is within three deviations of 20 kb/s. The variance becomes 19/20 of 0.4,
        // and 1/20 of 52.25² over the mean.
        increase.at_decrease(1.055e6);
        assert!((increase.mean.unwrap() - 1002.75).abs() < 1e-9, "{increase:?}");
        let variance = 0.38 + 52.25 * 52.25 / 1002.75 / 20.0;
        assert!((increase.variance - variance).abs() < 1e-9, "{increase:?}");
        // Ten times as much is another network.
        increase.at_decrease(1e7);
        assert_eq!(increase.mean, Some(1e4));
    }
}
