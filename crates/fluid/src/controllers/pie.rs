//! PIE in continuous time: RFC 8033 section 4.2. Every T the probability moves by
//! α (D − target) + β (D − D_old), scaled down while it is small; so dp/dt = f(p) (α (D − target)/T +
//! β dD/dt) with the delay D = q/C.
//!
//! Left out: the burst allowance, the limit of 0.02 on a step above 10 %, the decay while idle, and
//! derandomisation, which leaves the mean as it is.

use serde::Deserialize;

use super::{Mode, View, step};
use crate::Invalid;

/// PIE.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pie {
    /// The delay to hold, in seconds (0.015 in the RFC).
    pub target: f64,
    /// Weight of the delay's excess, per second (0.125 in the RFC).
    pub alpha: f64,
    /// Weight of the delay's change, per second (1.25 in the RFC).
    pub beta: f64,
    /// Time between two updates, in seconds (0.015 in the RFC).
    pub period: f64,
}

/// Where the scale changes (RFC 8033 section 4.2), with the ends.
const BOUNDS: [f64; 8] = [0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0];
/// The scale between them.
const SCALES: [f64; 7] =
    [1.0 / 2048.0, 1.0 / 512.0, 1.0 / 128.0, 1.0 / 32.0, 1.0 / 8.0, 1.0 / 2.0, 1.0];

/// The pieces: 0 held at 0, 1 to 7 between two bounds, 8 held at 1.
const TOP: usize = 8;

/// The piece that fits a probability.
pub(super) fn piece(p: f64) -> usize {
    if p <= 0.0 { 0 } else { BOUNDS.iter().filter(|bound| p >= **bound).count() }
}

impl Pie {
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
            0 => 0.0,
            TOP => 1.0,
            _ => own,
        }
    }

    pub(super) fn slope(&self, mode: &Mode, _: f64, view: &View) -> f64 {
        if mode.piece == 0 || mode.piece == TOP {
            return 0.0;
        }
        SCALES[mode.piece - 1] * self.drive(view)
    }

    pub(super) fn guards(&self, mode: &Mode, own: f64, view: &View) -> [f64; 2] {
        match mode.piece {
            0 => [1.0, -self.drive(view)],
            TOP => [self.drive(view), 1.0],
            // Relative to the bound, as the smallest is no larger than rounding elsewhere; a little
            // room keeps the piece from changing back at once.
            piece => [
                (own - BOUNDS[piece - 1]) / BOUNDS[piece - 1].max(1e-6),
                (BOUNDS[piece] - own) / BOUNDS[piece],
            ],
        }
    }

    pub(super) fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, _: &View) {
        step(mode, guard);
        *own = match mode.piece {
            0 => 0.0,
            TOP => 1.0,
            _ => own.max(0.0),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_follows_the_table_of_the_rfc() {
        let pie = Pie { target: 0.015, alpha: 0.125, beta: 1.25, period: 0.015 };
        let view = View { queue: 100.0, capacity: 1000.0, ..View::default() };
        for (p, scale) in [(5e-7, 2048.0), (5e-5, 128.0), (0.05, 2.0), (0.5, 1.0)] {
            let mode = Mode { piece: piece(p), ..Mode::default() };
            let want = 0.125 * 0.085 / 0.015 / scale;
            assert!((pie.slope(&mode, p, &view) / want - 1.0).abs() < 1e-12, "{p}");
            assert!(pie.guards(&mode, p, &view).iter().all(|guard| *guard > 0.0));
        }
    }
}
