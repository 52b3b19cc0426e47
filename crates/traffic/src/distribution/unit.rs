//! What a distribution is a distribution of: times, sizes or plain counts.

use sojourn_base::{Size, Time};
use std::fmt::{Debug, Display};
use std::str::FromStr;

/// A quantity that can be drawn at random.
pub trait Unit: Copy + PartialEq + PartialOrd + Debug + Display + FromStr {
    /// Base units (nanoseconds, bytes, ones) in the natural unit (second, byte, one) that numbers
    /// without a unit in a CSV file, and the logarithms of [`super::Distribution::Packmime`], use.
    const SCALE: f64;
    /// The quantity's name.
    const NAME: &'static str;
    /// How a value is written.
    const EXAMPLE: &'static str;
    /// Whether a scenario writes it as a plain number.
    const PLAIN: bool;
    /// In base units.
    fn base(self) -> f64;
    /// The nearest value to `x` base units.
    fn from_base(x: f64) -> Self;
}

impl Unit for Time {
    const SCALE: f64 = 1e9;
    const NAME: &'static str = "time";
    const EXAMPLE: &'static str = "\"60ms\"";
    const PLAIN: bool = false;
    fn base(self) -> f64 {
        self.0 as f64
    }
    fn from_base(x: f64) -> Self {
        Self((x + 0.5) as u64)
    }
}

impl Unit for Size {
    const SCALE: f64 = 1.0;
    const NAME: &'static str = "size";
    const EXAMPLE: &'static str = "\"16kB\"";
    const PLAIN: bool = false;
    fn base(self) -> f64 {
        self.0 as f64
    }
    fn from_base(x: f64) -> Self {
        Self((x + 0.5) as u64)
    }
}

/// A plain number, such as a count of objects. What is drawn is rounded to a whole number; the
/// parameters (a mean of 1.578 objects) need not be whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(transparent)
)]
pub struct Count(pub f64);

impl Display for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Display::fmt(&self.0, f)
    }
}

impl FromStr for Count {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim().parse::<f64>() {
            Ok(x) if x.is_finite() && x >= 0.0 => Ok(Self(x)),
            _ => Err(format!("\"{text}\" is not a number of at least 0; write it like 2.5")),
        }
    }
}

impl Unit for Count {
    const SCALE: f64 = 1.0;
    const NAME: &'static str = "number";
    const EXAMPLE: &'static str = "3";
    const PLAIN: bool = true;
    fn base(self) -> f64 {
        self.0
    }
    fn from_base(x: f64) -> Self {
        Self(x)
    }
}
