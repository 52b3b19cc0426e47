//! What a link charges for a rate: the loss or marking probability as a function of its load.

use serde::Deserialize;

use crate::Invalid;
use crate::scalar::Scalar;

/// A marking probability p = g(x/C) that rises with the load ρ = x/C; clamped to at most 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Price {
    /// ρ^B (Kelly, "Models for a self-managed Internet", Phil. Trans. R. Soc. A 358, 2000):
    /// elasticity `B` everywhere.
    Power {
        /// The exponent B: above 0.
        exponent: f64,
    },
    /// ((ρ − γ)/(1 − γ))^B from ρ = γ on, 0 below: a ramp for B = 1, a parabola for B = 2.
    Ramp {
        /// The load γ at which marking starts: 0 to below 1.
        start: f64,
        /// The exponent B: at least 1.
        exponent: f64,
        /// Whether it is 0 below γ, as it is unless said otherwise. A parabola that is not rises
        /// again there, and may have several equilibria.
        #[serde(default = "clipped")]
        clipped: bool,
    },
    /// 1 − e^(−cρ): REM with a price in proportion to the load.
    Exponential {
        /// The price c at full load times ln φ: above 0.
        price: f64,
    },
}

fn clipped() -> bool {
    true
}

impl Price {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        match *self {
            Self::Power { exponent } if !(exponent > 0.0 && exponent <= 1e4) => Err(Invalid::new(
                "exponent",
                exponent,
                "must be above 0 and at most 1e4, such as 2",
            )),
            Self::Ramp { start, .. } if !(0.0..1.0).contains(&start) => {
                Err(Invalid::new("start", start, "must be 0 to below 1, such as 0.5"))
            }
            Self::Ramp { exponent, .. } if !(1.0..=1e4).contains(&exponent) => {
                Err(Invalid::new("exponent", exponent, "must be 1 to 1e4, such as 1"))
            }
            Self::Ramp { clipped: false, exponent, .. } if exponent % 1.0 != 0.0 => {
                Err(Invalid::new("exponent", exponent, "must be whole if the price is not clipped"))
            }
            Self::Exponential { price } if !(price > 0.0 && price <= 1e4) => {
                Err(Invalid::new("price", price, "must be above 0 and at most 1e4, such as 1"))
            }
            _ => Ok(()),
        }
    }

    /// The probability before it is clamped to at most 1.
    #[inline]
    pub(crate) fn raw<S: Scalar>(&self, load: S) -> S {
        match *self {
            Self::Power { exponent } => load.max(S::of(0.0)).powf(exponent),
            Self::Ramp { start, exponent, clipped } => {
                let above = (load - start) / (1.0 - start);
                if clipped && above.value() <= 0.0 { S::of(0.0) } else { above.powf(exponent) }
            }
            Self::Exponential { price } => -((-load * price).exp_m1()),
        }
    }

    /// The probability.
    pub fn at(&self, load: f64) -> f64 {
        self.raw(load).clamp(0.0, 1.0)
    }

    /// The elasticity ρ g'(ρ)/g(ρ): what stands for B where the price is no power. Not a number
    /// where nothing is marked.
    pub fn elasticity(&self, load: f64) -> f64 {
        load * crate::scalar::derivative(load, |load| self.raw(load)) / self.raw(load)
    }

    /// Loads at which the price bends: where marking starts and where it reaches 1.
    fn bends(&self) -> [f64; 2] {
        match *self {
            Self::Power { .. } => [0.0, 1.0],
            Self::Ramp { start, .. } => [start, 1.0],
            Self::Exponential { .. } => [0.0, f64::INFINITY],
        }
    }

    /// The piece that fits a load: 0 before marking starts, 1 where it rises, 2 where it is 1.
    pub(crate) fn piece(&self, load: f64) -> usize {
        self.bends().iter().filter(|bend| load > **bend).count()
    }

    /// The probability in a piece.
    #[inline]
    pub(crate) fn within<S: Scalar>(&self, piece: usize, load: S) -> S {
        match (self, piece) {
            (_, 2) => S::of(1.0),
            (Self::Ramp { clipped: true, .. }, 0) => S::of(0.0),
            _ => self.raw(load),
        }
    }

    /// How far a load is from both ends of a piece.
    #[inline]
    pub(crate) fn guards(&self, piece: usize, load: f64) -> [f64; 2] {
        let bends = self.bends();
        [
            piece.checked_sub(1).map_or(1.0, |below| load - bends[below]),
            bends.get(piece).map_or(1.0, |above| above - load),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elasticity_is_the_slope_on_logarithmic_scales() {
        for price in [
            Price::Power { exponent: 16.0 },
            Price::Ramp { start: 0.3, exponent: 2.0, clipped: true },
            Price::Ramp { start: 0.6, exponent: 1.0, clipped: true },
            Price::Exponential { price: 2.0 },
        ] {
            let (load, h) = (0.8, 1e-6);
            let slope = (price.at(load + h) - price.at(load - h)) / (2.0 * h);
            let measured = load * slope / price.at(load);
            assert!((measured / price.elasticity(load) - 1.0).abs() < 1e-6, "{price:?}");
            let closed = match price {
                Price::Power { exponent } => exponent,
                Price::Ramp { start, exponent, .. } => exponent * load / (load - start),
                Price::Exponential { price } => price * load / libm::expm1(price * load),
            };
            assert!((price.elasticity(load) / closed - 1.0).abs() < 1e-12, "{price:?}");
        }
    }

    #[test]
    fn prices_start_where_they_say_and_end_at_one() {
        let ramp = Price::Ramp { start: 0.5, exponent: 1.0, clipped: true };
        assert_eq!((ramp.at(0.4), ramp.at(0.75), ramp.at(1.2)), (0.0, 0.5, 1.0));
        let parabola = Price::Ramp { start: 0.5, exponent: 2.0, clipped: false };
        assert_eq!(parabola.at(0.0), 1.0);
    }

    #[test]
    fn parameters_have_bounds() {
        let power = |exponent| Price::Power { exponent };
        let ramp = |start, exponent| Price::Ramp { start, exponent, clipped: true };
        let whole = |exponent| Price::Ramp { start: 0.5, exponent, clipped: false };
        let exponential = |price| Price::Exponential { price };
        for right in [
            power(1e-9),
            power(1e4),
            ramp(0.0, 1.0),
            ramp(0.999, 1e4),
            ramp(0.5, 1.5),
            whole(2.0),
            exponential(1e-9),
            exponential(1e4),
        ] {
            assert_eq!(right.validate(), Ok(()), "{right:?}");
        }
        for (wrong, field) in [
            (power(0.0), "exponent = 0"),
            (power(1.1e4), "exponent = 11000"),
            (power(f64::NAN), "exponent = NaN"),
            (ramp(1.0, 1.0), "start = 1"),
            (ramp(-0.1, 1.0), "start = -0.1"),
            (ramp(0.5, 0.9), "exponent = 0.9"),
            (ramp(0.5, 1.1e4), "exponent = 11000"),
            (whole(1.5), "exponent = 1.5"),
            (exponential(0.0), "price = 0"),
            (exponential(1.1e4), "price = 11000"),
            (exponential(f64::NAN), "price = NaN"),
        ] {
            let why = wrong.validate().unwrap_err().to_string();
            assert!(why.starts_with(&format!("{field}: must be ")), "{why}");
        }
    }

    #[test]
    fn pieces_are_parted_by_the_bends_and_guarded_by_them() {
        let ramp = Price::Ramp { start: 0.5, exponent: 2.0, clipped: true };
        for (load, piece, guards, probability) in [
            (0.25, 0, [1.0, 0.25], 0.0),
            (0.75, 1, [0.25, 0.25], 0.25),
            (1.25, 2, [0.25, 1.0], 1.0),
        ] {
            assert_eq!(ramp.piece(load), piece);
            assert_eq!(ramp.guards(piece, load), guards);
            assert_eq!((ramp.within(piece, load), ramp.at(load)), (probability, probability));
        }
        let power = Price::Power { exponent: 2.0 };
        assert_eq!((power.piece(0.5), power.piece(1.5)), (1, 2));
        assert_eq!((power.within(1, 0.5), power.within(2, 1.5)), (0.25, 1.0));
        assert_eq!(power.within(0, -0.5), 0.0, "no load below 0 is charged for");
        // Beyond its end a piece is what it was, until its guard is seen to have fallen.
        assert_eq!((ramp.within(0, 0.6), ramp.within(2, 0.9)), (0.0, 1.0));
        let unclipped = Price::Ramp { start: 0.5, exponent: 2.0, clipped: false };
        assert_eq!(unclipped.within(0, 0.25), 0.25);
        let exponential = Price::Exponential { price: 2.0 };
        assert_eq!((exponential.piece(1e6), exponential.guards(1, 3.0)), (1, [3.0, f64::INFINITY]));
        assert!((exponential.at(0.75) - (1.0 - libm::exp(-1.5))).abs() < 1e-15);
    }
}
