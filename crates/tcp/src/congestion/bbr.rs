//! BBR, version 3: sends at the rate the path was seen to deliver, with little more in flight than
//! it holds.
//!
//! draft-ietf-ccwg-bbr-05. A model of the path is kept from delivery rates and round trips: the
//! greatest rate of the last two probing cycles and the least round trip of 10 s. In Startup the
//! rate doubles every round trip until it no longer pays, Drain empties the queue this made, and
//! ProbeBW goes round DOWN, CRUISE, REFILL and UP, probing for more every two to three seconds or,
//! on small paths, as often as Reno would lose a packet. Every 5 s without a new least round trip
//! ProbeRTT halves what is in flight to see one. Losses above 2 % of what was in flight while
//! probing set a long-term bound on it; losses at other times lower short-term bounds by up to 0.7.
//! Segments are paced at 99 % of rate times gain.
//!
//! # Differences from the source
//!
//! 1. What was in flight and lost is taken at the newest segment delivered, not at each segment
//!    lost (section 5.5.10.2), and a bound is set to what was in flight then, not to the byte at
//!    which the loss rate passed its threshold.
//! 2. Six acknowledgements that bring losses in one round trip stand for six discontiguous ranges
//!    lost (section 5.3.1.3). Without SACK nothing is different.
//! 3. The end of samples from a probe advances the rate filter once (section 5.3.3.6 would do so in
//!    each later round trip).
//! 4. Extra acknowledged data are remembered over five to ten round trips in two halves, not ten
//!    exactly.
//! 5. There is no offload, so the least volume is four segments (sections 5.5.8 and 5.6.4.2).
//! 6. Random waits come from a hash of the simulated time, so that a run is the same every time.
//! 7. A sender that pauses for less than a retransmission timeout does not reset anything
//!    (section 5.4.1). In ProbeRTT low rates are ignored here, not marked by the sampler.
//! 8. The draft has no answer to marks. As in Linux's BBRv3, a round trip with marks lowers the
//!    short-term volume by `ecn_factor` times their moving average (gain 1/16), and a share above
//!    `ecn_threshold` of what was in flight ends a probe as loss does. `ecn_factor` = 0 ignores
//!    them.
//! 9. The six acknowledgements of point 2 end Startup at once, before the recovery has lasted a
//!    round trip (section 5.3.1.3).
//! 10. Over TCP a loss that a timer finds lowers no bound and ends no probe (section 5.2.4): the
//!     model hears of losses with the acknowledgement that shows them. Over QUIC it does.
//! 11. The loss that begins a recovery is answered before the state is saved, so that taking it
//!     back gives the window and the long-term bound after that answer (section 5.6.4.4); probing
//!     goes on with the phase of its acknowledgements as it was (section 5.5.11.2).
//! 12. DOWN ends where the volume is that of the bounded rate, not of the greatest (section
//!     5.3.3.4): after losses it drains for longer.
//! 13. After a pause in ProbeRTT the window stays at its half until the first acknowledgement
//!     (section 5.4.1).
//!
//! # Differences from Linux
//!
//! Linux's main tree has version 1; of the authors' version 3 for Linux it differs as follows.
//!
//! 1. There Drain paces at 0.35 of the rate and lasts until it is drained; the draft has 0.5 and at
//!    most three round trips.
//! 2. There the first round trip of a recovery conserves packets; the draft does not.
//! 3. There marks count only where the route is set for low-latency ECN and round trips are below
//!    5 ms; here wherever ECN is agreed on.
//! 4. There the window's target rounds up to offload units and adds for them.
//! 5. There loss is seen per segment lost, with the prefix that passed the threshold.

mod machine;
mod model;
#[cfg(test)]
mod tests;

use super::{Congested, Control, Sample, Window, fixed};
use crate::Invalid;
use machine::{Acks, Mode};
use model::{Model, NO_BYTES, Reading, percent};
use sojourn_base::Time;

/// Settings of BBR.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "BbrSettings"))]
pub struct Settings {
    /// Share of what was in flight whose loss ends a probe: 0.001 to 0.5 (default 0.02,
    /// draft-ietf-ccwg-bbr-05 section 2.7).
    pub loss_threshold: f64,
    /// Share of the short-term bounds that a round trip with losses leaves at least: 0.1 to 0.99
    /// (default 0.7, the same).
    pub beta: f64,
    /// Share of the long-term bound that is left free while cruising: 0 to 0.5 (default 0.15, the
    /// same).
    pub headroom: f64,
    /// Share of the marks' moving average that a round trip with marks takes: 0 to 1, where 0
    /// ignores marks (default 1/3, Linux's BBRv3).
    pub ecn_factor: f64,
    /// Share of what was in flight whose marking ends a probe: 0.01 to 1 (default 0.5, Linux's
    /// BBRv3).
    pub ecn_threshold: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            loss_threshold: 0.02,
            beta: 0.7,
            headroom: 0.15,
            ecn_factor: 1.0 / 3.0,
            ecn_threshold: 0.5,
        }
    }
}

/// The settings in integers: shares, Q.32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    loss_threshold: u64,
    beta: u64,
    headroom: u64,
    ecn_factor: u64,
    ecn_threshold: u64,
    ecn_gain: u64,
}

/// What an undone loss gives back: mode, short-term rate and volume, long-term volume.
type Before = (Mode, u64, u32, u32);

/// State.
#[derive(Clone, Copy, Debug)]
pub struct State {
    model: Model,
    mode: Mode,
    acks: Acks,
    /// Window at the beginning, bytes; 0 before the first acknowledgement.
    initial: u32,
    /// Pacing rate, bytes per second.
    pace: u64,
    full_bw: u64,
    full_bw_count: u8,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_from: u32,
    /// When the probing cycle began, how long to wait, and round trips since.
    cycle_at: Time,
    wait: Time,
    rounds_waited: u32,
    /// Whether losses are due to a probe.
    probe_samples: bool,
    up_rounds: u32,
    up_acks: u64,
    up_count: u64,
    probe_rtt_done: Option<Time>,
    probe_rtt_round: bool,
    recovering: bool,
    idle_restart: bool,
    /// The last window unmodulated by recovery or ProbeRTT, and the last of all.
    prior_cwnd: u32,
    cwnd: u32,
    before: Option<Before>,
}

fn bytes(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(NO_BYTES)
}

impl State {
    /// MinPipeCwnd, section 5.6.4.3.
    fn least(s: &Sample) -> u32 {
        4 * s.mss
    }

    /// BBRBDPMultiple and BBRQuantizationBudget, with `more` bytes added.
    fn inflight(&self, s: &Sample, gain: u64, more: u32) -> u32 {
        let bdp = self.model.bdp().map_or(u64::from(self.initial), |bdp| percent(bdp, gain));
        let up = if self.mode == Mode::Up { 2 * s.mss } else { 0 };
        bytes(bdp).saturating_add(more).max(Self::least(s)).saturating_add(up)
    }

    /// BBRInflightWithHeadroom.
    fn with_headroom(&self, tuning: &Tuning, s: &Sample) -> u32 {
        if self.model.inflight_long == NO_BYTES {
            return NO_BYTES;
        }
        let free = fixed::of(self.model.inflight_long, tuning.headroom).max(s.mss);
        self.model.inflight_long.saturating_sub(free).max(Self::least(s))
    }

    /// BBRTargetInflight.
    fn target(&self, cwnd: u32) -> u32 {
        self.model.bdp().map_or(cwnd, |bdp| bytes(bdp).min(cwnd))
    }

    fn save_cwnd(&mut self, window: &Window) {
        let keep = !self.recovering && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if keep { window.cwnd } else { self.prior_cwnd.max(window.cwnd) };
    }

    fn save_state(&mut self) {
        let m = &self.model;
        self.before = Some((self.mode, m.bw_short, m.inflight_short, m.inflight_long));
    }

    fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (0, 0, false);
    }

    /// IsInflightTooHigh, section 5.5.10.2, and its like for marks.
    fn too_high(&self, tuning: &Tuning, r: &Reading) -> bool {
        r.lost > fixed::of(r.flight_then, tuning.loss_threshold)
            || tuning.ecn_factor > 0
                && r.flight_then > 0
                && self.model.marked > fixed::of(r.flight_then, tuning.ecn_threshold)
    }

    /// BBRHandleLostPacket and BBRHandleInflightTooHigh, section 5.5.10.2.
    fn losses(&mut self, tuning: &Tuning, window: &Window, s: &Sample, r: &Reading) {
        if s.lost > 0 && self.model.note_loss(s) {
            self.save_state();
        }
        if (s.lost > 0 || s.marked > 0) && self.probe_samples && self.too_high(tuning, r) {
            self.probe_samples = false;
            if !r.app_limited {
                let kept = fixed::of(self.target(window.cwnd), tuning.beta);
                self.model.inflight_long = r.flight_then.max(kept);
            }
            if self.mode == Mode::Up {
                self.start_down(s);
            }
        }
    }

    /// BBRSetPacingRate, section 5.6.2.
    fn set_pace(&mut self, window: &Window, s: &Sample) {
        let gain = self.mode.pacing_gain();
        if self.pace == 0 && s.srtt > Time::ZERO {
            let nominal = u64::from(window.cwnd) * 1_000_000_000 / s.srtt.0;
            self.pace = percent(nominal, gain);
        }
        let rate = percent(percent(self.model.bw, gain), 99);
        if rate > 0 && (self.full_bw_reached || rate > self.pace) {
            self.pace = rate;
        }
    }

    /// BBRSetCwnd, sections 5.6.4.5 to 5.6.4.7.
    fn set_cwnd(&mut self, tuning: &Tuning, window: &mut Window, s: &Sample) {
        let most = self.inflight(s, self.mode.cwnd_gain(), self.model.extra_acked());
        let grown = window.cwnd.saturating_add(s.acked);
        if self.full_bw_reached {
            window.cwnd = grown.min(most);
        } else if window.cwnd < most || s.delivered < u64::from(self.initial) {
            window.cwnd = grown;
        }
        let cap = match self.mode {
            Mode::ProbeRtt => self.with_headroom(tuning, s).min(self.inflight(s, 50, 0)),
            Mode::Cruise => self.with_headroom(tuning, s),
            Mode::Down | Mode::Refill | Mode::Up => self.model.inflight_long,
            Mode::Startup | Mode::Drain => NO_BYTES,
        };
        let cap = cap.min(self.model.inflight_short);
        window.cwnd = window.cwnd.min(cap).max(Self::least(s));
        self.cwnd = window.cwnd;
    }
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;
    const SAMPLES: bool = true;
    const RULES_RECOVERY: bool = true;
    const PACED: bool = true;

    fn tune(s: &Settings) -> Result<Tuning, Invalid> {
        let threshold = s.loss_threshold;
        Ok(Tuning {
            loss_threshold: fixed::setting("congestion.loss_threshold", threshold, 0.001, 0.5)?,
            beta: fixed::setting("congestion.beta", s.beta, 0.1, 0.99)?,
            headroom: fixed::setting("congestion.headroom", s.headroom, 0.0, 0.5)?,
            ecn_factor: fixed::setting("congestion.ecn_factor", s.ecn_factor, 0.0, 1.0)?,
            ecn_threshold: fixed::setting("congestion.ecn_threshold", s.ecn_threshold, 0.01, 1.0)?,
            ecn_gain: fixed::ONE / 16,
        })
    }

    fn new(_: &Tuning) -> Self {
        Self {
            model: Model::new(),
            mode: Mode::Startup,
            acks: Acks::Other,
            initial: 0,
            pace: 0,
            full_bw: 0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            drain_from: 0,
            cycle_at: Time::ZERO,
            wait: Time::ZERO,
            rounds_waited: 0,
            probe_samples: false,
            up_rounds: 0,
            up_acks: 0,
            up_count: u64::MAX,
            probe_rtt_done: None,
            probe_rtt_round: false,
            recovering: false,
            idle_restart: false,
            prior_cwnd: 0,
            cwnd: 0,
            before: None,
        }
    }

    /// BBRUpdateOnACK, section 5.2.3.
    fn on_sample(&mut self, tuning: &Tuning, window: &mut Window, s: &Sample) {
        if self.initial == 0 {
            self.initial = window.cwnd;
            self.model.probe_min_at = s.now;
            self.model.restart(s.now);
        }
        let mut r = Reading::new(s);
        r.app_limited |= self.mode == Mode::ProbeRtt;
        if self.recovering && !s.recovering {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        self.recovering = s.recovering;
        self.losses(tuning, window, s, &r);
        self.model.latest(s, &r);
        self.model.bandwidth(s, &r);
        self.rounds_waited += u32::from(self.model.round_start);
        if self.model.loss_round_start && !self.mode.probes_bandwidth() {
            self.model.lower_bounds(tuning, window.cwnd);
        }
        self.model.aggregation(s, window.cwnd, self.full_bw_reached);
        self.startup_and_drain(tuning, s, &r);
        self.cycle(tuning, window, s, &r);
        self.model.round_trip(s);
        self.probe_rtt(window, s);
        if self.model.loss_round_start {
            self.model.end_loss_round(tuning);
        }
        self.model.advance_latest(&r);
        self.model.bw = self.model.greatest().min(self.model.bw_short);
        self.set_pace(window, s);
        self.set_cwnd(tuning, window, s);
    }

    /// Section 5.6.4.4: what a loss changes is decided by samples.
    fn on_loss(&mut self, _: &Tuning, window: &mut Window, _: Congested) {
        self.save_cwnd(window);
        self.save_state();
    }

    /// Marks are answered by samples.
    fn on_mark(&mut self, _: &Tuning, _: &mut Window, _: Congested) {}

    fn on_timeout(&mut self, _: &Tuning, window: &mut Window, at: Congested, first: bool) {
        if first {
            self.save_cwnd(window);
            self.save_state();
        }
        window.cwnd = at.mss;
    }

    /// BBRHandleSpuriousLossDetection, section 5.5.11.2.
    fn on_undo(&mut self, _: &Tuning, _: &mut Window) {
        let Some((mode, bw_short, inflight_short, inflight_long)) = self.before.take() else {
            return;
        };
        let m = &mut self.model;
        m.loss_in_round = false;
        m.bw_short = m.bw_short.max(bw_short);
        m.inflight_short = m.inflight_short.max(inflight_short);
        m.inflight_long = m.inflight_long.max(inflight_long);
        self.reset_full_bw();
        let probed = matches!(mode, Mode::Startup | Mode::Up);
        if self.mode != Mode::ProbeRtt && probed {
            self.mode = mode;
        }
    }

    /// Section 5.4.1: the window stays, and pacing sees to it that it does not go out at once.
    fn on_restart(&mut self, _: &Tuning, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.cwnd);
        self.idle_restart = true;
        if self.mode.in_probe_bw() && self.model.bw > 0 {
            self.pace = percent(self.model.bw, 99);
        }
    }

    #[inline]
    fn pace(&self, _: &Tuning, _: &Window, _: Time) -> u64 {
        self.pace
    }

    fn mode(&self) -> Option<&'static str> {
        Some(self.mode.name())
    }
}
