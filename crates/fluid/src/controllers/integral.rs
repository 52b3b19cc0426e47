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

use serde::Deserialize;

use super::{Mode, View, step};
use crate::Invalid;

/// PI.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pi {
    /// K: per packet and second, above 0.
    pub integral: f64,
    /// K/z: per packet, at least 0.
    pub proportional: f64,
    /// The queue to hold, in packets.
    pub qref: f64,
}

impl Pi {
    /// From the gains of the sampled form at `frequency` hertz.
    pub fn sampled(a: f64, b: f64, frequency: f64, qref: f64) -> Self {
        Self { integral: (a - b) * frequency, proportional: 0.5 * (a + b), qref }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        if !(self.integral > 0.0 && self.integral.is_finite()) {
            let remedy = "must be above 0, or nothing pulls the queue to qref: b must be below a";
            return Err(Invalid::new("integral", self.integral, remedy));
        }
        if !(self.proportional >= 0.0 && self.proportional.is_finite()) {
            return Err(Invalid::new("proportional", self.proportional, "must be at least 0"));
        }
        if !(self.qref >= 0.0 && self.qref.is_finite()) {
            return Err(Invalid::new("qref", self.qref, "must be at least 0 packets"));
        }
        Ok(())
    }

    fn drive(&self, view: &View) -> f64 {
        self.integral * (view.queue - self.qref) + self.proportional * view.drift
    }

    pub(super) fn probability(&self, mode: &Mode, own: f64, _: &View) -> f64 {
        match mode.piece {
            LOW => 0.0,
            HIGH => 1.0,
            _ => own,
        }
    }

    pub(super) fn slope(&self, mode: &Mode, _: f64, view: &View) -> f64 {
        if mode.piece == FREE { self.drive(view) } else { 0.0 }
    }

    pub(super) fn guards(&self, mode: &Mode, own: f64, view: &View) -> [f64; 2] {
        // Of the order of 1 a packet away from where it would move.
        let drive = || self.drive(view) / (self.integral + self.proportional);
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

/// p is held at 0.
pub(super) const LOW: usize = 0;
/// p moves.
pub(super) const FREE: usize = 1;
/// p is held at 1.
pub(super) const HIGH: usize = 2;

/// The piece that fits a probability.
pub(super) fn piece(p: f64) -> usize {
    if p <= 0.0 {
        LOW
    } else if p >= 1.0 {
        HIGH
    } else {
        FREE
    }
}

pub(super) fn clamp(piece: usize, own: &mut f64) {
    match piece {
        LOW => *own = 0.0,
        HIGH => *own = 1.0,
        _ => *own = own.clamp(0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_gains_come_back_from_the_sampled_ones() {
        let pi = Pi::sampled(1.822e-5, 1.816e-5, 160.0, 200.0);
        assert!((pi.integral - 9.6e-6).abs() < 1e-7, "K {}", pi.integral);
        assert!((pi.integral / pi.proportional - 0.53).abs() < 0.005, "z");
    }

    #[test]
    fn a_clamped_probability_leaves_when_the_queue_asks_for_it() {
        let pi = Pi { integral: 1e-5, proportional: 1e-5, qref: 100.0 };
        let view = |queue| View { queue, ..View::default() };
        let mut mode = Mode { piece: LOW, ..Mode::default() };
        assert!(pi.guards(&mode, 0.0, &view(90.0))[1] > 0.0);
        assert!(pi.guards(&mode, 0.0, &view(101.0))[1] < 0.0);
        pi.crossed(&mut mode, 1, &mut 0.0, &view(101.0));
        assert_eq!(mode.piece, FREE);
        assert!(pi.slope(&mode, 0.0, &view(101.0)) > 0.0);
    }
}
