//! Quantities as text: the units that people write, and the one form that is written back.
//!
//! `tc` writes `50mbit`, people write `50 Mb/s` or `50Mbps`. `tc` ignores case and takes `50mbps`
//! for megabytes per second and `16kb` for 16384 bytes, which is not what most who write so mean:
//! these are refused with what either meaning would be written like.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::{Rate, Size, Time};

/// Why a string is not a quantity; says what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(pub String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for ParseError {}

/// A unit.
struct Unit {
    /// How it is written back.
    name: &'static str,
    /// Whether the name is read in any case.
    folds: bool,
    /// What else is read, in exactly this case.
    also: &'static [&'static str],
    /// How many base units it is.
    scale: u64,
}

impl Unit {
    const fn folded(name: &'static str, also: &'static [&'static str], scale: u64) -> Self {
        Self { name, folds: true, also, scale }
    }

    const fn exact(name: &'static str, also: &'static [&'static str], scale: u64) -> Self {
        Self { name, folds: false, also, scale }
    }

    fn is(&self, text: &str) -> bool {
        self.name == text
            || self.also.contains(&text)
            || (self.folds && self.name.eq_ignore_ascii_case(text))
    }
}

/// Units of one quantity, largest first.
type Units = &'static [Unit];

const TIME_UNITS: Units = &[
    Unit::folded("h", &[], 3_600_000_000_000),
    Unit::folded("min", &[], 60_000_000_000),
    Unit::folded("s", &[], 1_000_000_000),
    Unit::folded("ms", &[], 1_000_000),
    // The micro sign and the Greek letter.
    Unit::folded("us", &["\u{b5}s", "\u{3bc}s"], 1_000),
    Unit::folded("ns", &[], 1),
];
const RATE_UNITS: Units = &[
    Unit::folded("tbit", &["Tb/s", "tb/s", "Tbps", "Tbit/s", "tbit/s"], 1_000_000_000_000),
    Unit::folded("gbit", &["Gb/s", "gb/s", "Gbps", "Gbit/s", "gbit/s"], 1_000_000_000),
    Unit::folded("mbit", &["Mb/s", "mb/s", "Mbps", "Mbit/s", "mbit/s"], 1_000_000),
    Unit::folded("kbit", &["kb/s", "Kb/s", "Kbps", "kbit/s", "Kbit/s"], 1_000),
    Unit::folded("bit", &["b/s", "bit/s"], 1),
];
const SIZE_UNITS: Units = &[
    Unit::folded("GiB", &[], 1 << 30),
    Unit::folded("MiB", &[], 1 << 20),
    Unit::folded("KiB", &[], 1 << 10),
    Unit::exact("GB", &[], 1_000_000_000),
    Unit::exact("MB", &[], 1_000_000),
    Unit::exact("kB", &["KB"], 1_000),
    Unit::exact("B", &[], 1),
];

/// What is read of one quantity, and what is said of the rest.
struct Form {
    units: Units,
    /// What it is called.
    what: &'static str,
    /// A right one.
    example: &'static str,
    /// Of a number and a unit that have more than one meaning: why, and what to write instead.
    ambiguous: fn(&str, &str) -> Option<String>,
}

impl Form {
    /// Reads "12.5ms" exactly, in integers.
    fn read(&self, text: &str) -> Result<u64, ParseError> {
        let (text, what, example) = (text.trim(), self.what, self.example);
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
        if unit.is_empty() {
            return Err(wrong(&format!("the unit is missing (one of {})", self.known())));
        }
        let Some(scale) = self.units.iter().find(|known| known.is(unit)).map(|unit| unit.scale)
        else {
            return Err(match (self.ambiguous)(number, unit) {
                Some(why) => ParseError(format!("\"{text}\" is not a {what}: {why}")),
                None => wrong(&format!("unknown unit \"{unit}\" (one of {})", self.known())),
            });
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let no_digits = whole.is_empty() && fraction.is_empty();
        if fraction.len() > 18 || no_digits {
            return Err(wrong("the number is malformed"));
        }
        let too_large = || wrong("it is too large");
        let whole: u128 =
            if whole.is_empty() { 0 } else { whole.parse().map_err(|_| too_large())? };
        let mut value = whole.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
        if !fraction.is_empty() {
            let digits: u128 = fraction.parse().map_err(|_| wrong("the number is malformed"))?;
            let ten = 10u128.pow(fraction.len() as u32);
            value = value
                .checked_add((digits * u128::from(scale) + ten / 2) / ten)
                .ok_or_else(too_large)?;
        }
        u64::try_from(value).map_err(|_| too_large())
    }

    /// Writes a value with the largest unit that keeps it short and exact (at most three
    /// decimals).
    fn write(&self, f: &mut fmt::Formatter<'_>, value: u64) -> fmt::Result {
        for &Unit { name, scale, .. } in self.units {
            let divides = value.is_multiple_of(scale)
                || (scale >= 1000 && value.is_multiple_of(scale / 1000));
            if value >= scale && divides {
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
        write!(f, "{value}{}", self.units[self.units.len() - 1].name)
    }

    /// The units, each with the first of its other forms.
    fn known(&self) -> String {
        let both = |unit: &Unit| core::iter::once(unit.name).chain(unit.also.first().copied());
        self.units.iter().flat_map(both).collect::<Vec<_>>().join(", ")
    }

    /// A regular expression (ECMA 262, as JSON Schema wants it) of what is read.
    #[cfg(feature = "schema")]
    fn pattern(&self) -> String {
        let any_case = |name: &str| {
            let either =
                |c: char| format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase());
            name.chars().map(either).collect::<String>()
        };
        let mut names = Vec::new();
        for unit in self.units {
            names.push(if unit.folds { any_case(unit.name) } else { unit.name.to_string() });
            names.extend(unit.also.iter().map(ToString::to_string));
        }
        let number = r"([0-9]+(\.[0-9]{0,18})?|\.[0-9]{1,18})";
        format!(r"^\s*{number}\s*({})\s*$", names.join("|"))
    }

    #[cfg(feature = "schema")]
    fn missing_unit(&self, number: impl fmt::Display) -> String {
        let (what, example) = (self.what, self.example);
        format!("{number} is not a {what}: the unit is missing; write it like \"{example}\"")
    }
}

fn never(_: &str, _: &str) -> Option<String> {
    None
}

/// `mbps`, `MBps` and `MB/s` and the like.
fn bits_or_bytes_per_second(number: &str, unit: &str) -> Option<String> {
    let lower = unit.to_ascii_lowercase();
    let prefix = lower.strip_suffix("bps").or_else(|| lower.strip_suffix("b/s"))?;
    let bits: Rate = format!("{number}{prefix}bit").parse().ok()?;
    let bytes = Rate(bits.0.checked_mul(8)?);
    let meaning = if unit.contains('B') {
        "it counts bytes, and rates are in bits".to_string()
    } else {
        format!("\"{unit}\" is bits per second to most and bytes per second to tc")
    };
    Some(format!("{meaning}; write \"{bits}\" for bits, \"{bytes}\" for bytes"))
}

/// `kb`, `Mb` and the like.
fn bits_or_bytes(number: &str, unit: &str) -> Option<String> {
    let prefix = unit.strip_suffix('b')?.to_ascii_uppercase();
    let (thousands, binary) = match &*prefix {
        "" => ("B", "B"),
        "K" => ("kB", "KiB"),
        "M" => ("MB", "MiB"),
        "G" => ("GB", "GiB"),
        _ => return None,
    };
    if thousands == binary {
        return Some(format!(
            "\"b\" is bits to most and bytes to tc; write \"{number}B\" for bytes"
        ));
    }
    Some(format!(
        "\"{unit}\" is bits to most and powers of 1024 bytes to tc; write \"{number}{thousands}\" \
         for powers of 1000 bytes, \"{number}{binary}\" for powers of 1024"
    ))
}

macro_rules! quantity {
    ($type:ident, $units:ident, $what:literal, $example:literal, $ambiguous:ident) => {
        impl $type {
            const FORM: Form = Form {
                units: $units,
                what: $what,
                example: $example,
                ambiguous: $ambiguous,
            };
        }
        impl core::str::FromStr for $type {
            type Err = ParseError;
            fn from_str(text: &str) -> Result<Self, ParseError> {
                Self::FORM.read(text).map(Self)
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Self::FORM.write(f, self.0)
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
                        Err(E::custom($type::FORM.missing_unit(n)))
                    }
                    fn visit_u64<E: serde::de::Error>(self, n: u64) -> Result<$type, E> {
                        Err(E::custom($type::FORM.missing_unit(n)))
                    }
                    fn visit_f64<E: serde::de::Error>(self, n: f64) -> Result<$type, E> {
                        Err(E::custom($type::FORM.missing_unit(n)))
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
                    "pattern": Self::FORM.pattern(),
                })
            }
        }
    };
}

quantity!(Time, TIME_UNITS, "time", "10ms", never);
quantity!(Rate, RATE_UNITS, "rate", "100mbit", bits_or_bytes_per_second);
quantity!(Size, SIZE_UNITS, "size", "16kB", bits_or_bytes);

#[cfg(test)]
mod tests {
    use super::*;
    use core::str::FromStr;
    use proptest::prelude::*;

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
    fn units_of_people_and_of_tc_are_read_alike() {
        for text in ["50 Mb/s", "50 Mbit/s", "50Mbps", "50mbit", "50 MBIT", "0.05 Gb/s", "50mb/s"] {
            assert_eq!(text.parse(), Ok(Rate(50_000_000)), "{text}");
        }
        for text in ["20 ms", "20ms", "20000 \u{b5}s", "20000\u{3bc}s"] {
            assert_eq!(text.parse(), Ok(Time::from_millis(20)), "{text}");
        }
        for text in ["16 KiB", "16kib", "0.015625MiB"] {
            assert_eq!(text.parse(), Ok(Size(16_384)), "{text}");
        }
        assert_eq!("1.5 MB".parse(), Ok(Size(1_500_000)));
        assert_eq!("64 KB".parse(), Ok(Size(64_000)));
    }

    #[test]
    fn unit_with_two_meanings_is_refused_with_both() {
        for (text, bits, bytes) in [
            ("100mbps", "\"100mbit\"", "\"800mbit\""),
            ("1.5 kbps", "\"1.5kbit\"", "\"12kbit\""),
            ("64bps", "\"64bit\"", "\"512bit\""),
            ("10 MB/s", "\"10mbit\"", "\"80mbit\""),
            ("2GBps", "\"2gbit\"", "\"16gbit\""),
        ] {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains(bits) && error.contains(bytes), "{error}");
        }
        for (text, ways) in [
            ("16kb", ["\"16kB\"", "\"16KiB\""]),
            ("1.5Mb", ["\"1.5MB\"", "\"1.5MiB\""]),
            ("8 gb", ["\"8GB\"", "\"8GiB\""]),
        ] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert!(ways.iter().all(|way| error.contains(way)), "{error}");
        }
        assert!("1500b".parse::<Size>().unwrap_err().to_string().contains("\"1500B\""));
    }

    #[test]
    #[cfg(feature = "schema")]
    fn number_without_unit_is_refused_with_an_example() {
        use serde::de::value::{Error, F64Deserializer, I64Deserializer, U64Deserializer};
        use serde::{Deserialize, de::IntoDeserializer};
        let signed: I64Deserializer<Error> = (-5i64).into_deserializer();
        let unsigned: U64Deserializer<Error> = 5u64.into_deserializer();
        let float: F64Deserializer<Error> = 2.5f64.into_deserializer();
        for (error, number) in [
            (Rate::deserialize(signed), "-5"),
            (Rate::deserialize(unsigned), "5"),
            (Rate::deserialize(float), "2.5"),
        ] {
            let error = error.unwrap_err().to_string();
            let whole =
                format!("{number} is not a rate: the unit is missing; write it like \"100mbit\"");
            assert_eq!(error, whole);
        }
    }

    #[test]
    fn nonsense_is_refused_with_what_would_be_right() {
        for text in ["", "ms", "10", "-1ms", "1e3ms", "10 parsec", "1.2.3s", "99999999999999h", "."]
        {
            let error = text.parse::<Time>().unwrap_err().to_string();
            assert!(error.contains("10ms"), "{error}");
        }
        for text in ["1..2mbps", ".bps", "99999999999999999999mbps", "1 \u{fc}bps", "1 furlong"] {
            let error = text.parse::<Rate>().unwrap_err().to_string();
            assert!(error.contains("100mbit"), "{error}");
        }
        // As many decimals as are read exactly, and one more.
        assert_eq!("0.123456789012345678s".parse(), Ok(Time(123_456_789)));
        assert_eq!("0.0000000005s".parse(), Ok(Time(1)));
        let error = "0.1234567890123456789s".parse::<Time>().unwrap_err().to_string();
        assert!(error.contains("malformed"), "{error}");
        let error = "10".parse::<Size>().unwrap_err().to_string();
        assert!(error.contains("(one of GiB, MiB, KiB, GB, MB, kB, KB, B)"), "{error}");
        let most = "340282366920938463463374607431768211455.9ns";
        assert!(most.parse::<Time>().unwrap_err().to_string().contains("too large"));
    }

    #[test]
    fn largest_unit_that_is_short_and_exact_is_written() {
        assert_eq!(Time(1_500_000).to_string(), "1.5ms");
        assert_eq!(Rate(100_000_000).to_string(), "100mbit");
        assert_eq!(Size(65_536).to_string(), "64KiB");
    }

    /// Every spelling of a unit.
    fn spellings(units: Units) -> Vec<String> {
        let mut all = Vec::new();
        for unit in units {
            all.push(unit.name.to_string());
            all.extend(unit.also.iter().map(ToString::to_string));
            if unit.folds {
                all.push(unit.name.to_ascii_uppercase());
                all.push(unit.name.to_ascii_lowercase());
            }
        }
        all
    }

    #[test]
    fn spelling_belongs_to_one_unit() {
        for units in [TIME_UNITS, RATE_UNITS, SIZE_UNITS] {
            for text in spellings(units) {
                assert_eq!(units.iter().filter(|unit| unit.is(&text)).count(), 1, "{text}");
            }
        }
    }

    fn round_trip<T>(number: &str, units: Units) -> Result<(), TestCaseError>
    where
        T: FromStr<Err = ParseError> + ToString + PartialEq + fmt::Debug,
    {
        for unit in spellings(units) {
            let Ok(read) = format!("{number} {unit}").parse::<T>() else { continue };
            prop_assert_eq!(read.to_string().parse::<T>(), Ok(read));
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn quantity_is_read_back_as_written(n: u64) {
            prop_assert_eq!(Time(n).to_string().parse(), Ok(Time(n)));
            prop_assert_eq!(Rate(n).to_string().parse(), Ok(Rate(n)));
            prop_assert_eq!(Size(n).to_string().parse(), Ok(Size(n)));
        }

        #[test]
        fn every_spelling_is_read_back_as_written(number in "[0-9]{1,9}(\\.[0-9]{0,9})?") {
            round_trip::<Time>(&number, TIME_UNITS)?;
            round_trip::<Rate>(&number, RATE_UNITS)?;
            round_trip::<Size>(&number, SIZE_UNITS)?;
        }

        #[test]
        fn nothing_stops_the_reader(text in "\\PC*") {
            let _ = (text.parse::<Time>(), text.parse::<Rate>(), text.parse::<Size>());
        }

        #[test]
        fn nothing_near_a_quantity_stops_the_reader(
            text in "[0-9.]{0,45} ?[kKmMgGtT]?i?(b|B|bit|s)?(/s|ps)?"
        ) {
            let _ = (text.parse::<Time>(), text.parse::<Rate>(), text.parse::<Size>());
        }
    }
}
