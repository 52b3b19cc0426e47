//! Scalable TCP, T. Kelly, "Scalable TCP: improving performance in highspeed wide area networks",
//! PFLDnet 2003: above `lwnd` a window grows by `a` for each acknowledgement and shrinks by the
//! fraction `b` for each loss; below, it is Reno's.
//!
//! # Difference from the source
//!
//! The two laws do not meet at `lwnd`: for some loss rates one pushes up and the other down, and
//! the mean window of a model stays there. From 99 to 101 % of `lwnd` the law is interpolated, so
//! that this is an equilibrium and not a flutter.

use sojourn_tcp::congestion::scalable::Settings;

use super::law::{Acks, Law};
use crate::scalar::Scalar;

/// Scalable TCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalable {
    /// Packets for each acknowledgement: above 0, at most 1 (0.01 in the paper).
    pub a: f64,
    /// Fraction of the window that a loss takes: above 0, below 1 (0.125 in the paper).
    pub b: f64,
    /// Below this window the law is Reno's: 0 for never (16 in the paper).
    pub lwnd: f64,
    /// Whether it grows like Reno where that is faster, as Linux's does.
    pub at_least_reno: bool,
}

impl Scalable {
    pub(super) fn of(settings: &Settings, acks: Acks) -> Option<Self> {
        // The equations know no gain that follows the round trip.
        if settings.reference_rtt.is_some() {
            return None;
        }
        let halved = acks.delayed && !settings.delayed_ack_correction;
        Some(Self {
            a: if halved { 0.5 * settings.a } else { settings.a },
            b: settings.b,
            lwnd: f64::from(settings.traditional_up_to()),
            at_least_reno: settings.at_least_reno == Some(true),
        })
    }
}

impl Law for Scalable {
    #[inline]
    fn growth<S: Scalar>(&self, w: S, round_trip: S, rate: S) -> S {
        let reno = || S::of(1.0) / round_trip;
        let least = if self.at_least_reno { reno() } else { S::of(0.0) };
        blend(w, self.lwnd, reno, || (rate * self.a).max(least))
    }

    #[inline]
    fn cut<S: Scalar>(&self, w: S) -> S {
        blend(w, self.lwnd, || w * 0.5, || w * self.b)
    }

    fn clocked(&self) -> bool {
        true
    }
}

/// Half the width of the transition, as a fraction of `lwnd`.
const BAND: f64 = 0.01;

/// `below` under `lwnd`, `above` over it.
#[inline]
fn blend<S: Scalar>(w: S, lwnd: f64, below: impl FnOnce() -> S, above: impl FnOnce() -> S) -> S {
    let share = (w - lwnd) * 0.5 / (BAND * lwnd) + 0.5;
    if share.value() >= 1.0 || lwnd <= 0.0 {
        above()
    } else if share.value() <= 0.0 {
        below()
    } else {
        share * above() + (-share + 1.0) * below()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_changes_continuously_at_lwnd() {
        let at = |w| blend(w, 16.0, || 1.0, || 3.0);
        assert_eq!((at(15.0), at(16.0), at(17.0)), (1.0, 2.0, 3.0));
        assert_eq!(blend(0.5, 0.0, || 1.0, || 3.0), 3.0);
    }

    #[test]
    fn one_law_gives_way_to_the_other_within_a_hundredth_of_the_window() {
        let share = |w: f64| blend(w, 50.0, || 0.0, || 1.0);
        let cases = [(49.5, 0.0), (49.75, 0.25), (50.0, 0.5), (50.25, 0.75), (50.5, 1.0)];
        for (w, exact) in cases {
            assert!((share(w) - exact).abs() < 1e-12, "{w}");
        }
    }

    #[test]
    fn a_window_grows_with_acknowledgements_above_lwnd_and_with_round_trips_below() {
        let law = |lwnd, at_least_reno| Scalable { a: 0.01, b: 0.125, lwnd, at_least_reno };
        let growth = |law: Scalable, w: f64| law.growth(w, 0.2, 300.0);
        assert_eq!((growth(law(16.0, false), 10.0), growth(law(16.0, false), 20.0)), (5.0, 3.0));
        assert_eq!(growth(law(16.0, true), 20.0), 5.0, "Reno is faster");
        assert_eq!(law(16.0, true).growth(20.0, 0.5, 300.0), 3.0);
        assert_eq!((law(16.0, false).cut(10.0), law(16.0, false).cut(20.0)), (5.0, 2.5));
        assert_eq!((growth(law(0.0, false), 1.0), law(0.0, false).cut(1.0)), (3.0, 0.125));
        assert!(law(0.0, false).clocked());
    }

    #[test]
    fn a_gain_that_follows_the_round_trip_has_no_law() {
        let mut settings = Settings::default();
        assert!(Scalable::of(&settings, Acks::default()).is_some());
        settings.reference_rtt = Some(sojourn_base::Time::from_millis(100));
        assert!(Scalable::of(&settings, Acks::default()).is_none());
    }
}
