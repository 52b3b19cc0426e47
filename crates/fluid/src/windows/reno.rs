//! Reno, RFC 5681 section 3.1: one packet for each round trip; a loss halves the window.

use super::law::Law;
use crate::scalar::Scalar;

/// Reno.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reno;

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
