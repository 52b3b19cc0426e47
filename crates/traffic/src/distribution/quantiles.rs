//! Empirical distributions: a table of quantiles, its CSV form and its compiled form.

use super::{Interpolate, Unit};
use crate::Invalid;
use libm::{exp2, log2};
use std::f64::consts::LN_2;

/// Reads "probability, value" lines: a comma, semicolon or white space between; `#` starts a
/// comment; a first line without numbers is a heading. A value without a unit counts seconds,
/// bytes or ones. The error names the line.
pub fn quantiles_from_csv<U: Unit>(text: &str) -> Result<Vec<(f64, U)>, String> {
    let mut points = Vec::new();
    let mut heading = true;
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let mut fields = line
            .split(|c: char| c == ',' || c == ';' || c.is_whitespace())
            .filter(|f| !f.is_empty());
        let point = match (fields.next(), fields.next(), fields.next()) {
            (Some(p), Some(value), None) => p.parse().ok().zip(read_value(value)),
            _ => None,
        };
        match point {
            Some(point) => points.push(point),
            None if heading && !line.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {}
            None => {
                return Err(format!(
                    "line {}: \"{line}\" is not a probability and a {}, such as 0.5, {}",
                    number + 1,
                    U::NAME,
                    U::EXAMPLE.trim_matches('"'),
                ));
            }
        }
        heading = false;
    }
    Ok(points)
}

fn read_value<U: Unit>(text: &str) -> Option<U> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Some(U::from_base(x * U::SCALE)),
        _ => text.parse().ok(),
    }
}

pub(super) fn validate<U: Unit>(points: &[(f64, U)], field: &str) -> Result<(), Invalid> {
    if points.len() < 2 {
        let remedy = "needs at least two points [probability, value]";
        return Err(Invalid::new(field.to_owned(), format!("{} points", points.len()), remedy));
    }
    for (i, &(p, value)) in points.iter().enumerate() {
        let name = || format!("{field}.points[{i}]");
        if !(0.0..=1.0).contains(&p) {
            return Err(Invalid::new(name(), p, "a probability lies between 0 and 1"));
        }
        let (before, least) = if i == 0 { (-1.0, value) } else { points[i - 1] };
        if p <= before {
            return Err(Invalid::new(name(), p, "probabilities must increase"));
        }
        if value < least {
            return Err(Invalid::new(name(), value, "values must not decrease"));
        }
    }
    Ok(())
}

/// Between two neighbouring points: y = a + b·u, or 2 to the power of it.
#[derive(Clone, Debug)]
struct Segment {
    until: f64,
    a: f64,
    b: f64,
    log: bool,
}

/// Least number of pieces of equal width of [0, 1) that say where to start looking; a larger table
/// has as many as points, so that a draw takes a few steps whatever the table's size.
const GUIDES: usize = 64;

/// A compiled quantile table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    segments: Vec<Segment>,
    guide: Vec<u32>,
    mean: f64,
}

impl Table {
    pub(super) fn new<U: Unit>(points: &[(f64, U)], interpolate: Interpolate) -> Self {
        let (first, last) = (points[0], points[points.len() - 1]);
        let flat = |until, value: U| Segment { until, a: value.base(), b: 0.0, log: false };
        let mut segments = Vec::with_capacity(points.len() + 1);
        let mut mean = 0.0;
        if first.0 > 0.0 {
            segments.push(flat(first.0, first.1));
            mean += first.0 * first.1.base();
        }
        for pair in points.windows(2) {
            let ((p, v), (q, w)) = ((pair[0].0, pair[0].1.base()), (pair[1].0, pair[1].1.base()));
            let log_scale = interpolate == Interpolate::Log && v > 0.0 && w > v;
            let (y, z) = if log_scale { (log2(v), log2(w)) } else { (v, w) };
            let b = (z - y) / (q - p);
            segments.push(Segment { until: q, a: y - b * p, b, log: log_scale });
            // Over a logarithmic segment the mean is the logarithmic mean of its ends.
            mean += (q - p) * if log_scale { (w - v) / (LN_2 * (z - y)) } else { (v + w) / 2.0 };
        }
        if last.0 < 1.0 {
            segments.push(flat(1.0, last.1));
            mean += (1.0 - last.0) * last.1.base();
        }
        let guides = segments.len().next_power_of_two().max(GUIDES);
        let mut start = 0;
        let guide = (0..guides).map(|i| {
            let u = i as f64 / guides as f64;
            while start + 1 < segments.len() && u >= segments[start].until {
                start += 1;
            }
            start as u32
        });
        let guide = guide.collect();
        Self { segments, guide, mean }
    }

    #[inline]
    pub(super) fn quantile(&self, u: f64) -> f64 {
        let guides = self.guide.len();
        let mut i = self.guide[((u * guides as f64) as usize).min(guides - 1)] as usize;
        while i + 1 < self.segments.len() && u >= self.segments[i].until {
            i += 1;
        }
        let segment = &self.segments[i];
        let y = segment.a + segment.b * u;
        if segment.log { exp2(y) } else { y }
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::{Size, Time};

    #[test]
    fn csv_is_read_with_and_without_units() {
        let text = "probability,seconds\n# from a trace\n0, 0.5\n0.5;1.25\n\n1\t2s # end\n";
        let points = quantiles_from_csv::<Time>(text).unwrap();
        let ms = Time::from_millis;
        assert_eq!(points, [(0.0, ms(500)), (0.5, ms(1250)), (1.0, ms(2000))]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let error = quantiles_from_csv::<Size>("0, 10\n0.5, ten\n").unwrap_err();
        assert!(error.starts_with("line 2:"), "{error}");
        assert!(quantiles_from_csv::<Size>("0 10 20").is_err());
        assert!(quantiles_from_csv::<Size>("0 -10").is_err());
    }

    #[test]
    fn tables_out_of_order_are_refused() {
        let size = |points: &[(f64, u64)]| {
            let points: Vec<_> = points.iter().map(|&(p, v)| (p, Size(v))).collect();
            validate(&points, "size")
        };
        assert!(size(&[(0.0, 1), (1.0, 2)]).is_ok());
        assert!(size(&[(0.0, 1)]).is_err());
        assert!(size(&[(0.0, 1), (0.0, 2)]).is_err());
        assert!(size(&[(0.0, 2), (1.0, 1)]).is_err());
        assert!(size(&[(0.0, 1), (f64::NAN, 2)]).is_err());
        let error = size(&[(0.0, 1), (1.5, 2)]).unwrap_err();
        assert_eq!(error.to_string(), "size.points[1] = 1.5: a probability lies between 0 and 1");
    }

    #[test]
    fn a_large_table_gives_every_one_of_its_values() {
        let n = 100_000u32;
        let points: Vec<_> =
            (0..=n).map(|i| (f64::from(i) / f64::from(n), Size(u64::from(i) * 10))).collect();
        let table = Table::new(&points, Interpolate::Linear);
        for i in 0..n {
            let u = (f64::from(i) + 0.5) / f64::from(n);
            assert!((table.quantile(u) - f64::from(i) * 10.0 - 5.0).abs() < 1e-4);
        }
    }
}
