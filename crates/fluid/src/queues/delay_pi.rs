//! A PI controller of the delay D = q/C, which PIE and PI2 share: every T it moves by
//! α (D − target) + β (D − D_old), so by α (D − target)/T + β dD/dt per second.

use sojourn_base::Time;

use super::View;
use crate::scalar::Scalar;

/// Gains and target.
#[derive(Clone, Debug, PartialEq)]
pub struct DelayPi {
    /// The delay to hold, in seconds.
    pub target: f64,
    /// Weight of the delay's excess, per second.
    pub alpha: f64,
    /// Weight of the delay's change, per second.
    pub beta: f64,
    /// Time between two updates, in seconds.
    pub period: f64,
}

impl DelayPi {
    /// From the settings of a discipline.
    pub fn of(target: Time, alpha: f64, beta: f64, tupdate: Time) -> Self {
        Self { target: target.as_secs_f64(), alpha, beta, period: tupdate.as_secs_f64() }
    }

    /// By how much it moves per second.
    pub fn drive<S: Scalar>(&self, view: &View<S>) -> S {
        let excess = view.queue / view.capacity - self.target;
        excess * self.alpha / self.period + view.drift * self.beta / view.capacity
    }

    /// The queue that is `target` long, given the link's capacity.
    pub fn setpoint(&self, capacity: f64) -> f64 {
        self.target * capacity
    }
}
