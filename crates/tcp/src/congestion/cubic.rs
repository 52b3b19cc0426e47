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
//! 7. Linux's slow start has no limit for an acknowledgement (`tcp_slow_start`), this has two
//!    segments, and one after a timeout (RFC 3465): where acknowledgements are thinned out on their
//!    way, windows rise more slowly here.

#[cfg(test)]
mod tests;

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

    fn on_restart(&mut self, _: &Tuning, _: &mut Window, _: Congested) {
        self.epoch.began = None;
    }
}
