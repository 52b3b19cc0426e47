//! Transfers that arrive at random: a Poisson process of transfers with a size distribution.

use crate::{Distribution, Invalid, Sampler};
use sojourn_base::{Kind, Rate, Size, Stream, Time};

/// Transfers that arrive as a Poisson process, each on a connection of its own.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields)
)]
pub struct Transfers {
    /// Arrivals per second. Give either this or `load`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub rate: Option<f64>,
    /// Mean of the bytes that arrive per second, without headers, as a fraction of the
    /// bottleneck's rate. Give either this or `rate`.
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub load: Option<f64>,
    /// Bytes that a transfer carries.
    pub size: Distribution<Size>,
}

/// Arrivals per second at most, of which each takes some hundred nanoseconds to simulate.
const MOST_ARRIVALS: f64 = 1e7;

impl Transfers {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), Invalid> {
        let size = self.size.sampler("size")?;
        let positive = |name: &'static str, x: f64| {
            if x.is_finite() && x > 0.0 {
                return Ok(());
            }
            Err(Invalid::new(name, x, "must be a number above 0"))
        };
        match (self.rate, self.load) {
            (Some(rate), None) if rate > MOST_ARRIVALS => {
                let remedy = format!("must be at most {MOST_ARRIVALS} a second");
                Err(Invalid::new("rate", rate, remedy))
            }
            (Some(rate), None) => positive("rate", rate),
            (None, Some(load)) => {
                positive("load", load)?;
                if size.mean().is_finite() {
                    return Ok(());
                }
                let remedy = "the sizes have an infinite mean: give `rate`, or a `max` of sizes";
                Err(Invalid::new("load", load, remedy))
            }
            (Some(_), Some(load)) => {
                Err(Invalid::new("load", load, "give either `rate` or `load`, not both"))
            }
            (None, None) => {
                Err(Invalid::new("rate", "missing", "give arrivals per second, or `load`"))
            }
        }
    }

    /// Reads the quantile file that the field names.
    pub fn load_files(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<(), Invalid> {
        self.size.load_files("size", read)
    }

    /// The arrivals of a group under a seed; `bottleneck` is what `load` is a fraction of.
    pub fn compile(&self, bottleneck: Rate, seed: u64, group: u32) -> Result<Arrivals, Invalid> {
        self.validate()?;
        let size = self.size.sampler("size")?;
        let per_second = match (self.rate, self.load) {
            (Some(rate), _) => rate,
            (None, load) => load.unwrap_or(0.0) * bottleneck.as_f64() / 8.0 / size.mean(),
        };
        if !(per_second > 0.0 && per_second <= MOST_ARRIVALS) {
            let remedy = format!(
                "gives {per_second} arrivals per second, above 0 and at most {MOST_ARRIVALS} can be; \
                 give `rate`"
            );
            return Err(Invalid::new("load", self.load.unwrap_or(0.0), remedy));
        }
        Ok(Arrivals {
            size,
            gap: Sampler::exponential(1e9 / per_second),
            gaps: Stream::new(seed, Kind::Arrival, group, 0),
            sizes: Stream::new(seed, Kind::Size, group, 0),
            per_second,
        })
    }
}

/// A stream of arrivals without end.
#[derive(Clone, Debug)]
pub struct Arrivals {
    size: Sampler,
    gap: Sampler,
    gaps: Stream,
    sizes: Stream,
    per_second: f64,
}

impl Arrivals {
    /// Arrivals per second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.per_second
    }

    /// The time from one arrival (at first: the group's start) to the next, and the next one's
    /// bytes, at least 1.
    pub fn next_arrival(&mut self) -> (Time, u64) {
        (Time(self.gap.sample(&mut self.gaps)), self.size.sample(&mut self.sizes).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn load_sets_the_rate_through_the_mean_size() {
        let size = Distribution::Exponential { mean: Size(12_500) };
        let group = Transfers { rate: None, load: Some(0.5), size };
        let mut arrivals = group.compile(Rate(100_000_000), 1, 0).unwrap();
        assert!((arrivals.per_second() - 500.0).abs() < 1e-9);
        let (mut time, mut bytes) = (0.0, 0.0);
        for _ in 0..200_000 {
            let (gap, size) = arrivals.next_arrival();
            time += gap.as_secs_f64();
            bytes += size as f64;
        }
        assert!((time / 400.0 - 1.0).abs() < 0.01, "{time}");
        assert!((bytes / time / 6_250_000.0 - 1.0).abs() < 0.02);
    }

    #[test]
    fn rate_and_load_exclude_each_other() {
        let size = Distribution::Constant(Size(1000));
        let group = |rate, load| Transfers { rate, load, size: size.clone() }.validate();
        assert!(group(Some(1.0), None).is_ok());
        assert_eq!(group(Some(1.0), Some(1.0)).unwrap_err().field, "load");
        assert_eq!(group(None, None).unwrap_err().field, "rate");
        assert_eq!(group(Some(-1.0), None).unwrap_err().field, "rate");
        assert_eq!(group(None, Some(f64::NAN)).unwrap_err().field, "load");
        let size = Distribution::Pareto { shape: 0.9, min: Size(1), max: None };
        let heavy = Transfers { rate: None, load: Some(0.5), size };
        assert!(heavy.validate().unwrap_err().remedy.contains("infinite"));
    }
}
