//! REM in continuous time: Athuraliya, Li, Low and Yin, IEEE Network 15(3), 2001. A price that
//! moves by γ (arrivals + α (q − qref) − C T) every T has dprice/dt = γ (x + α (q − qref)/T − C)
//! with x the arrivals per second, dropped ones included; p = 1 − φ^(−price), and the price is
//! never below 0. C is the discipline's own: the rate over its mean packet, whatever the packets of
//! the link are and its frames cost.

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
    /// C: what it takes the link to send, in packets per second.
    pub capacity: f64,
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
        view.inflow - self.capacity + (view.queue - self.qref) * self.alpha / self.period
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
            capacity: env.packets_per_second(p.byte_mode.mean_packet),
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

    /// Where the link sends less than C, the queue makes up for what is missing.
    fn setpoint(&self, capacity: f64) -> Option<f64> {
        Some(self.qref + (self.capacity - capacity) * self.period / self.alpha)
    }

    /// Arrivals include what the law drops, so that where it drops the share `dropped` of them it
    /// rests where they are more than the link sends.
    fn setpoint_dropping(&self, capacity: f64, dropped: f64) -> Option<f64> {
        self.setpoint(capacity / (1.0 - dropped).max(1e-9))
    }

    /// What the price rests at with an empty queue.
    fn admits(&self) -> f64 {
        self.capacity + self.alpha * self.qref / self.period
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
            _ => [-self.excess(view) / self.capacity, 1.0],
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

    fn rem() -> Rem {
        let capacity = 1000.0;
        Rem { gamma: 0.001, alpha: 0.1, phi: 1.001, qref: 20.0, period: 0.002, capacity }
    }

    #[test]
    fn price_and_probability_are_inverse_to_each_other() {
        let rem = rem();
        for p in [1e-6, 0.01, 0.5, 0.99] {
            let back = rem.probability(&Mode::default(), rem.price(p), &View::default());
            assert!((back / p - 1.0).abs() < 1e-9, "{p} {back}");
        }
    }

    #[test]
    fn the_price_rests_at_zero_while_there_is_no_excess() {
        let rem = rem();
        let view = |queue| View { queue, inflow: 900.0, capacity: 1000.0, ..View::default() };
        let mut mode = Mode::default();
        rem.crossed(&mut mode, 1, &mut -1e-9, &view(0.0));
        assert_eq!((mode.piece, rem.slope(&mode, 0.0, &view(0.0))), (HELD, 0.0));
        assert!(rem.guards(&mode, 0.0, &view(30.0))[0] < 0.0, "it leaves when the queue is long");
    }

    #[test]
    fn the_price_moves_by_what_comes_too_much_and_by_what_waits_too_much() {
        let rem = rem();
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

    #[test]
    fn what_comes_too_much_is_more_than_the_discipline_reckons_with() {
        // The link sends 900; a queue that is 2 longer makes up for the 100 that REM reckons with.
        let view = View { queue: 22.0, inflow: 900.0, capacity: 900.0, ..View::default() };
        let rem = rem();
        assert!(rem.slope(&rem.mode_at(3.0, &view), 3.0, &view).abs() < 1e-12);
        assert_eq!((rem.setpoint(900.0), rem.setpoint(2100.0)), (Some(22.0), Some(-2.0)));
        // Of 1000 that come a tenth is dropped.
        assert!((rem.setpoint_dropping(900.0, 0.1).unwrap() - 20.0).abs() < 1e-12);
        // With an empty queue, 1000 more.
        let empty = View { queue: 0.0, inflow: rem.admits(), ..view };
        assert_eq!((rem.admits(), rem.slope(&Mode::default(), 3.0, &empty)), (2000.0, 0.0));
    }
}
