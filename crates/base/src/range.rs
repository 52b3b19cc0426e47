//! Ranges of settings.

use crate::Invalid;
use alloc::format;
use core::fmt;

/// Checks that a value lies in a range; says so in the user's terms if not.
pub fn within<T: PartialOrd + fmt::Display>(
    field: &'static str,
    value: T,
    least: T,
    most: T,
) -> Result<T, Invalid> {
    if value >= least && value <= most {
        return Ok(value);
    }
    let remedy = format!("write a value from {least} to {most}");
    Err(Invalid::new(field, value, remedy))
}
