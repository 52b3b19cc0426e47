//! `autorate_ingress`: an estimate of the rate at which packets come, from how many bytes come
//! between gaps.

use sojourn_base::Time;

const SECOND: u64 = 1_000_000_000;
/// How long the machine has been up when a run begins: Linux's clock counts from there, so that the
/// first packet ends a long gap and a window with next to nothing in it.
const UP: Time = Time::from_secs(100_000);

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
}

impl Autorate {
    /// Begins with `rate` in bits per second; 0 if there is none.
    pub(super) fn new(rate: u64) -> Self {
        Self { last: Time::ZERO, interval: 0, since: Time::ZERO, bytes: 0, peak: rate / 8 }
    }

    /// A packet comes that adds `bytes` to what stands. The rate in bits per second that the shaper
    /// is to have from now on, if that changes: 15/16 of the estimate.
    pub(super) fn arrival(&mut self, now: Time, bytes: i64) -> Option<u64> {
        let now = now.saturating_add(UP);
        self.bytes = self.bytes.saturating_add_signed(bytes);
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
        Some(((self.peak * 15) >> 4) * 8)
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
        // Whenever the first packet comes, it ends a second, and a window without a rate.
        let start = Time::from_millis(5);
        assert_eq!(auto.arrival(start, 1500), Some(934 * 8));
        assert_eq!((auto.peak, auto.interval, auto.bytes), (997, SECOND / 4, 0));
        // A gap as long as the mean is none; the mean moves by a 256th.
        let second = start + Time::from_millis(250);
        assert_eq!(auto.arrival(second, 700), None);
        assert_eq!((auto.interval, auto.bytes), (SECOND / 4, 700));
        assert_eq!(auto.arrival(second, 352), None);
        // A packet for which an acknowledgement of 52 bytes goes that takes none up itself.
        assert_eq!(auto.arrival(second, -52), None);
        let mean = SECOND / 4 - ((SECOND / 4) >> 8);
        let mean = mean - (mean >> 8);
        assert_eq!((auto.interval, auto.bytes), (mean, 1000));
        // A longer one moves it by a quarter of the way; 1500 bytes in 0.75 s are above the peak.
        let end = second + Time::from_millis(500);
        assert_eq!(auto.arrival(end, 500), Some(1170 * 8));
        assert_eq!(auto.interval, mean - (mean >> 2) + SECOND / 8);
        assert_eq!((auto.peak, auto.bytes, auto.since), (997 - 249 + 500, 0, end + UP));
        // Each gap changes the rate, however soon. 100 bytes in 0.2 s are below the peak.
        let mut soon = Autorate { interval: 0, ..auto.clone() };
        assert_eq!(soon.arrival(end + Time::from_millis(200), 100), Some(1167 * 8));
        assert_eq!(soon.peak, 1248 - 4 + 1);
        // No gap is beyond a second.
        let was = auto.interval;
        auto.arrival(end + Time::from_secs(100), 100);
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
