//! Means: in closed form where there is one, else by quadrature of the inverse.

use super::sampler::{Character, Sampler, Shape};
use libm::{exp, log, log1p, tgamma};
use std::f64::consts::LN_2;

/// Mean of the smaller of a Lomax number and `cap`.
fn lomax_mean(shape: f64, scale: f64, cap: f64) -> f64 {
    if cap == f64::INFINITY {
        return if shape > 1.0 { scale / (shape - 1.0) } else { f64::INFINITY };
    }
    let span = log1p(cap / scale);
    let power = 1.0 - shape;
    // (1 − e^(power·span))/(−power) tends to span as the shape tends to 1.
    scale * if power.abs() < 1e-9 { span } else { libm::expm1(power * span) / power }
}

impl Sampler {
    /// The mean in base units, before rounding; infinite where it is. For a two-level distribution
    /// the mean over all characters.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match &self.0 {
            Shape::Constant(value) => *value as f64,
            Shape::Steps { min, step, count } => {
                *min as f64 + *step as f64 * (*count - 1) as f64 / 2.0
            }
            Shape::Even { min, max } => (min + max) / 2.0,
            Shape::Exponential { mean } => *mean,
            Shape::Pareto { exponent, min, cap } => {
                min + lomax_mean(-1.0 / exponent, *min, cap - min)
            }
            Shape::BoundedPareto { exponent, min, max, share } => {
                let shape = -1.0 / exponent;
                let span = log(max / min);
                let power = 1.0 - shape;
                let whole =
                    if power.abs() < 1e-9 { span } else { libm::expm1(power * span) / power };
                shape * min * whole / share
            }
            Shape::Lomax { exponent, scale, cap } => lomax_mean(-1.0 / exponent, *scale, *cap),
            Shape::Weibull { exponent, scale, cap } if *cap == f64::INFINITY => {
                scale * tgamma(1.0 + exponent)
            }
            Shape::InverseWeibull { exponent, scale, cap } if *cap == f64::INFINITY => {
                if *exponent > -1.0 { scale * tgamma(1.0 + exponent) } else { f64::INFINITY }
            }
            Shape::Lognormal { .. } | Shape::Weibull { .. } | Shape::InverseWeibull { .. } => {
                let quantile = |u| self.quantile(Character::default(), u);
                nodes().windows(2).map(|pair| piece(&quantile, pair[0], pair[1])).sum()
            }
            Shape::TwoLevel { location, spread, shape, sd, unit } => {
                two_level_mean(*location, *spread, *shape, *sd, *unit)
            }
            Shape::Table(table) => table.mean(),
            Shape::Mixture(branches) => {
                branches.iter().map(|b| (b.until - b.from) * b.sampler.mean()).sum()
            }
        }
    }
}

/// E(m) of the mean m of a member's values: m = 2^l·exp((ln 2·s·sd)²/2), so the first factor is
/// lognormal and the second the gamma distribution's moment generating function.
fn two_level_mean(location: f64, spread: f64, shape: f64, sd: f64, unit: f64) -> f64 {
    let t = (LN_2 * sd) * (LN_2 * sd) / 2.0;
    if t >= shape {
        return f64::INFINITY;
    }
    let lognormal = exp(LN_2 * location + (LN_2 * spread) * (LN_2 * spread) / 2.0);
    unit * lognormal * exp(-shape * log1p(-t / shape))
}

/// Octaves towards each end of the unit interval, and pieces per octave.
const OCTAVES: u32 = 44;
const PIECES: u32 = 16;

/// Nodes for integrals over the unit interval, denser towards both ends, where the inverse of a
/// distribution function may be steep.
pub(super) fn nodes() -> Vec<f64> {
    let mut lower = vec![0.0];
    for octave in (1..OCTAVES).rev() {
        let base = 1.0 / (1u64 << (octave + 1)) as f64;
        lower.extend((0..PIECES).map(|i| base * (1.0 + f64::from(i) / f64::from(PIECES))));
    }
    let upper: Vec<f64> = lower.iter().rev().map(|u| 1.0 - u).collect();
    lower.push(0.5);
    lower.extend(upper);
    lower
}

/// Integral of `f` from a to b by the two-point Gauss rule, which never asks for the ends.
pub(super) fn piece(f: &impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    let (middle, half) = ((a + b) / 2.0, (b - a) / 2.0);
    let offset = half * 0.577_350_269_189_625_8;
    half * (f(middle - offset) + f(middle + offset))
}
