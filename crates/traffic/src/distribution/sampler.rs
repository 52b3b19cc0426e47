//! Drawing from a distribution: one uniform number, then the inverse distribution function.

use super::normal::{inverse_phi, phi};
use super::quantiles::Table;
use super::{Distribution, Unit};
use libm::{exp, exp2, log, sqrt};
use sojourn_base::Stream;
use std::f64::consts::{LN_2, LOG2_E};
use std::sync::Arc;

/// A compiled distribution. Draws come in base units (nanoseconds, bytes, ones), rounded to the
/// nearest whole number.
///
/// Every draw takes exactly one number from the stream, whatever the distribution, but for
/// [`Distribution::Packmime`] drawn without a [`Character`].
#[derive(Clone, Debug)]
pub struct Sampler(pub(super) Shape);

/// What a member keeps for all its draws from a two-level distribution
/// ([`Distribution::Packmime`]): the location l and the scale s. For other distributions it means
/// nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Character {
    pub(super) location: f32,
    pub(super) scale: f32,
}

/// Parameters as the inverse needs them; lengths in base units.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Constant(u64),
    Steps { min: u64, step: u64, count: u64 },
    Even { min: f64, max: f64 },
    Exponential { mean: f64 },
    Pareto { exponent: f64, min: f64, cap: f64 },
    BoundedPareto { exponent: f64, min: f64, max: f64, share: f64 },
    Lomax { exponent: f64, scale: f64, cap: f64 },
    Lognormal { mu: f64, sigma: f64, below: f64, within: f64, min: f64, max: f64 },
    Weibull { exponent: f64, scale: f64, cap: f64 },
    InverseWeibull { exponent: f64, scale: f64, cap: f64 },
    TwoLevel { location: f64, spread: f64, shape: f64, sd: f64, unit: f64 },
    Table(Arc<Table>),
    Mixture(Arc<[Branch]>),
}

/// A part of a mixture: chosen when the uniform number is below `until`.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub from: f64,
    pub until: f64,
    pub sampler: Sampler,
}

/// A uniform number strictly between 0 and 1 that is exact, and whose complement is.
#[inline]
pub(super) fn uniform(stream: &mut Stream) -> f64 {
    ((stream.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

/// The nearest whole number; negative and not-a-number become 0, too large the largest.
#[inline]
fn round(x: f64) -> u64 {
    (x + 0.5) as u64
}

/// x to the power of `exponent`, x above 0: `exp2` is the quickest exponential of `libm`.
#[inline]
fn power(x: f64, exponent: f64) -> f64 {
    exp2(LOG2_E * exponent * log(x))
}

/// mu and sigma of a lognormal with this mean and standard deviation.
fn log_moments(mean: f64, sd: f64) -> (f64, f64) {
    let variance = log(1.0 + (sd / mean) * (sd / mean));
    (log(mean) - variance / 2.0, sqrt(variance))
}

/// Probabilities that a lognormal lies below its `min` and its `max`; (0, 1) for others.
pub(super) fn truncation<U: Unit>(spec: &Distribution<U>) -> (f64, f64) {
    let Distribution::Lognormal { mean, sd, min, max } = spec else { return (0.0, 1.0) };
    let (mu, sigma) = log_moments(mean.base(), sd.base());
    let below = |x: f64| if x > 0.0 { phi((log(x) - mu) / sigma) } else { 0.0 };
    (min.map_or(0.0, |x| below(x.base())), max.map_or(1.0, |x| below(x.base())))
}

impl Sampler {
    /// Compiles a distribution that has been validated.
    pub(super) fn compile<U: Unit>(spec: &Distribution<U>) -> Self {
        let cap = |max: &Option<U>| max.map_or(f64::INFINITY, U::base);
        Self(match spec {
            Distribution::Constant(value) => Shape::Constant(round(value.base())),
            Distribution::Uniform { min, max, step } => {
                let (low, high) = (round(min.base()), round(max.base()));
                let step = step.map_or(1, |step| round(step.base()).max(1));
                Shape::Steps { min: low, step, count: ((high - low) / step).saturating_add(1) }
            }
            Distribution::Even { min, max } => Shape::Even { min: min.base(), max: max.base() },
            Distribution::Exponential { mean } => Shape::Exponential { mean: mean.base() },
            Distribution::Pareto { shape, min, max } => {
                Shape::Pareto { exponent: -1.0 / shape, min: min.base(), cap: cap(max) }
            }
            Distribution::BoundedPareto { shape, min, max } => {
                let (min, max) = (min.base(), max.base());
                let share = 1.0 - exp(shape * log(min / max));
                Shape::BoundedPareto { exponent: -1.0 / shape, min, max, share }
            }
            Distribution::Lomax { shape, scale, max } => {
                Shape::Lomax { exponent: -1.0 / shape, scale: scale.base(), cap: cap(max) }
            }
            Distribution::Lognormal { mean, sd, min, max } => {
                let (mu, sigma) = log_moments(mean.base(), sd.base());
                let (below, until) = truncation(spec);
                let min = min.map_or(0.0, U::base);
                Shape::Lognormal { mu, sigma, below, within: until - below, min, max: cap(max) }
            }
            Distribution::Weibull { shape, scale, max } => {
                Shape::Weibull { exponent: 1.0 / shape, scale: scale.base(), cap: cap(max) }
            }
            Distribution::InverseWeibull { shape, scale, max } => {
                Shape::InverseWeibull { exponent: -1.0 / shape, scale: scale.base(), cap: cap(max) }
            }
            Distribution::Packmime { location, location_variance, shape, variance } => {
                Shape::TwoLevel {
                    location: *location,
                    spread: sqrt(*location_variance),
                    shape: *shape,
                    sd: sqrt(*variance),
                    unit: U::SCALE,
                }
            }
            Distribution::Quantiles { points, interpolate, .. } => {
                Shape::Table(Arc::new(Table::new(points, *interpolate)))
            }
            Distribution::Mixture { parts } => {
                let total: f64 = parts.iter().map(|part| part.weight).sum();
                let mut from = 0.0;
                let branch = |part: &super::Part<U>| {
                    let until = from + part.weight / total;
                    let sampler = Self::compile(&part.value);
                    Branch { from: std::mem::replace(&mut from, until), until, sampler }
                };
                Shape::Mixture(parts.iter().map(branch).collect())
            }
        })
    }

    /// A sampler that always gives `value`.
    #[must_use]
    pub fn constant(value: u64) -> Self {
        Self(Shape::Constant(value))
    }

    /// An exponential sampler with this mean in base units.
    #[must_use]
    pub fn exponential(mean: f64) -> Self {
        Self(Shape::Exponential { mean })
    }

    /// The next value. A two-level distribution draws a character of its own; an even one, asked
    /// without a member, is uniform.
    #[inline]
    pub fn sample(&self, stream: &mut Stream) -> u64 {
        self.sample_as(None, stream)
    }

    /// The next value for a member of this character; without one, a two-level distribution draws
    /// one for this value.
    pub fn sample_as(&self, character: Option<Character>, stream: &mut Stream) -> u64 {
        match &self.0 {
            Shape::Constant(value) => {
                stream.next_u64();
                *value
            }
            Shape::Steps { min, step, count } => min + step * stream.below(*count),
            Shape::TwoLevel { .. } | Shape::Mixture(_) => self.sample_of(character, stream),
            _ => round(self.quantile(Character::default(), uniform(stream))),
        }
    }

    /// The next value of what may be two-level.
    #[inline(never)]
    fn sample_of(&self, character: Option<Character>, stream: &mut Stream) -> u64 {
        let character = character.or_else(|| self.character(stream));
        let (part, u) = self.part(uniform(stream));
        let character = character.or_else(|| part.character(stream));
        round(part.quantile(character.unwrap_or_default(), u))
    }

    /// The value of member `index` of `count`: evenly spread for [`Distribution::Even`], else the
    /// next value from the stream.
    pub fn sample_member(&self, index: u64, count: u64, stream: &mut Stream) -> u64 {
        match self.0 {
            Shape::Even { min, max } => {
                stream.next_u64();
                let share =
                    if count < 2 { 0.5 } else { index.min(count - 1) as f64 / (count - 1) as f64 };
                round(min + (max - min) * share)
            }
            _ => self.sample(stream),
        }
    }

    /// Draws a character: l and s of a two-level distribution; none for others.
    pub fn character(&self, stream: &mut Stream) -> Option<Character> {
        self.weighted_character(0.0, stream)
    }

    /// The same with a probability in proportion to the mean value of a member to this `power`,
    /// if the mean of that is finite. The mean is 2^l·exp((ln 2·s·sd)²/2), so l remains normal and
    /// s² a gamma number.
    pub(super) fn weighted_character(&self, power: f64, stream: &mut Stream) -> Option<Character> {
        let Shape::TwoLevel { location, spread, shape, sd, .. } = self.0 else { return None };
        let l = location + power * LN_2 * spread * spread + spread * inverse_phi(uniform(stream));
        let rate = shape - power * (LN_2 * sd) * (LN_2 * sd) / 2.0;
        Some(Character { location: l as f32, scale: sqrt(gamma(shape, stream) / rate) as f32 })
    }

    /// The part of a mixture that a uniform number chooses, and the uniform number within it.
    fn part(&self, u: f64) -> (&Self, f64) {
        let Shape::Mixture(branches) = &self.0 else { return (self, u) };
        let mut branch = &branches[branches.len() - 1];
        if let Some(first) = branches.iter().find(|branch| u < branch.until) {
            branch = first;
        }
        let inner = (u - branch.from) / (branch.until - branch.from);
        // Rounding must not reach the open interval's ends.
        branch.sampler.part(inner.clamp(f64::EPSILON / 4.0, 1.0 - f64::EPSILON))
    }

    /// The value below which a share `u` of all draws lies (for a mixture: some permutation of
    /// that), before rounding; 0 < u < 1.
    #[inline]
    pub(super) fn quantile(&self, character: Character, u: f64) -> f64 {
        match &self.0 {
            Shape::Constant(value) => *value as f64,
            Shape::Steps { min, step, count } => {
                (*min as f64) + (*step as f64) * ((u * *count as f64) as u64) as f64
            }
            Shape::Even { min, max } => min + (max - min) * u,
            Shape::Exponential { mean } => -mean * log(1.0 - u),
            Shape::Pareto { exponent, min, cap } => (min * power(1.0 - u, *exponent)).min(*cap),
            Shape::BoundedPareto { exponent, min, max, share } => {
                (min * power(1.0 - u * share, *exponent)).min(*max)
            }
            Shape::Lomax { exponent, scale, cap } => {
                (scale * (power(1.0 - u, *exponent) - 1.0)).min(*cap)
            }
            Shape::Lognormal { mu, sigma, below, within, min, max } => {
                // The sum can round to 1 when the lower cut is far out; the clamp covers it.
                let p = (below + within * u).min(1.0 - f64::EPSILON);
                exp2(LOG2_E * (mu + sigma * inverse_phi(p))).clamp(*min, *max)
            }
            Shape::Weibull { exponent, scale, cap } => {
                (scale * power(-log(1.0 - u), *exponent)).min(*cap)
            }
            Shape::InverseWeibull { exponent, scale, cap } => {
                (scale * power(-log(u), *exponent)).min(*cap)
            }
            Shape::TwoLevel { sd, unit, .. } => {
                let scale = f64::from(character.scale) * sd;
                unit * exp2(f64::from(character.location) + scale * inverse_phi(u))
            }
            Shape::Table(table) => table.quantile(u),
            Shape::Mixture(_) => {
                let (part, u) = self.part(u);
                part.quantile(character, u)
            }
        }
    }
}

/// A gamma number with rate 1: Marsaglia and Tsang, ACM TOMS 26 (2000); below shape 1 with the
/// usual power of a uniform number.
fn gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape < 1.0 {
        let boost = exp(log(uniform(stream)) / shape);
        return gamma(shape + 1.0, stream) * boost;
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / sqrt(9.0 * d);
    loop {
        let x = inverse_phi(uniform(stream));
        let u = uniform(stream);
        let v = 1.0 + c * x;
        if v > 0.0 {
            let v = v * v * v;
            if log(u) < 0.5 * x * x + d * (1.0 - v + log(v)) {
                return d * v;
            }
        }
    }
}
