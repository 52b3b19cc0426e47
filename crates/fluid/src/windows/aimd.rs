//! Additive increase, multiplicative decrease: Chiu and Jain 1989; `a` packets for each round trip,
//! a loss takes the fraction `b`.

use sojourn_tcp::congestion::aimd::Settings;

use super::law::{Acks, Law};
use crate::scalar::Scalar;

/// AIMD.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aimd {
    /// Packets for each round trip: above 0.
    pub a: f64,
    /// Fraction of the window that a loss takes: above 0, below 1.
    pub b: f64,
}

impl Aimd {
    pub(super) fn of(settings: &Settings, acks: Acks) -> Self {
        let share = if acks.halved { 0.5 } else { 1.0 };
        Self { a: settings.a * share, b: settings.b }
    }
}

impl Law for Aimd {
    #[inline]
    fn growth<S: Scalar>(&self, _: S, round_trip: S, _: S) -> S {
        S::of(self.a) / round_trip
    }

    #[inline]
    fn cut<S: Scalar>(&self, w: S) -> S {
        w * self.b
    }

    fn window(&self, p: f64) -> Option<f64> {
        Some(libm::sqrt(self.a / (self.b * p)))
    }
}
