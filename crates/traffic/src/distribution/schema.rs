//! Reading and writing distributions: a string or number for the short forms, else a table.

use super::text::range;
use super::{Distribution, Interpolate, Part, Unit};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The table form of a distribution. `dist` names it and decides which other fields there are:
/// constant (value), uniform (min, max, step), even (min, max), exponential (mean),
/// pareto (shape, min, max), bounded_pareto (shape, min, max), lomax (shape, scale, max),
/// lognormal (mean, sd, min, max), weibull (shape, scale, max), inverse_weibull (shape, scale,
/// max), packmime (location, location_variance, shape, variance), quantiles (points or file,
/// interpolate), mixture (parts).
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    bound(
        serialize = "U: Unit + Serialize",
        deserialize = "U: Unit + DeserializeOwned, U::Err: ToString"
    )
)]
#[schemars(rename = "DistributionTableOf{U}", bound = "U: Unit + JsonSchema")]
struct Table<U> {
    /// The distribution's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    dist: Option<Name>,
    /// Short for `dist = "even"`: a range "a..b" over which the members of a group are spread
    /// evenly, the first at a, the last at b.
    #[serde(skip_serializing_if = "Option::is_none")]
    even: Option<String>,
    /// The value of a constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<U>,
    /// Least value.
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<U>,
    /// Greatest value. A pareto, lomax, weibull or inverse_weibull is capped there; a lognormal and
    /// a bounded_pareto are conditioned on staying below.
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<U>,
    /// Distance between the values of a discrete uniform distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<U>,
    /// Mean; of a lognormal: before min and max cut it.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<U>,
    /// Standard deviation of a lognormal before min and max cut it.
    #[serde(skip_serializing_if = "Option::is_none")]
    sd: Option<U>,
    /// Shape: the tail index of a pareto, bounded_pareto, lomax or inverse_weibull, the exponent of
    /// a weibull, the shape of the gamma distribution of a packmime.
    #[serde(skip_serializing_if = "Option::is_none")]
    shape: Option<f64>,
    /// Scale of a lomax, weibull or inverse_weibull.
    #[serde(skip_serializing_if = "Option::is_none")]
    scale: Option<U>,
    /// Mean of the base-2 logarithm (of seconds or bytes) of a packmime.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<f64>,
    /// Variance of the location between members of a packmime.
    #[serde(skip_serializing_if = "Option::is_none")]
    location_variance: Option<f64>,
    /// Variance within a member of a packmime.
    #[serde(skip_serializing_if = "Option::is_none")]
    variance: Option<f64>,
    /// Points [probability, value] of an empirical distribution.
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<Vec<(f64, U)>>,
    /// CSV file of lines "probability, value"; values without a unit are seconds or bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// How an empirical distribution goes from point to point.
    #[serde(skip_serializing_if = "Option::is_none")]
    interpolate: Option<Interpolate>,
    /// Parts {weight, value} of a mixture.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<Vec<Part<U>>>,
}

impl<U> Default for Table<U> {
    fn default() -> Self {
        Self {
            dist: None,
            even: None,
            value: None,
            min: None,
            max: None,
            step: None,
            mean: None,
            sd: None,
            shape: None,
            scale: None,
            location: None,
            location_variance: None,
            variance: None,
            points: None,
            file: None,
            interpolate: None,
            parts: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DistributionName")]
enum Name {
    Constant,
    Uniform,
    Even,
    Exponential,
    Pareto,
    BoundedPareto,
    Lomax,
    Lognormal,
    Weibull,
    InverseWeibull,
    Packmime,
    Quantiles,
    Mixture,
}

impl Name {
    /// The fields that the distribution must have, and those it may have.
    fn fields(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Constant => (&["value"], &[]),
            Self::Uniform => (&["min", "max"], &["step"]),
            Self::Even => (&["min", "max"], &[]),
            Self::Exponential => (&["mean"], &[]),
            Self::Pareto => (&["shape", "min"], &["max"]),
            Self::BoundedPareto => (&["shape", "min", "max"], &[]),
            Self::Lomax | Self::Weibull | Self::InverseWeibull => (&["shape", "scale"], &["max"]),
            Self::Lognormal => (&["mean", "sd"], &["min", "max"]),
            Self::Packmime => (&["location", "location_variance", "shape", "variance"], &[]),
            Self::Quantiles => (&[], &["points", "file", "interpolate"]),
            Self::Mixture => (&["parts"], &[]),
        }
    }

    /// As a scenario writes it.
    fn text(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Uniform => "uniform",
            Self::Even => "even",
            Self::Exponential => "exponential",
            Self::Pareto => "pareto",
            Self::BoundedPareto => "bounded_pareto",
            Self::Lomax => "lomax",
            Self::Lognormal => "lognormal",
            Self::Weibull => "weibull",
            Self::InverseWeibull => "inverse_weibull",
            Self::Packmime => "packmime",
            Self::Quantiles => "quantiles",
            Self::Mixture => "mixture",
        }
    }
}

impl<U: Unit> Table<U> {
    fn present(&self) -> Vec<&'static str> {
        let all = [
            ("value", self.value.is_some()),
            ("min", self.min.is_some()),
            ("max", self.max.is_some()),
            ("step", self.step.is_some()),
            ("mean", self.mean.is_some()),
            ("sd", self.sd.is_some()),
            ("shape", self.shape.is_some()),
            ("scale", self.scale.is_some()),
            ("location", self.location.is_some()),
            ("location_variance", self.location_variance.is_some()),
            ("variance", self.variance.is_some()),
            ("points", self.points.is_some()),
            ("file", self.file.is_some()),
            ("interpolate", self.interpolate.is_some()),
            ("parts", self.parts.is_some()),
        ];
        all.into_iter().filter_map(|(name, there)| there.then_some(name)).collect()
    }

    fn build(self) -> Result<Distribution<U>, String>
    where
        U::Err: ToString,
    {
        let present = self.present();
        if let Some(text) = &self.even {
            if self.dist.is_some_and(|dist| dist != Name::Even) || !present.is_empty() {
                return Err("`even` stands alone: {even = \"a..b\"}".into());
            }
            let (min, max) = range(text).unwrap_or_else(|| {
                Err(format!("even = \"{text}\" is not a range; write it like \"a..b\""))
            })?;
            return Ok(Distribution::Even { min, max });
        }
        let Some(dist) = self.dist else {
            return Err("`dist` is missing: it names the distribution, for example \
                        {dist = \"exponential\", mean = …}"
                .into());
        };
        let (needed, optional) = dist.fields();
        let name = dist.text();
        let takes = || [needed, optional].concat().join(", ");
        if let Some(field) = present.iter().find(|f| !needed.contains(f) && !optional.contains(f)) {
            return Err(format!("dist = \"{name}\" has no field `{field}`; it takes {}", takes()));
        }
        if let Some(field) = needed.iter().find(|field| !present.contains(field)) {
            return Err(format!("dist = \"{name}\" needs `{field}`; it takes {}", takes()));
        }
        let lacking = || format!("dist = \"{name}\" takes {}", takes());
        let (shape, max) = (self.shape.ok_or_else(lacking), self.max);
        let unit = |x: Option<U>| x.ok_or_else(lacking);
        let number = |x: Option<f64>| x.ok_or_else(lacking);
        Ok(match dist {
            Name::Constant => Distribution::Constant(unit(self.value)?),
            Name::Uniform => {
                Distribution::Uniform { min: unit(self.min)?, max: unit(max)?, step: self.step }
            }
            Name::Even => Distribution::Even { min: unit(self.min)?, max: unit(max)? },
            Name::Exponential => Distribution::Exponential { mean: unit(self.mean)? },
            Name::Pareto => Distribution::Pareto { shape: shape?, min: unit(self.min)?, max },
            Name::BoundedPareto => {
                Distribution::BoundedPareto { shape: shape?, min: unit(self.min)?, max: unit(max)? }
            }
            Name::Lomax => Distribution::Lomax { shape: shape?, scale: unit(self.scale)?, max },
            Name::Lognormal => Distribution::Lognormal {
                mean: unit(self.mean)?,
                sd: unit(self.sd)?,
                min: self.min,
                max,
            },
            Name::Weibull => Distribution::Weibull { shape: shape?, scale: unit(self.scale)?, max },
            Name::InverseWeibull => {
                Distribution::InverseWeibull { shape: shape?, scale: unit(self.scale)?, max }
            }
            Name::Packmime => Distribution::Packmime {
                location: number(self.location)?,
                location_variance: number(self.location_variance)?,
                shape: shape?,
                variance: number(self.variance)?,
            },
            Name::Quantiles => {
                if self.points.is_some() == self.file.is_some() {
                    return Err("dist = \"quantiles\" needs either `points` or `file`".into());
                }
                Distribution::Quantiles {
                    points: self.points.unwrap_or_default(),
                    interpolate: self.interpolate.unwrap_or_default(),
                    file: self.file,
                }
            }
            Name::Mixture => Distribution::Mixture { parts: self.parts.ok_or_else(lacking)? },
        })
    }

    fn of(spec: &Distribution<U>) -> Self {
        let spec = spec.clone();
        let named = |dist| Self { dist: Some(dist), ..Self::default() };
        match spec {
            Distribution::Constant(value) => Self { value: Some(value), ..named(Name::Constant) },
            Distribution::Uniform { min, max, step } => {
                Self { min: Some(min), max: Some(max), step, ..named(Name::Uniform) }
            }
            Distribution::Even { min, max } => {
                Self { even: Some(format!("{min}..{max}")), ..Self::default() }
            }
            Distribution::Exponential { mean } => {
                Self { mean: Some(mean), ..named(Name::Exponential) }
            }
            Distribution::Pareto { shape, min, max } => {
                Self { shape: Some(shape), min: Some(min), max, ..named(Name::Pareto) }
            }
            Distribution::BoundedPareto { shape, min, max } => Self {
                shape: Some(shape),
                min: Some(min),
                max: Some(max),
                ..named(Name::BoundedPareto)
            },
            Distribution::Lomax { shape, scale, max } => {
                Self { shape: Some(shape), scale: Some(scale), max, ..named(Name::Lomax) }
            }
            Distribution::Lognormal { mean, sd, min, max } => {
                Self { mean: Some(mean), sd: Some(sd), min, max, ..named(Name::Lognormal) }
            }
            Distribution::Weibull { shape, scale, max } => {
                Self { shape: Some(shape), scale: Some(scale), max, ..named(Name::Weibull) }
            }
            Distribution::InverseWeibull { shape, scale, max } => {
                Self { shape: Some(shape), scale: Some(scale), max, ..named(Name::InverseWeibull) }
            }
            Distribution::Packmime { location, location_variance, shape, variance } => Self {
                location: Some(location),
                location_variance: Some(location_variance),
                shape: Some(shape),
                variance: Some(variance),
                ..named(Name::Packmime)
            },
            Distribution::Quantiles { points, interpolate, file } => Self {
                points: if file.is_some() { None } else { Some(points) },
                interpolate: Some(interpolate),
                file,
                ..named(Name::Quantiles)
            },
            Distribution::Mixture { parts } => Self { parts: Some(parts), ..named(Name::Mixture) },
        }
    }
}

impl<U: Unit + Serialize> Serialize for Distribution<U> {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Constant(value) => value.serialize(s),
            Self::Uniform { min, max, step: None } => s.collect_str(&format_args!("{min}..{max}")),
            Self::Quantiles { points, file: None, .. } if points.is_empty() => {
                Err(S::Error::custom("a quantile table has neither points nor a file"))
            }
            _ => Table::of(self).serialize(s),
        }
    }
}

impl<'de, U> Deserialize<'de> for Distribution<U>
where
    U: Unit + DeserializeOwned,
    U::Err: ToString,
{
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        d.deserialize_any(Reader(PhantomData))
    }
}

struct Reader<U>(PhantomData<U>);

impl<U: Unit> Reader<U> {
    fn number<E: serde::de::Error>(x: f64) -> Result<Distribution<U>, E> {
        if !U::PLAIN {
            let (name, example) = (U::NAME, U::EXAMPLE);
            let why = format!("{x} is not a {name}: the unit is missing; write it like {example}");
            return Err(E::custom(why));
        }
        if !(x.is_finite() && x >= 0.0) {
            return Err(E::custom(format!("{x} is not a number of at least 0")));
        }
        Ok(Distribution::Constant(U::from_base(x)))
    }
}

impl<'de, U> Visitor<'de> for Reader<U>
where
    U: Unit + DeserializeOwned,
    U::Err: ToString,
{
    type Value = Distribution<U>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, example) = (U::NAME, U::EXAMPLE);
        write!(f, "a {name} such as {example}, a range \"a..b\" or a table {{dist = …}}")
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        text.parse().map_err(E::custom)
    }
    fn visit_i64<E: serde::de::Error>(self, x: i64) -> Result<Self::Value, E> {
        Self::number(x as f64)
    }
    fn visit_u64<E: serde::de::Error>(self, x: u64) -> Result<Self::Value, E> {
        Self::number(x as f64)
    }
    fn visit_f64<E: serde::de::Error>(self, x: f64) -> Result<Self::Value, E> {
        Self::number(x)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let table: Table<U> = Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        table.build().map_err(A::Error::custom)
    }
}

impl<U: Unit + JsonSchema> JsonSchema for Distribution<U> {
    fn schema_name() -> Cow<'static, str> {
        format!("DistributionOf{}", U::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let short = if U::PLAIN {
            json_schema!({"type": ["number", "string"]})
        } else {
            json_schema!({"type": "string"})
        };
        let table = generator.subschema_for::<Table<U>>();
        let name = U::NAME;
        json_schema!({
            "description": format!("A distribution of a {name}: a constant such as {}, a uniform \
                range \"a..b\", or a table whose `dist` names the distribution.", U::EXAMPLE),
            "anyOf": [short, table],
        })
    }
}
