//! Window laws: how fast a window grows and how much a loss takes from it.

mod highspeed;
mod scalable;

use serde::Deserialize;

use crate::Invalid;

/// A congestion control as a law of the mean window.
///
/// Reno and its kin grow by a fixed amount for each round trip, so that their growth is a/R with
/// the round trip of now (Misra, Gong and Towsley, SIGCOMM 2000, equation 3). Scalable and
/// HighSpeed are defined by acknowledgement: their growth is clocked by what was sent a round trip
/// ago.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum WindowLaw {
    /// Reno (RFC 5681): one packet for each round trip; a loss halves the window.
    Reno,
    /// Additive increase by `a` packets for each round trip, multiplicative decrease by the
    /// fraction `b`.
    Aimd {
        /// Packets for each round trip: above 0.
        a: f64,
        /// Fraction of the window that a loss takes: above 0, below 1.
        b: f64,
    },
    /// Scalable TCP (Kelly, PFLDnet 2003): `a` packets for each acknowledgement; a loss takes the
    /// fraction `b`; below `lwnd` packets Reno.
    Scalable {
        /// Packets for each acknowledgement: above 0, at most 1 (0.01 in the paper).
        a: f64,
        /// Fraction of the window that a loss takes: above 0, below 1 (0.125 in the paper).
        b: f64,
        /// Below this window the law is Reno's: 0 for never (16 in the paper).
        lwnd: f64,
        /// Whether it grows like Reno where that is faster, as Linux's does.
        #[serde(default)]
        at_least_reno: bool,
    },
    /// HighSpeed TCP (RFC 3649) with its standard parameters 38, 83000, 1e-7 and 0.1.
    HighSpeed,
}

impl WindowLaw {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        let share = |field: &'static str, b: f64| match b {
            b if b > 0.0 && b < 1.0 => Ok(()),
            b => Err(Invalid::new(field, b, "must be above 0 and below 1, for example 0.5")),
        };
        match *self {
            Self::Reno | Self::HighSpeed => Ok(()),
            Self::Aimd { a, b } => {
                if !(a > 0.0 && a <= 1e6) {
                    return Err(Invalid::new(
                        "a",
                        a,
                        "must be above 0 and at most 1e6, for example 1",
                    ));
                }
                share("b", b)
            }
            Self::Scalable { a, b, lwnd, .. } => {
                if !(a > 0.0 && a <= 1.0) {
                    return Err(Invalid::new(
                        "a",
                        a,
                        "must be above 0 and at most 1, for example 0.01",
                    ));
                }
                if !(0.0..=1e9).contains(&lwnd) {
                    return Err(Invalid::new("lwnd", lwnd, "must be 0 to 1e9, for example 16"));
                }
                share("b", b)
            }
        }
    }

    /// Packets per second that a window `w` grows by without loss, the round trip now being
    /// `round_trip` and packets having been sent at `rate` a round trip ago.
    #[inline]
    pub fn growth(&self, w: f64, round_trip: f64, rate: f64) -> f64 {
        match *self {
            Self::Reno => 1.0 / round_trip,
            Self::Aimd { a, .. } => a / round_trip,
            Self::Scalable { a, lwnd, at_least_reno, .. } => {
                let least = if at_least_reno { 1.0 / round_trip } else { 0.0 };
                scalable::blend(w, lwnd, || 1.0 / round_trip, || (a * rate).max(least))
            }
            Self::HighSpeed => highspeed::increase(w) / w.max(1.0) * rate,
        }
    }

    /// Whether growth looks at the rate of a round trip ago.
    pub fn clocked(&self) -> bool {
        matches!(self, Self::Scalable { .. } | Self::HighSpeed)
    }

    /// Packets that a loss takes from a window `w`.
    #[inline]
    pub fn cut(&self, w: f64) -> f64 {
        match *self {
            Self::Reno => 0.5 * w,
            Self::Aimd { b, .. } => b * w,
            Self::Scalable { b, lwnd, .. } => scalable::blend(w, lwnd, || 0.5 * w, || b * w),
            Self::HighSpeed => highspeed::decrease(w) * w,
        }
    }

    /// The window at which growth and cuts are equal under loss `p`; `timeouts` as in
    /// [`crate::mgt::window_slope`]. Infinite without loss.
    pub fn window(&self, p: f64, timeouts: bool) -> f64 {
        if p <= 0.0 {
            return f64::INFINITY;
        }
        let closed = match *self {
            _ if timeouts => None,
            Self::Reno => Some(libm::sqrt(2.0 / p)),
            Self::Aimd { a, b } => Some(libm::sqrt(a / (b * p))),
            _ => None,
        };
        if let Some(window) = closed {
            return if window > 1e15 { f64::INFINITY } else { window };
        }
        let surplus = |w: f64| crate::mgt::window_slope(self, timeouts, w, 1.0, w, w * p);
        let mut high = 1.0;
        while surplus(high) > 0.0 {
            high *= 2.0;
            if high > 1e15 {
                return f64::INFINITY;
            }
        }
        let low = 1e-6;
        crate::root::between((low, surplus(low)), (high, surplus(high)), surplus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_the_published_ones() {
        let reno = WindowLaw::Reno.window(0.01, false);
        assert!((reno - libm::sqrt(200.0)).abs() < 1e-9, "W² p = 2, not {reno}");
        let aimd = WindowLaw::Aimd { a: 2.0, b: 0.25 }.window(0.01, false);
        assert!((aimd - libm::sqrt(2.0 / 0.25 / 0.01)).abs() < 1e-9);
        let window = |p| scalable(16.0, false).window(p, false);
        assert!((window(1e-4) - 0.01 / 0.125 / 1e-4).abs() < 1e-6, "W = a/(b p)");
        // Below 100 packets Linux's is additive: W² p = 1/b.
        let window = |p| scalable(0.0, true).window(p, false);
        assert!((window(0.01) - libm::sqrt(8.0 / 0.01)).abs() < 1e-6, "{}", window(0.01));
        assert!((window(1e-4) - 0.01 / 0.125 / 1e-4).abs() < 1e-6);
        // RFC 3649: W = 0.12/p^0.835 for periodic losses. A window that a loss hits at any time
        // needs 2/(2 − b) times as many.
        let high = WindowLaw::HighSpeed.window(1e-5, false);
        let b = highspeed::decrease(high);
        let rfc = 0.12 / libm::pow(1e-5 * (2.0 - b) / 2.0, 0.835);
        assert!((high / rfc - 1.0).abs() < 0.02, "{high} against {rfc}");
    }

    fn scalable(lwnd: f64, at_least_reno: bool) -> WindowLaw {
        WindowLaw::Scalable { a: 0.01, b: 0.125, lwnd, at_least_reno }
    }

    #[test]
    fn timeouts_make_windows_smaller() {
        let without = WindowLaw::Reno.window(0.05, false);
        let with = WindowLaw::Reno.window(0.05, true);
        assert!(with < without && with > 0.5 * without, "{with} {without}");
    }

    #[test]
    fn wrong_parameters_are_named() {
        let error = WindowLaw::Aimd { a: 0.0, b: 0.5 }.validate().unwrap_err();
        assert!(error.to_string().starts_with("a = 0"), "{error}");
        let wrong = WindowLaw::Scalable { a: 0.01, b: 1.0, lwnd: 16.0, at_least_reno: false };
        let error = wrong.validate().unwrap_err();
        assert!(error.to_string().starts_with("b = 1"), "{error}");
    }
}
