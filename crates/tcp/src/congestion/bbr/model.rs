//! What BBR believes of the path: draft-ietf-ccwg-bbr-05 section 5.5, without the state machine.

use super::Tuning;
use crate::congestion::dctcp::Share;
use crate::congestion::{Lost, Sample, fixed};
use sojourn_base::Time;

/// No bound.
pub(super) const NO_BYTES: u32 = u32::MAX;
/// No bound.
pub(super) const NO_RATE: u64 = u64::MAX;
/// MinRTTFilterLen, section 5.5.7.2.
const MIN_RTT_LENGTH: Time = Time::from_secs(10);
/// ProbeRTTInterval, section 5.3.4.
const PROBE_RTT_INTERVAL: Time = Time::from_secs(5);
/// Half of BBRExtraAckedFilterLen, section 5.5.9, in round trips.
const EXTRA_ACKED_HALF: u32 = 5;

/// An acknowledgement as BBR reads it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// Delivery rate, bytes per second; 0 where it cannot be told.
    pub rate: u64,
    /// Bytes delivered over the interval of the rate.
    pub delivered: u32,
    /// Bytes delivered when the newest of them was sent; none where it cannot be told.
    pub prior: Option<u64>,
    pub app_limited: bool,
    /// Bytes in flight when the newest was sent.
    pub flight_then: u32,
    /// Bytes lost since.
    pub lost: u32,
}

impl Reading {
    pub(super) fn new(s: &Sample) -> Self {
        match s.rate {
            Some(r) if r.interval > Time::ZERO => Self {
                rate: u64::from(r.delivered) * 1_000_000_000 / r.interval.0,
                delivered: r.delivered,
                prior: Some(s.delivered.saturating_sub(u64::from(r.delivered))),
                app_limited: r.app_limited,
                flight_then: r.flight_then,
                lost: r.lost_since,
            },
            _ => Self {
                rate: 0,
                delivered: 0,
                prior: None,
                app_limited: true,
                flight_then: 0,
                lost: 0,
            },
        }
    }
}

/// `percent` of `bytes`.
pub(super) fn percent(bytes: u64, percent: u64) -> u64 {
    (u128::from(bytes) * u128::from(percent) / 100).min(u128::from(u64::MAX)) as u64
}

/// A share, Q.32, of a rate.
fn share_of(rate: u64, share: u64) -> u64 {
    ((u128::from(rate) * u128::from(share)) >> fixed::SHARE_BITS) as u64
}

/// The model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    /// Greatest delivery rates of the present cycle and of the one before, bytes per second.
    pub max_bw: [u64; 2],
    /// The rate to work with: the greatest, but not above the short-term bound.
    pub bw: u64,
    pub bw_short: u64,
    pub inflight_short: u32,
    pub inflight_long: u32,
    /// Greatest rate and volume delivered in this round trip.
    bw_latest: u64,
    pub inflight_latest: u32,
    /// Where the present round trip of losses ends, in bytes delivered.
    loss_round: u64,
    pub loss_round_start: bool,
    pub loss_in_round: bool,
    /// Ranges that were lost in this round trip, and where the last of them ends.
    pub ranges: u32,
    lost_end: u64,
    /// Share of bytes marked, and those of this round trip.
    pub marks: Share,
    pub marked: u32,
    /// Where the present round trip ends, in bytes delivered.
    next_round: u64,
    pub round_start: bool,
    pub rounds: u32,
    /// Least round trip in 10 s, and when it was seen.
    pub min_rtt: Time,
    min_rtt_at: Time,
    /// Least round trip since the last ProbeRTT, and when it was seen.
    probe_min: Time,
    pub probe_min_at: Time,
    pub probe_expired: bool,
    /// Most bytes acknowledged beyond what the rate explains: of this half of the window of round
    /// trips and of the half before.
    extra: [u32; 2],
    extra_since: u32,
    extra_from: Time,
    extra_delivered: u64,
}

impl Model {
    pub(super) fn new() -> Self {
        Self {
            max_bw: [0; 2],
            bw: 0,
            bw_short: NO_RATE,
            inflight_short: NO_BYTES,
            inflight_long: NO_BYTES,
            bw_latest: 0,
            inflight_latest: 0,
            loss_round: 0,
            loss_round_start: false,
            loss_in_round: false,
            ranges: 0,
            lost_end: 0,
            marks: Share::new(0),
            marked: 0,
            next_round: 0,
            round_start: false,
            rounds: 0,
            min_rtt: Time::MAX,
            min_rtt_at: Time::ZERO,
            probe_min: Time::MAX,
            probe_min_at: Time::ZERO,
            probe_expired: false,
            extra: [0; 2],
            extra_since: 0,
            extra_from: Time::ZERO,
            extra_delivered: 0,
        }
    }

    /// The greatest delivery rate of the last two cycles.
    pub(super) fn greatest(&self) -> u64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// BBRStartRound, `delivered` bytes having been delivered.
    pub(super) fn start_round(&mut self, delivered: u64) {
        self.next_round = delivered;
    }

    /// BBRUpdateLatestDeliverySignals, section 5.5.10.3.
    pub(super) fn latest(&mut self, s: &Sample, r: &Reading) {
        self.bw_latest = self.bw_latest.max(r.rate);
        self.inflight_latest = self.inflight_latest.max(r.delivered);
        self.loss_round_start = r.prior.is_some_and(|prior| prior >= self.loss_round);
        if self.loss_round_start {
            self.loss_round = s.delivered;
        }
        self.marks.count(s);
        self.marked = self.marked.saturating_add(s.marked);
    }

    /// BBRNoteLoss; whether it is the first of its round trip.
    pub(super) fn note_loss(&mut self, lost: &Lost) -> bool {
        let first = !self.loss_in_round;
        if first {
            self.loss_round = lost.delivered;
        }
        self.ranges += u32::from(first || lost.start != self.lost_end);
        (self.loss_in_round, self.lost_end) = (true, lost.end);
        first
    }

    /// BBRUpdateMaxBw and BBRUpdateRound, sections 5.5.1 and 5.5.5.
    pub(super) fn bandwidth(&mut self, s: &Sample, r: &Reading) {
        self.round_start = r.prior.is_some_and(|prior| prior >= self.next_round);
        if self.round_start {
            self.start_round(s.delivered);
            self.rounds = self.rounds.wrapping_add(1);
        }
        if r.rate > 0 && (r.rate >= self.greatest() || !r.app_limited) {
            self.max_bw[0] = self.max_bw[0].max(r.rate);
        }
    }

    /// BBRAdvanceMaxBwFilter; a cycle without a sample is none.
    pub(super) fn advance(&mut self) {
        if self.max_bw[0] > 0 {
            self.max_bw = [0, self.max_bw[0]];
        }
    }

    /// BBRAdaptLowerBoundsFromCongestion, outside probing, section 5.5.10.3; with marks as in
    /// Linux's BBRv3.
    pub(super) fn lower_bounds(&mut self, tuning: &Tuning, cwnd: u32) {
        let marked = self.marked > 0 && tuning.ecn_factor > 0;
        if !self.loss_in_round && !marked {
            return;
        }
        if self.bw_short == NO_RATE {
            self.bw_short = self.greatest();
        }
        if self.inflight_short == NO_BYTES {
            self.inflight_short = cwnd;
        }
        if marked {
            let cut = share_of(self.marks.alpha, tuning.ecn_factor);
            self.inflight_short = fixed::of(self.inflight_short, fixed::ONE - cut);
        }
        if self.loss_in_round {
            self.bw_short = self.bw_latest.max(share_of(self.bw_short, tuning.beta));
            let kept = fixed::of(self.inflight_short, tuning.beta);
            self.inflight_short = self.inflight_latest.max(kept);
        }
    }

    /// The round trip of losses ends.
    pub(super) fn end_loss_round(&mut self, tuning: &Tuning) {
        self.marks.end(tuning.ecn_gain);
        (self.loss_in_round, self.ranges, self.marked) = (false, 0, 0);
    }

    /// BBRAdvanceLatestDeliverySignals.
    pub(super) fn advance_latest(&mut self, r: &Reading) {
        if self.loss_round_start {
            (self.bw_latest, self.inflight_latest) = (r.rate, r.delivered);
        }
    }

    /// BBRResetCongestionSignals.
    pub(super) fn reset_signals(&mut self) {
        (self.loss_in_round, self.ranges, self.marked) = (false, 0, 0);
        (self.bw_latest, self.inflight_latest) = (0, 0);
    }

    /// BBRResetShortTermModel.
    pub(super) fn reset_short(&mut self) {
        (self.bw_short, self.inflight_short) = (NO_RATE, NO_BYTES);
    }

    /// BBRUpdateMinRTT, section 5.3.4.3.
    pub(super) fn round_trip(&mut self, s: &Sample) {
        self.probe_expired = s.now > self.probe_min_at.saturating_add(PROBE_RTT_INTERVAL);
        if let Some(rtt) = s.rtt
            && (rtt < self.probe_min || self.probe_expired)
        {
            (self.probe_min, self.probe_min_at) = (rtt, s.now);
        }
        let expired = s.now > self.min_rtt_at.saturating_add(MIN_RTT_LENGTH);
        if self.probe_min < self.min_rtt || expired {
            (self.min_rtt, self.min_rtt_at) = (self.probe_min, self.probe_min_at);
        }
    }

    /// BBRUpdateACKAggregation, section 5.5.9; `full` once the pipe was filled.
    pub(super) fn aggregation(&mut self, s: &Sample, cwnd: u32, full: bool) {
        let passed = s.now.saturating_sub(self.extra_from);
        let mut expected = u128::from(self.bw) * u128::from(passed.0) / 1_000_000_000;
        if u128::from(self.extra_delivered) <= expected {
            (self.extra_delivered, self.extra_from, expected) = (0, s.now, 0);
        }
        self.extra_delivered += u64::from(s.acked);
        let extra = u128::from(self.extra_delivered).saturating_sub(expected);
        let extra = extra.min(u128::from(cwnd)) as u32;
        let length = if full { EXTRA_ACKED_HALF } else { 1 };
        if self.round_start && self.rounds.wrapping_sub(self.extra_since) >= length {
            self.extra = [0, if full { self.extra[0] } else { 0 }];
            self.extra_since = self.rounds;
        }
        self.extra[0] = self.extra[0].max(extra);
    }

    /// Extra data are counted from now on.
    pub(super) fn restart(&mut self, now: Time) {
        (self.extra_from, self.extra_delivered) = (now, 0);
    }

    pub(super) fn extra_acked(&self) -> u32 {
        self.extra[0].max(self.extra[1])
    }

    /// `bw`·min_rtt in bytes; none before there is a round trip.
    #[inline(never)]
    pub(super) fn bdp(&self, bw: u64) -> Option<u64> {
        if self.min_rtt == Time::MAX {
            return None;
        }
        let bytes = u128::from(bw) * u128::from(self.min_rtt.0) / 1_000_000_000;
        Some(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}
