//! Distributions as a scenario writes them, and the samplers they compile into.

mod means;
mod normal;
mod quantiles;
mod residual;
mod sampler;
#[cfg(feature = "schema")]
mod schema;
mod text;
mod unit;
mod validate;

pub use quantiles::quantiles_from_csv;
pub use residual::Residual;
pub use sampler::{Character, Sampler};
pub use unit::{Count, Unit};

use crate::Invalid;

/// How values between two points of a quantile table are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(rename_all = "snake_case")
)]
pub enum Interpolate {
    /// The logarithm of the value is linear in the probability: fit for quantities that span
    /// several powers of ten. Below a value of 0 it falls back to linear.
    #[default]
    Log,
    /// The value is linear in the probability.
    Linear,
}

/// One part of a mixture.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(
        deny_unknown_fields,
        bound(
            serialize = "U: Unit + serde::Serialize",
            deserialize = "U: Unit + serde::de::DeserializeOwned, U::Err: ToString"
        )
    ),
    schemars(rename = "PartOf{U}", bound = "U: Unit + schemars::JsonSchema")
)]
pub struct Part<U> {
    /// Weight; the weights need not add up to 1.
    pub weight: f64,
    /// What is drawn when this part is chosen.
    pub value: Distribution<U>,
}

/// A distribution of a time, a size or a count.
///
/// In a scenario: `"60ms"` is a constant, `"50ms..150ms"` uniform between the two, both included;
/// a table names the distribution, as in `{dist = "pareto", shape = 1.5, min = "1s"}`.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution<U> {
    /// Always the same value: `"60ms"`.
    Constant(U),
    /// Every value from `min` to `max`, both included, is as likely as any other; with a `step`
    /// only `min`, `min + step`, `min + 2 step`, … are.
    Uniform {
        /// Least value.
        min: U,
        /// Greatest value.
        max: U,
        /// Distance between neighbouring values; absent: every value.
        step: Option<U>,
    },
    /// Not random: member i of n gets `min + (max − min) i/(n − 1)`, a lone member the middle.
    /// Written `{even = "50ms..150ms"}`. Only where members of a group are told apart.
    Even {
        /// The first member's value.
        min: U,
        /// The last member's value.
        max: U,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: U,
    },
    /// P(X > x) = (min/x)^shape. Values above `max`, if there is one, become `max`: the cap has a
    /// probability of its own, as in the 3GPP traffic models.
    Pareto {
        /// Tail index; the mean is infinite at 1 and below, the variance at 2 and below.
        shape: f64,
        /// Least value.
        min: U,
        /// Cap.
        max: Option<U>,
    },
    /// Pareto on the condition that it is at most `max`: no mass at the upper end.
    BoundedPareto {
        /// Tail index.
        shape: f64,
        /// Least value.
        min: U,
        /// Greatest value.
        max: U,
    },
    /// Pareto with its least value subtracted, P(X > x) = (1 + x/scale)^−shape, capped at `max`.
    Lomax {
        /// Tail index.
        shape: f64,
        /// Scale.
        scale: U,
        /// Cap.
        max: Option<U>,
    },
    /// Lognormal on the condition that it lies between `min` and `max`. `mean` and `sd` are those
    /// of the lognormal before that condition.
    Lognormal {
        /// Mean, before truncation.
        mean: U,
        /// Standard deviation, before truncation.
        sd: U,
        /// Least value.
        min: Option<U>,
        /// Greatest value.
        max: Option<U>,
    },
    /// P(X > x) = exp(−(x/scale)^shape), capped at `max`.
    Weibull {
        /// Shape; below 1 the tail is heavier than exponential.
        shape: f64,
        /// Scale.
        scale: U,
        /// Cap.
        max: Option<U>,
    },
    /// One over a Weibull (Fréchet): P(X ≤ x) = exp(−(x/scale)^−shape), capped at `max`.
    InverseWeibull {
        /// Tail index.
        shape: f64,
        /// Scale.
        scale: U,
        /// Cap.
        max: Option<U>,
    },
    /// The two-level model of PackMime-HTTP (Cao et al., INFOCOM 2004): log2 X = l + s·N·√variance
    /// in seconds or bytes, N standard normal, l normal, s² gamma with mean 1. A web user draws
    /// `l` and `s` once and keeps them; where nobody keeps them they are drawn with each value.
    Packmime {
        /// Mean of l.
        location: f64,
        /// Variance of l.
        location_variance: f64,
        /// Shape, and rate, of the gamma distribution of s².
        shape: f64,
        /// Variance of the value about l when s = 1.
        variance: f64,
    },
    /// An empirical distribution given by its quantiles. Below the first probability the first
    /// value holds, above the last the last.
    Quantiles {
        /// Probability and value, both not decreasing.
        points: Vec<(f64, U)>,
        /// Between the points.
        interpolate: Interpolate,
        /// The CSV file that the points come from; see [`Distribution::load_files`].
        file: Option<String>,
    },
    /// One of several distributions, chosen by weight.
    Mixture {
        /// The parts.
        parts: Vec<Part<U>>,
    },
}

impl<U: Unit> Distribution<U> {
    /// Compiles the distribution; an error names `field`. One that is spread over members is
    /// wrong where there are none.
    pub fn sampler(&self, field: &str) -> Result<Sampler, Invalid> {
        self.validate_alone(field)?;
        Ok(Sampler::compile(self))
    }

    /// The same for what each member of a group has one value of:
    /// [`sample_member`](Sampler::sample_member).
    pub fn member_sampler(&self, field: &str) -> Result<Sampler, Invalid> {
        self.validate(field)?;
        Ok(Sampler::compile(self))
    }

    /// Reads the quantile files that this distribution names: `read` turns a path as written into
    /// the file's text. Call it before [`Distribution::sampler`].
    pub fn load_files(
        &mut self,
        field: &str,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<(), Invalid> {
        match self {
            Self::Quantiles { points, file: Some(path), .. } => {
                let wrong = |why| Invalid::new(format!("{field}.file"), &*path, why);
                let text = read(path).map_err(wrong)?;
                *points = quantiles_from_csv(&text).map_err(wrong)?;
                Ok(())
            }
            Self::Mixture { parts } => parts.iter_mut().enumerate().try_for_each(|(i, part)| {
                part.value.load_files(&format!("{field}.parts[{i}].value"), read)
            }),
            _ => Ok(()),
        }
    }
}
