//! What is wrong with a parameter, and what would be right.

use std::fmt;

/// A parameter that cannot be used. Prints as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The field, relative to the struct it stands in: `size`, `think.shape`.
    pub field: String,
    /// The value that was given.
    pub value: String,
    /// What would be right.
    pub remedy: String,
}

impl Invalid {
    /// An error for `field`, which has `value`.
    #[must_use]
    pub fn new(
        field: impl Into<String>,
        value: impl fmt::Display,
        remedy: impl Into<String>,
    ) -> Self {
        Self { field: field.into(), value: value.to_string(), remedy: remedy.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: {}", self.field, self.value, self.remedy)
    }
}

impl std::error::Error for Invalid {}
