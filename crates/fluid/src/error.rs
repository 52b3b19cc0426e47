//! Parameters that cannot be used.

use std::fmt;

/// A parameter that cannot be used: which, what it was, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The parameter, with the part of the model it belongs to: `classes[1].rtt`.
    pub field: String,
    /// Its value.
    pub value: String,
    /// What to write instead.
    pub remedy: String,
}

impl Invalid {
    /// The same, as a part of `owner`.
    #[must_use]
    pub fn of(mut self, owner: impl fmt::Display) -> Self {
        self.field = format!("{owner}.{}", self.field);
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

impl std::error::Error for Invalid {}

/// A wrong value of `field`.
pub(crate) fn invalid(
    field: impl Into<String>,
    value: impl fmt::Display,
    remedy: impl Into<String>,
) -> Invalid {
    Invalid { field: field.into(), value: value.to_string(), remedy: remedy.into() }
}
