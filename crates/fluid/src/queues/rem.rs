//! REM in continuous time: Athuraliya, Li, Low and Yin, IEEE Network 15(3), 2001. A price that
//! moves by γ (arrivals + α (q − qref) − C T) every T has dprice/dt = γ (x + α (q − qref)/T − C)
//! with x the arrivals per second, dropped ones included; p = 1 − φ^(−price), and the price is
//! never below 0.

use sojourn_qdisc::rem::Params;

use super::{Env, Law, Made, Mode, View, step};
use crate::Invalid;
use crate::scalar::Scalar;

/// REM.
#[derive(Clone, Debug, PartialEq)]
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

/// The price moves. The other piece is above it in number, below it in price.
const FREE: usize = 0;
/// The price is held at 0.
const HELD: usize = 1;

impl Rem {
    /// The price for a probability.
    fn price(&self, probability: f64) -> f64 {
        -libm::log1p(-probability.min(1.0 - 1e-15)) / libm::log(self.phi)
    }

    fn excess<S: Scalar>(&self, view: &View<S>) -> S {
        view.inflow - view.capacity + (view.queue - self.qref) * self.alpha / self.period
    }
}

impl Law for Rem {
    type Params = Params;

    fn of(p: &Params, env: &Env) -> Result<Made<Self>, Invalid> {
        if p.alpha == 0.0 {
            return Err(Invalid::new("alpha", p.alpha, "must be above 0, or no queue is held"));
        }
        let law = Self {
            gamma: p.gamma,
            alpha: p.alpha,
            phi: p.phi,
            qref: p.qref,
            period: p.period.as_secs_f64(),
        };
        let made = Made::new(law, p.limit, p.ecn);
        Ok(made.counting(env, p.byte_mode))
    }

    fn scale(&self) -> f64 {
        1.0
    }

    fn hold(&self) -> f64 {
        self.period
    }

    fn setpoint(&self, _: f64) -> Option<f64> {
        Some(self.qref)
    }

    /// Arrivals include what the law drops, so that where it drops the share `dropped` of them it
    /// rests where they are more than the capacity.
    fn setpoint_dropping(&self, capacity: f64, dropped: f64) -> Option<f64> {
        let more = capacity * dropped / (1.0 - dropped).max(1e-9);
        Some((self.qref - more * self.period / self.alpha).max(0.0))
    }

    fn state_at(&self, _: f64, probability: f64, _: f64) -> f64 {
        self.price(probability)
    }

    fn mode_at(&self, _: f64, _: &View<f64>) -> Mode {
        Mode { piece: FREE, ..Mode::default() }
    }

    fn probability<S: Scalar>(&self, _: &Mode, own: S, _: &View<S>) -> S {
        -((-own * libm::log(self.phi)).exp_m1())
    }

    fn slope<S: Scalar>(&self, mode: &Mode, _: S, view: &View<S>) -> S {
        if mode.piece == FREE { self.excess(view) * self.gamma } else { S::of(0.0) }
    }

    fn guards(&self, mode: &Mode, own: f64, view: &View<f64>) -> [f64; 2] {
        match mode.piece {
            FREE => [1.0, own],
            _ => [-self.excess(view) / view.capacity, 1.0],
        }
    }

    fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, _: &View<f64>) {
        step(mode, guard);
        if mode.piece == HELD {
            *own = 0.0;
        }
    }
}

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

    #[test]
    fn the_price_moves_by_what_comes_too_much_and_by_what_waits_too_much() {
        let rem = Rem { gamma: 0.001, alpha: 0.1, phi: 1.001, qref: 20.0, period: 0.002 };
        let view = |queue| View { queue, inflow: 900.0, capacity: 1000.0, ..View::default() };
        let free = rem.mode_at(3.0, &view(25.0));
        assert!((rem.slope(&free, 3.0, &view(25.0)) - 0.001 * (250.0 - 100.0)).abs() < 1e-12);
        assert_eq!(rem.guards(&free, 3.0, &view(25.0)), [1.0, 3.0]);
        // Held at 0: by how many capacities there is too little.
        let held = Mode { piece: HELD, ..Mode::default() };
        let guards = rem.guards(&held, 0.0, &view(25.0));
        assert!((guards[0] + 0.15).abs() < 1e-12 && guards[1] == 1.0, "{guards:?}");
        assert_eq!(rem.slope(&held, 0.0, &view(25.0)), 0.0);
        let (mut mode, mut own) = (held, 0.0);
        rem.crossed(&mut mode, 0, &mut own, &view(25.0));
        assert_eq!((mode.piece, own), (FREE, 0.0));
        let mut own = -1e-9;
        rem.crossed(&mut mode, 1, &mut own, &view(0.0));
        assert_eq!((mode.piece, own), (HELD, 0.0));
        // A probability of 1 has a price, too.
        assert!(rem.state_at(0.0, 1.0, 0.0).is_finite());
        assert!((rem.state_at(0.0, 0.5, 0.0) - libm::log(2.0) / libm::log(1.001)).abs() < 1e-9);
    }
}
