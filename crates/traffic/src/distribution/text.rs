//! The short forms: "60ms" and "50ms..150ms".

use super::{Distribution, Unit};
use std::str::FromStr;

/// Reads "a..b".
pub(super) fn range<U: Unit>(text: &str) -> Option<Result<(U, U), String>>
where
    U::Err: ToString,
{
    let (from, to) = text.split_once("..")?;
    let read = |part: &str| part.trim().parse::<U>().map_err(|e| e.to_string());
    Some(read(from).and_then(|from| Ok((from, read(to)?))))
}

impl<U: Unit> FromStr for Distribution<U>
where
    U::Err: ToString,
{
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match range(text) {
            Some(range) => range.map(|(min, max)| Self::Uniform { min, max, step: None }),
            None => text.parse().map(Self::Constant).map_err(|e: U::Err| e.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Count, Distribution};
    use sojourn_base::{Size, Time};

    #[test]
    fn short_forms_are_constants_and_ranges() {
        assert_eq!("60ms".parse(), Ok(Distribution::Constant(Time::from_millis(60))));
        let min = Size(500);
        assert_eq!("500B..1.5kB".parse(), Ok(uniform(min, Size(1500))));
        assert_eq!("0.5 .. 1.5".parse(), Ok(uniform(Count(0.5), Count(1.5))));
        assert!("1ms..2".parse::<Distribution<Time>>().unwrap_err().contains("unit is missing"));
        assert!("-1".parse::<Distribution<Count>>().is_err());
    }

    fn uniform<U>(min: U, max: U) -> Distribution<U> {
        Distribution::Uniform { min, max, step: None }
    }
}
