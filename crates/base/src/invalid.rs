//! What is wrong with a parameter, and what would be right.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// A parameter that cannot be used. Prints as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The field, with the way there from the struct that was checked: `classes[0].qdisc.qref`.
    pub field: Cow<'static, str>,
    /// The value that was given; empty if the field is missing.
    pub value: String,
    /// What would be right.
    pub remedy: String,
}

impl Invalid {
    /// An error for `field`, which has `value`.
    #[must_use]
    pub fn new(
        field: impl Into<Cow<'static, str>>,
        value: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), value: value.to_string(), remedy: remedy.into() }
    }

    /// The same, as a part of `owner`.
    #[must_use]
    pub fn of(mut self, owner: impl fmt::Display) -> Self {
        self.field = format!("{owner}.{}", self.field).into();
        self
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.value.is_empty() {
            write!(f, "{}: {}", self.field, self.remedy)
        } else {
            write!(f, "{} = {}: {}", self.field, self.value, self.remedy)
        }
    }
}

impl core::error::Error for Invalid {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_names_field_value_and_remedy() {
        let error = Invalid::new("qref", -1, "must be above 0").of("classes[0].qdisc");
        assert_eq!(error.to_string(), "classes[0].qdisc.qref = -1: must be above 0");
        assert_eq!(Invalid::new("rate", "", "give one").to_string(), "rate: give one");
    }
}
