//! AIMD(a, b): `a` segments more per round trip, a share `b` less per loss.
//!
//! Chiu and Jain, "Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in
//! Computer Networks", Computer Networks and ISDN Systems 17 (1989); Yang and Lam, "General AIMD
//! Congestion Control", ICNP 2000. Its window for a loss rate p is √(a(2−b)/(2bp)) (Yang and Lam,
//! equation 4), so AIMD(1, 1/2) is Reno, and a = 3b/(2−b) shares fairly with it (section 3).
//!
//! # Differences from the source
//!
//! 1. Slow start, the least window of two segments and the timeout are those of Reno; a timeout
//!    leaves a share 1−`b` in `ssthresh`, as a loss does.
//! 2. A reduction starts from the bytes outstanding (RFC 5681 equation 4), not from the window.
//!
//! # Differences from Linux
//!
//! Linux has no such algorithm.

use super::{Acked, Congested, Control, Window, fixed};
use crate::Invalid;
use sojourn_base::within;

/// Settings of AIMD.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "AimdSettings"))]
pub struct Settings {
    /// Segments that the window grows by per round trip: 0.001 to 1000 (default 1, RFC 5681
    /// section 3.1).
    pub a: f64,
    /// Share of the window that a loss takes: 0.001 to 0.9 (default 0.5, RFC 5681 section 3.1).
    pub b: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { a: 1.0, b: 0.5 }
    }
}

/// The settings in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Segments per round trip, Q.32.
    a: u64,
    /// Share that a loss leaves, Q.32.
    keep: u64,
}

/// State: how far the window is from its next segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    growth: Growth,
}

/// Additive increase by `a` segments per window: what AIMD and its variants have in common.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Growth {
    /// Bytes acknowledged times `a`, less what the window has grown for.
    credit: u32,
    /// The fraction of a byte of `credit`, or in smooth growth of the window, Q.32.
    fraction: u32,
}

impl Growth {
    /// Bytes are acknowledged in congestion avoidance: `a` segments per window, Q.32.
    #[inline]
    pub(crate) fn avoid(&mut self, window: &mut Window, acked: &Acked, a: u64) {
        if acked.smooth {
            // As RFC 5681 equation 3: a·MSS·bytes/cwnd.
            let share = u128::from(a) * u128::from(acked.mss) / u128::from(window.cwnd.max(1));
            let share = u64::try_from(share).unwrap_or(u64::MAX);
            fixed::add(&mut window.cwnd, &mut self.fraction, acked.bytes, share);
        } else {
            // As RFC 3465 section 2.1: a segment whenever `a` windows' worth is acknowledged.
            fixed::add(&mut self.credit, &mut self.fraction, acked.bytes, a);
            if self.credit >= window.cwnd {
                let segments = self.credit / window.cwnd.max(1);
                self.credit %= window.cwnd.max(1);
                window.cwnd = window.cwnd.saturating_add(segments.saturating_mul(acked.mss));
            }
        }
    }
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;

    fn tune(settings: &Settings) -> Result<Tuning, Invalid> {
        let a = fixed::setting("congestion.a", settings.a, 0.001, 1000.0)?;
        within("congestion.b", settings.b, 0.001, 0.9)?;
        Ok(Tuning { a, keep: fixed::share(1.0 - settings.b) })
    }

    fn new(_: &Tuning) -> Self {
        Self::default()
    }

    #[inline]
    fn on_ack(&mut self, tuning: &Tuning, window: &mut Window, acked: Acked) {
        if !window.slow_start(&acked) {
            self.growth.avoid(window, &acked, tuning.a);
        }
    }

    fn on_loss(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
        window.reduce(fixed::of(at.flight, tuning.keep), at.mss);
        *self = Self::default();
    }

    fn on_timeout(&mut self, tuning: &Tuning, window: &mut Window, at: Congested, first: bool) {
        window.collapse(fixed::of(at.flight, tuning.keep), at.mss, first);
        *self = Self::default();
    }

    fn on_restart(&mut self, _: &Tuning, _: &mut Window, _: Congested) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::reno;
    use crate::congestion::rounds::{MSS, Rounds, acked};

    #[test]
    fn aimd_1_and_half_equals_reno() {
        let mut ours: Rounds<State> = Rounds::new(&Settings::default(), 20);
        let mut reno: Rounds<reno::State> = Rounds::new(&reno::Settings::default(), 20);
        for n in 0..200 {
            ours.round();
            reno.round();
            if n % 37 == 20 {
                ours.loss();
                reno.loss();
            }
            assert_eq!(ours.window, reno.window, "after {n} round trips");
        }
    }

    #[test]
    fn aimd_grows_by_a_and_shrinks_by_b() {
        for (a, b) in [(0.2, 0.125), (0.31, 0.2), (3.0, 0.5), (32.0, 0.05)] {
            let mut r: Rounds<State> = Rounds::new(&Settings { a, b }, 1000);
            r.loss();
            let low = r.segments();
            assert!((low - 1000.0 * (1.0 - b)).abs() < 0.01);
            for _ in 0..10 {
                r.round();
            }
            // A window that grows takes a little longer than a round trip of its beginning.
            let grown = r.segments() - low;
            assert!(grown <= 10.0 * a + 1e-3 && grown >= 9.0 * a - 1.0, "{a} {grown}");
        }
    }

    #[test]
    fn smooth_growth_is_the_same_in_smaller_steps() {
        let tuning = State::tune(&Settings { a: 0.5, b: 0.5 }).unwrap();
        let mut state = State::new(&tuning);
        let mut w = Window { cwnd: 1000 * MSS, ssthresh: 2 };
        for _ in 0..1000 {
            state.on_ack(&tuning, &mut w, Acked { smooth: true, ..acked(MSS) });
        }
        let grown = f64::from(w.cwnd) / f64::from(MSS) - 1000.0;
        assert!((grown - 0.5).abs() < 1e-3, "{grown}");
    }
}
