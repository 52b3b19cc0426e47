//! REM in continuous time: Athuraliya, Li, Low and Yin, IEEE Network 15(3), 2001. A price that moves
//! by γ (arrivals + α (q − qref) − C T) every T has dprice/dt = γ (x + α (q − qref)/T − C) with x the
//! arrivals per second, dropped ones included; p = 1 − φ^(−price), and the price is never below 0.

use serde::Deserialize;

use super::{Mode, View, step};
use crate::Invalid;

/// REM.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rem {
    /// Step size of the price per packet of excess: above 0.
    pub gamma: f64,
    /// Weight of the queue's excess against that of the arrivals: above 0.
    pub alpha: f64,
    /// Base of the exponential: above 1.
    pub phi: f64,
    /// The queue to hold, in packets.
    pub qref: f64,
    /// Time between two moves of the price, in seconds.
    pub period: f64,
}

impl Rem {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        for (field, value) in
            [("gamma", self.gamma), ("alpha", self.alpha), ("period", self.period)]
        {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Invalid::new(field, value, "must be above 0"));
            }
        }
        if !(self.phi > 1.0 && self.phi <= 2.0) {
            return Err(Invalid::new(
                "phi",
                self.phi,
                "must be above 1 and at most 2, such as 1.001",
            ));
        }
        if !(self.qref >= 0.0 && self.qref.is_finite()) {
            return Err(Invalid::new("qref", self.qref, "must be at least 0 packets"));
        }
        Ok(())
    }

    /// The price for a probability.
    pub fn price(&self, probability: f64) -> f64 {
        -libm::log1p(-probability.min(1.0 - 1e-15)) / libm::log(self.phi)
    }

    fn excess(&self, view: &View) -> f64 {
        view.inflow - view.capacity + self.alpha * (view.queue - self.qref) / self.period
    }

    pub(super) fn probability(&self, _: &Mode, own: f64, _: &View) -> f64 {
        -libm::expm1(-own * libm::log(self.phi))
    }

    pub(super) fn slope(&self, mode: &Mode, _: f64, view: &View) -> f64 {
        if mode.piece == FREE { self.gamma * self.excess(view) } else { 0.0 }
    }

    pub(super) fn guards(&self, mode: &Mode, own: f64, view: &View) -> [f64; 2] {
        match mode.piece {
            FREE => [1.0, own],
            _ => [-self.excess(view) / view.capacity, 1.0],
        }
    }

    pub(super) fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, _: &View) {
        step(mode, guard);
        if mode.piece == HELD {
            *own = 0.0;
        }
    }
}

/// The price moves. The other piece is above it in number, below it in price.
const FREE: usize = 0;
/// The price is held at 0.
const HELD: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_and_probability_are_inverse_to_each_other() {
        let rem = Rem { gamma: 0.001, alpha: 0.1, phi: 1.001, qref: 20.0, period: 0.002 };
        for p in [1e-6, 0.01, 0.5, 0.99] {
            let back = rem.probability(&Mode::default(), rem.price(p), &View::default());
            assert!((back / p - 1.0).abs() < 1e-9, "{p} {back}");
        }
    }

    #[test]
    fn the_price_rests_at_zero_while_there_is_no_excess() {
        let rem = Rem { gamma: 0.001, alpha: 0.1, phi: 1.001, qref: 20.0, period: 0.002 };
        let view = |queue| View { queue, inflow: 900.0, capacity: 1000.0, ..View::default() };
        let mut mode = Mode::default();
        rem.crossed(&mut mode, 1, &mut -1e-9, &view(0.0));
        assert_eq!((mode.piece, rem.slope(&mode, 0.0, &view(0.0))), (HELD, 0.0));
        assert!(rem.guards(&mode, 0.0, &view(30.0))[0] < 0.0, "it leaves when the queue is long");
    }
}
