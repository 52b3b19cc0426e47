//! CUBIC: the window is a cubic function of the time since the last reduction.
//!
//! RFC 9438. After a reduction to β·W the window follows W_cubic(t) = C·(t−K)³ + W_max, with K such
//! that it begins where the reduction left it: fast at first, flat near the window at which loss
//! was last seen, then fast again (section 4.2). While Reno's window would be larger, an estimate
//! of it is used (section 4.3), and a window that did not come back to its last maximum gives way
//! by lowering that maximum, fast convergence (section 4.7).
//!
//! Integers: time in units of 2⁻²⁰ s, windows in segments with 10 fraction bits; K by an integer
//! cube root, wrong by less than two microseconds. More than 4096 s from K count as 4096 s.
//!
//! # Differences from the source
//!
//! 1. A reduction starts from the bytes outstanding (section 4.6); W_max is the window then.
//! 2. Slow start is that of Reno or what the sender has instead (HyStart++, section 4.10), and the
//!    least window is two segments.
//! 3. When acknowledgements stop growing the window for longer than a round trip, because the
//!    application has nothing to send, the epoch is moved by that time (section 5.8).
//! 4. After a restart from idle the epoch begins anew from the window that is left.
//! 5. Marks count as losses, as in section 4.6, but for `beta_ecn` (RFC 8511), which holds in
//!    slow start too.
//! 6. With `alpha_rises = false` the estimate of Reno's window keeps to Linux's gain, with
//!    `whole_segments` the window has no fractions of a segment, and grows by a twentieth a round
//!    trip at least until something is lost, at the start and after a timeout.
//!
//! # Differences from Linux
//!
//! 1. Linux ends slow start by HyStart (delay and ack train), which is not part of this file.
//! 2. Linux takes the target one round trip ahead by the least delay, this by the smoothed one, as
//!    RFC 9438 section 4.2 says.
//! 3. Linux's estimate of Reno's window has the gain 3(1−β)/(1+β) for ever (`bictcp_update`), as
//!    this with `alpha_rises = false`; RFC 9438 section 4.3 has 1 once the estimate has reached the
//!    window before the reduction.
//! 4. Linux counts the window in whole segments, rounds reductions down and reduces the window, not
//!    the flight (`cubictcp_recalc_ssthresh`), and has slow start end at the threshold, as this
//!    with `whole_segments`; where the cubic is flat it grows by a segment in a hundred windows.
//! 5. β is 717/1024 there, 0.7 here. Linux has no ABE.
//! 6. Linux counts time in 1/1024 s; its cube root errs by up to 0.2 %.

use super::{Acked, Congested, Control, Window, fixed};
use crate::{Invalid, Profile};
use sojourn_base::Time;

/// Settings of CUBIC.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "CubicSettings"))]
pub struct Settings {
    /// Scale of the cubic, in segments per cubed second: 0.001 to 100 (default 0.4, RFC 9438
    /// section 5.1).
    pub c: f64,
    /// Share of the window that a loss leaves: 0.1 to 0.95 (default 0.7, RFC 9438 section 4.6).
    pub beta: f64,
    /// Share of the window that a mark leaves: 0.1 to 0.95 (default 0.7, RFC 9438 section 4.6;
    /// RFC 8511 section 3.1 has 0.85).
    pub beta_ecn: f64,
    /// Whether a window that did not reach its last maximum lowers it further (default true, RFC
    /// 9438 section 4.7).
    pub fast_convergence: bool,
    /// Whether the window is at least what Reno's would be (default true, RFC 9438 section 4.3).
    pub reno_friendly: bool,
    /// Whether the estimate of Reno's window grows by a whole segment a round trip once it has
    /// reached the window before the last reduction, RFC 9438 section 4.3; if false, by
    /// 3(1 − β)/(1 + β) for ever, 0.53 of a segment, as Linux (default true, RFC 9438 section 4.3;
    /// in modern false).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub alpha_rises: Option<bool>,
    /// Whether the window is a whole number of segments, as in Linux: growth is saved up until it
    /// makes one, a reduction takes the window, not what is outstanding, and rounds down, and slow
    /// start ends at the threshold. It matters below some ten segments: of four a loss leaves two
    /// (default false, RFC 9438 counts fractions; in modern true, `tcp_cubic.c`).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub whole_segments: Option<bool>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            c: 0.4,
            beta: 0.7,
            beta_ecn: 0.7,
            fast_convergence: true,
            reno_friendly: true,
            alpha_rises: None,
            whole_segments: None,
        }
    }
}

/// The settings in integers; shares are Q.32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    c: u64,
    beta: u64,
    beta_ecn: u64,
    /// (1+β)/2, fast convergence's share of the window.
    convergence: u64,
    /// 3(1−β)/(1+β), Reno's share of a segment per round trip that makes up for β.
    alpha: u64,
    fast_convergence: bool,
    reno_friendly: bool,
    alpha_rises: bool,
    whole_segments: bool,
}

/// Fraction bits of windows in segments.
const W_BITS: u32 = 10;
/// Fraction bits of times in seconds.
const T_BITS: u32 = 20;
/// In whole segments: while no loss was seen the window grows by a segment for so many that are
/// acknowledged (`bictcp_update` of Linux).
const FIRST_ACKS: u64 = 20;
/// Longest time from K that is told apart: 4096 s.
const AWAY_MOST: u64 = 4096 << T_BITS;

/// What a reduction changes.
#[derive(Clone, Copy, Debug, Default)]
struct Epoch {
    /// Window before the last reduction, segments, Q.10; 0 for none.
    w_max: u64,
    /// Where the plateau of the cubic lies, segments, Q.10.
    origin: u64,
    /// Time from the beginning of the epoch to the plateau, Q.20 seconds.
    k: u64,
    /// When the epoch began; none while it has not.
    began: Option<Time>,
    /// It began without a window at which something was lost, at the start or after a timeout.
    first: bool,
    /// The window before the last reduction, in bytes.
    prior: u32,
    /// The estimate of Reno's window, bytes.
    w_est: u32,
}

/// State.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    epoch: Epoch,
    /// As it was before the last reduction, if that can be undone.
    before: Option<Epoch>,
    /// When the window was last allowed to grow.
    grown: Time,
    /// Growth that does not yet make a segment, bytes; with whole segments only.
    saved: u32,
    /// Fractions of a byte of the window and of the estimate, Q.32.
    fraction: u32,
    w_est_fraction: u32,
}

/// The cube root, rounded down; of numbers below 2⁹⁶.
fn cube_root(x: u128) -> u64 {
    // Bit by bit from the top.
    let mut root = 0u128;
    for bit in (0..32).rev() {
        let trial = root | 1 << bit;
        if trial * trial * trial <= x {
            root = trial;
        }
    }
    root as u64
}

/// A window in segments, Q.10.
#[inline]
fn segments(bytes: u32, mss: u32) -> u64 {
    (u64::from(bytes) << W_BITS) / u64::from(mss.max(1))
}

/// A time in seconds, Q.20.
#[inline]
fn seconds(t: Time) -> u64 {
    ((u128::from(t.0) << T_BITS) / 1_000_000_000) as u64
}

impl Tuning {
    /// K, RFC 9438 equation 2, for a window that has `short` segments (Q.10) to go; Q.20 seconds.
    fn k(&self, short: u64) -> u64 {
        let cube =
            (u128::from(short) << (3 * T_BITS - W_BITS + fixed::SHARE_BITS)) / u128::from(self.c);
        cube_root(cube.min(1 << 95))
    }

    /// C·d³ in segments, Q.10, for `d` in Q.20 seconds.
    #[inline]
    fn cubed(&self, d: u64) -> u64 {
        let d = u128::from(d.min(AWAY_MOST));
        // Q.60 becomes Q.20, which leaves room for C.
        let cube = (d * d * d) >> (2 * T_BITS);
        ((cube * u128::from(self.c)) >> (fixed::SHARE_BITS + T_BITS - W_BITS)) as u64
    }
}

impl Epoch {
    /// W_cubic, RFC 9438 equation 1, in segments, Q.10, at a time since the epoch began.
    #[inline]
    fn w_cubic(&self, tuning: &Tuning, t: u64) -> u64 {
        if t >= self.k {
            self.origin + tuning.cubed(t - self.k)
        } else {
            self.origin.saturating_sub(tuning.cubed(self.k - t))
        }
    }

    /// A period of congestion avoidance begins: sections 4.2 and, without a W_max above the window,
    /// 4.8.
    fn begin(&mut self, tuning: &Tuning, window: &Window, acked: &Acked) {
        self.began = Some(acked.now);
        let w = segments(window.cwnd, acked.mss);
        self.first = self.w_max == 0;
        if w < self.w_max {
            (self.origin, self.k) = (self.w_max, tuning.k(self.w_max - w));
        } else {
            (self.w_max, self.origin, self.k) = (w, w, 0);
        }
        self.w_est = window.cwnd;
    }
}

impl State {
    /// Sections 4.6 and 4.7; `keep` is the share that stays.
    fn reduce(&mut self, tuning: &Tuning, window: &Window, at: &Congested, keep: u64) -> u32 {
        self.before = Some(self.epoch);
        let w = segments(window.cwnd, at.mss);
        self.epoch.w_max = if tuning.fast_convergence && w < self.epoch.w_max {
            ((u128::from(w) * u128::from(tuning.convergence)) >> fixed::SHARE_BITS) as u64
        } else {
            w
        };
        self.epoch.prior = window.cwnd;
        self.epoch.began = None;
        self.saved = 0;
        if tuning.whole_segments {
            fixed::whole(fixed::of(window.cwnd, keep), at.mss)
        } else {
            fixed::of(at.flight, keep)
        }
    }

    /// Section 4.3: what Reno's window would be, in bytes.
    #[inline]
    fn friendly(&mut self, tuning: &Tuning, cwnd: u32, acked: &Acked) -> u32 {
        let epoch = &mut self.epoch;
        let full = tuning.alpha_rises && epoch.w_est >= epoch.prior;
        let alpha = if full { fixed::ONE } else { tuning.alpha };
        let share = u128::from(alpha) * u128::from(acked.mss) / u128::from(cwnd.max(1));
        fixed::add(&mut epoch.w_est, &mut self.w_est_fraction, acked.bytes, share as u64);
        epoch.w_est
    }
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;

    fn tune(settings: &Settings) -> Result<Tuning, Invalid> {
        let c = fixed::setting("congestion.c", settings.c, 0.001, 100.0)?;
        let beta = fixed::setting("congestion.beta", settings.beta, 0.1, 0.95)?;
        let beta_ecn = fixed::setting("congestion.beta_ecn", settings.beta_ecn, 0.1, 0.95)?;
        Ok(Tuning {
            c,
            beta,
            beta_ecn,
            convergence: fixed::share((1.0 + settings.beta) / 2.0),
            alpha: fixed::share(3.0 * (1.0 - settings.beta) / (1.0 + settings.beta)),
            fast_convergence: settings.fast_convergence,
            reno_friendly: settings.reno_friendly,
            alpha_rises: settings.alpha_rises.unwrap_or(true),
            whole_segments: settings.whole_segments.unwrap_or(false),
        })
    }

    fn settle(settings: &mut Settings, profile: Profile) {
        settings.alpha_rises.get_or_insert(profile != Profile::Modern);
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
        let pause = acked.now.saturating_sub(self.grown);
        self.grown = acked.now;
        let begun = match self.epoch.began {
            // Section 5.8: not the time in which the application did not fill the window.
            Some(begun) if pause <= acked.srtt || acked.srtt == Time::ZERO => begun,
            Some(begun) => begun.saturating_add(pause),
            None => {
                self.epoch.begin(tuning, window, &acked);
                acked.now
            }
        };
        self.epoch.began = Some(begun);
        let ahead = acked.now.saturating_sub(begun).saturating_add(acked.srtt);
        let w = segments(window.cwnd, acked.mss);
        // Section 4.2: the target is at most half as much again.
        let target = self.epoch.w_cubic(tuning, seconds(ahead)).clamp(w, w + w / 2);
        // Section 4.4: (target − cwnd)/cwnd of a segment for each that is acknowledged.
        let mut share = (u128::from(target - w) << fixed::SHARE_BITS) / u128::from(w.max(1));
        if tuning.whole_segments && self.epoch.first {
            share = share.max(u128::from(fixed::ONE / FIRST_ACKS));
        }
        let reno =
            if tuning.reno_friendly { self.friendly(tuning, window.cwnd, &acked) } else { 0 };
        if tuning.whole_segments {
            let (saved, fraction) = (&mut self.saved, &mut self.fraction);
            let grown = fixed::save(saved, fraction, acked.bytes, share as u64, acked.mss);
            window.cwnd = window.cwnd.saturating_add(grown).max(fixed::whole(reno, acked.mss));
        } else {
            fixed::add(&mut window.cwnd, &mut self.fraction, acked.bytes, share as u64);
            window.cwnd = window.cwnd.max(reno);
        }
    }

    fn on_loss(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
        let left = self.reduce(tuning, window, &at, tuning.beta);
        window.reduce(left, at.mss);
    }

    fn on_mark(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
        let left = self.reduce(tuning, window, &at, tuning.beta_ecn);
        window.reduce(left, at.mss);
    }

    fn on_timeout(&mut self, tuning: &Tuning, window: &mut Window, at: Congested, first: bool) {
        let left = if first { self.reduce(tuning, window, &at, tuning.beta) } else { 0 };
        // Section 4.8: the first epoch after a timeout has K = 0.
        (self.epoch.w_max, self.epoch.began) = (0, None);
        window.collapse(left, at.mss, first);
    }

    /// Section 4.9.
    fn on_undo(&mut self, _: &Tuning, _: &mut Window) {
        if let Some(epoch) = self.before.take() {
            self.epoch = epoch;
        }
    }

    fn on_restart(&mut self, _: &Tuning, _: &mut Window) {
        self.epoch.began = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::rounds::{MSS, Rounds, acked};
    use alloc::vec::Vec;

    fn seconds_of(q: u64) -> f64 {
        q as f64 / f64::from(1 << T_BITS)
    }

    #[test]
    fn the_cube_root_is_exact() {
        for root in (0..1000u128).chain([4095, 65_537, 1 << 21, (1 << 30) + 7, (1 << 32) - 1]) {
            let cube = root * root * root;
            assert_eq!(cube_root(cube), root as u64);
            assert_eq!(cube_root(cube + 3 * root * root + 3 * root), root as u64, "next below");
            assert_eq!(cube_root(cube.saturating_sub(1)), root.saturating_sub(1) as u64);
        }
    }

    #[test]
    fn cubic_integers_agree_with_floating_point() {
        for c in [0.001, 0.04, 0.4, 4.0, 100.0] {
            let tuning = State::tune(&Settings { c, ..Settings::default() }).unwrap();
            for short in [1.0, 3.0, 300.0, 5_100.0, 49_800.0, 3_000_000.0] {
                let k = seconds_of(tuning.k((short * 1024.0) as u64));
                let exact = libm::cbrt(short / c);
                assert!((k - exact).abs() < 2e-6 + exact * 1e-7, "{c} {short}: {k} {exact}");
            }
            for t in [0.01, 0.5, 3.0, 9.1, 70.0, 900.0] {
                let w = tuning.cubed((t * f64::from(1 << T_BITS)) as u64) as f64 / 1024.0;
                let exact = c * t * t * t;
                assert!((w - exact).abs() < 2e-3 + exact * 1e-5, "{c} {t}: {w} {exact}");
            }
        }
    }

    #[test]
    fn the_window_follows_the_cubic_of_the_rfc() {
        let settings = Settings { reno_friendly: false, ..Settings::default() };
        let mut r: Rounds<State> = Rounds::new(&settings, 1000);
        r.loss();
        assert_eq!(r.window.cwnd, 700 * MSS);
        let k = libm::cbrt(300.0 / 0.4);
        let start = r.now;
        let mut plateau = 0.0f64;
        while r.now < start + Time::from_secs(15) {
            r.round();
            let t = (r.now - start).as_secs_f64();
            // The target is a round trip ahead, and reached within one.
            let exact = 0.4 * libm::pow(t - k, 3.0) + 1000.0;
            let later = 0.4 * libm::pow(t + 0.2 - k, 3.0) + 1000.0;
            let w = r.segments();
            if t > 0.5 {
                assert!(w > exact - 3.0 && w < later + 1.0, "{t}: {exact} {w} {later}");
            }
            if (t - k).abs() < 0.5 {
                plateau = plateau.max((w - 1000.0).abs());
            }
        }
        assert!(plateau < 1.0, "flat at the last maximum: {plateau}");
    }

    #[test]
    fn small_windows_are_those_of_reno_with_the_same_average() {
        // 10 ms, 20 segments: K is 2.5 s, Reno's period far less.
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 20);
        r.rtt = Time::from_millis(10);
        r.loss();
        let alpha = 3.0 * 0.3 / 1.7;
        for n in 1..=10 {
            r.round();
            let exact = 14.0 + alpha * f64::from(n);
            assert!((r.segments() - exact).abs() < 0.35, "{n}: {} {exact}", r.segments());
        }
    }

    #[test]
    fn alpha_rises_to_one_from_prior_window() {
        for (alpha_rises, alpha) in [(None, 1.0), (Some(true), 1.0), (Some(false), 0.9 / 1.7)] {
            let settings = Settings { alpha_rises, ..Settings::default() };
            let mut r: Rounds<State> = Rounds::new(&settings, 20);
            r.rtt = Time::from_millis(10);
            r.loss();
            while r.segments() < 20.0 {
                r.round();
            }
            let before = r.segments();
            for _ in 0..10 {
                r.round();
            }
            let grown = r.segments() - before;
            assert!((grown - 10.0 * alpha).abs() < 0.6, "{alpha_rises:?}: {grown}");
        }
    }

    #[test]
    fn in_whole_segments_a_loss_rounds_down_and_growth_waits_for_a_segment() {
        let whole = |segments| {
            let settings = Settings {
                alpha_rises: Some(false),
                whole_segments: Some(true),
                ..Settings::default()
            };
            let mut r: Rounds<State> = Rounds::new(&settings, segments);
            r.rtt = Time::from_millis(10);
            r.loss();
            r
        };
        for (before, left) in [(2, 2), (3, 2), (4, 2), (5, 3), (10, 7), (1000, 700)] {
            assert_eq!(whole(before).window.cwnd, left * MSS, "{before}");
        }
        // 3(1 − β)/(1 + β) of a segment a round trip: one in two, 0.53 in the long run.
        let mut r = whole(5);
        let mut windows = Vec::new();
        for _ in 0..8 {
            r.round();
            assert_eq!(r.window.cwnd % MSS, 0);
            windows.push(r.window.cwnd / MSS);
        }
        assert_eq!(windows, [3, 4, 4, 5, 5, 6, 6, 7]);
        // What was outstanding does not count.
        let at = Congested { flight: 3 * MSS, ..r.at() };
        r.control.on_loss(&r.tuning, &mut r.window, at);
        assert_eq!(r.window.cwnd, 4 * MSS);
    }

    #[test]
    fn in_whole_segments_slow_start_ends_at_the_threshold() {
        for (whole_segments, end) in [(true, 5), (false, 6)] {
            let settings = Settings { whole_segments: Some(whole_segments), ..Settings::default() };
            let mut r: Rounds<State> = Rounds::new(&settings, 4);
            r.window.ssthresh = 5 * MSS;
            let a = Acked { bytes: 2 * MSS, ..acked(2 * MSS) };
            r.control.on_ack(&r.tuning, &mut r.window, a);
            assert_eq!(r.window.cwnd, end * MSS);
        }
    }

    #[test]
    fn in_whole_segments_the_window_grows_by_a_twentieth_until_something_is_lost() {
        for (whole_segments, least, most) in [(true, 310, 318), (false, 300, 302)] {
            let settings = Settings {
                whole_segments: Some(whole_segments),
                reno_friendly: false,
                ..Settings::default()
            };
            let mut r: Rounds<State> = Rounds::new(&settings, 300);
            r.window.ssthresh = r.window.cwnd;
            r.rtt = Time::from_millis(10);
            r.round();
            let grown = r.window.cwnd / MSS;
            assert!((least..=most).contains(&grown), "{grown}");
            r.loss();
            let left = r.window.cwnd;
            r.round();
            assert!(r.window.cwnd <= left + 2 * MSS, "then it follows the cubic");
        }
    }

    #[test]
    fn fast_convergence_gives_way_below_the_last_maximum() {
        for (fast_convergence, expected) in [(true, 0.85 * 700.0), (false, 700.0)] {
            let settings = Settings { fast_convergence, ..Settings::default() };
            let mut r: Rounds<State> = Rounds::new(&settings, 1000);
            r.loss();
            r.loss();
            let w_max = r.control.epoch.w_max as f64 / 1024.0;
            assert!((w_max - expected).abs() < 0.01, "{w_max}");
            assert_eq!(r.window.cwnd, 490 * MSS);
        }
    }

    #[test]
    fn timeout_resets_w_max_and_undo_restores_it() {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 1000);
        r.loss();
        r.round();
        let (epoch, at) = (r.control.epoch, r.at());
        r.control.on_timeout(&r.tuning, &mut r.window, at, true);
        assert_eq!((r.window.cwnd, r.control.epoch.w_max), (MSS, 0));
        r.control.on_undo(&r.tuning, &mut r.window);
        assert_eq!(r.control.epoch.began, epoch.began);
        assert_eq!(r.control.epoch.w_max, epoch.w_max);
    }

    #[test]
    fn idle_time_does_not_advance_epoch() {
        let settings = Settings { reno_friendly: false, ..Settings::default() };
        let mut busy: Rounds<State> = Rounds::new(&settings, 1000);
        let mut idle: Rounds<State> = Rounds::new(&settings, 1000);
        for r in [&mut busy, &mut idle] {
            r.loss();
            (0..10).for_each(|_| r.round());
        }
        idle.now += Time::from_secs(20);
        (0..10).for_each(|_| busy.round());
        (0..10).for_each(|_| idle.round());
        let apart = idle.segments() / busy.segments() - 1.0;
        assert!(apart.abs() < 0.02, "{apart}");
    }

    #[test]
    fn a_mark_may_take_less_than_a_loss() {
        let mut r: Rounds<State> =
            Rounds::new(&Settings { beta_ecn: 0.85, ..Settings::default() }, 1000);
        let at = r.at();
        r.control.on_mark(&r.tuning, &mut r.window, at);
        assert_eq!(r.window.cwnd, 850 * MSS);
    }
}
