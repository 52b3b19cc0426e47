//! How exactly to integrate, and what can go wrong.

use std::fmt;

/// How exactly to integrate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Error of a step, relative to the larger of a state and its scale: 1e-12 to 1e-2.
    pub tolerance: f64,
    /// Longest step in seconds.
    pub longest: f64,
    /// Steps of this length, whatever the error; for measuring the order of convergence.
    pub fixed: Option<f64>,
    /// Steps after which to give up.
    pub most_steps: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: 1e-6, longest: f64::INFINITY, fixed: None, most_steps: 50_000_000 }
    }
}

impl Settings {
    /// Checks the tolerance and the step.
    ///
    /// # Errors
    /// One line that names the field.
    pub fn validate(&self) -> Result<(), String> {
        if !(1e-12..=1e-2).contains(&self.tolerance) {
            return Err(format!("tolerance = {}: must be 1e-12 to 1e-2", self.tolerance));
        }
        for (field, step) in [("longest", Some(self.longest)), ("fixed", self.fixed)] {
            if let Some(step) = step.filter(|step| step.is_nan() || *step <= 0.0) {
                return Err(format!("{field} = {step}: a step must be above 0 s"));
            }
        }
        Ok(())
    }
}

/// What the integrator has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Steps that count.
    pub steps: u64,
    /// Steps that were thrown away: too inexact, or too long for what happened in them.
    pub rejected: u64,
    /// Evaluations of the right side.
    pub evaluations: u64,
    /// Changes of mode.
    pub events: u64,
}

/// Why the integration ended early. None of these comes from parameters that validation lets
/// through in practice; all name the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Failure {
    /// The state is no longer a number.
    NotFinite(f64),
    /// The step would have to be too short.
    StepTooShort(f64),
    /// The mode changes again and again at one moment.
    Chatter(f64),
    /// Too many steps.
    TooManySteps(f64),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite(t) => write!(f, "the solution grows without bound at {t:.6} s"),
            Self::StepTooShort(t) => {
                write!(f, "the solution changes too fast to be followed at {t:.6} s")
            }
            Self::Chatter(t) => write!(f, "a queue flips between two states for ever at {t:.6} s"),
            Self::TooManySteps(t) => write!(
                f,
                "too many steps, only {t:.3} s reached: shorten the time, or lengthen the delays"
            ),
        }
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_integrated_with_is_named() {
        let checked = |settings: Settings| settings.validate();
        let tolerance = |tolerance| checked(Settings { tolerance, ..Settings::default() });
        let longest = |longest| checked(Settings { longest, ..Settings::default() });
        let fixed = |fixed| checked(Settings { fixed: Some(fixed), ..Settings::default() });
        checked(Settings::default()).unwrap();
        for right in [1e-12, 1e-6, 1e-2] {
            tolerance(right).unwrap();
            longest(right).unwrap();
            fixed(right).unwrap();
        }
        for wrong in [0.9e-12, 1.1e-2, 0.0, -1e-6, f64::NAN] {
            let why = tolerance(wrong).unwrap_err();
            assert_eq!(why, format!("tolerance = {wrong}: must be 1e-12 to 1e-2"));
        }
        for wrong in [0.0, -1.0, f64::NAN] {
            let why = longest(wrong).unwrap_err();
            assert_eq!(why, format!("longest = {wrong}: a step must be above 0 s"));
            let why = fixed(wrong).unwrap_err();
            assert_eq!(why, format!("fixed = {wrong}: a step must be above 0 s"));
        }
    }

    #[test]
    fn a_failure_says_when_it_came() {
        for (failure, words) in [
            (Failure::NotFinite(1.5), "the solution grows without bound at 1.500000 s"),
            (Failure::StepTooShort(1.5), "changes too fast to be followed at 1.500000 s"),
            (Failure::Chatter(1.5), "a queue flips between two states for ever at 1.500000 s"),
            (Failure::TooManySteps(1.5), "too many steps, only 1.500 s reached: "),
        ] {
            assert!(failure.to_string().contains(words), "{failure}");
        }
    }
}
