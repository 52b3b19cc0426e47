//! PI2 in continuous time: De Schepper, Bondarenko, Tsang and Briscoe, "PI²: a linearized AQM for
//! both classic and scalable TCP", CoNEXT 2016, section 4. Every T a linear PI controller moves p'
//! by α (D − target) + β (D − D_old), so dp'/dt = α (D − target)/T + β dD/dt with the delay D =
//! q/C, held at 0 and 1; a packet is hit with p'².
//!
//! Left out: the half period of delay that sampling adds, and that the delay at the head, which the
//! discipline looks at, is as old as it is long.

use sojourn_qdisc::pi2::Params;

use super::clamped;
use super::delay_pi::DelayPi;
use super::{Env, Law, Made, Mode, View};
use crate::Invalid;
use crate::scalar::Scalar;

/// PI2.
#[derive(Clone, Debug, PartialEq)]
pub struct Pi2(pub DelayPi);

impl Law for Pi2 {
    type Params = Params;

    fn of(p: &Params, _: &Env) -> Result<Made<Self>, Invalid> {
        let law = Self(DelayPi::of(p.target, p.alpha, p.beta, p.tupdate));
        Ok(Made::new(law, p.limit, p.ecn))
    }

    fn scale(&self) -> f64 {
        1e-2
    }

    fn hold(&self) -> f64 {
        self.0.period
    }

    fn setpoint(&self, capacity: f64) -> Option<f64> {
        Some(self.0.setpoint(capacity))
    }

    fn state_at(&self, _: f64, probability: f64, _: f64) -> f64 {
        libm::sqrt(probability)
    }

    fn mode_at(&self, own: f64, _: &View<f64>) -> Mode {
        clamped::mode_at(own)
    }

    fn probability<S: Scalar>(&self, mode: &Mode, own: S, _: &View<S>) -> S {
        let base = clamped::within(mode, own);
        base * base
    }

    fn slope<S: Scalar>(&self, mode: &Mode, _: S, view: &View<S>) -> S {
        clamped::slope(mode, || self.0.drive(view))
    }

    fn guards(&self, mode: &Mode, own: f64, view: &View<f64>) -> [f64; 2] {
        // Of the order of 1 where the delay is its target away from where p' would move.
        clamped::guards(mode, own, || {
            self.0.drive(view) * self.0.period / (self.0.alpha * self.0.target)
        })
    }

    fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, _: &View<f64>) {
        clamped::crossed(mode, guard, own);
    }
}

#[cfg(test)]
mod tests {
    use super::super::clamped::{FREE, LOW};
    use super::*;

    #[test]
    fn packets_are_hit_with_the_square_of_what_the_controller_moves() {
        let pi2 = Pi2(DelayPi { target: 0.02, alpha: 0.3125, beta: 3.125, period: 0.032 });
        let mode = Mode { piece: FREE, ..Mode::default() };
        // 30 ms of queue that grows by 1 ms a second.
        let view = View { queue: 30.0, drift: 1.0, capacity: 1000.0, ..View::default() };
        assert!((pi2.probability(&mode, 0.1, &view) - 0.01).abs() < 1e-15);
        let want = 0.3125 * 0.01 / 0.032 + 3.125 * 0.001;
        assert!((pi2.slope(&mode, 0.1, &view) / want - 1.0).abs() < 1e-12);
        let mut held = Mode { piece: LOW, ..Mode::default() };
        assert!(pi2.guards(&held, 0.0, &view)[1] < 0.0);
        pi2.crossed(&mut held, 1, &mut 0.0, &view);
        assert_eq!(held.piece, FREE);
    }

    #[test]
    fn its_guards_are_of_the_order_of_one_a_target_away() {
        let pi2 = Pi2(DelayPi { target: 0.02, alpha: 0.3125, beta: 3.125, period: 0.032 });
        let mode = |piece| Mode { piece, ..Mode::default() };
        for (queue, excess) in [(40.0, 1.0), (20.0, 0.0), (10.0, -0.5)] {
            let view = View { queue, capacity: 1000.0, ..View::default() };
            let [low, above] = pi2.guards(&mode(LOW), 0.0, &view);
            assert!(low == 1.0 && (above + excess).abs() < 1e-12, "{queue}: {above}");
            let [below, high] = pi2.guards(&mode(super::super::clamped::HIGH), 1.0, &view);
            assert!(high == 1.0 && (below - excess).abs() < 1e-12, "{queue}: {below}");
        }
        assert_eq!((pi2.setpoint(1000.0), pi2.state_at(9.0, 0.25, 7.0)), (Some(20.0), 0.5));
        assert_eq!(pi2.mode_at(0.3, &View::default()).piece, FREE);
    }
}
