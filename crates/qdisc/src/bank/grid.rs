//! Ways to lay a table over [0, 1].

use super::{Table, lloyd};
use crate::Invalid;
use alloc::vec::Vec;

/// How the entries of a table lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Grid {
    /// At equal distances in p.
    Linear,
    /// At equal distances in √p, to which the window of a TCP is inverse.
    Sqrt,
    /// At equal distances in −ln(1 − p), which adds up over queues in series.
    Log,
    /// 0, then at equal ratios from `least`.
    #[default]
    Geometric,
    /// 0, then such that the cost is least for given values of p: see [`super::optimal`].
    Optimal,
}

impl Grid {
    /// A table of `n` entries from 0 to `top`. `least` is the first entry above 0 of a geometric
    /// table and the least p of an optimal one, `given` the values it is optimal for.
    pub fn table(self, n: usize, least: f64, top: f64, given: &[f64]) -> Result<Table, Invalid> {
        if !(2..=super::MOST_ENTRIES).contains(&n) {
            return Err(Invalid::new("entries", n, "must be 2 to 16"));
        }
        if !(top > 0.0 && top <= 1.0) {
            return Err(Invalid::new("top", top, "must be above 0 and at most 1, for example 1"));
        }
        // `unfold` is the inverse of the scale on which the entries lie at equal distances.
        let even = |end: f64, unfold: &dyn Fn(f64) -> f64| {
            let at = |i: f64| unfold(end * i / (n - 1) as f64);
            let entries: Vec<f64> = (0..n).map(|i| at(i as f64)).collect();
            let between: Vec<f64> = (1..n).map(|i| at(i as f64 - 0.5)).collect();
            (entries, between)
        };
        let (entries, between) = match self {
            Self::Linear => even(top, &|u| u),
            Self::Sqrt => even(libm::sqrt(top), &|u| u * u),
            Self::Log => {
                if top > 0.999_9 {
                    let remedy = "must be at most 0.9999 on this grid, which has no end at 1";
                    return Err(Invalid::new("top", top, remedy));
                }
                even(-libm::log1p(-top), &|u| -libm::expm1(-u))
            }
            Self::Geometric | Self::Optimal => {
                if !(least >= 1e-4 && least < top) {
                    return Err(Invalid::new("least", least, "must be 0.0001 to below the top"));
                }
                let positive = if self == Self::Optimal {
                    lloyd::optimal(given, n - 1, least, top)?
                } else if n == 2 {
                    Vec::from([top])
                } else {
                    let step = libm::log(top / least) / (n - 2) as f64;
                    (0..n - 1).map(|i| least * libm::exp(step * i as f64)).collect()
                };
                let mut entries = Vec::from([0.0]);
                entries.extend(positive.iter().map(|&p| p.min(top)));
                // Equal relative errors on both sides; nothing is hit below half of the least.
                let mut between = Vec::from([least / 2.0]);
                between.extend(positive.windows(2).map(|p| libm::sqrt(p[0] * p[1])));
                (entries, between)
            }
        };
        // Rounding must not lift the last entry above 1.
        let entries: Vec<f64> = entries.iter().map(|&p| p.min(1.0)).collect();
        Table::new(&entries, &between)
    }
}
