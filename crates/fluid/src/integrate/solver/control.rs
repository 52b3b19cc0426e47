//! How long the next step is.

use super::super::settings::Settings;

/// Logarithm of the least error that the next step's length is told of: 1e-4.
const LEAST_ERROR: f64 = -4.0 * std::f64::consts::LN_10;

/// Proportional-integral control of the step (Hairer, Nørsett and Wanner, *Solving Ordinary
/// Differential Equations I*, II.4).
pub(super) struct Control {
    /// The step that the control of the error would take next.
    pub step: f64,
    /// Logarithm of the last step's error over what is allowed.
    last_error: f64,
}

impl Control {
    pub(super) fn new(settings: &Settings) -> Self {
        Self { step: settings.fixed.unwrap_or(1e-3).min(settings.longest), last_error: 0.0 }
    }

    /// None if a step with this error, over what is allowed, is exact enough; else how long to make
    /// it. `landing` says that it was made to end somewhere.
    pub(super) fn judge(
        &mut self,
        step: f64,
        error: f64,
        landing: bool,
        fixed: bool,
    ) -> Option<f64> {
        if error == f64::INFINITY {
            return Some(0.1 * step);
        }
        if fixed {
            return None;
        }
        if error > 1.0 {
            let shorter = step * (0.9 * libm::pow(error, -0.2)).max(0.2);
            self.step = shorter;
            return Some(shorter);
        }
        let logarithm = libm::log(error);
        let factor = 0.9 * libm::exp(0.08 * self.last_error - 0.14 * logarithm);
        let next = step * factor.clamp(0.2, 5.0);
        // A step that was cut short says little about the next.
        self.step = if landing || step < 0.5 * self.step { self.step.max(next) } else { next };
        self.last_error = logarithm.max(LEAST_ERROR);
        None
    }
}
