//! The state machine of BBR: draft-ietf-ccwg-bbr-05 section 5.3.

use super::model::{NO_BYTES, Reading};
use super::{State, Tuning, bytes};
use crate::congestion::{Sample, Window};
use sojourn_base::Time;

/// Where the state machine stands: section 5.3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Mode {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Drain => "drain",
            Self::Down => "probe_bw_down",
            Self::Cruise => "probe_bw_cruise",
            Self::Refill => "probe_bw_refill",
            Self::Up => "probe_bw_up",
            Self::ProbeRtt => "probe_rtt",
        }
    }
    pub(super) fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
    pub(super) fn in_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }
    /// Section 5.6.1, percent.
    pub(super) fn pacing_gain(self) -> u64 {
        match self {
            Self::Startup => 277,
            Self::Drain => 50,
            Self::Down => 90,
            Self::Up => 125,
            Self::Cruise | Self::Refill | Self::ProbeRtt => 100,
        }
    }
    /// Section 5.6.1, percent.
    pub(super) fn cwnd_gain(self) -> u64 {
        match self {
            Self::Up => 225,
            Self::ProbeRtt => 50,
            _ => 200,
        }
    }
}

/// What acknowledgements tell of: section 5.3.3.6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acks {
    Other,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// BBRStartupFullLossCnt, section 5.3.1.3.
const STARTUP_LOSSES: u32 = 6;
/// ProbeRTTDuration, section 5.3.4.
const PROBE_RTT_DURATION: Time = Time::from_millis(200);

impl State {
    #[cold]
    pub(super) fn start_down(&mut self, now: Time) {
        self.model.reset_signals();
        self.up_count = u64::MAX;
        // BBRPickProbeWait: 2 to 3 s, and 0 or 1 round trip off.
        let dice = now.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
        self.rounds_waited = (dice & 1) as u32;
        self.wait = Time::from_secs(2) + Time((dice >> 1) % 1_000_000_000);
        self.cycle_at = now;
        self.acks = Acks::Stopping;
        self.model.start_round(self.seen.delivered);
        self.mode = Mode::Down;
    }

    pub(super) fn start_refill(&mut self) {
        self.model.reset_short();
        (self.up_rounds, self.up_acks) = (0, 0);
        self.acks = Acks::Refilling;
        self.model.start_round(self.seen.delivered);
        self.mode = Mode::Refill;
    }

    #[cold]
    pub(super) fn start_up(&mut self, window: &Window) {
        self.acks = Acks::Starting;
        self.model.start_round(self.seen.delivered);
        self.reset_full_bw();
        self.full_bw = self.seen.rate;
        self.mode = Mode::Up;
        self.raise_slope(window);
    }

    /// BBRRaiseInflightLongtermSlope.
    pub(super) fn raise_slope(&mut self, window: &Window) {
        let growth = u64::from(self.seen.mss) << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_count = (u64::from(window.cwnd) / growth.max(1)).max(1);
    }

    /// BBRCheckFullBWReached, BBRCheckStartupDone, BBRCheckDrainDone: sections 5.3.1 and 5.3.2.
    pub(super) fn startup_and_drain(&mut self, tuning: &Tuning, s: &Sample, r: &Reading) {
        if !self.full_bw_now && self.model.round_start && !r.app_limited {
            if u128::from(r.rate) * 4 >= u128::from(self.full_bw) * 5 {
                self.reset_full_bw();
                self.full_bw = r.rate;
            } else {
                self.full_bw_count += 1;
                self.full_bw_now = self.full_bw_count >= 3;
                self.full_bw_reached |= self.full_bw_now;
            }
        }
        if self.mode == Mode::Startup {
            let lossy = self.recovering && self.model.ranges >= STARTUP_LOSSES;
            let marked = self.model.marked > 0;
            if self.model.loss_round_start && (lossy || marked) && self.too_high(tuning, r) {
                self.full_bw_reached = true;
                let bdp = bytes(self.model.bdp(self.model.bw).unwrap_or(0));
                self.model.inflight_long = bdp.max(self.model.inflight_latest);
            }
            if self.full_bw_reached {
                self.mode = Mode::Drain;
                self.drain_from = self.model.rounds;
            }
        }
        let drained = s.flight <= self.inflight(self.model.bw, 100, 0)
            || self.model.rounds.wrapping_sub(self.drain_from) > 3;
        if self.mode == Mode::Drain && drained {
            self.start_down(s.now);
        }
    }

    /// BBRUpdateProbeBWCyclePhase, section 5.3.3.6.
    pub(super) fn cycle(&mut self, tuning: &Tuning, window: &Window, s: &Sample, r: &Reading) {
        if !self.full_bw_reached {
            return;
        }
        let limited = s.flight.saturating_add(s.acked).saturating_add(s.mss) >= window.cwnd;
        self.adapt_long_term(tuning, window, s, r, limited);
        match self.mode {
            Mode::Down | Mode::Cruise => {
                let rounds = (self.target(window.cwnd) / s.mss.max(1)).min(63);
                if s.now > self.cycle_at.saturating_add(self.wait) || self.rounds_waited >= rounds {
                    self.start_refill();
                } else if self.mode == Mode::Down
                    && s.flight <= self.with_headroom(tuning)
                    && s.flight <= self.inflight(self.model.greatest(), 100, 0)
                {
                    self.mode = Mode::Cruise;
                }
            }
            Mode::Refill if self.model.round_start => {
                self.probe_samples = true;
                self.start_up(window);
            }
            Mode::Up if limited && window.cwnd >= self.model.inflight_long => {
                self.reset_full_bw();
                self.full_bw = r.rate;
            }
            Mode::Up if self.full_bw_now => self.start_down(s.now),
            _ => {}
        }
    }

    /// BBRAdaptLongTermModel.
    pub(super) fn adapt_long_term(
        &mut self,
        tuning: &Tuning,
        window: &Window,
        s: &Sample,
        r: &Reading,
        limited: bool,
    ) {
        if self.acks == Acks::Starting && self.model.round_start {
            self.acks = Acks::Feedback;
        }
        if self.acks == Acks::Stopping && self.model.round_start {
            (self.acks, self.probe_samples) = (Acks::Other, false);
            if self.mode.in_probe_bw() && !r.app_limited {
                self.model.advance();
            }
        }
        if self.too_high(tuning, r) || self.model.inflight_long == NO_BYTES {
            return;
        }
        self.model.inflight_long = self.model.inflight_long.max(r.flight_then);
        if self.mode == Mode::Up && limited && window.cwnd >= self.model.inflight_long {
            self.up_acks += u64::from(s.acked);
            let delta = self.up_acks / self.up_count.max(1);
            self.up_acks -= delta * self.up_count;
            self.model.inflight_long = self.model.inflight_long.saturating_add(bytes(delta));
            if self.model.round_start {
                self.raise_slope(window);
            }
        }
    }

    /// BBRCheckProbeRTT, section 5.3.4.3.
    pub(super) fn probe_rtt(&mut self, window: &mut Window, s: &Sample) {
        if self.mode != Mode::ProbeRtt && self.model.probe_expired && !self.idle_restart {
            self.save_cwnd(window);
            self.mode = Mode::ProbeRtt;
            self.probe_rtt_done = None;
            self.acks = Acks::Stopping;
            self.model.start_round(self.seen.delivered);
        }
        if self.mode == Mode::ProbeRtt {
            if self.probe_rtt_done.is_some() {
                self.probe_rtt_round |= self.model.round_start;
                if self.probe_rtt_round {
                    self.check_probe_rtt_done(window, s.now);
                }
            } else if s.flight <= self.inflight(self.model.bw, 50, 0) {
                self.probe_rtt_done = Some(s.now.saturating_add(PROBE_RTT_DURATION));
                self.probe_rtt_round = false;
                self.model.start_round(self.seen.delivered);
            }
        }
        self.idle_restart &= s.acked == 0;
    }

    /// BBRCheckProbeRTTDone and BBRExitProbeRTT, sections 5.3.4.3 and 5.3.4.4.
    #[cold]
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut Window, now: Time) {
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.model.probe_min_at = now;
        window.cwnd = window.cwnd.max(self.prior_cwnd);
        self.model.reset_short();
        if self.full_bw_reached {
            self.start_down(now);
            self.mode = Mode::Cruise;
        } else {
            self.mode = Mode::Startup;
        }
    }
}
