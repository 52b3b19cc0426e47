//! Scalable TCP: a constant per acknowledgement, a constant share of the window per loss.
//!
//! Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", PFLDnet 2003 and
//! ACM CCR 33(2). Per acknowledgement outside recovery `cwnd += a`, per loss `cwnd -= b·cwnd`
//! (section 3): the time to regain what a loss took is log(1−b)/log(1+a) round trips, whatever the
//! window. Windows up to `lwnd` are those of traditional TCP, so that it is fair to others there;
//! with `lwnd = 16` the two response functions about meet (section 3.1).
//!
//! The equilibrium a/(b·p) is in segments per round trip, so a flow of a longer round trip has
//! less. With `reference_rtt` set, `a` is multiplied by RTT/`reference_rtt`, which makes the *rate*
//! that follows from `p` the same for all, a/(b·p·`reference_rtt`); stability asks for small `a`
//! where round trips are long (Vinnicombe 2002), so choose the reference at least as long as they.
//!
//! # Differences from the source
//!
//! 1. Windows are in bytes, `a` counts per segment's worth of them. With `delayed_ack_correction`,
//!    the default, an acknowledgement of two segments counts twice, so that delayed
//!    acknowledgements do not halve `a`; without it each acknowledgement counts once, as in the
//!    paper.
//! 2. A reduction starts from the bytes outstanding, as RFC 5681 equation 4 does, not from the
//!    window, which an idle application may have left unused.
//! 3. The window stays at two segments at least. Slow start is that of Reno.
//! 4. With `reference_rtt` the gain per segment is at most 1, that of slow start.
//! 5. Linux's rules are there as settings: `lwnd = 0`, `at_least_reno` and `whole_segments`; the
//!    profile `modern` has them.
//!
//! # Differences from Linux
//!
//! 1. Linux (`tcp_scalable.c`) has no `lwnd`: its window grows by a segment per min(window, 100)
//!    acknowledged, so like Reno's up to 100 segments, and loses an eighth at any size, in whole
//!    segments: of seven or fewer a loss takes nothing. So it is here in the profile `modern`.
//! 2. Linux's `a` and `b` are constants of the program, 0.01 and 1/8; it counts segments
//!    acknowledged (as with `delayed_ack_correction`), and knows no reference round trip.

use super::{Acked, Congested, Control, Window, fixed, reno};
use crate::Invalid;
use crate::Profile;
use sojourn_base::Time;
use sojourn_base::within;

/// Segments up to which windows are traditional TCP's in the paper, section 3.1.
const LWND: u32 = 16;

/// Settings of Scalable TCP.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "ScalableSettings"))]
pub struct Settings {
    /// Segments that the window grows by for each segment acknowledged: 1e-6 to 1 (default 0.01,
    /// Kelly 2003 section 3.1).
    pub a: f64,
    /// Share of the window that a loss takes: 0.001 to 0.9 (default 0.125, Kelly 2003 section 3.1).
    pub b: f64,
    /// Segments up to which the window is that of traditional TCP: 0 to 1000000 (default 16, Kelly
    /// 2003 section 3.1; in modern 0, as Linux).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub lwnd: Option<u32>,
    /// Whether the window grows like Reno's where that is faster, below 1/`a` segments (default
    /// false, Kelly 2003 section 3.1; in modern true, `tcp_scalable.c`).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub at_least_reno: Option<bool>,
    /// Whether the window is a whole number of segments, as in Linux: growth is saved up until it
    /// makes one, a loss takes whole segments of the window, not of what is outstanding, none if
    /// `b` of it is less than one, and slow start ends at the threshold (default false, Kelly 2003
    /// has bytes; in modern true, `tcp_scalable.c`).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub whole_segments: Option<bool>,
    /// Count segments acknowledged, not acknowledgements (default true, as Linux).
    pub delayed_ack_correction: bool,
    /// Round trip at which `a` is what it says; elsewhere it grows in proportion to the smoothed
    /// round trip: "1us" to "100s" (default none: the same `a` for all, as Kelly 2003).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub reference_rtt: Option<Time>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            a: 0.01,
            b: 0.125,
            lwnd: None,
            at_least_reno: None,
            whole_segments: None,
            delayed_ack_correction: true,
            reference_rtt: None,
        }
    }
}

impl Settings {
    /// [`Settings::lwnd`], as in the paper where neither it nor a profile says.
    #[must_use]
    pub fn traditional_up_to(&self) -> u32 {
        self.lwnd.unwrap_or(LWND)
    }
}

/// The settings in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Growth per byte acknowledged, Q.32.
    a: u64,
    /// Share that a loss leaves, Q.32.
    keep: u64,
    /// Segments.
    lwnd: u32,
    at_least_reno: bool,
    whole_segments: bool,
    per_ack: bool,
    /// Nanoseconds; 0 for none.
    reference: u64,
}

impl Tuning {
    /// What congestion leaves of what is outstanding, or of the window.
    fn after(&self, window: &Window, at: &Congested) -> u32 {
        let before = if self.whole_segments { window.cwnd } else { at.flight };
        let keep = if self.is_scalable(before, at.mss) { self.keep } else { fixed::ONE / 2 };
        let left = fixed::of(before, keep);
        if self.whole_segments { before - fixed::whole(before - left, at.mss) } else { left }
    }

    #[inline]
    fn is_scalable(&self, bytes: u32, mss: u32) -> bool {
        u64::from(bytes) > u64::from(self.lwnd) * u64::from(mss)
    }

    /// `a` for a round trip.
    #[inline]
    fn gain(&self, srtt: Time) -> u64 {
        if self.reference == 0 || srtt == Time::ZERO {
            return self.a;
        }
        let gain = u128::from(self.a) * u128::from(srtt.0) / u128::from(self.reference);
        gain.min(u128::from(fixed::ONE)) as u64
    }
}

/// State: how far traditional growth is, the bytes that make no segment yet, and the fraction of
/// a byte that is to be added.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    reno: reno::State,
    saved: u32,
    fraction: u32,
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;

    fn tune(settings: &Settings) -> Result<Tuning, Invalid> {
        let a = fixed::setting("congestion.a", settings.a, 1e-6, 1.0)?;
        within("congestion.b", settings.b, 0.001, 0.9)?;
        let lwnd = within("congestion.lwnd", settings.traditional_up_to(), 0, 1_000_000)?;
        let reference = match settings.reference_rtt {
            None => 0,
            Some(t) => {
                let (least, most) = (Time::from_micros(1), Time::from_secs(100));
                within("congestion.reference_rtt", t, least, most)?.0
            }
        };
        Ok(Tuning {
            a,
            keep: fixed::share(1.0 - settings.b),
            lwnd,
            at_least_reno: settings.at_least_reno.unwrap_or(false),
            whole_segments: settings.whole_segments.unwrap_or(false),
            per_ack: !settings.delayed_ack_correction,
            reference,
        })
    }

    fn settle(settings: &mut Settings, profile: Profile) {
        settings.lwnd.get_or_insert(if profile == Profile::Modern { 0 } else { LWND });
        settings.at_least_reno.get_or_insert(profile == Profile::Modern);
        settings.whole_segments.get_or_insert(profile == Profile::Modern);
    }

    fn new(_: &Tuning) -> Self {
        Self::default()
    }

    #[inline]
    fn on_ack(&mut self, tuning: &Tuning, window: &mut Window, acked: Acked) {
        if window.slow_start(&acked) {
            if tuning.whole_segments {
                window.cwnd = window.cwnd.min(window.ssthresh);
            }
            return;
        }
        if !tuning.is_scalable(window.cwnd, acked.mss) {
            self.reno.avoid(window, &acked);
            return;
        }
        let bytes = if tuning.per_ack { acked.mss } else { acked.bytes };
        let mut gain = tuning.gain(acked.srtt);
        if tuning.at_least_reno {
            gain = gain
                .max((u64::from(acked.mss) << fixed::SHARE_BITS) / u64::from(window.cwnd.max(1)));
        }
        if tuning.whole_segments {
            let (saved, fraction) = (&mut self.saved, &mut self.fraction);
            let grown = fixed::save(saved, fraction, bytes, gain, acked.mss);
            window.cwnd = window.cwnd.saturating_add(grown);
        } else {
            fixed::add(&mut window.cwnd, &mut self.fraction, bytes, gain);
        }
    }

    fn on_loss(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
        window.reduce(tuning.after(window, &at), at.mss);
        *self = Self::default();
    }

    fn on_timeout(&mut self, tuning: &Tuning, window: &mut Window, at: Congested, first: bool) {
        window.collapse(tuning.after(window, &at), at.mss, first);
        *self = Self::default();
    }

    fn on_restart(&mut self, _: &Tuning, _: &mut Window, _: Congested) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::rounds::{MSS, Rounds, acked, congested};

    fn rounds(a: f64, b: f64) -> Rounds<State> {
        Rounds::new(&Settings { a, b, ..Settings::default() }, 10_000)
    }

    /// Fraction of a round trip included: how long the window takes to reach `segments`.
    fn time_to(rounds: &mut Rounds<State>, segments: f64) -> f64 {
        let mut n = 0.0;
        loop {
            let before = rounds.segments();
            rounds.round();
            let after = rounds.segments();
            if after >= segments {
                return n + (segments / before).ln() / (after / before).ln();
            }
            n += 1.0;
        }
    }

    #[test]
    fn the_variance_table_of_the_talk_is_measured() {
        // b, a; round trips to recover, to halve, to double; the talk's figures.
        for (b, a, recovery, halving, doubling) in [
            (0.5, 0.04, 17.7, 1.0, 17.7),
            (0.25, 0.02, 14.5, 2.41, 35.0),
            (0.125, 0.01, 13.4, 5.19, 69.7),
            (0.0625, 0.005, 12.9, 10.7, 139.0),
        ] {
            let mut r = rounds(a, b);
            let start = r.segments();
            r.loss();
            assert!((time_to(&mut r, start) - recovery).abs() < 0.05);
            let mut r = rounds(a, b);
            let measured = time_to(&mut r, 2.0 * start);
            assert!((measured - doubling).abs() / doubling < 3e-3, "{measured} {doubling}");
            // Halving: one loss per round trip.
            let mut r = rounds(a, b);
            let mut n = 0.0;
            while r.segments() > start / 2.0 {
                r.loss();
                n += 1.0;
            }
            let over = (start / 2.0 / r.segments()).ln() / -(1.0 - b).ln();
            assert!((n - over - halving).abs() < 0.05, "{n} {over} {halving}");
        }
    }

    #[test]
    fn recovery_takes_the_same_time_at_any_window() {
        for segments in [100, 1_000, 10_000, 100_000] {
            let mut r: Rounds<State> = Rounds::new(&Settings::default(), segments);
            r.loss();
            let rtts = time_to(&mut r, f64::from(segments));
            let exact = (1.0 - 0.125f64).ln() / -(1.01f64).ln();
            assert!((rtts - exact).abs() < 0.01, "{segments}: {rtts} {exact}");
            assert!((rtts * 0.2 - 2.68).abs() < 0.01, "at 200 ms");
        }
    }

    #[test]
    fn traditional_up_to_lwnd() {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 16);
        r.loss();
        assert_eq!(r.window.cwnd, 8 * MSS);
        for _ in 0..8 {
            r.round();
        }
        assert_eq!(r.window.cwnd, 16 * MSS);
        let mut r: Rounds<State> =
            Rounds::new(&Settings { lwnd: Some(0), ..Settings::default() }, 16);
        r.loss();
        assert_eq!(r.window.cwnd, 14 * MSS);
    }

    #[test]
    fn in_the_modern_profile_it_is_linux_s() {
        let mut settings = Settings::default();
        State::settle(&mut settings, Profile::Modern);
        let tuning = State::tune(&settings).unwrap();
        // tcp_scalable.c: segments less an eighth of them, in whole ones, but two at least.
        for (before, after) in [(2, 2), (7, 7), (8, 7), (15, 14), (16, 14), (100, 88), (105, 92)] {
            let mut w = Window { cwnd: before * MSS, ssthresh: u32::MAX };
            State::new(&tuning).on_loss(&tuning, &mut w, congested(MSS));
            assert_eq!(w, Window { cwnd: after * MSS, ssthresh: after * MSS }, "{before}");
        }
        // A segment per min(window, 100) acknowledged.
        for (window, acks) in [(10, 10), (50, 50), (100, 100), (1000, 100)] {
            let start = Window { cwnd: window * MSS, ssthresh: 2 };
            let (mut state, mut w) = (State::new(&tuning), start);
            for _ in 0..acks - 1 {
                state.on_ack(&tuning, &mut w, acked(MSS));
            }
            assert_eq!(w, start, "{window}");
            // Gains are rounded down by as much as 2^-32 of a byte, a, from 0.01, up.
            state.on_ack(&tuning, &mut w, acked(MSS));
            state.on_ack(&tuning, &mut w, acked(MSS));
            assert_eq!(w.cwnd, (window + 1) * MSS, "{window}");
        }
        let mut w = Window { cwnd: 5 * MSS, ssthresh: 6 * MSS };
        State::new(&tuning).on_ack(&tuning, &mut w, acked(2 * MSS));
        assert_eq!(w.cwnd, 6 * MSS, "slow start ends at the threshold");
    }

    #[test]
    fn delayed_acknowledgements_halve_the_gain_only_without_the_correction() {
        for (delayed_ack_correction, grown) in [(true, 10.0), (false, 5.0)] {
            let settings = Settings { delayed_ack_correction, ..Settings::default() };
            let tuning = State::tune(&settings).unwrap();
            let mut w = Window { cwnd: 1000 * MSS, ssthresh: 2 };
            let mut state = State::new(&tuning);
            for _ in 0..500 {
                state.on_ack(&tuning, &mut w, acked(2 * MSS));
            }
            let got = f64::from(w.cwnd) / f64::from(MSS) - 1000.0;
            assert!((got - grown).abs() < 1e-3, "{got}");
        }
    }

    #[test]
    fn the_gain_follows_the_round_trip_if_asked() {
        let reference_rtt = Some(Time::from_millis(200));
        let tuning = State::tune(&Settings { reference_rtt, ..Settings::default() }).unwrap();
        let gain = |ms| tuning.gain(Time::from_millis(ms)) as f64 / fixed::ONE as f64;
        assert!((gain(200) - 0.01).abs() < 1e-9);
        assert!((gain(20) - 0.001).abs() < 1e-9);
        assert!((gain(0) - 0.01).abs() < 1e-9, "none measured yet");
        assert!((gain(1_000_000) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn repeated_timeouts_hold_ssthresh() {
        let tuning = State::tune(&Settings::default()).unwrap();
        let (mut state, mut w) =
            (State::new(&tuning), Window { cwnd: 80 * MSS, ssthresh: u32::MAX });
        state.on_timeout(&tuning, &mut w, congested(80 * MSS), true);
        state.on_timeout(&tuning, &mut w, congested(MSS), false);
        assert_eq!(w, Window { cwnd: MSS, ssthresh: 70 * MSS });
    }
}
