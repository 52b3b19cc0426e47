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

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::{Size, Time};

    #[test]
    fn a_limit_in_bytes_or_in_time_is_one_in_packets() {
        // 250 packets of 500 bytes a second.
        let env = Env { rate: 1e6, packet: 500.0, ..Env::packets(1.0, 1500) };
        let buffer = |params: Params| Droptail::of(&params, &env).unwrap().buffer;
        assert_eq!(buffer(Params { limit: Some(70), ..Params::default() }), 70.0);
        let bytes = Params { limit_bytes: Some(Size(35_000)), ..Params::default() };
        assert_eq!(buffer(bytes), 70.0);
        let time = Params { limit_time: Some(Time::from_millis(280)), ..Params::default() };
        assert_eq!(buffer(time), 70.0);
        assert_eq!(buffer(Params::default()), f64::from(LIMIT));
    }

    #[test]
    fn it_drops_nothing_by_itself_and_stays_as_it_is() {
        let view = View { queue: 1e6, drift: 1e6, inflow: 1e6, capacity: 1.0, time: 1.0 };
        let mode = Droptail.mode_at(0.0, &view);
        assert_eq!(Droptail.probability(&mode, 1.0, &view), 0.0);
        assert_eq!(Droptail.slope(&mode, 1.0, &view), 0.0);
        assert!(Droptail.guards(&mode, 1.0, &view).iter().all(|guard| *guard > 0.0));
        assert!(!Droptail.has_state() && !Droptail.looks_at_rate());
    }
}
