//! PI2 in continuous time: De Schepper, Bondarenko, Tsang and Briscoe, "PI²: a linearized AQM for
//! both classic and scalable TCP", CoNEXT 2016, section 4. Every T a linear PI controller moves p' by
//! α (D − target) + β (D − D_old), so dp'/dt = α (D − target)/T + β dD/dt with the delay D = q/C,
//! held at 0 and 1; a packet is hit with p'².
//!
//! Left out: the half period of delay that sampling adds, and that the delay at the head, which the
//! discipline looks at, is as old as it is long.

use serde::Deserialize;

use super::integral::{FREE, HIGH, LOW, clamp};
use super::{Mode, View, step};
use crate::Invalid;

/// PI2.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pi2 {
    /// The delay to hold, in seconds (0.02 in the paper).
    pub target: f64,
    /// Weight of the delay's excess, per second (0.3125 in the paper).
    pub alpha: f64,
    /// Weight of the delay's change, per second (3.125 in the paper).
    pub beta: f64,
    /// Time between two updates, in seconds (0.032 in the paper).
    pub period: f64,
}

impl Pi2 {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        for (field, value) in
            [("target", self.target), ("alpha", self.alpha), ("period", self.period)]
        {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Invalid::new(field, value, "must be above 0"));
            }
        }
        if !(self.beta >= 0.0 && self.beta.is_finite()) {
            return Err(Invalid::new("beta", self.beta, "must be at least 0"));
        }
        Ok(())
    }

    fn drive(&self, view: &View) -> f64 {
        let excess = view.queue / view.capacity - self.target;
        self.alpha * excess / self.period + self.beta * view.drift / view.capacity
    }

    pub(super) fn probability(&self, mode: &Mode, own: f64, _: &View) -> f64 {
        match mode.piece {
            LOW => 0.0,
            HIGH => 1.0,
            _ => own * own,
        }
    }

    pub(super) fn slope(&self, mode: &Mode, _: f64, view: &View) -> f64 {
        if mode.piece == FREE { self.drive(view) } else { 0.0 }
    }

    pub(super) fn guards(&self, mode: &Mode, own: f64, view: &View) -> [f64; 2] {
        // Of the order of 1 where the delay is its target away from where p' would move.
        let drive = || self.drive(view) * self.period / (self.alpha * self.target);
        match mode.piece {
            LOW => [1.0, -drive()],
            HIGH => [drive(), 1.0],
            _ => [own, 1.0 - own],
        }
    }

    pub(super) fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, _: &View) {
        step(mode, guard);
        clamp(mode.piece, own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_hit_with_the_square_of_what_the_controller_moves() {
        let pi2 = Pi2 { target: 0.02, alpha: 0.3125, beta: 3.125, period: 0.032 };
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
}
