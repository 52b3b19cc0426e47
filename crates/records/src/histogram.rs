//! Log-linear histograms: every value of a `u64`, a bounded relative error, mergeable.
//!
//! The idea is that of HdrHistogram (Tene) and DDSketch (Masson, Rim, Lee, VLDB 2019) with a
//! power-of-two layout: each octave is cut into 2ᴮ buckets of equal width, so a bucket's index is
//! a shift and an addition. A bucket `[low, low + 2ˢ)` with `s > 0` has `low ≥ 2ᴮ⁺ˢ`, and its
//! middle is therefore within `2⁻⁽ᴮ⁺¹⁾` of every value in it; below `2ᴮ⁺¹` values are exact.
//!
//! Counts, sum, minimum and maximum are integers: merging in any order gives the same result.

use sojourn_base::product;

/// Buckets per octave of [`Histogram`], as a power of two.
const FINE: u32 = 8;

/// The bucket of `value` with 2ᴮ buckets per octave.
#[inline(always)]
pub(crate) const fn index<const B: u32>(value: u64) -> usize {
    let shift = 63 - B - (value | 1 << B).leading_zeros();
    ((shift as usize) << B) + (value >> shift) as usize
}

/// The smallest and the largest value of bucket `index`.
const fn bounds<const B: u32>(index: usize) -> (u64, u64) {
    let octave = index >> B;
    if octave <= 1 {
        return (index as u64, index as u64);
    }
    let shift = octave as u32 - 1;
    let low = ((index - ((shift as usize) << B)) as u64) << shift;
    (low, low + ((1 << shift) - 1))
}

/// The middle of bucket `index`, rounded down.
const fn middle<const B: u32>(index: usize) -> u64 {
    let (low, high) = bounds::<B>(index);
    low + (high - low) / 2
}

/// Nearest rank: the number of values, counted from the smallest, that quantile `p` has to cover.
/// At least 1, at most `total`.
fn rank(p: f64, total: u128) -> u128 {
    let exact = p.clamp(0.0, 1.0) * total as f64;
    let whole = exact as u128;
    (whole + u128::from(exact > whole as f64)).clamp(1, total)
}

/// The value at or below which a fraction `p` of all values lies, of `counts` by bucket with 2ᴮ
/// buckets per octave, in rising order; none if there are no values.
pub(crate) fn quantile<const B: u32>(
    p: f64,
    counts: impl Iterator<Item = (usize, u128)> + Clone,
    (min, max): (u64, u64),
) -> Option<u64> {
    let total: u128 = counts.clone().map(|(_, count)| count).sum();
    if total == 0 {
        return None;
    }
    let rank = rank(p, total);
    let mut seen = 0;
    for (index, count) in counts {
        seen += count;
        if seen >= rank {
            return Some(match rank {
                1 => min,
                _ if rank == total => max,
                _ => middle::<B>(index).clamp(min, max),
            });
        }
    }
    Some(max)
}

/// A histogram of `u64` values (nanoseconds, packets, bytes) whose quantiles are within
/// 1/512 = 0.2 % of the exact ones at every value, and exact below 512.
///
/// Count, mean, minimum and maximum are exact. An unused histogram takes 72 bytes; a used one
/// takes 2 kB per octave below its largest value: 26 kB for values up to 1 ms in nanoseconds,
/// 46 kB for a second, 116 kB at most.
///
/// Values may have weights ([`record_n`](Self::record_n)): a queue length recorded with the
/// nanoseconds it lasted gives the time-weighted distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    counts: Vec<u64>,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl Histogram {
    /// The bound on a quantile's relative error.
    pub const ERROR: f64 = 1.0 / (2u64 << FINE) as f64;

    /// An empty histogram; it allocates nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: Vec::new(), sum: 0, min: u64::MAX, max: 0 }
    }

    /// Adds `value` once. Neither a count nor the sum saturates here: so many values do not come
    /// one at a time.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let Some(count) = self.counts.get_mut(index::<FINE>(value)) else {
            return self.record_above(value, 1);
        };
        *count += 1;
        self.sum += u128::from(value);
        self.see(value);
    }

    /// Adds `value` with a weight: `weight` times at once. Bucket counts and the sum saturate
    /// instead of overflowing, which takes 584 years of nanoseconds.
    #[inline]
    pub fn record_n(&mut self, value: u64, weight: u64) {
        if weight == 0 {
            return;
        }
        let Some(count) = self.counts.get_mut(index::<FINE>(value)) else {
            return self.record_above(value, weight);
        };
        *count = count.saturating_add(weight);
        self.sum = self.sum.saturating_add(product(value, weight));
        self.see(value);
    }

    /// The extremes, which seldom change: comparisons alone, and nothing is written.
    #[inline(always)]
    fn see(&mut self, value: u64) {
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
    }

    /// The same for a value beyond all buckets so far.
    #[cold]
    #[inline(never)]
    fn record_above(&mut self, value: u64, weight: u64) {
        self.grow(index::<FINE>(value));
        self.record_n(value, weight);
    }

    /// Makes room up to the end of the octave of `index`.
    fn grow(&mut self, index: usize) {
        let length = ((index >> FINE) + 1) << FINE;
        self.counts.reserve_exact(length - self.counts.len());
        self.counts.resize(length, 0);
    }

    /// Adds everything `other` has seen.
    pub fn merge(&mut self, other: &Self) {
        if other.counts.len() > self.counts.len() {
            self.grow(other.counts.len() - 1);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets all values and keeps the memory: for the end of a warm-up.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.sum, self.min, self.max) = (0, u64::MAX, 0);
    }

    /// Whether nothing has been recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.min > self.max
    }

    /// The number of values, or the sum of their weights.
    #[must_use]
    pub fn count(&self) -> u64 {
        u64::try_from(self.total()).unwrap_or(u64::MAX)
    }

    fn total(&self) -> u128 {
        self.counts.iter().map(|&n| u128::from(n)).sum()
    }

    /// The sum of all values times their weights.
    #[must_use]
    pub const fn sum(&self) -> u128 {
        self.sum
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

    /// The exact (weighted) mean.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum as f64 / self.total() as f64)
    }

    /// The value at or below which a fraction `p` of all weight lies (nearest rank: the value of
    /// rank ⌈p·n⌉, from the smallest), within [`Self::ERROR`] of the exact one. `p` outside
    /// `0..=1` is taken as the nearer end; 0 gives the minimum, 1 the maximum.
    #[must_use]
    pub fn quantile(&self, p: f64) -> Option<u64> {
        let counts = self.counts.iter().enumerate().map(|(index, &n)| (index, u128::from(n)));
        quantile::<FINE>(p, counts, (self.min, self.max))
    }

    /// The distribution function as points (value, fraction of all weight at or below it), at
    /// most `points` (at least 2) of them, both coordinates rising, from (minimum, 0) to
    /// (maximum, 1). Every point after the first lies exactly on the exact distribution function,
    /// since its value is the end of a bucket; points are spaced evenly along the curve (fraction
    /// against logarithm of the value), so that steep parts and the tail both keep theirs.
    #[must_use]
    pub fn cdf(&self, points: usize) -> Vec<(u64, f64)> {
        let total = self.total() as f64;
        if self.is_empty() {
            return Vec::new();
        }
        let first = index::<FINE>(self.min);
        let last = index::<FINE>(self.max);
        let occupied = self.counts.iter().filter(|&&n| n > 0).count();
        // The curve has length 2: 1 across and 1 up. Each point kept uses up one step of it.
        let step = if occupied < points { 0.0 } else { 2.0 / (points.max(3) - 2) as f64 };
        let across = 1.0 / (last - first).max(1) as f64;

        let mut curve = vec![(self.min, 0.0)];
        let (mut seen, mut kept_index, mut kept_fraction) = (0u128, first, 0.0);
        for index in first..last {
            if self.counts[index] == 0 {
                continue;
            }
            seen += u128::from(self.counts[index]);
            let fraction = seen as f64 / total;
            let way = (index - kept_index) as f64 * across + fraction - kept_fraction;
            if way >= step && curve.len() + 1 < points {
                curve.push((bounds::<FINE>(index).1, fraction));
                (kept_index, kept_fraction) = (index, fraction);
            }
        }
        curve.push((self.max, 1.0));
        curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_tile_the_whole_range_and_bound_the_error() {
        let mut expected = 0u64;
        let last = index::<FINE>(u64::MAX);
        for i in 0..=last {
            let (low, high) = bounds::<FINE>(i);
            assert_eq!(low, expected, "bucket {i} begins where the one before ends");
            assert_eq!((index::<FINE>(low), index::<FINE>(high)), (i, i));
            let error = (middle::<FINE>(i) - low).max(high - middle::<FINE>(i)) as f64;
            assert!(error <= Histogram::ERROR * low as f64, "bucket {i}: {low}..={high}");
            expected = high.wrapping_add(1);
        }
        assert_eq!(expected, 0, "the last bucket ends at u64::MAX");
        const { assert!(Histogram::ERROR <= 0.002) };
    }

    #[test]
    fn extremes_are_recorded_without_overflow() {
        let mut h = Histogram::new();
        h.record(0);
        h.record(u64::MAX);
        assert_eq!((h.min(), h.max(), h.count()), (Some(0), Some(u64::MAX), 2));
        assert_eq!((h.quantile(0.5), h.quantile(1.0)), (Some(0), Some(u64::MAX)));
        h.record_n(u64::MAX, u64::MAX);
        h.record_n(u64::MAX, u64::MAX);
        assert!(h.quantile(0.5).is_some_and(|q| q as f64 >= (1.0 - Histogram::ERROR) * 1.8e19));
        assert_eq!(h.count(), u64::MAX);
        let copy = h.clone();
        h.merge(&copy);
        assert!(h.mean().is_some_and(f64::is_finite));
    }

    #[test]
    fn an_empty_histogram_has_no_statistics_and_no_memory() {
        let mut h = Histogram::new();
        h.record_n(5, 0);
        assert!(h.is_empty() && h.counts.capacity() == 0 && h.cdf(10).is_empty());
        assert_eq!((h.mean(), h.quantile(0.5), h.min(), h.max()), (None, None, None, None));
    }

    #[test]
    fn clearing_forgets_values_but_keeps_memory() {
        let mut h = Histogram::new();
        h.record(1_000_000);
        let room = h.counts.capacity();
        h.clear();
        assert!(h.is_empty() && h.quantile(0.5).is_none());
        h.record(7);
        assert_eq!((h.mean(), h.max(), h.counts.capacity()), (Some(7.0), Some(7), room));
    }

    #[test]
    fn weights_give_the_time_average_of_a_queue() {
        // 3 packets for 10 ms, 1 packet for 30 ms: mean (3·10 + 1·30)/40.
        let mut h = Histogram::new();
        h.record_n(3, 10_000_000);
        h.record_n(1, 30_000_000);
        assert_eq!(h.mean(), Some(1.5));
        assert_eq!((h.quantile(0.75), h.quantile(0.76)), (Some(1), Some(3)));
    }
}
