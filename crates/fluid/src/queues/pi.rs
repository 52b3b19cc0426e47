//! The PI controller in continuous time: Hollot, Misra, Towsley and Gong, INFOCOM 2001. What a
//! router computes every T,
//!
//! ```text
//! p(kT) = a (q(kT) − qref) − b (q((k−1)T) − qref) + p((k−1)T),
//! ```
//!
//! is Tustin's rule for C(s) = K (s/z + 1)/s with K = (a − b)/T and K/z = (a + b)/2, so that
//! dp/dt = K (q − qref) + (K/z) dq/dt, held at 0 and 1. The half period of delay that sampling adds
//! is left out.

use sojourn_qdisc::pi::Params;

use super::clamped;
use super::{Env, Law, Made, Mode, View};
use crate::Invalid;
use crate::scalar::Scalar;

/// PI.
#[derive(Clone, Debug, PartialEq)]
pub struct Pi {
    /// K: per packet and second, above 0.
    pub integral: f64,
    /// K/z: per packet, at least 0.
    pub proportional: f64,
    /// The queue to hold, in packets.
    pub qref: f64,
    /// Seconds between two samples.
    pub period: f64,
}

impl Pi {
    /// From the gains of the sampled form at `frequency` hertz.
    pub fn sampled(a: f64, b: f64, frequency: f64, qref: f64) -> Self {
        let (integral, proportional) = ((a - b) * frequency, 0.5 * (a + b));
        Self { integral, proportional, qref, period: 1.0 / frequency }
    }

    fn drive<S: Scalar>(&self, view: &View<S>) -> S {
        (view.queue - self.qref) * self.integral + view.drift * self.proportional
    }
}

impl Law for Pi {
    type Params = Params;

    fn of(p: &Params, env: &Env) -> Result<Made<Self>, Invalid> {
        let made = Made::new(Self::sampled(p.a, p.b, p.frequency, p.qref), p.limit, p.ecn);
        Ok(made.counting(env, p.byte_mode))
    }

    fn scale(&self) -> f64 {
        1e-4
    }

    fn hold(&self) -> f64 {
        self.period
    }

    /// Tustin's rule takes the mean.
    fn between<S: Scalar>(&self, now: S, before: S) -> S {
        (now + before) * 0.5
    }

    fn setpoint(&self, _: f64) -> Option<f64> {
        Some(self.qref)
    }

    fn state_at(&self, _: f64, probability: f64, _: f64) -> f64 {
        probability
    }

    fn mode_at(&self, own: f64, _: &View<f64>) -> Mode {
        clamped::mode_at(own)
    }

    fn probability<S: Scalar>(&self, mode: &Mode, own: S, _: &View<S>) -> S {
        clamped::within(mode, own)
    }

    fn slope<S: Scalar>(&self, mode: &Mode, _: S, view: &View<S>) -> S {
        clamped::slope(mode, || self.drive(view))
    }

    fn guards(&self, mode: &Mode, own: f64, view: &View<f64>) -> [f64; 2] {
        // Of the order of 1 a packet away from where it would move.
        clamped::guards(mode, own, || self.drive(view) / (self.integral + self.proportional))
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
    fn the_papers_gains_come_back_from_the_sampled_ones() {
        let pi = Pi::sampled(1.822e-5, 1.816e-5, 160.0, 200.0);
        assert!((pi.integral - 9.6e-6).abs() < 1e-7, "K {}", pi.integral);
        assert!((pi.integral / pi.proportional - 0.53).abs() < 0.005, "z");
    }

    #[test]
    fn a_clamped_probability_leaves_when_the_queue_asks_for_it() {
        let pi = Pi { integral: 1e-5, proportional: 2e-5, qref: 100.0, period: 0.01 };
        let view = |queue| View { queue, ..View::default() };
        let mut mode = Mode { piece: LOW, ..Mode::default() };
        assert!(pi.guards(&mode, 0.0, &view(90.0))[1] > 0.0);
        assert!(pi.guards(&mode, 0.0, &view(101.0))[1] < 0.0);
        pi.crossed(&mut mode, 1, &mut 0.0, &view(101.0));
        assert_eq!(mode.piece, FREE);
        assert!(pi.slope(&mode, 0.0, &view(101.0)) > 0.0);
    }

    #[test]
    fn guards_are_of_the_order_of_one_a_packet_away_whatever_the_gains() {
        for (integral, proportional) in [(1e-5, 1e-5), (1e-9, 3e-9), (0.3, 0.2)] {
            let pi = Pi { integral, proportional, qref: 100.0, period: 0.01 };
            let view = View { queue: 99.0, ..View::default() };
            let mode = Mode { piece: LOW, ..Mode::default() };
            let guard = pi.guards(&mode, 0.0, &view)[1];
            assert!((0.1..=1.0).contains(&guard), "{integral} {proportional}: {guard}");
        }
    }

    #[test]
    fn between_two_samples_it_moves_by_what_the_sampled_form_says() {
        let (a, b, frequency, qref) = (1.822e-5, 1.816e-5, 160.0, 200.0);
        let pi = Pi::sampled(a, b, frequency, qref);
        for (before, now) in [(180.0, 230.0), (230.0, 180.0), (200.0, 200.0)] {
            let sampled = a * (now - qref) - b * (before - qref);
            let drift = (now - before) * frequency;
            let view = View { queue: pi.between(now, before), drift, ..View::default() };
            let moved = pi.slope(&Mode { piece: FREE, ..Mode::default() }, 0.5, &view) / frequency;
            assert!((moved - sampled).abs() < 1e-12, "{moved} {sampled}");
        }
    }
}
