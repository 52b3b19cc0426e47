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

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn both_ends_of_a_range_are_in_it() {
        assert_eq!([2, 3, 5].map(|n| within("field", n, 2, 5)), [2, 3, 5].map(Ok));
        for n in [1, 6] {
            let error = within("field", n, 2, 5).unwrap_err();
            assert_eq!((&*error.field, error.value), ("field", n.to_string()));
            assert!(error.remedy.contains("from 2 to 5"), "{}", error.remedy);
        }
        assert!(within("field", f64::NAN, 0.0, 1.0).is_err());
    }
}
