//! `autorate_ingress`: an estimate of the rate at which packets come, from how many bytes come
//! between gaps.

use sojourn_base::Time;

const SECOND: u64 = 1_000_000_000;
/// Least time between two changes of the shaper's rate.
const PERIOD: Time = Time::from_millis(250);

/// The estimate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Autorate {
    /// When the last packet came.
    last: Time,
    /// Mean time between packets, in nanoseconds.
    interval: u64,
    /// Since when `bytes` have come.
    since: Time,
    bytes: u64,
    /// Bytes per second.
    peak: u64,
    /// When the shaper's rate was changed last.
    changed: Time,
}

impl Autorate {
    /// Begins with `rate` in bits per second; 0 if there is none.
    pub(super) fn new(rate: u64) -> Self {
        Self {
            last: Time::ZERO,
            interval: 0,
            since: Time::ZERO,
            bytes: 0,
            peak: rate / 8,
            changed: Time::ZERO,
        }
    }

    /// A packet of `bytes` comes. The rate in bits per second that the shaper is to have from now
    /// on, if that changes: 15/16 of the estimate.
    pub(super) fn arrival(&mut self, now: Time, bytes: u32) -> Option<u64> {
        self.bytes += u64::from(bytes);
        let gap = now.saturating_sub(self.last).0.min(SECOND);
        self.last = now;
        // Quick up, slow down: bursts are not gaps.
        self.interval = average(self.interval, gap, if gap > self.interval { 2 } else { 8 });
        if gap <= self.interval {
            return None;
        }
        let window = now.saturating_sub(self.since).0.max(1);
        let rate = u128::from(self.bytes) * u128::from(SECOND) / u128::from(window);
        let rate = u64::try_from(rate).unwrap_or(u64::MAX >> 8);
        self.peak = average(self.peak, rate, if rate > self.peak { 2 } else { 8 });
        (self.bytes, self.since) = (0, now);
        (now.saturating_sub(self.changed) > PERIOD).then(|| {
            self.changed = now;
            self.peak / 16 * 15 * 8
        })
    }
}

/// An average that takes a new sample in with a weight of 2^-`shift`.
fn average(mean: u64, sample: u64, shift: u32) -> u64 {
    mean - (mean >> shift) + (sample >> shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_ends_a_window_and_its_rate_moves_the_estimate() {
        let mut auto = Autorate::new(8000);
        assert_eq!(auto.peak, 1000);
        // 1500 bytes in a second are above it: a quarter of the way there, and 15/16 of that.
        assert_eq!(auto.arrival(Time(SECOND), 1500), Some(1125 / 16 * 15 * 8));
        assert_eq!((auto.interval, auto.bytes, auto.since), (SECOND / 4, 0, Time(SECOND)));
        // A gap as long as the mean is none; the mean moves by a 256th.
        assert_eq!(auto.arrival(Time(SECOND + SECOND / 4), 700), None);
        assert_eq!((auto.interval, auto.bytes), (SECOND / 4, 700));
        assert_eq!(auto.arrival(Time(SECOND + SECOND / 4), 300), None);
        let mean = SECOND / 4 - ((SECOND / 4) >> 8);
        assert_eq!((auto.interval, auto.bytes), (mean, 1000));
        // A longer one moves it by a quarter of the way; 1250 bytes in 3 s are below the peak.
        let end = Time(4 * SECOND);
        auto.last = Time(4 * SECOND - SECOND / 2);
        assert_eq!(auto.arrival(end, 250), Some((1125 - 4 + 1) / 16 * 15 * 8));
        assert_eq!(auto.interval, mean - (mean >> 2) + (SECOND / 8));
        assert_eq!((auto.peak, auto.changed, auto.since), (1122, end, end));
        // No second change within 250 ms, and no gap beyond a second.
        for (after, changes) in [(250_000_000, false), (250_000_001, true)] {
            let mut auto = Autorate { interval: 0, ..auto.clone() };
            assert_eq!(auto.arrival(end + Time(after), 100).is_some(), changes);
        }
        auto.arrival(Time(100 * SECOND), 100);
        let was = mean - (mean >> 2) + SECOND / 8;
        assert_eq!(auto.interval, was - (was >> 2) + SECOND / 4);
    }

    #[test]
    fn estimate_follows_the_arrivals_up_fast_and_down_slowly() {
        let mut autorate = Autorate::new(0);
        let mut now = 0;
        let mut rate = 0;
        // Bursts of ten packets, 12 Mb/s and then 6 Mb/s on the whole; the 15/16 of that.
        let mut run = |gap: u64, bursts: u64| {
            for _ in 0..bursts {
                now += gap;
                for packet in 0..10 {
                    rate = autorate.arrival(Time(now + packet), 1500).unwrap_or(rate);
                }
            }
            rate
        };
        let fast = run(10_000_000, 500);
        assert!((11_000_000..11_600_000).contains(&fast), "{fast}");
        let soon = run(20_000_000, 20);
        assert!(soon > 10_000_000, "{soon}");
        let slow = run(20_000_000, 2000);
        assert!((5_500_000..5_800_000).contains(&slow), "{slow}");
    }
}
