//! How late packets were, against the instant at which they were due.

use sojourn_base::{NANOS_PER_BYTE, Time};
use sojourn_records::{Distribution, Histogram};
use sojourn_scenario::Network;

/// The longest and the shortest lateness that may be the limit, ns. Below a tenth of a millisecond
/// no round trip notices; above one, short ones do.
const LIMITS: (u64, u64) = (100_000, 1_000_000);

/// Lateness of packets within the measured window, and what may be tolerated.
pub struct Lateness {
    times: Histogram,
    limit: u64,
}

impl Lateness {
    /// The limit is the time of a packet of mean size at the bottleneck, from 0.1 to 1 ms.
    #[must_use]
    pub fn new(network: &Network) -> Self {
        let link = &network.links[network.bottleneck];
        let time = |rate: u64| u64::from(link.frame(link.mean_packet)) * NANOS_PER_BYTE / rate;
        let packet = link.rate.map_or(0, |rate| time(rate.0));
        Self { times: Histogram::new(), limit: packet.clamp(LIMITS.0, LIMITS.1) }
    }

    /// A packet that was due at `due` leaves at `now`.
    #[inline]
    pub fn record(&mut self, due: Time, now: Time) {
        self.times.record(now.saturating_sub(due).0);
    }

    /// The limit, ns.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Whether the 99th percentile is beyond the limit.
    #[must_use]
    pub fn late(&self) -> bool {
        self.times.quantile(0.99).is_some_and(|p99| p99 > self.limit)
    }

    /// All of it, in seconds.
    #[must_use]
    pub fn distribution(&self) -> Distribution {
        Distribution::seconds(&self.times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::tests::dumbbell;

    #[test]
    fn the_limit_is_a_packet_time_within_bounds() {
        let limit = |rate: &str| Lateness::new(&dumbbell(rate)).limit();
        assert_eq!(limit("1gbit"), 100_000);
        assert_eq!(limit("100kbit"), 1_000_000);
        let between = limit("20mbit");
        assert!((300_000..700_000).contains(&between), "{between}");
    }

    #[test]
    fn one_packet_in_a_thousand_makes_no_run_late_and_one_in_fifty_does() {
        let mut lateness = Lateness::new(&dumbbell("100mbit"));
        for i in 0..1000 {
            lateness.record(Time(i), Time(i + if i % 1000 == 0 { 5_000_000 } else { 10_000 }));
        }
        assert!(!lateness.late());
        for i in 0..1000 {
            lateness.record(Time(i), Time(i + if i % 50 == 0 { 5_000_000 } else { 10_000 }));
        }
        assert!(lateness.late());
        assert_eq!(lateness.distribution().quantiles.max, Some(0.005));
    }
}
