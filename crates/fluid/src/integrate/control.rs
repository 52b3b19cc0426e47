//! How long the next step is.

use super::settings::Settings;

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

#[cfg(test)]
mod tests {
    use super::*;

    fn control(step: f64) -> Control {
        Control { step, ..Control::new(&Settings::default()) }
    }

    fn near(got: f64, want: f64) {
        assert!((got / want - 1.0).abs() < 1e-12, "{got} {want}");
    }

    #[test]
    fn the_first_step_is_a_millisecond_or_as_long_as_it_may_be() {
        let first =
            |fixed, longest| Control::new(&Settings { fixed, longest, ..Settings::default() }).step;
        assert_eq!((first(None, f64::INFINITY), first(None, 1e-4)), (1e-3, 1e-4));
        assert_eq!((first(Some(0.5), f64::INFINITY), first(Some(0.5), 0.1)), (0.5, 0.1));
    }

    #[test]
    fn a_step_that_is_too_inexact_is_made_shorter_by_the_fifth_root_of_its_error() {
        for (error, factor) in [(1.1, 0.9 * libm::pow(1.1, -0.2)), (32.0, 0.45), (1e9, 0.2)] {
            let mut control = control(0.1);
            let shorter = control.judge(0.1, error, false, false).unwrap();
            near(shorter, 0.1 * factor);
            near(control.step, shorter);
        }
        let mut any = control(0.1);
        assert_eq!(any.judge(0.1, f64::INFINITY, false, true), Some(0.1 * 0.1));
        assert_eq!(any.judge(0.1, 1e9, false, true), None, "its length is given");
        assert_eq!((any.step, any.judge(0.1, 1.0, false, false)), (0.1, None));
    }

    #[test]
    fn the_next_step_follows_from_the_errors_of_the_last_two() {
        let mut control = control(0.1);
        let ln = libm::log;
        assert_eq!(control.judge(0.1, 0.5, false, false), None);
        let second = 0.1 * 0.9 * libm::exp(-0.14 * ln(0.5));
        near(control.step, second);
        assert_eq!(control.judge(second, 0.2, false, false), None);
        let third = second * 0.9 * libm::exp(0.08 * ln(0.5) - 0.14 * ln(0.2));
        near(control.step, third);
        // No more than five times as long; what was almost exact counts as 1e-4 afterwards.
        assert_eq!(control.judge(third, 1e-10, false, false), None);
        near(control.step, third * 5.0);
        let fourth = control.step;
        assert_eq!(control.judge(fourth, 0.3, false, false), None);
        near(control.step, fourth * 0.9 * libm::exp(0.08 * ln(1e-4) - 0.14 * ln(0.3)));
    }

    #[test]
    fn a_step_that_was_cut_short_does_not_shorten_the_next() {
        // Wished for were 0.1 s: 0.049 s say too little, as does what was made to end somewhere.
        for (step, landing, next) in [
            (0.049, false, 0.1),
            (0.051, false, 0.051 * 0.9),
            (0.09, true, 0.1),
            (0.09, false, 0.09 * 0.9),
        ] {
            let mut control = control(0.1);
            assert_eq!(control.judge(step, 1.0, landing, false), None);
            near(control.step, next);
        }
        let mut longer = control(0.1);
        assert_eq!(longer.judge(0.049, 1e-10, false, false), None);
        near(longer.step, 5.0 * 0.049);
    }
}
