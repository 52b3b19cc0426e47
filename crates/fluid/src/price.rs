//! What a link charges for a rate: the loss or marking probability as a function of its load.

use serde::Deserialize;

use crate::Invalid;

/// A marking probability p = g(x/C) that rises with the load ρ = x/C; clamped to at most 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Price {
    /// ρ^B (Kelly, "Models for a self-managed Internet", Phil. Trans. R. Soc. A 358, 2000):
    /// elasticity `B` everywhere.
    Power {
        /// The exponent B: above 0.
        exponent: f64,
    },
    /// ((ρ − γ)/(1 − γ))^B from ρ = γ on, 0 below: a ramp for B = 1, a parabola for B = 2.
    Threshold {
        /// The load γ at which marking starts: 0 to below 1.
        start: f64,
        /// The exponent B: at least 1.
        exponent: f64,
        /// Whether it is 0 below γ. A parabola that is not rises again there, and may have several
        /// equilibria.
        clipped: bool,
    },
}

impl Price {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        match *self {
            Self::Power { exponent } if !(exponent > 0.0 && exponent <= 1e4) => Err(Invalid::new(
                "elasticity",
                exponent,
                "must be above 0 and at most 1e4, such as 2",
            )),
            Self::Threshold { start, .. } if !(0.0..1.0).contains(&start) => {
                Err(Invalid::new("start", start, "must be 0 to below 1, such as 0.5"))
            }
            Self::Threshold { exponent, .. } if !(1.0..=1e4).contains(&exponent) => {
                Err(Invalid::new("elasticity", exponent, "must be 1 to 1e4, such as 1"))
            }
            Self::Threshold { clipped: false, exponent, .. } if exponent % 1.0 != 0.0 => Err(
                Invalid::new("elasticity", exponent, "must be whole if the price is not clipped"),
            ),
            _ => Ok(()),
        }
    }

    /// The probability before it is clamped to at most 1.
    pub fn raw(&self, load: f64) -> f64 {
        match *self {
            Self::Power { exponent } => libm::pow(load.max(0.0), exponent),
            Self::Threshold { start, exponent, clipped } => {
                let above = (load - start) / (1.0 - start);
                if clipped && above <= 0.0 { 0.0 } else { libm::pow(above, exponent) }
            }
        }
    }

    /// The probability.
    pub fn at(&self, load: f64) -> f64 {
        self.raw(load).clamp(0.0, 1.0)
    }

    /// The elasticity ρ g'(ρ)/g(ρ): what stands for B where the price is no power. Not a number
    /// where nothing is marked.
    pub fn elasticity(&self, load: f64) -> f64 {
        match *self {
            Self::Power { exponent } => exponent,
            Self::Threshold { start, clipped: true, .. } if load <= start => f64::NAN,
            Self::Threshold { start, exponent, .. } => exponent * load / (load - start),
        }
    }

    /// Loads at which the price bends: where marking starts and where it reaches 1.
    pub fn bends(&self) -> [f64; 2] {
        match *self {
            Self::Power { .. } => [0.0, 1.0],
            Self::Threshold { start, .. } => [start, 1.0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elasticity_is_the_slope_on_logarithmic_scales() {
        for price in [
            Price::Power { exponent: 16.0 },
            Price::Threshold { start: 0.3, exponent: 2.0, clipped: true },
            Price::Threshold { start: 0.6, exponent: 1.0, clipped: true },
        ] {
            let (load, h) = (0.8, 1e-6);
            let slope = (price.at(load + h) - price.at(load - h)) / (2.0 * h);
            let measured = load * slope / price.at(load);
            assert!((measured / price.elasticity(load) - 1.0).abs() < 1e-6, "{price:?}");
        }
    }

    #[test]
    fn prices_start_where_they_say_and_end_at_one() {
        let ramp = Price::Threshold { start: 0.5, exponent: 1.0, clipped: true };
        assert_eq!((ramp.at(0.4), ramp.at(0.75), ramp.at(1.2)), (0.0, 0.5, 1.0));
        let parabola = Price::Threshold { start: 0.5, exponent: 2.0, clipped: false };
        assert_eq!(parabola.at(0.0), 1.0);
    }
}
