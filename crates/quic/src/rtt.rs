//! Round trips: RFC 9002 section 5 and appendix A.7.
//!
//! # Differences from the source
//!
//! 1. Fixed point as in RFC 6298's implementations: the smoothed value is kept times 8 and the
//!    variation times 4, so that the gains lose nothing.
//! 2. `min_rtt` is never taken anew, not even after persistent congestion (section 5.2 says
//!    SHOULD), as paths of a simulation stay.

use crate::params::Params;
use sojourn_base::Time;

/// `kGranularity` (RFC 9002 section 6.1.2).
pub const GRANULARITY: Time = Time::from_millis(1);

/// What is known of the round trip.
#[derive(Clone, Debug)]
pub(crate) struct Rtt {
    /// `smoothed_rtt` times 8.
    smoothed8: u64,
    /// `rttvar` times 4.
    variation4: u64,
    pub latest: Time,
    pub min: Time,
    /// When the first sample came.
    pub first_sample: Option<Time>,
}

impl Rtt {
    /// Before any sample (section 5.3): half the initial value is the variation.
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            smoothed8: params.initial_rtt.0 << 3,
            variation4: params.initial_rtt.0 << 1,
            latest: Time::ZERO,
            min: Time::ZERO,
            first_sample: None,
        }
    }

    /// Its mean deviation (`rttvar`).
    pub(crate) fn variation(&self) -> Time {
        Time(self.variation4 >> 2)
    }

    pub(crate) fn smoothed(&self) -> Time {
        Time(self.smoothed8 >> 3)
    }

    /// The smoothed round trip, once there is a sample.
    pub(crate) fn known(&self) -> Option<Time> {
        self.first_sample.map(|_| self.smoothed())
    }

    /// A sample, of which the peer says that it held the acknowledgement for `ack_delay`, already
    /// limited to what it may.
    pub(crate) fn sample(&mut self, now: Time, latest: Time, ack_delay: Time) {
        self.latest = latest;
        if self.first_sample.is_none() {
            (self.smoothed8, self.variation4) = (latest.0 << 3, latest.0 << 1);
            (self.min, self.first_sample) = (latest, Some(now));
            return;
        }
        self.min = self.min.min(latest); // without the acknowledgement's delay: section 5.2
        // Section 5.3: never below the least.
        let held = if latest >= self.min + ack_delay { ack_delay } else { Time::ZERO };
        let adjusted = (latest - held).0;
        let deviation = (self.smoothed8 >> 3).abs_diff(adjusted);
        self.variation4 = self.variation4 - (self.variation4 >> 2) + deviation;
        self.smoothed8 = self.smoothed8 - (self.smoothed8 >> 3) + adjusted;
    }

    /// The probe timeout without backoff and without the peer's delay (section 6.2.1).
    pub(crate) fn probe_timeout(&self) -> Time {
        Time((self.smoothed8 >> 3) + self.variation4.max(GRANULARITY.0))
    }

    /// How long after a packet another must be acknowledged for the first to be lost: 9/8 of a
    /// round trip (section 6.1.2).
    pub(crate) fn loss_delay(&self) -> Time {
        let rtt = self.latest.max(self.smoothed()).0;
        Time(rtt + (rtt >> 3)).max(GRANULARITY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;

    fn ms(n: u64) -> Time {
        Time::from_millis(n)
    }

    fn new() -> Rtt {
        Rtt::new(&Spec::resolve(&[]).unwrap())
    }

    #[test]
    fn initial_probe_timeout_is_999_ms() {
        // RFC 9002 sections 6.2.2 and 5.3: 333 + 4 * 333 / 2.
        assert_eq!(new().probe_timeout(), ms(999));
    }

    #[test]
    fn first_sample_sets_everything() {
        let mut rtt = new();
        rtt.sample(ms(500), ms(100), ms(20));
        assert_eq!((rtt.smoothed(), rtt.min, rtt.latest), (ms(100), ms(100), ms(100)));
        assert_eq!(rtt.probe_timeout(), ms(100 + 4 * 50));
        assert_eq!(rtt.loss_delay(), Time::from_micros(112_500));
    }

    #[test]
    fn delay_of_acknowledgement_is_taken_off_down_to_the_least() {
        let mut rtt = new();
        rtt.sample(ms(0), ms(100), Time::ZERO);
        // 140 - 20 counts: (7 * 100 + 120) / 8; the variation is (3 * 50 + 20) / 4.
        rtt.sample(ms(0), ms(140), ms(20));
        assert_eq!(rtt.smoothed(), Time::from_micros(102_500));
        assert_eq!(rtt.probe_timeout(), Time::from_micros(102_500 + 170_000));
        // 110 - 20 would be below the least: 110 counts.
        rtt.sample(ms(0), ms(110), ms(20));
        assert_eq!(rtt.smoothed().0, (102_500_000 * 7 + 110_000_000) / 8);
        assert_eq!(rtt.min, ms(100));
    }

    #[test]
    fn least_probe_timeout_has_the_granularity() {
        let mut rtt = new();
        for _ in 0..200 {
            rtt.sample(ms(0), ms(10), Time::ZERO);
        }
        assert_eq!(rtt.probe_timeout(), ms(11));
    }
}
