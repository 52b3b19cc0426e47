//! HighSpeed TCP, RFC 3649 sections 5 and 7.
//!
//! # Difference from the source
//!
//! a(w) is the formula, not the table of appendix B, which rounds it to whole packets; it is not
//! allowed below 1, nor b(w) below 0.01.

use sojourn_tcp::congestion::highspeed::Settings;

use super::law::{Acks, Law};
use crate::scalar::Scalar;

/// HighSpeed TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HighSpeed {
    /// Up to this window it is Reno (Low_Window, 38 in the RFC).
    pub low_window: f64,
    /// Loss rate there (10^-3, as the RFC rounds 1.5/38²).
    pub low_p: f64,
    /// The upper end of the line (High_Window, 83000 in the RFC).
    pub high_window: f64,
    /// Loss rate there (10^-7 in the RFC).
    pub high_p: f64,
    /// Fraction of the window that a loss takes there (High_Decrease, 0.1 in the RFC).
    pub high_decrease: f64,
}

impl HighSpeed {
    pub(super) fn of(settings: &Settings, acks: Acks) -> Option<Self> {
        let law = Self {
            low_window: f64::from(settings.low_window),
            low_p: settings.low_p,
            high_window: f64::from(settings.high_window),
            high_p: settings.high_p,
            high_decrease: settings.high_decrease,
        };
        (!acks.halved).then_some(law)
    }

    /// How far a window is from `low_window` to `high_window`, on a logarithmic scale.
    fn way<S: Scalar>(&self, w: S) -> S {
        (w / self.low_window).ln() / libm::log(self.high_window / self.low_window)
    }

    /// b(w): the fraction of the window that a loss takes.
    fn decrease<S: Scalar>(&self, w: S) -> S {
        if w.value() <= self.low_window {
            return S::of(0.5);
        }
        (self.way(w) * (self.high_decrease - 0.5) + 0.5).max(S::of(0.01))
    }

    /// a(w): packets for each round trip.
    fn increase<S: Scalar>(&self, w: S) -> S {
        if w.value() <= self.low_window {
            return S::of(1.0);
        }
        let (low, high) = (self.low_p, self.high_p);
        let p = (self.way(w) * libm::log(high / low) + libm::log(low)).exp();
        let b = self.decrease(w);
        (w * w * p * 2.0 * b / (-b + 2.0)).max(S::of(1.0))
    }
}

impl Law for HighSpeed {
    #[inline]
    fn growth<S: Scalar>(&self, w: S, _: S, rate: S) -> S {
        self.increase(w) / w.max(S::of(1.0)) * rate
    }

    #[inline]
    fn cut<S: Scalar>(&self, w: S) -> S {
        self.decrease(w) * w
    }

    fn clocked(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increase_and_decrease_are_those_of_the_rfcs_table() {
        let law = HighSpeed::of(&Settings::default(), Acks::default()).unwrap();
        // RFC 3649 appendix B: cwnd, a(w), b(w).
        for (w, a, b) in
            [(38.0, 1.0, 0.5), (1058.0, 8.0, 0.33), (10661.0, 30.0, 0.21), (84035.0, 71.0, 0.10)]
        {
            assert!((law.increase(w) / a - 1.0).abs() < 0.06, "a({w}) = {}", law.increase(w));
            assert!((law.decrease(w) - b).abs() < 0.006, "b({w}) = {}", law.decrease(w));
        }
    }

    #[test]
    fn it_is_reno_up_to_its_window_and_the_formula_above() {
        let law = HighSpeed::of(&Settings::default(), Acks::default()).unwrap();
        for w in [1.0, 20.0, 38.0] {
            assert_eq!((law.increase(w), law.decrease(w), law.cut(w)), (1.0, 0.5, 0.5 * w));
        }
        // Half way on the logarithmic scale: p = sqrt(1e-3 · 1e-7), b = 0.3, a = 2 w² p b/(2 − b).
        let w = libm::sqrt(38.0 * 83_000.0);
        let a = 2.0 * w * w * 1e-5 * 0.3 / 1.7;
        assert!((law.way(w) - 0.5).abs() < 1e-12);
        assert!((law.decrease(w) - 0.3).abs() < 1e-12 && (law.cut(w) - 0.3 * w).abs() < 1e-9);
        assert!((law.increase(w) - a).abs() < 1e-9, "{} {a}", law.increase(w));
        // An acknowledgement is worth a/w, whatever the round trip; below a packet as at one.
        assert!((law.growth(w, 0.1, 500.0) - a / w * 500.0).abs() < 1e-9);
        assert_eq!(law.growth(0.5, 0.1, 500.0), 500.0);
        // Far beyond its upper end it takes a hundredth at least.
        assert_eq!(law.decrease(1e9), 0.01);
        assert!(law.clocked());
    }
}
