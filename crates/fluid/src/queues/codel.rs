//! A setpoint for the delay, enforced as CoDel does (RFC 8289 section 5): once the delay has been
//! above `target` for an `interval`, packets are dropped at intervals of interval/√count, until the
//! delay is below target again.
//!
//! In continuous time the rate of drops is s = √count/interval and count grows with it, so that
//! ds/dt = 1/(2 interval²): the rate rises linearly. After a pause of less than 16 intervals it
//! begins where it had got to in the last cycle (count − lastcount).
//!
//! **Linear model.** The law switches at its setpoint and has no derivative there. A relay's
//! describing function stands for it: for an oscillation of the delay of amplitude A the switch is
//! worth the gain 4/(π A) (Gelb and Vander Velde 1968), and the rate of drops is taken to fall
//! below the target as fast as it rises above. So a loop is stable for large oscillations and
//! unstable for small ones, and the amplitude in between is that of the limit cycle. CoDel itself
//! drops nothing below the target.

use sojourn_qdisc::codel::Params;

use super::{Env, Law, Made, Mode, View};
use crate::Invalid;
use crate::scalar::Scalar;

/// A CoDel-like setpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Codel {
    /// The delay that may stand, in seconds (0.005 in the RFC).
    pub target: f64,
    /// How long it may stand, in seconds (0.1 in the RFC).
    pub interval: f64,
    /// In the linear model: amplitude of the delay's oscillation, in seconds.
    pub amplitude: f64,
}

/// The delay is below target.
const BELOW: usize = 0;
/// It is above target, but not for long.
const WAITING: usize = 1;
/// Packets are being dropped.
const DROPPING: usize = 2;
/// The describing function.
const RELAY: usize = 3;

impl Codel {
    /// The delay's excess over target, in targets.
    fn excess<S: Scalar>(&self, view: &View<S>) -> S {
        view.queue / (view.capacity * self.target) - 1.0
    }

    /// By how much the rate of drops grows, per second and second.
    fn ramp(&self) -> f64 {
        0.5 / (self.interval * self.interval)
    }
}

impl Law for Codel {
    type Params = Params;

    fn of(p: &Params, env: &Env) -> Result<Made<Self>, Invalid> {
        if let Some(time) = p.ce_threshold {
            return Err(Invalid::new("ce_threshold", time, "there is no law for it; leave it out"));
        }
        let target = p.target.as_secs_f64();
        let law = Self {
            target,
            interval: p.interval.as_secs_f64(),
            amplitude: env.amplitude.unwrap_or(target),
        };
        Ok(Made::new(law, p.limit, p.ecn))
    }

    fn looks_at_rate(&self) -> bool {
        false
    }

    fn scale(&self) -> f64 {
        1.0
    }

    fn setpoint(&self, capacity: f64) -> Option<f64> {
        Some(self.target * capacity)
    }

    fn state_at(&self, _: f64, probability: f64, capacity: f64) -> f64 {
        probability * capacity
    }

    fn mode_at(&self, own: f64, _: &View<f64>) -> Mode {
        Mode { piece: if own > 0.0 { DROPPING } else { BELOW }, ..Mode::default() }
    }

    fn smooth_mode(&self, _: f64, _: &View<f64>) -> Mode {
        Mode { piece: RELAY, ..Mode::default() }
    }

    fn probability<S: Scalar>(&self, mode: &Mode, own: S, view: &View<S>) -> S {
        match mode.piece {
            DROPPING | RELAY => (own / view.capacity).min(S::of(1.0)),
            _ => S::of(0.0),
        }
    }

    fn slope<S: Scalar>(&self, mode: &Mode, _: S, view: &View<S>) -> S {
        match mode.piece {
            DROPPING => S::of(self.ramp()),
            RELAY => {
                let gain = 4.0 / (std::f64::consts::PI * self.amplitude);
                self.excess(view) * (self.target * gain * self.ramp())
            }
            _ => S::of(0.0),
        }
    }

    fn guards(&self, mode: &Mode, _: f64, view: &View<f64>) -> [f64; 2] {
        match mode.piece {
            BELOW => [1.0, -self.excess(view)],
            WAITING => [self.excess(view), 1.0 + (mode.since - view.time) / self.interval],
            RELAY => [1.0, 1.0],
            _ => [self.excess(view), 1.0],
        }
    }

    fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, view: &View<f64>) {
        let count = |rate: f64| (rate * self.interval) * (rate * self.interval);
        match (mode.piece, guard) {
            (BELOW, _) => (mode.piece, mode.since) = (WAITING, view.time),
            (WAITING, 0) => (mode.piece, *own) = (BELOW, 0.0),
            (WAITING, _) => {
                let [left, gained] = mode.memory;
                let soon = left > 0.0 && view.time - left < 16.0 * self.interval;
                let begin = if soon { gained.max(1.0) } else { 1.0 };
                *own = libm::sqrt(begin) / self.interval;
                *mode = Mode { piece: DROPPING, since: begin, memory: mode.memory };
            }
            _ => {
                mode.memory = [view.time, count(*own) - mode.since];
                (mode.piece, *own) = (BELOW, 0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_follow_the_square_root_of_their_count() {
        // After n drops the time since the first is the sum of interval/√i, which is 2√n − 1.46 for
        // many; the fluid's count after that time is ahead by about half a root.
        let law = Codel { target: 0.005, interval: 0.1, amplitude: 0.005 };
        let mode = Mode { piece: DROPPING, since: 1.0, ..Mode::default() };
        let slope = law.slope(&mode, 0.0, &View::default());
        let mut time = 0.0;
        for n in 1..=200 {
            let rate = 1.0 / 0.1 + slope * time;
            let count = rate * rate * 0.01;
            let root = libm::sqrt(f64::from(n));
            assert!((0.0..0.6).contains(&((count - f64::from(n)) / root)), "{n} {count}");
            time += 0.1 / libm::sqrt(f64::from(n));
        }
    }

    #[test]
    fn dropping_begins_after_an_interval_above_target_and_ends_below() {
        let law = Codel { target: 0.005, interval: 0.1, amplitude: 0.005 };
        let view = |time, queue| View { time, queue, capacity: 1000.0, ..View::default() };
        let (mut mode, mut own) = (Mode::default(), 0.0);
        assert!(law.guards(&mode, own, &view(1.0, 5.1))[1] < 0.0);
        law.crossed(&mut mode, 1, &mut own, &view(1.0, 5.1));
        assert!(law.guards(&mode, own, &view(1.09, 6.0)).iter().all(|guard| *guard > 0.0));
        assert!(law.guards(&mode, own, &view(1.11, 6.0))[1] < 0.0);
        law.crossed(&mut mode, 1, &mut own, &view(1.1, 6.0));
        assert!((law.probability(&mode, own, &view(1.1, 6.0)) - 0.01).abs() < 1e-12);
        own = 30.0;
        law.crossed(&mut mode, 0, &mut own, &view(2.0, 4.9));
        assert_eq!((mode.piece, own, mode.memory), (BELOW, 0.0, [2.0, 8.0]));
    }

    #[test]
    fn a_pause_of_less_than_sixteen_intervals_goes_on_where_the_last_one_ended() {
        let law = Codel { target: 0.005, interval: 0.1, amplitude: 0.005 };
        let view = |time| View { time, queue: 6.0, capacity: 1000.0, ..View::default() };
        let begun = |memory, time| {
            let mut mode = Mode { piece: WAITING, since: time - 0.1, memory };
            let mut own = 0.0;
            law.crossed(&mut mode, 1, &mut own, &view(time));
            assert_eq!((mode.piece, mode.memory), (DROPPING, memory));
            // So many drops as it begins with, at once and for the next cycle.
            assert!((own - libm::sqrt(mode.since) / 0.1).abs() < 1e-12);
            mode.since
        };
        assert_eq!(begun([2.0, 8.0], 3.59), 8.0);
        assert_eq!(begun([2.0, 8.0], 3.61), 1.0, "that is too long ago");
        assert_eq!(begun([2.0, 0.3], 3.0), 1.0, "one at least");
        assert_eq!(begun([0.0, 0.0], 0.4), 1.0, "there was none before");
    }

    #[test]
    fn only_a_delay_above_target_is_waited_for_and_dropped_at() {
        let law = Codel { target: 0.005, interval: 0.1, amplitude: 0.02 };
        let view = |time, queue| View { time, queue, capacity: 1000.0, ..View::default() };
        assert_eq!(law.mode_at(0.0, &view(0.0, 6.0)).piece, BELOW);
        assert_eq!(law.mode_at(3.0, &view(0.0, 6.0)).piece, DROPPING);
        assert_eq!(law.smooth_mode(3.0, &view(0.0, 6.0)).piece, RELAY);
        let mode = |piece, since| Mode { piece, since, ..Mode::default() };
        // Above or below by a fifth of the target; half of an interval is over.
        let guards = |piece, queue| law.guards(&mode(piece, 3.0), 1.0, &view(3.05, queue));
        let near = |got: [f64; 2], want: [f64; 2]| {
            for (got, want) in got.iter().zip(want) {
                assert!((got - want).abs() < 1e-9, "{got} {want}");
            }
        };
        near(guards(BELOW, 4.0), [1.0, 0.2]);
        near(guards(BELOW, 6.0), [1.0, -0.2]);
        near(guards(WAITING, 6.0), [0.2, 0.5]);
        near(guards(WAITING, 4.0), [-0.2, 0.5]);
        near(guards(DROPPING, 6.0), [0.2, 1.0]);
        near(guards(DROPPING, 4.0), [-0.2, 1.0]);
        near(guards(RELAY, 4.0), [1.0, 1.0]);
        // It gives up waiting.
        let (mut waiting, mut own) = (mode(WAITING, 3.0), 1.0);
        law.crossed(&mut waiting, 0, &mut own, &view(3.05, 4.9));
        assert_eq!((waiting.piece, own), (BELOW, 0.0));
        // Nothing is dropped meanwhile, and no more than all.
        for piece in [BELOW, WAITING] {
            assert_eq!(law.probability(&mode(piece, 0.0), 30.0, &view(0.0, 6.0)), 0.0);
            assert_eq!(law.slope(&mode(piece, 0.0), 30.0, &view(0.0, 6.0)), 0.0);
        }
        assert_eq!(law.probability(&mode(DROPPING, 0.0), 3000.0, &view(0.0, 6.0)), 1.0);
        assert!((law.slope(&mode(DROPPING, 0.0), 30.0, &view(0.0, 6.0)) - 50.0).abs() < 1e-9);
        // The relay: 4/(π A) of the excess of 1 ms.
        let gain = 4.0 / (std::f64::consts::PI * 0.02);
        let slope = law.slope(&mode(RELAY, 0.0), 30.0, &view(0.0, 6.0));
        assert!((slope - 0.001 * gain * 50.0).abs() < 1e-9, "{slope}");
        assert_eq!((law.setpoint(1000.0), law.state_at(9.0, 0.25, 1000.0)), (Some(5.0), 250.0));
    }

    #[test]
    fn it_is_made_of_its_disciplines_parameters() {
        let env = Env { amplitude: Some(0.03), ..Env::packets(1000.0, 500) };
        let params = Params::default();
        let made = Codel::of(&params, &env).unwrap();
        let law = Codel { target: 0.005, interval: 0.1, amplitude: 0.03 };
        assert_eq!((made.law, made.buffer), (law, f64::from(params.limit)));
        let own = Codel::of(&params, &Env::packets(1000.0, 500)).unwrap().law;
        assert_eq!(own.amplitude, 0.005, "its target");
        let marked = Params { ce_threshold: Some(params.target), ..params };
        let why = Codel::of(&marked, &env).unwrap_err().to_string();
        assert!(why.starts_with("ce_threshold = ") && why.contains("no law for it"), "{why}");
    }
}
