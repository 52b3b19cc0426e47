//! The proportional controller in continuous time: Hollot, Misra, Towsley and Gong, INFOCOM 2001,
//! section III: p = K (q − offset), held at 0 and 1. It has no state: the loop of the linear model
//! is the plant times K.

use sojourn_qdisc::proportional::Params;

use super::clamped::{self, HIGH, LOW};
use super::{Env, Law, Made, Mode, View, step};
use crate::Invalid;
use crate::scalar::Scalar;

/// The proportional controller.
#[derive(Clone, Debug, PartialEq)]
pub struct Proportional {
    /// K: probability per packet, above 0.
    pub slope: f64,
    /// The queue at which the probability leaves 0, in packets.
    pub offset: f64,
}

impl Proportional {
    /// The probability, not held.
    fn drive<S: Scalar>(&self, queue: S) -> S {
        (queue - self.offset) * self.slope
    }
}

impl Law for Proportional {
    type Params = Params;

    fn of(p: &Params, env: &Env) -> Result<Made<Self>, Invalid> {
        let made = Made::new(Self { slope: p.slope, offset: p.offset }, p.limit, p.ecn);
        Ok(made.counting(env, p.byte_mode))
    }

    fn has_state(&self) -> bool {
        false
    }

    fn looks_at_rate(&self) -> bool {
        false
    }

    fn scale(&self) -> f64 {
        1.0
    }

    fn rises(&self) -> Option<[f64; 2]> {
        Some([self.offset, self.offset + 1.0 / self.slope])
    }

    fn state_at(&self, _: f64, _: f64, _: f64) -> f64 {
        0.0
    }

    fn mode_at(&self, _: f64, view: &View<f64>) -> Mode {
        clamped::mode_at(self.drive(view.queue))
    }

    #[inline]
    fn probability<S: Scalar>(&self, mode: &Mode, _: S, view: &View<S>) -> S {
        clamped::within(mode, self.drive(view.queue))
    }

    fn slope<S: Scalar>(&self, _: &Mode, _: S, _: &View<S>) -> S {
        S::of(0.0)
    }

    fn guards(&self, mode: &Mode, _: f64, view: &View<f64>) -> [f64; 2] {
        // In packets.
        let (above, below) =
            (view.queue - self.offset, 1.0 / self.slope + self.offset - view.queue);
        match mode.piece {
            LOW => [1.0, -above],
            HIGH => [-below, 1.0],
            _ => [above, below],
        }
    }

    fn crossed(&self, mode: &mut Mode, guard: usize, _: &mut f64, _: &View<f64>) {
        step(mode, guard);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_rises_from_the_offset_to_one() {
        let law = Proportional { slope: 0.01, offset: 50.0 };
        for (queue, want) in [(0.0, 0.0), (49.0, 0.0), (75.0, 0.25), (149.0, 0.99), (200.0, 1.0)] {
            assert!((law.at_rest(queue) - want).abs() < 1e-15, "{queue}");
            let view = View { queue, ..View::default() };
            let guards = law.guards(&law.mode_at(0.0, &view), 0.0, &view);
            assert!(guards.iter().all(|guard| *guard > 0.0), "{queue}: {guards:?}");
        }
        assert_eq!(law.rises(), Some([50.0, 150.0]));
    }

    #[test]
    fn the_pieces_change_where_the_queue_crosses_their_ends() {
        let law = Proportional { slope: 0.01, offset: 50.0 };
        let view = View { queue: 50.1, ..View::default() };
        let mut mode = Mode { piece: LOW, ..Mode::default() };
        assert!(law.guards(&mode, 0.0, &view)[1] < 0.0);
        law.crossed(&mut mode, 1, &mut 0.0, &view);
        assert_eq!(mode, law.mode_at(0.0, &view));
    }

    #[test]
    fn guards_are_packets_to_the_ends_of_a_piece() {
        let law = Proportional { slope: 0.01, offset: 50.0 };
        let guards = |piece, queue| {
            law.guards(&Mode { piece, ..Mode::default() }, 0.0, &View { queue, ..View::default() })
        };
        assert_eq!(guards(LOW, 30.0), [1.0, 20.0]);
        assert_eq!(guards(1, 70.0), [20.0, 80.0]);
        assert_eq!(guards(HIGH, 170.0), [20.0, 1.0]);
        assert_eq!(guards(HIGH, 130.0), [-20.0, 1.0]);
        assert_eq!(law.state_at(70.0, 0.2, 9.0), 0.0);
    }
}
