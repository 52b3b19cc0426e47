//! What serde has to complain of, in the words of scenarios.

use std::fmt::Display;

use serde::de;

use crate::error::{Fault, MISSING};
use crate::nearest::suggestion;

/// What to say of a table that stands for a list.
pub(crate) const NO_LIST: &str = "a table is not a list";

impl de::Error for Fault {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(Vec::new(), message.to_string())
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::custom(format!("{} is not {}", found_text(found), expected_text(expected)))
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn invalid_length(found: usize, expected: &dyn de::Expected) -> Self {
        let expected = expected.to_string();
        let wanted = expected.strip_prefix("a tuple of size ").unwrap_or(&expected);
        Self::custom(format!("there are {found} values in a list where {wanted} are needed"))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::custom(format!("\"{variant}\" is unknown; {}", suggestion(variant, expected)))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown(field, expected.iter().copied())
    }

    fn missing_field(field: &'static str) -> Self {
        Self::custom(MISSING).within(field)
    }
}

fn found_text(found: de::Unexpected<'_>) -> String {
    match found {
        de::Unexpected::Bool(value) => value.to_string(),
        de::Unexpected::Unsigned(n) => n.to_string(),
        de::Unexpected::Signed(n) => n.to_string(),
        de::Unexpected::Float(x) => format!("{x:?}"),
        de::Unexpected::Str(text) => format!("\"{text}\""),
        de::Unexpected::Seq => "a list".into(),
        de::Unexpected::Map => "a table".into(),
        other => other.to_string(),
    }
}

fn expected_text(expected: &dyn de::Expected) -> String {
    match expected.to_string().as_str() {
        "u8" => "a whole number from 0 to 255".into(),
        "u16" => "a whole number from 0 to 65535".into(),
        "u32" => "a whole number from 0 to 4294967295".into(),
        "u64" | "usize" => "a whole number from 0 to 18446744073709551615".into(),
        "i32" | "i64" => "a whole number".into(),
        "f32" | "f64" => "a number".into(),
        "a boolean" => "true or false".into(),
        "a sequence" => "a list".into(),
        "a map" => "a table".into(),
        text if text.starts_with("struct ") => "a table".into(),
        text => text.into(),
    }
}
