//! Drop-tail: no law at all. Packets are lost when the buffer is full.

use sojourn_qdisc::EcnMarking;
use sojourn_qdisc::droptail::{LIMIT, Params};

use super::{Env, Law, Made, Mode, View};
use crate::Invalid;
use crate::scalar::Scalar;

/// Drop-tail.
#[derive(Clone, Debug, PartialEq)]
pub struct Droptail;

impl Law for Droptail {
    type Params = Params;

    fn of(p: &Params, env: &Env) -> Result<Made<Self>, Invalid> {
        let buffer = match (p.limit, p.limit_bytes, p.limit_time) {
            (Some(packets), _, _) => f64::from(packets),
            (_, Some(bytes), _) => bytes.0 as f64 / env.packet,
            (_, _, Some(time)) => time.as_secs_f64() * env.rate / 8.0 / env.packet,
            (None, None, None) => f64::from(LIMIT),
        };
        Ok(Made { buffer, ..Made::new(Self, LIMIT, EcnMarking::Off) })
    }

    fn has_state(&self) -> bool {
        false
    }

    fn looks_at_rate(&self) -> bool {
        false
    }

    fn scale(&self) -> f64 {
        1e-2
    }

    fn state_at(&self, _: f64, _: f64, _: f64) -> f64 {
        0.0
    }

    fn mode_at(&self, _: f64, _: &View<f64>) -> Mode {
        Mode::default()
    }

    fn probability<S: Scalar>(&self, _: &Mode, _: S, _: &View<S>) -> S {
        S::of(0.0)
    }

    fn slope<S: Scalar>(&self, _: &Mode, _: S, _: &View<S>) -> S {
        S::of(0.0)
    }

    fn guards(&self, _: &Mode, _: f64, _: &View<f64>) -> [f64; 2] {
        [1.0, 1.0]
    }

    fn crossed(&self, _: &mut Mode, _: usize, _: &mut f64, _: &View<f64>) {}
}
