//! What a summary says of many values: means, quantiles, rates and fairness.

use crate::{CoarseHistogram, Histogram};
use serde::{Deserialize, Serialize};
use sojourn_base::Time;

/// Mean, quantiles and maximum of a distribution, in the unit its owner names; all `None` if
/// there were no values. Quantiles are within [`Histogram::ERROR`] (or
/// [`CoarseHistogram::ERROR`]); mean and maximum are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// The mean.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// 90 % of all values are no larger.
    pub p90: Option<f64>,
    /// 99 % of all values are no larger.
    pub p99: Option<f64>,
    /// The largest value.
    pub max: Option<f64>,
}

/// Nanoseconds in a second, the `unit` for histograms of nanoseconds.
pub(super) const SECOND: f64 = 1e9;

impl Quantiles {
    /// The statistics of `histogram`, each divided by `unit`: 1 for packets and bytes, 1e9 for
    /// seconds from nanoseconds.
    #[must_use]
    pub fn of(histogram: &Histogram, unit: f64) -> Self {
        let at = |p| histogram.quantile(p);
        Self::from(histogram.mean(), at, histogram.max(), unit)
    }

    fn from(
        mean: Option<f64>,
        quantile: impl Fn(f64) -> Option<u64>,
        max: Option<u64>,
        unit: f64,
    ) -> Self {
        let at = |p| quantile(p).map(|v| v as f64 / unit);
        Self {
            mean: mean.map(|v| v / unit),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            max: max.map(|v| v as f64 / unit),
        }
    }

    /// The statistics of a histogram of nanoseconds, in seconds.
    #[must_use]
    pub fn seconds(histogram: &Histogram) -> Self {
        Self::of(histogram, SECOND)
    }

    /// The statistics of a coarse histogram of nanoseconds, in seconds.
    #[must_use]
    pub fn seconds_coarse(histogram: &CoarseHistogram) -> Self {
        let at = |p| histogram.quantile(p);
        Self::from(histogram.mean(), at, histogram.max(), SECOND)
    }
}

/// A distribution with its curve.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of values.
    pub count: u64,
    /// Mean, quantiles and maximum.
    #[serde(flatten)]
    pub quantiles: Quantiles,
    /// The distribution function as pairs (value, fraction of values at or below it), from
    /// (minimum, 0) to (maximum, 1); empty if there were no values.
    pub cdf: Vec<(f64, f64)>,
}

impl Distribution {
    /// Points of the curve that are kept: enough for a smooth figure, a few kilobytes.
    pub const POINTS: usize = 200;

    /// The distribution in a histogram of nanoseconds, in seconds.
    #[must_use]
    pub fn seconds(histogram: &Histogram) -> Self {
        let point = |(value, fraction)| (value as f64 / SECOND, fraction);
        Self {
            count: histogram.count(),
            quantiles: Quantiles::seconds(histogram),
            cdf: histogram.cdf(Self::POINTS).into_iter().map(point).collect(),
        }
    }
}

/// `part / whole`, or `None` if `whole` is zero.
#[must_use]
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// `bytes` over `window` in bits per second, or `None` over no time.
#[must_use]
pub fn rate_bps(bytes: u64, window: Time) -> Option<f64> {
    (window > Time::ZERO).then(|| bytes as f64 * 8.0 / (window.0 as f64 / SECOND))
}

/// Jain's fairness index (Σx)² / (n·Σx²) of non-negative shares (Jain, Chiu, Hawe, DEC-TR-301,
/// 1984, equation 2): 1 if all are equal, 1/n if one has everything. `None` without shares or if
/// all are zero.
#[must_use]
pub fn jain(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut n, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares {
        n += 1.0;
        sum += share;
        squares += share * share;
    }
    let index = sum * sum / (n * squares);
    (squares > 0.0 && index.is_finite()).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_over_nothing_are_undefined() {
        assert_eq!((ratio(1, 0), ratio(1, 4)), (None, Some(0.25)));
        assert_eq!(rate_bps(1000, Time::ZERO), None);
        assert_eq!(rate_bps(1_000, Time::from_millis(1)), Some(8_000_000.0));
    }

    #[test]
    fn nanoseconds_become_seconds_in_fine_and_in_coarse_histograms() {
        let (mut fine, mut coarse) = (Histogram::new(), CoarseHistogram::new());
        for ns in (1..=1000).map(|ms| ms * 1_000_000) {
            fine.record(ns);
            coarse.record(ns);
        }
        let cases = [
            (Quantiles::seconds(&fine), Histogram::ERROR),
            (Quantiles::seconds_coarse(&coarse), CoarseHistogram::ERROR),
        ];
        for (found, error) in cases {
            assert_eq!((found.mean, found.max), (Some(0.5005), Some(1.0)));
            for (found, exact) in [(found.p50, 0.5), (found.p90, 0.9), (found.p99, 0.99)] {
                assert!((found.unwrap() / exact - 1.0).abs() <= error, "{exact}: {found:?}");
            }
        }
        let curve = Distribution::seconds(&fine).cdf;
        let (least, greatest) = (curve[0], curve[curve.len() - 1]);
        assert!((least.0 / 0.001 - 1.0).abs() <= Histogram::ERROR && least.1 == 0.0, "{least:?}");
        assert_eq!(greatest, (1.0, 1.0));
    }

    #[test]
    fn jains_index_runs_from_one_over_n_to_one() {
        assert_eq!(jain([3.0, 3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain([8.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!((jain([]), jain([0.0, 0.0])), (None, None));
    }
}
