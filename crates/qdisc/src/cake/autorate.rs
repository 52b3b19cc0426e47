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
