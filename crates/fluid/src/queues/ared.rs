//! ARED: Floyd, Gummadi and Shenker, "Adaptive RED: an algorithm for increasing the robustness of
//! RED's active queue management", 2001: RED in continuous time, whose `max_p` is moved at instants
//! of its own, here as there.
//!
//! Every `interval` `max_p` grows by min(`alpha`, `max_p`/4) where the average is above the middle
//! fifth between the thresholds, and shrinks by the factor `beta` where it is below. Any average in
//! between is an equilibrium, so there is none to begin at.

use sojourn_qdisc::ared::Params;

use super::{Env, Law, Made, Mode, QueueLaw, Red, View};
use crate::Invalid;
use crate::scalar::Scalar;

/// Adaptive RED.
#[derive(Clone, Debug, PartialEq)]
pub struct Ared {
    /// RED as it is at the start.
    pub red: Red,
    /// Least `max_p`: above 0 (0.01 in the paper).
    pub bottom: f64,
    /// Largest `max_p`: at most 1 (0.5 in the paper).
    pub top: f64,
    /// Largest increase of `max_p` at one instant (0.01 in the paper).
    pub alpha: f64,
    /// Factor of its decrease: below 1 (0.9 in the paper).
    pub beta: f64,
    /// Seconds between two instants (0.5 in the paper).
    pub interval: f64,
}

impl Ared {
    /// Parts of an interval that are left.
    fn left(&self, mode: &Mode, view: &View<f64>) -> f64 {
        1.0 - (view.time - mode.since) / self.interval
    }

    /// The next `max_p` (figure 2 of the paper).
    fn adapted(&self, max_p: f64, average: f64) -> f64 {
        let (low, room) = (self.red.min_th, self.red.max_th - self.red.min_th);
        if average > low + 0.6 * room {
            (max_p + self.alpha.min(0.25 * max_p)).min(self.top)
        } else if average < low + 0.4 * room {
            (max_p * self.beta).max(self.bottom)
        } else {
            max_p
        }
    }
}

impl Law for Ared {
    type Params = Params;

    fn of(p: &Params, env: &Env) -> Result<Made<Self>, Invalid> {
        let start = p.red_at(env.packets_per_second(p.hits.byte_mode.mean_packet));
        let Made { law: red, buffer, ecn, unit, weight } = Red::of(&start, env)?;
        let law = Self {
            red,
            bottom: p.bottom,
            top: p.top,
            alpha: p.alpha,
            beta: p.beta,
            interval: p.interval.as_secs_f64(),
        };
        Ok(Made { law, buffer, ecn, unit, weight })
    }

    fn prepare(&mut self, capacity: f64) {
        self.red.prepare(capacity);
    }

    fn looks_at_rate(&self) -> bool {
        false
    }

    fn scale(&self) -> f64 {
        self.red.scale()
    }

    fn state_at(&self, queue: f64, probability: f64, capacity: f64) -> f64 {
        self.red.state_at(queue, probability, capacity)
    }

    /// RED with the `max_p` at which the average rests in the middle between the thresholds, or
    /// with `bottom` or `top` where that is out of reach.
    fn resting(&self, needed: &dyn Fn(f64) -> f64) -> Option<QueueLaw> {
        let p = needed(0.5 * (self.red.min_th + self.red.max_th));
        let p = self.red.probability_of(p);
        let max_p = (2.0 * p).clamp(self.bottom, self.top);
        Some(Red { max_p, ..self.red.clone() }.into())
    }

    /// `max_p` is remembered in the mode.
    fn mode_at(&self, own: f64, view: &View<f64>) -> Mode {
        let memory = [self.red.max_p, 0.0];
        Mode { since: view.time, memory, ..self.red.mode_at(own, view) }
    }

    fn probability<S: Scalar>(&self, mode: &Mode, own: S, _: &View<S>) -> S {
        self.red.profile(mode.piece, own, mode.memory[0])
    }

    fn slope<S: Scalar>(&self, mode: &Mode, own: S, view: &View<S>) -> S {
        self.red.slope(mode, own, view)
    }

    fn guards(&self, mode: &Mode, own: f64, view: &View<f64>) -> [f64; 2] {
        let [below, above] = self.red.guards(mode, own, view);
        [below.min(self.left(mode, view)), above]
    }

    fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, view: &View<f64>) {
        if guard == 0 && self.left(mode, view) <= 0.0 {
            mode.since = view.time;
            mode.memory[0] = self.adapted(mode.memory[0], *own);
        } else {
            self.red.crossed(mode, guard, own, view);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_p_moves_at_its_instants_towards_the_middle_fifth() {
        let red = Red { fastest: 10.0, ..Red::GENTLE };
        let ared = Ared { red, bottom: 0.01, top: 0.5, alpha: 0.01, beta: 0.9, interval: 0.5 };
        let mut mode = ared.mode_at(120.0, &View::default());
        let at = |time| View { time, ..View::default() };
        for (time, average, want) in [
            (0.5, 120.0, 0.11),
            (1.0, 100.0, 0.11),
            (1.5, 80.0, 0.099),
            // The second piece of the profile ends at 50: that is no instant.
            (1.7, 49.0, 0.099),
        ] {
            let guards = ared.guards(&mode, average, &at(time));
            assert!(guards[0] <= 0.0, "{time}: {guards:?}");
            ared.crossed(&mut mode, 0, &mut average.clone(), &at(time));
            assert!((mode.memory[0] - want).abs() < 1e-12, "{time}: {mode:?}");
        }
        assert_eq!(mode.piece, 0);
        assert_eq!(ared.adapted(0.0101, 0.0), 0.01);
        assert!((ared.adapted(0.02, 140.0) - 0.025).abs() < 1e-12);
    }

    fn ared() -> Ared {
        let red = Red { spacing: Some(sojourn_qdisc::Spacing::Uniform), ..Red::GENTLE };
        Ared { red, bottom: 0.01, top: 0.5, alpha: 0.02, beta: 0.9, interval: 0.5 }
    }

    #[test]
    fn max_p_is_moved_within_its_bounds_and_not_within_the_middle_fifth() {
        let law = ared();
        for (max_p, average, wanted) in [
            (0.1, 110.1, 0.12),
            (0.1, 110.0, 0.1),
            (0.1, 90.0, 0.1),
            (0.1, 89.9, 0.09),
            // A quarter of itself at most, and to the top.
            (0.04, 140.0, 0.05),
            (0.49, 140.0, 0.5),
            (0.0105, 20.0, 0.01),
        ] {
            let found = law.adapted(max_p, average);
            assert!((found - wanted).abs() < 1e-12, "{max_p} {average}: {found}");
        }
    }

    #[test]
    fn the_first_guard_is_the_next_instant_or_the_piece_whichever_is_nearer() {
        let law = ared();
        let view = |time| View { time, ..View::default() };
        let mode = law.mode_at(50.5, &view(3.0));
        assert_eq!((mode.since, mode.piece, mode.memory), (3.0, 1, [0.1, 0.0]));
        let guards = |average, time| law.guards(&mode, average, &view(time));
        assert_eq!(guards(50.25, 3.1), [0.25, 99.75]);
        assert!((guards(60.0, 3.1)[0] - 0.8).abs() < 1e-9);
        assert!((guards(60.0, 3.6)[0] + 0.2).abs() < 1e-9);
        // The upper guard is the piece's, at whatever time.
        let mut upper = mode;
        law.crossed(&mut upper, 1, &mut 151.0, &view(3.6));
        assert_eq!((upper.piece, upper.since, upper.memory[0]), (2, 3.0, 0.1));
        let mut lower = mode;
        law.crossed(&mut lower, 0, &mut 49.0, &view(3.4));
        assert_eq!((lower.piece, lower.since, lower.memory[0]), (0, 3.0, 0.1));
        let mut adapted = mode;
        law.crossed(&mut adapted, 0, &mut 49.0, &view(3.5));
        assert_eq!((adapted.piece, adapted.since), (1, 3.5));
        assert!((adapted.memory[0] - 0.09).abs() < 1e-12);
        // What is hit follows from the max_p of now: 2 p/(1 + p).
        let p = 0.5 * 0.3;
        let mode = Mode { memory: [0.3, 0.0], ..mode };
        let hit = law.probability(&mode, 100.0, &view(3.0));
        assert!((hit - 2.0 * p / (1.0 + p)).abs() < 1e-12);
    }

    #[test]
    fn it_rests_in_the_middle_or_with_the_least_or_largest_max_p() {
        let law = ared();
        let max_p = |share: f64| {
            let needed = move |queue: f64| {
                assert_eq!(queue, 100.0);
                share
            };
            let QueueLaw::Red(red) = law.resting(&needed).unwrap() else { panic!() };
            assert_eq!(Red { max_p: 0.1, ..red.clone() }, law.red);
            red.max_p
        };
        // Half of max_p in the middle, of which the share is 2 p/(1 + p).
        let p = 0.05;
        assert!((max_p(2.0 * p / (1.0 + p)) - 0.1).abs() < 1e-12);
        assert_eq!((max_p(1e-4), max_p(0.9)), (0.01, 0.5));
    }
}
