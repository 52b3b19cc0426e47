//! Reno, RFC 5681 section 3.1: one packet for each round trip; a loss halves the window. A mark may
//! leave more of it (RFC 8511).

use sojourn_tcp::congestion::reno::Settings;

use super::{Acks, Aimd, Law};
use crate::scalar::Scalar;

/// Reno.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reno;

impl Reno {
    /// Where an acknowledgement of two segments counts once it grows half as fast.
    pub(super) fn of(settings: &Settings, acks: Acks) -> super::WindowLaw {
        let a = if acks.halved { 0.5 } else { 1.0 };
        let b = if acks.marked { 1.0 - settings.beta_ecn } else { 0.5 };
        if (a, b) == (1.0, 0.5) { Self.into() } else { Aimd { a, b }.into() }
    }
}

impl Law for Reno {
    #[inline]
    fn growth<S: Scalar>(&self, _: S, round_trip: S, _: S) -> S {
        S::of(1.0) / round_trip
    }

    #[inline]
    fn cut<S: Scalar>(&self, w: S) -> S {
        w * 0.5
    }

    fn window(&self, p: f64) -> Option<f64> {
        Some(libm::sqrt(2.0 / p))
    }
}
