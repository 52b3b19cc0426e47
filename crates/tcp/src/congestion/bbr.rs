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
//! 1. A recovery after a timeout counts as fast recovery where losses may end Startup
//!    (section 5.3.1.3). There are no connections without SACK.
//! 2. The end of samples from a probe advances the rate filter once (section 5.3.3.6 would do so in
//!    each later round trip).
//! 3. Extra acknowledged data are remembered over five to ten round trips in two halves, not ten
//!    exactly. After a pause they are counted from nothing, as in Linux (section 5.4.1 lets what
//!    was counted stand).
//! 4. There is no offload, so the least volume is four segments (sections 5.5.8 and 5.6.4.2).
//! 5. Random waits come from a hash of the simulated time, so that a run is the same every time.
//! 6. A recovery that begins with a loss saves the state before the answer to that loss, not again
//!    after it (sections 5.5.11.1 and 5.6.4.4), so that taking it back gives all of it back.
//! 7. The draft has no answer to marks. As in Linux's BBRv3, a round trip with marks lowers the
//!    short-term volume by `ecn_factor` times their moving average (gain 1/16), and a share above
//!    `ecn_threshold` of what was in flight ends a probe as loss does. `ecn_factor` = 0 ignores
//!    them.
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
//! 5. There six acknowledgements that bring losses stand for six ranges lost, and the state is
//!    saved after the answer to the loss that begins a recovery.

mod machine;
mod model;
#[cfg(test)]
mod tests;

use super::{Congested, Control, Lost, Sample, Window, fixed};
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

/// What an undone loss gives back: BBRSaveStateUponLoss, section 5.5.11.1.
#[derive(Clone, Copy, Debug)]
struct Before {
    /// When it was saved.
    at: Time,
    mode: Mode,
    bw_short: u64,
    inflight_short: u32,
    inflight_long: u32,
}

/// What the newest acknowledgement said.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Payload of a full segment.
    mss: u32,
    /// Delivery rate, bytes per second.
    rate: u64,
    /// Bytes delivered since the connection began.
    delivered: u64,
}

/// State.
#[derive(Clone, Copy, Debug)]
pub struct State {
    model: Model,
    mode: Mode,
    acks: Acks,
    seen: Seen,
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

/// IsInflightTooHigh, section 5.5.10.2, of losses: whether `lost` bytes are too many of so many in
/// flight.
fn too_lossy(tuning: &Tuning, lost: u32, flight: u32) -> bool {
    lost > fixed::of(flight, tuning.loss_threshold)
}

/// BBRInflightAtLoss, section 5.5.10.2: what was in flight up to the byte of a lost packet at which
/// the loss rate passed its threshold.
fn flight_at_loss(tuning: &Tuning, lost: &Lost) -> u32 {
    let before = lost.flight_then.saturating_sub(lost.bytes);
    let allowed = fixed::of(before, tuning.loss_threshold);
    let left = u64::from(allowed.saturating_sub(lost.lost_since.saturating_sub(lost.bytes)));
    let prefix = (left << fixed::SHARE_BITS) / (fixed::ONE - tuning.loss_threshold);
    before.saturating_add(bytes(prefix).min(lost.bytes))
}

impl State {
    /// MinPipeCwnd, section 5.6.4.3.
    fn least(&self) -> u32 {
        4 * self.seen.mss
    }

    /// BBRBDPMultiple of a rate and BBRQuantizationBudget, with `more` bytes added.
    // Called from many places, in each of which it would take more room than it saves time.
    #[inline(never)]
    fn inflight(&self, bw: u64, gain: u64, more: u32) -> u32 {
        let bdp = self.model.bdp(bw).map_or(u64::from(self.initial), |bdp| percent(bdp, gain));
        let up = if self.mode == Mode::Up { 2 * self.seen.mss } else { 0 };
        bytes(bdp).saturating_add(more).max(self.least()).saturating_add(up)
    }

    /// BBRInflightWithHeadroom.
    fn with_headroom(&self, tuning: &Tuning) -> u32 {
        if self.model.inflight_long == NO_BYTES {
            return NO_BYTES;
        }
        let free = fixed::of(self.model.inflight_long, tuning.headroom).max(self.seen.mss);
        self.model.inflight_long.saturating_sub(free).max(self.least())
    }

    /// BBRTargetInflight.
    fn target(&self, cwnd: u32) -> u32 {
        self.model.bdp(self.model.bw).map_or(cwnd, |bdp| bytes(bdp).min(cwnd))
    }

    fn save_cwnd(&mut self, window: &Window) {
        let keep = !self.recovering && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = if keep { window.cwnd } else { self.prior_cwnd.max(window.cwnd) };
    }

    /// Keeps the state as it is before anything follows from what is known now.
    fn save_state(&mut self, now: Time) {
        if self.before.is_some_and(|before| before.at == now) {
            return;
        }
        let &Model { bw_short, inflight_short, inflight_long, .. } = &self.model;
        let mode = self.mode;
        self.before = Some(Before { at: now, mode, bw_short, inflight_short, inflight_long });
    }

    fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (0, 0, false);
    }

    /// IsInflightTooHigh, section 5.5.10.2, and its like for marks.
    fn too_high(&self, tuning: &Tuning, r: &Reading) -> bool {
        too_lossy(tuning, r.lost, r.flight_then) || self.too_marked(tuning, r)
    }

    fn too_marked(&self, tuning: &Tuning, r: &Reading) -> bool {
        tuning.ecn_factor > 0
            && r.flight_then > 0
            && self.model.marked > fixed::of(r.flight_then, tuning.ecn_threshold)
    }

    /// BBRHandleInflightTooHigh, section 5.5.10.2: `flight` bytes were too many, unless the
    /// application set the pace.
    #[cold]
    fn end_probe(
        &mut self,
        tuning: &Tuning,
        window: &Window,
        now: Time,
        flight: u32,
        app_limited: bool,
    ) {
        self.probe_samples = false;
        if !app_limited {
            let kept = fixed::of(self.target(window.cwnd), tuning.beta);
            self.model.inflight_long = flight.max(kept);
        }
        if self.mode == Mode::Up {
            self.start_down(now);
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
        let (gain, extra) = (self.mode.cwnd_gain(), self.model.extra_acked());
        let most = self.inflight(self.model.bw, gain, extra);
        let grown = window.cwnd.saturating_add(s.acked);
        if self.full_bw_reached {
            window.cwnd = grown.min(most);
        } else if window.cwnd < most || s.delivered < u64::from(self.initial) {
            window.cwnd = grown;
        }
        let cap = match self.mode {
            Mode::ProbeRtt => self.with_headroom(tuning).min(self.inflight(self.model.bw, 50, 0)),
            Mode::Cruise => self.with_headroom(tuning),
            Mode::Down | Mode::Refill | Mode::Up => self.model.inflight_long,
            Mode::Startup | Mode::Drain => NO_BYTES,
        };
        let cap = cap.min(self.model.inflight_short);
        window.cwnd = window.cwnd.min(cap).max(self.least());
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
            seen: Seen::default(),
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

    /// BBRHandleLostPacket, section 5.5.10.2.
    fn on_lost(&mut self, tuning: &Tuning, window: &Window, lost: &Lost) {
        self.seen.delivered = lost.delivered;
        // The first of a round trip, and one that begins a recovery.
        if self.model.note_loss(lost) || !self.recovering {
            self.save_state(lost.now);
        }
        if self.probe_samples && too_lossy(tuning, lost.lost_since, lost.flight_then) {
            let flight = flight_at_loss(tuning, lost);
            self.end_probe(tuning, window, lost.now, flight, lost.app_limited);
        }
    }

    /// BBRUpdateOnACK, section 5.2.3.
    fn on_sample(&mut self, tuning: &Tuning, window: &mut Window, s: &Sample) {
        if self.initial == 0 {
            self.initial = window.cwnd;
            self.model.probe_min_at = s.now;
            self.model.restart(s.now);
        }
        let r = Reading::new(s);
        self.seen = Seen { mss: s.mss, rate: r.rate, delivered: s.delivered };
        if self.recovering && !s.recovering {
            window.cwnd = window.cwnd.max(self.prior_cwnd);
        }
        self.recovering = s.recovering;
        if s.marked > 0 && self.probe_samples && self.too_marked(tuning, &r) {
            self.end_probe(tuning, window, s.now, r.flight_then, r.app_limited);
        }
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
    fn on_loss(&mut self, _: &Tuning, window: &mut Window, at: Congested) {
        self.save_cwnd(window);
        self.save_state(at.now);
    }

    /// Marks are answered by samples.
    fn on_mark(&mut self, _: &Tuning, _: &mut Window, _: Congested) {}

    fn on_timeout(&mut self, _: &Tuning, window: &mut Window, at: Congested, first: bool) {
        if first {
            self.save_cwnd(window);
            self.save_state(at.now);
        }
        window.cwnd = at.mss;
    }

    /// BBRHandleSpuriousLossDetection, section 5.5.11.2.
    fn on_undo(&mut self, _: &Tuning, window: &mut Window) {
        let Some(before) = self.before.take() else {
            return;
        };
        let m = &mut self.model;
        m.loss_in_round = false;
        m.bw_short = m.bw_short.max(before.bw_short);
        m.inflight_short = m.inflight_short.max(before.inflight_short);
        m.inflight_long = m.inflight_long.max(before.inflight_long);
        self.reset_full_bw();
        if self.mode != Mode::ProbeRtt && self.mode != before.mode {
            match before.mode {
                Mode::Startup => self.mode = Mode::Startup,
                Mode::Up => self.start_up(window),
                _ => {}
            }
        }
    }

    /// Section 5.4.1: the window stays, and pacing sees to it that it does not go out at once.
    fn on_restart(&mut self, _: &Tuning, window: &mut Window, _: Congested) {
        window.cwnd = window.cwnd.max(self.cwnd);
    }

    /// BBRHandleRestartFromIdle, section 5.4.1.
    fn on_tx_start(&mut self, _: &Tuning, window: &mut Window, now: Time) {
        self.idle_restart = true;
        self.model.restart(now);
        if self.mode.in_probe_bw() && self.model.bw > 0 {
            self.pace = percent(self.model.bw, 99);
        } else if self.mode == Mode::ProbeRtt {
            self.check_probe_rtt_done(window, now);
        }
    }

    #[inline]
    fn pace(&self, _: &Tuning, _: &Window, _: Time) -> u64 {
        self.pace
    }

    /// Section 5.3.4.3: low rates of ProbeRTT say nothing of the path.
    #[inline]
    fn is_app_limited(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }

    fn mode(&self) -> Option<&'static str> {
        Some(self.mode.name())
    }
}
