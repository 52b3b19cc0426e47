//! What the parameters of a distribution must be.

use super::{Distribution, Part, Unit, quantiles, sampler};
use crate::Invalid;
use std::fmt::Display;

impl<U: Unit> Distribution<U> {
    /// Checks every parameter; an error names `field`.
    pub fn validate(&self, field: &str) -> Result<(), Invalid> {
        let field = Field(field);
        match self {
            Self::Constant(value) => field.usable(value),
            Self::Uniform { min, max, step } => {
                field.usable(min)?;
                field.usable(max)?;
                if max < min {
                    let range = format!("{min}..{max}");
                    return Err(field.wrong(range, "the second value must not be smaller"));
                }
                step.map_or(Ok(()), |step| field.above_zero("step", step))
            }
            Self::Even { min, max } => field.usable(min).and_then(|()| field.usable(max)),
            Self::Exponential { mean } => field.above_zero("mean", *mean),
            Self::Pareto { shape, min, max } => {
                field.positive("shape", *shape)?;
                field.above_zero("min", *min)?;
                field.ordered(*min, *max)
            }
            Self::BoundedPareto { shape, min, max } => {
                field.positive("shape", *shape)?;
                field.above_zero("min", *min)?;
                field.ordered(*min, Some(*max))
            }
            Self::Lomax { shape, scale, max }
            | Self::Weibull { shape, scale, max }
            | Self::InverseWeibull { shape, scale, max } => {
                field.positive("shape", *shape)?;
                field.above_zero("scale", *scale)?;
                max.map_or(Ok(()), |max| field.above_zero("max", max))
            }
            Self::Lognormal { mean, sd, min, max } => {
                min.as_ref().map_or(Ok(()), |min| field.usable(min))?;
                field.above_zero("mean", *mean)?;
                field.above_zero("sd", *sd)?;
                field.ordered(min.unwrap_or(U::from_base(0.0)), *max)?;
                let (below, above) = sampler::truncation(self);
                if above - below < 1e-9 {
                    let (min, max) = (min.map(|x| x.to_string()), max.map(|x| x.to_string()));
                    let range = format!("{}..{}", min.unwrap_or_default(), max.unwrap_or_default());
                    let remedy = format!("min and max leave nothing of a lognormal of mean {mean}");
                    return Err(field.wrong(range, remedy));
                }
                Ok(())
            }
            Self::Packmime { location, location_variance, shape, variance } => {
                if !(-40.0..=40.0).contains(location) {
                    let remedy = "must be between -40 and 40: it is a base-2 logarithm";
                    return Err(field.wrong_in("location", location, remedy));
                }
                field.positive("location_variance", *location_variance)?;
                field.positive("shape", *shape)?;
                field.positive("variance", *variance)
            }
            Self::Quantiles { points, .. } => {
                points.iter().try_for_each(|point| field.usable(&point.1))?;
                quantiles::validate(points, field.0)
            }
            Self::Mixture { parts } => field.parts(parts),
        }
    }

    /// The same where there are no members over which it could be spread.
    pub(super) fn validate_alone(&self, field: &str) -> Result<(), Invalid> {
        if let Self::Even { min, max } = self {
            let remedy = format!(
                "even spreads start and rtt over the members of a group; here write \
                 \"{min}..{max}\""
            );
            return Err(Invalid::new(format!("{field}.even"), format!("{min}..{max}"), remedy));
        }
        self.validate(field)
    }
}

/// The field that has the distribution, which errors name.
struct Field<'a>(&'a str);

impl Field<'_> {
    fn wrong(&self, value: impl Display, remedy: impl Into<String>) -> Invalid {
        Invalid::new(self.0.to_owned(), value, remedy)
    }

    fn wrong_in(&self, name: &str, value: impl Display, remedy: impl Into<String>) -> Invalid {
        Invalid::new(format!("{}.{name}", self.0), value, remedy)
    }

    fn positive(&self, name: &str, x: f64) -> Result<(), Invalid> {
        if x.is_finite() && x > 0.0 {
            return Ok(());
        }
        Err(self.wrong_in(name, x, "must be a number above 0"))
    }

    fn above_zero<U: Unit>(&self, name: &str, x: U) -> Result<(), Invalid> {
        if x.base().is_finite() && x.base() > 0.0 {
            return Ok(());
        }
        Err(self.wrong_in(name, x, format!("must be above 0, for example {}", U::EXAMPLE)))
    }

    fn usable<U: Unit>(&self, x: &U) -> Result<(), Invalid> {
        if x.base().is_finite() && x.base() >= 0.0 {
            return Ok(());
        }
        Err(self.wrong(x, "must be a number of at least 0"))
    }

    fn ordered<U: Unit>(&self, min: U, max: Option<U>) -> Result<(), Invalid> {
        match max {
            Some(max) if !(max.base().is_finite() && max.base() > min.base()) => {
                let remedy = format!("must be greater than the least value, {min}");
                Err(self.wrong_in("max", max, remedy))
            }
            _ => Ok(()),
        }
    }

    fn parts<U: Unit>(&self, parts: &[Part<U>]) -> Result<(), Invalid> {
        if parts.is_empty() {
            let remedy = "needs at least one part {weight, value}";
            return Err(self.wrong_in("parts", "[]", remedy));
        }
        parts.iter().enumerate().try_for_each(|(i, part)| {
            self.positive(&format!("parts[{i}].weight"), part.weight)?;
            part.value.validate_alone(&format!("{}.parts[{i}].value", self.0))
        })
    }
}
