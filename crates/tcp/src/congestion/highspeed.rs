//! HighSpeed TCP: AIMD whose `a` grows and whose `b` falls with the window.
//!
//! RFC 3649. Up to `low_window` segments it is Reno. Above, the response function is the straight
//! line, in logarithms, from (`low_p`, `low_window`) to (`high_p`, `high_window`), W = 0.12/p^0.835
//! with the defaults (section 5); by section 7 `b` falls with the logarithm of the window from 1/2
//! to `high_decrease`, and `a(w) = w²·p(w)·2b(w)/(2−b(w))`. Both are tabulated when parameters are
//! made, eight points per octave, and interpolated: `a` is right to 0.1 %, `b` to 0.0002.
//!
//! # Differences from the source
//!
//! 1. RFC 3649 rounds p(w) to 0.078/w^1.2, from which its appendix B comes; here the line goes
//!    through both points exactly, which makes `a` up to 2.6 % greater at the largest windows.
//! 2. The line for `b` ends at half of `high_decrease`, at windows of millions of segments.
//! 3. Slow start is that of Reno (RFC 3649 section 10.1 points to limited slow start, RFC 3742),
//!    and
//!    so are the least window and the timeout, which leaves a share 1−b(w) in `ssthresh`.
//! 4. A reduction starts from the bytes outstanding (RFC 5681 equation 4), not from the window.
//!
//! # Differences from Linux
//!
//! 1. Linux has the table of appendix B: whole `a`, `b` in 1/256, constant above 94717 segments.
//! 2. Linux looks the table up by the window in segments, one step at a time.

use super::{Acked, Congested, Control, Window, aimd::Growth, fixed};
use crate::Invalid;
use alloc::boxed::Box;
use alloc::vec::Vec;
use libm::{exp, ldexp, log};
use sojourn_base::within;

/// Settings of HighSpeed TCP.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "HighspeedSettings"))]
pub struct Settings {
    /// Segments up to which it is Reno: 2 to 1000000 (default 38, RFC 3649 section 5).
    pub low_window: u32,
    /// Loss rate at which the window is `low_window`: 1e-6 to 0.1 (default 0.001, RFC 3649 section
    /// 5).
    pub low_p: f64,
    /// Segments of the upper end of the line: twice `low_window` to 10000000 (default 83000, RFC
    /// 3649 section 5).
    pub high_window: u32,
    /// Loss rate at which the window is `high_window`: 1e-15 to half of `low_p` (default 1e-7,
    /// RFC 3649 section 5).
    pub high_p: f64,
    /// Share of the window that a loss takes at `high_window`: 0.01 to 0.5 (default 0.1, RFC 3649
    /// section 7).
    pub high_decrease: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { low_window: 38, low_p: 1e-3, high_window: 83_000, high_p: 1e-7, high_decrease: 0.1 }
    }
}

/// Points per octave, as a power of two.
const POINTS_BITS: u32 = 3;
/// Octaves: windows to 2²⁴ segments, more than any window has.
const OCTAVES: u32 = 24;

/// `a` and `b` at a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Point {
    /// Segments per round trip, Q.32, at most 2²⁰.
    a: u64,
    /// Share that a loss takes, Q.32.
    b: u64,
}

/// The settings in integers: the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tuning {
    low_window: u32,
    /// At 2^(i/8 rounded down)·(1 + (i mod 8)/8) segments.
    points: Box<[Point]>,
}

impl Settings {
    /// RFC 3649 sections 5 and 7: `a` and `b` for a window in segments, `low_window` at least.
    #[must_use]
    pub fn exact(&self, w: f64) -> (f64, f64) {
        let (low, high) = (f64::from(self.low_window), f64::from(self.high_window));
        let along = log(w / low) / log(high / low);
        let p = exp(log(self.low_p) + along * log(self.high_p / self.low_p));
        let b = 0.5 + along * (self.high_decrease - 0.5);
        let b = b.max(self.high_decrease / 2.0);
        // Not less than Reno's, nor more than the format holds.
        ((w * w * p * 2.0 * b / (2.0 - b)).clamp(1.0, 1e6), b)
    }
}

impl Tuning {
    #[inline]
    fn is_high(&self, bytes: u32, mss: u32) -> bool {
        u64::from(bytes) > u64::from(self.low_window) * u64::from(mss)
    }

    /// `a` and `b`, both Q.32, for a window above `low_window`.
    #[inline]
    fn at(&self, bytes: u32, mss: u32) -> Point {
        // The window in segments, Q.8.
        let w = ((u64::from(bytes) << 8) / u64::from(mss.max(1))).max(1 << 8);
        let octave = w.ilog2() - 8;
        let within = w - (1 << (octave + 8)); // of 2^(octave + 8)
        let position = (within << POINTS_BITS) >> octave; // Q.8
        let i = (octave << POINTS_BITS) as usize + (position >> 8) as usize;
        let i = i.min(self.points.len() - 2);
        let (one, next, part) = (self.points[i], self.points[i + 1], position & 255);
        let between = |x: u64, y: u64| (x * (256 - part) + y * part) >> 8;
        Point { a: between(one.a, next.a), b: between(one.b, next.b) }
    }

    /// What congestion leaves of `flight`.
    fn after(&self, at: &Congested) -> u32 {
        if self.is_high(at.flight, at.mss) {
            fixed::of(at.flight, fixed::ONE - self.at(at.flight, at.mss).b)
        } else {
            at.flight / 2
        }
    }
}

/// State: how far the window is from its next segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    growth: Growth,
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;

    fn tune(settings: &Settings) -> Result<Tuning, Invalid> {
        let s = settings;
        within("congestion.low_window", s.low_window, 2, 1_000_000)?;
        within("congestion.low_p", s.low_p, 1e-6, 0.1)?;
        within("congestion.high_window", s.high_window, 2 * s.low_window, 10_000_000)?;
        within("congestion.high_p", s.high_p, 1e-15, s.low_p / 2.0)?;
        within("congestion.high_decrease", s.high_decrease, 0.01, 0.5)?;
        let points: Vec<Point> = (0..=OCTAVES << POINTS_BITS)
            .map(|i| {
                let (octave, eighth) = (i >> POINTS_BITS, i & ((1 << POINTS_BITS) - 1));
                let w = ldexp(1.0 + f64::from(eighth) / 8.0, octave as i32);
                let (a, b) = s.exact(w.max(f64::from(s.low_window)));
                Point { a: fixed::share(a), b: fixed::share(b) }
            })
            .collect();
        Ok(Tuning { low_window: s.low_window, points: points.into_boxed_slice() })
    }

    fn new(_: &Tuning) -> Self {
        Self::default()
    }

    #[inline]
    fn on_ack(&mut self, tuning: &Tuning, window: &mut Window, acked: Acked) {
        if !window.slow_start(&acked) {
            let high = tuning.is_high(window.cwnd, acked.mss);
            let a = if high { tuning.at(window.cwnd, acked.mss).a } else { fixed::ONE };
            self.growth.avoid(window, &acked, a);
        }
    }

    fn on_loss(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
        window.reduce(tuning.after(&at), at.mss);
        *self = Self::default();
    }

    fn on_timeout(&mut self, tuning: &Tuning, window: &mut Window, at: Congested, first: bool) {
        window.collapse(tuning.after(&at), at.mss, first);
        *self = Self::default();
    }

    fn on_restart(&mut self, _: &Tuning, _: &mut Window, _: Congested) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::rounds::{MSS, Rounds};

    const UNIT: f64 = fixed::ONE as f64;

    fn tuning() -> Tuning {
        State::tune(&Settings::default()).unwrap()
    }

    #[test]
    fn appendix_b_of_the_rfc_comes_out() {
        // Window, a, b as RFC 3649 appendix B has them.
        for (w, a, b) in [
            (118, 2, 0.44),
            (221, 3, 0.41),
            (347, 4, 0.38),
            (495, 5, 0.37),
            (663, 6, 0.35),
            (851, 7, 0.34),
            (1058, 8, 0.33),
            (1284, 9, 0.32),
            (1529, 10, 0.31),
            (1793, 11, 0.30),
            (4596, 19, 0.25),
            (10661, 30, 0.21),
            (21013, 42, 0.17),
            (40808, 56, 0.14),
            (84035, 71, 0.10),
        ] {
            let point = tuning().at(w * MSS, MSS);
            let (ours, rest) = (point.a as f64 / UNIT, point.b as f64 / UNIT);
            assert!((ours / f64::from(a) - 1.0).abs() < 0.027, "a({w}) = {ours}, not {a}");
            assert!((rest - b).abs() < 0.0101, "b({w}) = {rest}, not {b}");
        }
    }

    #[test]
    fn the_table_is_near_the_formula_everywhere() {
        for settings in [
            Settings::default(),
            Settings { low_window: 2, high_p: 1e-10, ..Settings::default() },
            Settings { high_decrease: 0.5, low_p: 0.01, ..Settings::default() },
        ] {
            let tuning = State::tune(&settings).unwrap();
            let (mut w, mut worst) = (f64::from(settings.low_window) + 1.0, [0.0f64; 2]);
            while w < 4e6 {
                let bytes = (w * 100.0) as u32;
                let point = tuning.at(bytes, 100);
                let (a, b) = settings.exact(f64::from(bytes) / 100.0);
                // Corners lie between two points where `a` leaves 1 and where `b` reaches its
                // least.
                if a > 1.2 && w > 1.25 * f64::from(settings.low_window) && b > 0.056 {
                    worst[0] = worst[0].max((point.a as f64 / UNIT / a - 1.0).abs());
                    worst[1] = worst[1].max((point.b as f64 / UNIT - b).abs());
                }
                w *= 1.0037;
            }
            assert!(worst[0] < 1.5e-3 && worst[1] < 5e-4, "{settings:?} {worst:?}");
        }
    }

    #[test]
    fn high_window_below_twice_the_low_one_is_refused() {
        let of = |high_window| {
            State::tune(&Settings { low_window: 38, high_window, ..Settings::default() })
        };
        assert!(of(76).is_ok());
        assert_eq!(of(75).unwrap_err().field, "congestion.high_window");
    }

    #[test]
    fn reno_up_to_the_low_window() {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 38);
        r.loss();
        assert_eq!(r.window.cwnd, 19 * MSS);
        for _ in 0..19 {
            r.round();
        }
        assert_eq!(r.window.cwnd, 38 * MSS);
    }

    #[test]
    fn a_large_window_recovers_in_the_round_trips_of_the_formula() {
        let settings = Settings::default();
        let mut r: Rounds<State> = Rounds::new(&settings, 80_000);
        r.loss();
        let (mut exact, mut n) = (r.segments(), 0);
        assert!((exact / 80_000.0 - 1.0 + settings.exact(80_000.0).1).abs() < 1e-4);
        while exact < 80_000.0 {
            exact += settings.exact(exact).0;
            r.round();
            n += 1;
        }
        assert!((100..130).contains(&n), "{n}");
        assert!((r.segments() / exact - 1.0).abs() < 1e-3, "{} {exact}", r.segments());
    }
}
