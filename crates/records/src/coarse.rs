//! The histogram of one flow among very many: the layout of [`Histogram`](crate::Histogram) with
//! wider buckets, narrower counts, and room only for the octaves that were seen.

use crate::histogram::{index, quantile};

/// Buckets per octave, as a power of two.
const COARSE: u32 = 4;

/// A small histogram for many owners, such as the round-trip times of one flow: quantiles within
/// 1/32 = 3.1 % (exact below 32), mean, minimum and maximum exact.
///
/// It takes 64 bytes per octave between its smallest and its largest value, so 1 kB spans a
/// factor of 32,000 and a usual flow takes 200 to 400 bytes. Counts saturate at 2³² − 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoarseHistogram {
    counts: Vec<u32>,
    /// Index of the first bucket in `counts`.
    first: usize,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for CoarseHistogram {
    fn default() -> Self {
        Self::new()
    }
}

impl CoarseHistogram {
    /// The bound on a quantile's relative error.
    pub const ERROR: f64 = 1.0 / (2u64 << COARSE) as f64;

    /// An empty histogram; it allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: Vec::new(), first: 0, count: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Adds `value` once.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let index = index::<COARSE>(value);
        // Below `first` the difference wraps round and is out of range as well.
        if index.wrapping_sub(self.first) >= self.counts.len() {
            self.cover(index, index);
        }
        let count = &mut self.counts[index - self.first];
        *count = count.saturating_add(1);
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Widens `counts` to the whole octaves from that of bucket `low` to that of bucket `high`.
    #[cold]
    #[inline(never)]
    fn cover(&mut self, low: usize, high: usize) {
        let octave = |index: usize| index >> COARSE << COARSE;
        let (mut first, mut end) = (octave(low), octave(high) + (1 << COARSE));
        if !self.counts.is_empty() {
            first = first.min(self.first);
            end = end.max(self.first + self.counts.len());
        }
        let mut counts = vec![0; end - first];
        let offset = self.first.saturating_sub(first);
        counts[offset..offset + self.counts.len()].copy_from_slice(&self.counts);
        (self.counts, self.first) = (counts, first);
    }

    /// Adds everything `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        if other.is_empty() {
            return;
        }
        self.cover(other.first, other.first + other.counts.len() - 1);
        for (mine, theirs) in self.counts[other.first - self.first..].iter_mut().zip(&other.counts)
        {
            *mine = mine.saturating_add(*theirs);
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.count, self.sum, self.min, self.max) = (0, 0, u64::MAX, 0);
    }

    /// Whether nothing has been recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of values.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value.
    #[must_use]
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min)
    }

    /// The largest value.
    #[must_use]
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// The exact mean.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.count as f64)
    }

    /// The value at or below which a fraction `p` of all values lies (nearest rank), within
    /// [`Self::ERROR`] of the exact one.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let counts = self.counts.iter().enumerate();
        let counts = counts.map(|(offset, &n)| (self.first + offset, u128::from(n)));
        quantile::<COARSE>(p, counts, (self.min, self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_coarse_histogram_has_no_statistics_and_no_memory() {
        let c = CoarseHistogram::new();
        assert!(c.is_empty() && c.counts.capacity() == 0);
        assert_eq!((c.quantile(0.5), c.mean(), c.min(), c.max()), (None, None, None, None));
    }

    #[test]
    fn a_coarse_histogram_of_round_trip_times_stays_within_a_kilobyte() {
        let mut h = CoarseHistogram::new();
        for microseconds in [300_000, 40_000, 20, 65, 5_000, 600_000] {
            h.record(microseconds * 1000);
        }
        assert!(h.counts.capacity() * 4 <= 1024 + 64, "{}", h.counts.capacity() * 4);
        assert_eq!((h.count(), h.min(), h.max()), (6, Some(20_000), Some(600_000_000)));
    }
}
