//! Time, rate and size as whole numbers, and the strings a user writes for them.

use alloc::format;
use alloc::string::String;
#[cfg(any(test, feature = "schema"))]
use alloc::string::ToString;
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// An instant since the start of a run, or a span of time: whole nanoseconds, 0 to 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A data rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A size in whole bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub u64);

/// Why a string is not a quantity; says what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(pub String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ParseError {}

impl Time {
    /// The start of a run; no time at all.
    pub const ZERO: Self = Self(0);
    /// Later than anything: "never".
    pub const MAX: Self = Self(u64::MAX);

    /// Whole nanoseconds.
    #[must_use]
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }
    /// Whole microseconds.
    #[must_use]
    pub const fn from_micros(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// Whole milliseconds.
    #[must_use]
    pub const fn from_millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// Whole seconds.
    #[must_use]
    pub const fn from_secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// Seconds, rounded to the nearest nanosecond; negative and not-a-number become 0, too large
    /// becomes [`Time::MAX`].
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9 + 0.5) as u64)
    }
    /// Seconds, for display and statistics only.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 * 1e-9
    }
    /// The difference, or zero if `other` is later.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// The sum, or [`Time::MAX`].
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Time {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Time {
    type Output = Self;
    #[inline]
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}
impl Div<u64> for Time {
    type Output = Self;
    #[inline]
    fn div(self, n: u64) -> Self {
        Self(self.0 / n)
    }
}
impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl Rate {
    /// Time to send `bytes` at this rate, in nanoseconds, rounded up; the rate must not be zero.
    #[must_use]
    pub const fn time_for(self, bytes: u64) -> Time {
        Time(((bytes as u128 * 8_000_000_000).div_ceil(self.0 as u128)) as u64)
    }
    /// Bits per second as a float, for display and statistics only.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

/// Unit names with the number of base units each stands for, largest first.
type Units = &'static [(&'static str, u64)];

const TIME_UNITS: Units = &[
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];
const RATE_UNITS: Units = &[
    ("tbit", 1_000_000_000_000),
    ("gbit", 1_000_000_000),
    ("mbit", 1_000_000),
    ("kbit", 1_000),
    ("bit", 1),
];
const SIZE_UNITS: Units = &[
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("B", 1),
];

/// Reads "12.5ms" exactly, in integers. `example` is a right one for the message.
fn parse(text: &str, units: Units, what: &str, example: &str) -> Result<u64, ParseError> {
    let text = text.trim();
    let wrong = |why: &str| {
        ParseError(format!("\"{text}\" is not a {what}: {why}; write it like \"{example}\""))
    };
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    if text.starts_with('-') {
        return Err(wrong("it must not be negative"));
    }
    if number.is_empty() {
        return Err(wrong("there is no number"));
    }
    let known = || {
        let names: alloc::vec::Vec<&str> = units.iter().map(|u| u.0).collect();
        names.join(", ")
    };
    if unit.is_empty() {
        return Err(wrong(&format!("the unit is missing (one of {})", known())));
    }
    let scale = units
        .iter()
        .find(|u| u.0.eq_ignore_ascii_case(unit))
        .map(|u| u.1)
        .ok_or_else(|| wrong(&format!("unknown unit \"{unit}\" (one of {})", known())))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.contains('.') || fraction.len() > 18 || (whole.is_empty() && fraction.is_empty()) {
        return Err(wrong("the number is malformed"));
    }
    let too_large = || wrong("it is too large");
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
    let mut value = whole.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
    if !fraction.is_empty() {
        let digits: u128 = fraction.parse().map_err(|_| wrong("the number is malformed"))?;
        let ten = 10u128.pow(fraction.len() as u32);
        value += (digits * u128::from(scale) + ten / 2) / ten;
    }
    u64::try_from(value).map_err(|_| too_large())
}

/// Writes a value with the largest unit that keeps it short and exact (at most three decimals).
fn write(f: &mut fmt::Formatter<'_>, value: u64, units: Units) -> fmt::Result {
    let last = units[units.len() - 1];
    for &(name, scale) in units {
        if value >= scale
            && (value.is_multiple_of(scale)
                || (scale >= 1000 && value.is_multiple_of(scale / 1000)))
        {
            let (whole, rest) = (value / scale, value % scale);
            if rest == 0 {
                return write!(f, "{whole}{name}");
            }
            if scale.is_multiple_of(1000) {
                let decimals = format!("{:03}", rest / (scale / 1000));
                return write!(f, "{whole}.{}{name}", decimals.trim_end_matches('0'));
            }
        }
    }
    write!(f, "{value}{}", last.0)
}

macro_rules! quantity {
    ($type:ident, $units:ident, $what:literal, $example:literal, $pattern:literal) => {
        impl core::str::FromStr for $type {
            type Err = ParseError;
            fn from_str(text: &str) -> Result<Self, ParseError> {
                parse(text, $units, $what, $example).map(Self)
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write(f, self.0, $units)
            }
        }
        #[cfg(feature = "schema")]
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.serialize_str(&self.to_string())
            }
        }
        #[cfg(feature = "schema")]
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str(concat!("a ", $what, " such as \"", $example, "\""))
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: serde::de::Error>(self, n: i64) -> Result<$type, E> {
                        Err(E::custom(missing_unit(&n.to_string(), $what, $example)))
                    }
                    fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<$type, E> {
                        Err(E::custom(missing_unit(&n.to_string(), $what, $example)))
                    }
                    fn visit_f64<E: serde::de::Error>(self, n: f64) -> Result<$type, E> {
                        Err(E::custom(missing_unit(&n.to_string(), $what, $example)))
                    }
                }
                d.deserialize_any(Visitor)
            }
        }
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": concat!("A ", $what, ", for example \"", $example, "\"."),
                    "pattern": $pattern,
                })
            }
        }
    };
}

#[cfg(feature = "schema")]
fn missing_unit(number: &str, what: &str, example: &str) -> String {
    format!("{number} is not a {what}: the unit is missing; write it like \"{example}\"")
}

quantity!(Time, TIME_UNITS, "time", "10ms", r"^\s*[0-9]*\.?[0-9]+\s*(h|min|s|ms|us|ns)\s*$");
quantity!(
    Rate,
    RATE_UNITS,
    "rate",
    "100mbit",
    r"^\s*[0-9]*\.?[0-9]+\s*([tT]|[gG]|[mM]|[kK])?[bB][iI][tT]\s*$"
);
quantity!(Size, SIZE_UNITS, "size", "16kB", r"^\s*[0-9]*\.?[0-9]+\s*(GiB|MiB|KiB|GB|MB|kB|B)\s*$");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_read_exactly() {
        assert_eq!("10ms".parse(), Ok(Time::from_millis(10)));
        assert_eq!("0.1s".parse(), Ok(Time::from_millis(100)));
        assert_eq!("1.5 us".parse(), Ok(Time(1500)));
        assert_eq!("2h".parse(), Ok(Time::from_secs(7200)));
        assert_eq!("100mbit".parse(), Ok(Rate(100_000_000)));
        assert_eq!("2.4Gbit".parse(), Ok(Rate(2_400_000_000)));
        assert_eq!("16kB".parse(), Ok(Size(16_000)));
        assert_eq!("64KiB".parse(), Ok(Size(65_536)));
    }

    #[test]
    fn nonsense_is_refused_with_what_would_be_right() {
        for text in ["", "ms", "10", "-1ms", "1e3ms", "10 parsec", "1.2.3s", "99999999999999h", "."]
        {
            let error = text.parse::<Time>().unwrap_err().to_string();
            assert!(error.contains("10ms"), "{error}");
        }
    }

    #[test]
    fn quantity_is_read_back_as_written() {
        for n in [0, 1, 999, 1500, 10_000_000, 123_456_789, 7_200_000_000_000, u64::MAX] {
            assert_eq!(Time(n).to_string().parse(), Ok(Time(n)));
            assert_eq!(Rate(n).to_string().parse(), Ok(Rate(n)));
            assert_eq!(Size(n).to_string().parse(), Ok(Size(n)));
        }
        assert_eq!(Time(1_500_000).to_string(), "1.5ms");
        assert_eq!(Rate(100_000_000).to_string(), "100mbit");
    }

    #[test]
    fn serialisation_time_rounds_up() {
        assert_eq!(Rate(100_000_000).time_for(1500), Time(120_000));
        assert_eq!(Rate(3).time_for(1), Time(2_666_666_667));
    }
}
