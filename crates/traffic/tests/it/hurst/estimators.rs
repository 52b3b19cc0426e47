//! Long-range dependence and heavy tails, estimated from measured series. For figures,
//! calibration and tests; nothing here runs within a simulation.
//!
//! A stationary count series whose aggregates over m bins have a variance in proportion to
//! m^(2H−2) has the Hurst parameter H: 0.5 for independent counts, up to 1 for long-range dependent
//! ones. Three estimators, since each has its own bias: variance against time (Leland, Taqqu,
//! Willinger, Wilson, ToN 1994), rescaled range (R/S; Mandelbrot and Wallis 1969), and wavelets
//! (Abry and Veitch, IEEE Trans. Inf. Theory 1998, here with Haar's).
//!
//! Each takes the range of scales to fit over, in bins: what lies below shows the packets' and the
//! round trips' structure, not the sources'.

use libm::{log, log2, log10, sqrt};

/// A straight line fitted to the logarithms of a statistic over scales.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fit {
    /// The estimated Hurst parameter.
    pub hurst: f64,
    /// Slope of the fitted line.
    pub slope: f64,
    /// Its value where the logarithm of the scale is 0.
    pub intercept: f64,
    /// What was fitted: logarithm of the scale, logarithm of the statistic (base 10; base 2 for
    /// wavelets).
    pub points: Vec<(f64, f64)>,
}

impl Fit {
    fn new(points: Vec<(f64, f64, f64)>, hurst: impl Fn(f64) -> f64) -> Option<Self> {
        let (slope, intercept) = line(&points)?;
        let points = points.iter().map(|&(x, y, _)| (x, y)).collect();
        Some(Self { hurst: hurst(slope), slope, intercept, points })
    }
}

/// Least-squares line through (x, y, weight): slope and intercept; `None` for fewer than three
/// points or points without spread.
fn line(points: &[(f64, f64, f64)]) -> Option<(f64, f64)> {
    let total: f64 = points.iter().map(|p| p.2).sum();
    let x = points.iter().map(|p| p.0 * p.2).sum::<f64>() / total;
    let y = points.iter().map(|p| p.1 * p.2).sum::<f64>() / total;
    let xx: f64 = points.iter().map(|p| p.2 * (p.0 - x) * (p.0 - x)).sum();
    let xy: f64 = points.iter().map(|p| p.2 * (p.0 - x) * (p.1 - y)).sum();
    if points.len() < 3 || xx <= 0.0 || !xy.is_finite() {
        return None;
    }
    Some((xy / xx, y - xy / xx * x))
}

/// Scales from `from` to `to`, four a power of two.
fn scales(from: usize, to: usize) -> impl Iterator<Item = usize> {
    let mut last = 0;
    (0..)
        .map(move |i| (from.max(1) as f64 * libm::exp2(f64::from(i) / 4.0)) as usize)
        .take_while(move |&m| m <= to)
        .filter(move |&m| std::mem::replace(&mut last, m) != m)
}

fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    (mean, values.map(|x| (x - mean) * (x - mean)).sum::<f64>() / n)
}

/// Variance of the means of blocks of m bins against m, for `from` ≤ m ≤ `to` (and at least 16
/// blocks): H = 1 + slope/2. `None` if the series is too short or constant.
#[must_use]
pub(super) fn variance_time(counts: &[f64], from: usize, to: usize) -> Option<Fit> {
    let points = scales(from, to.min(counts.len() / 16)).filter_map(|m| {
        let means = counts.chunks_exact(m).map(|block| block.iter().sum::<f64>() / m as f64);
        let (_, variance) = moments(means);
        (variance > 0.0).then(|| (log10(m as f64), log10(variance), 1.0))
    });
    Fit::new(points.collect(), |slope| 1.0 + slope / 2.0)
}

/// Rescaled range of blocks of m bins against m, for `from` ≤ m ≤ `to` (and at least 8 blocks):
/// H is the slope. `None` if the series is too short or constant.
#[must_use]
pub(super) fn rescaled_range(counts: &[f64], from: usize, to: usize) -> Option<Fit> {
    let points = scales(from.max(8), to.min(counts.len() / 8)).filter_map(|m| {
        let (mut sum, mut blocks) = (0.0, 0u32);
        for block in counts.chunks_exact(m) {
            let (mean, variance) = moments(block.iter().copied());
            if variance > 0.0 {
                let (mut walk, mut low, mut high) = (0.0f64, 0.0f64, 0.0f64);
                for x in block {
                    walk += x - mean;
                    low = low.min(walk);
                    high = high.max(walk);
                }
                sum += (high - low) / sqrt(variance);
                blocks += 1;
            }
        }
        (blocks > 0).then(|| (log10(m as f64), log10(sum / f64::from(blocks)), 1.0))
    });
    Fit::new(points.collect(), |slope| slope)
}

/// Energy of Haar wavelet coefficients per octave j, for scales `from` ≤ 2^j ≤ `to` (and at least
/// 8 coefficients), each octave weighted by its number of coefficients: H = (slope + 1)/2. `None`
/// if the series is too short or constant.
#[must_use]
pub(super) fn wavelet(counts: &[f64], from: usize, to: usize) -> Option<Fit> {
    let mut approximation = counts.to_vec();
    let mut points = Vec::new();
    let mut scale = 1usize;
    while approximation.len() >= 16 {
        scale *= 2;
        let detail = approximation
            .chunks_exact(2)
            .map(|pair| (pair[0] - pair[1]) * (pair[0] - pair[1]) / 2.0);
        let (energy, n) = (detail.clone().sum::<f64>(), detail.len() as f64);
        if scale >= from && scale <= to && energy > 0.0 {
            points.push((log2(scale as f64), log2(energy / n), n));
        }
        approximation =
            approximation.chunks_exact(2).map(|pair| (pair[0] + pair[1]) / sqrt(2.0)).collect();
    }
    Fit::new(points, |slope| (slope + 1.0) / 2.0)
}

/// Hill's estimate of the tail index from the `k` largest values: P(X > x) falls as x^−alpha.
/// `None` unless there are more than `k` ≥ 2 values and the k largest are positive and differ.
#[must_use]
pub(super) fn hill(values: &[f64], k: usize) -> Option<f64> {
    if k < 2 || values.len() <= k {
        return None;
    }
    let mut values = values.to_vec();
    values.sort_by(|a, b| b.total_cmp(a));
    let least = values[k];
    if least.is_nan() || least <= 0.0 {
        return None;
    }
    let mean = values[..k].iter().map(|x| log(x / least)).sum::<f64>() / k as f64;
    (mean > 0.0).then(|| 1.0 / mean)
}

/// Tail index by the slope of the log-log complementary distribution over the values of
/// complementary probability between `to` and `from` (such as 0.1 and 0.001), at points evenly
/// spaced in log x; and those points (log10 x, log10 P(X > x)).
#[must_use]
pub(super) fn ccdf_slope(values: &[f64], from: f64, to: f64) -> Option<(f64, Vec<(f64, f64)>)> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let at = |tail: f64| values.get(((1.0 - tail) * n) as usize).copied();
    let (low, high) = (at(from)?, at(to)?);
    if !low.is_finite() || low <= 0.0 || high <= low {
        return None;
    }
    let mut points = Vec::new();
    for i in 0..=20 {
        let x = low * libm::pow(high / low, f64::from(i) / 20.0);
        let above = values.len() - values.partition_point(|v| *v <= x);
        if above > 0 {
            points.push((log10(x), log10(above as f64 / n), 1.0));
        }
    }
    let (slope, _) = line(&points)?;
    Some((-slope, points.iter().map(|&(x, y, _)| (x, y)).collect()))
}
