//! Sending: what an acknowledgement means, what may be sent, and when.

mod accecn;
mod accecn_path;
mod acknowledgement;
mod cwnd_validation;
mod hystart;
mod hystart_linux;
mod offload;
mod prr;
mod recovery;
mod rtt;
mod state;
mod undo;

use crate::call::Call;
use crate::congestion::CongestionState;
use crate::connection::{Connection, State, bit};
use crate::context::Context;
use crate::ecn;
use crate::params::Params;
use crate::segment::{Output, Segment, before};
use recovery::{BeforeTimeout, Recovery};
use sojourn_base::{Ecn, Time};
use state::{Phase, SendState};

/// The timeout after a handshake that needed more than one SYN (RFC 6298 rule 5.7).
const AFTER_LOST_SYN: Time = Time::from_secs(3);

/// The sending half of an endpoint.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Sender {
    state: SendState,
    recovery: Recovery,
}

/// Whether a connection goes on after a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Patience {
    Left,
    /// Too many timeouts in a row: the connection is given up.
    Gone,
}

/// Its counters and its present state.
impl Sender {
    pub(crate) fn new(params: &Params, iss: u32) -> Self {
        Self { state: SendState::new(params, iss), recovery: Recovery::new(params) }
    }

    pub(crate) fn bytes_acked(&self) -> u64 {
        self.state.acked
    }

    pub(crate) fn retransmissions(&self) -> u64 {
        u64::from(self.state.retransmissions)
    }

    pub(crate) fn timeouts(&self) -> u64 {
        u64::from(self.state.timeouts)
    }

    pub(crate) fn syn_retries(&self) -> u64 {
        u64::from(self.state.syn_retries)
    }

    pub(crate) fn cwnd(&self) -> u32 {
        self.state.window.cwnd
    }

    pub(crate) fn ssthresh(&self) -> Option<u32> {
        let ssthresh = self.state.window.ssthresh;
        (ssthresh != u32::MAX).then_some(ssthresh)
    }

    pub(crate) fn srtt(&self) -> Option<Time> {
        self.state.estimator.srtt()
    }

    pub(crate) fn rttvar(&self) -> Option<Time> {
        self.state.estimator.rttvar()
    }

    pub(crate) fn congestion_state(&self) -> CongestionState {
        let SendState { phase, window, control, .. } = &self.state;
        match phase {
            Phase::Recovery => CongestionState::Recovery,
            Phase::Loss => CongestionState::Loss,
            _ => CongestionState::of(control.mode(), window.cwnd, window.ssthresh),
        }
    }

    /// The smoothed round trip; zero before the first sample.
    #[inline]
    pub(crate) fn smoothed_round_trip(&self) -> Time {
        self.state.estimator.smoothed()
    }

    pub(crate) fn rto(&self) -> Time {
        self.state.rto
    }

    /// Bytes taken to be in the network; without a log all that is not acknowledged.
    pub(crate) fn in_network(&self, conn: &Connection) -> u32 {
        match &self.recovery {
            Recovery::Logged(logged) => logged.pipe(conn),
            _ => conn.in_flight(),
        }
    }

    /// Bytes that the peer has reported as marked, by AccECN; 0 without.
    pub(crate) fn bytes_marked(&self) -> u64 {
        match &self.recovery {
            Recovery::Logged(logged) => logged.reported.total(),
            _ => 0,
        }
    }

    /// The codepoint of what is sent ECN-capable.
    pub(crate) fn codepoint(&self, params: &Params, conn: &Connection) -> Ecn {
        self.recovery.codepoint(params, conn)
    }

    /// When the earliest of its timers runs out.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.recovery.deadline(self.state.rto_at)
    }

    /// When pacing lets it send on.
    pub(crate) fn pace_at(&self) -> Time {
        self.recovery.pace_at()
    }

    /// Its first bytes, which an acknowledgement needs: of the congestion control half, in which
    /// is what a small algorithm counts.
    #[cfg(test)]
    pub(crate) const fn hot_bytes() -> usize {
        use crate::congestion::Congestion;
        core::mem::offset_of!(Self, state.control) + size_of::<Congestion>() / 2
    }

    /// Whether nothing is amiss.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.state.phase == Phase::Open
    }
}

/// The connection's course.
impl Sender {
    /// The application writes.
    pub(crate) fn write(&mut self, bytes: u64) {
        self.state.unsent = self.state.unsent.saturating_add(bytes);
    }

    /// What was written and not sent yet is taken back.
    pub(crate) fn cut(&mut self) {
        self.state.unsent = 0;
    }

    /// The SYN or SYN-ACK goes out for the first time.
    pub(crate) fn begin_handshake(&mut self, now: Time, conn: &mut Connection) {
        self.state.rto_at = now + self.state.rto;
        self.state.time_from(now, conn);
    }

    /// The SYN or SYN-ACK was not answered in time.
    pub(crate) fn handshake_timeout(&mut self, c: &mut Call<'_>) -> Patience {
        let s = &mut self.state;
        if s.backoff == c.params.syn_retries {
            return Patience::Gone;
        }
        s.backoff += 1;
        s.syn_retries += 1;
        c.conn.bits &= !bit::TIMED; // Karn: which SYN an answer is for cannot be told
        s.back_off(c);
        Patience::Left
    }

    /// The SYN has come again, and the SYN-ACK goes out again.
    pub(crate) fn syn_came_again(&mut self, c: &mut Call<'_>) {
        c.conn.bits &= !bit::TIMED;
        if c.params.linux_handshake {
            let s = &mut self.state;
            s.syn_retries += 1;
            s.rto_at = c.now + s.rto;
        }
    }

    /// The peer's window, as a segment has it.
    #[inline]
    pub(crate) fn set_peer_window(&mut self, params: &Params, segment: &Segment) {
        self.state.peer_window = params.window_bytes(segment.window, segment.flags);
    }

    /// The handshake is over.
    pub(crate) fn establish<O: Output>(&mut self, cx: &mut Context<'_, O>, segment: &Segment) {
        let params = cx.params;
        let s = &mut self.state;
        // Before anything that can be acknowledged: no recovery, no reduction yet.
        s.recover = cx.conn.snd_una.wrapping_sub(1);
        s.forget_reduction(cx.conn.snd_una);
        s.rto_at = Time::MAX;
        self.measure(cx, segment);
        let s = &mut self.state;
        s.backoff = 0;
        // RFC 5681 section 3.1, or `tcp_init_transfer` of Linux.
        if s.syn_retries > u8::from(params.linux_handshake) {
            s.window.cwnd = params.payload;
            if params.lost_syn_threshold {
                s.window.ssthresh = (params.initial_cwnd / 2).max(2 * params.payload);
            }
        }
        if s.syn_retries > 0 && s.estimator.srtt().is_none() {
            s.rto = AFTER_LOST_SYN.max(params.initial_rto).min(params.max_rto);
        }
        self.recovery.establish(s, &cx.call);
    }

    /// The peer reports by AccECN how the SYN arrived, or the SYN-ACK if `of_syn_ack` (RFC 9768
    /// table 4).
    pub(crate) fn handshake_reported(&mut self, segment: &Segment, of_syn_ack: bool) {
        let field = ecn::number(segment.flags);
        if let Some(logged) = self.recovery.logged() {
            logged.reported.path.arrived_capable(ecn::arrived_capable(field));
            if of_syn_ack {
                logged.reported.begin(field == ecn::handshake(Ecn::Ce));
                logged.reported.path.answered(field);
            }
        }
    }

    /// No timers and no memory from now on.
    pub(crate) fn finish(&mut self) {
        self.state.rto_at = Time::MAX;
        self.state.unsent = 0;
        self.recovery.finish();
    }
}

/// Sending, and timers.
impl Sender {
    /// Sends whatever may be sent now.
    #[inline]
    pub(crate) fn transmit<O: Output>(&mut self, cx: &mut Context<'_, O>) {
        if cx.conn.state == State::Established {
            self.recovery.transmit(&mut self.state, cx);
        }
    }

    /// A timer of an established connection may be due.
    pub(crate) fn on_timer<O: Output>(&mut self, cx: &mut Context<'_, O>) -> Patience {
        let now = cx.now;
        let s = &mut self.state;
        if let Some(logged) = self.recovery.logged() {
            let (pace, reorder) = (logged.pace_at <= now, logged.reorder_at <= now);
            let probe = logged.probe_at <= now;
            if reorder {
                logged.reorder_at = Time::MAX;
                let lost = logged.lost(s, &cx.call, 0);
                if s.phase != Phase::Recovery && lost.bytes > 0 {
                    self.begin_recovery(cx, 0);
                    if let Some(logged) = self.recovery.logged() {
                        logged.make_room(&mut self.state, &cx.call);
                    }
                }
            }
            if pace || reorder {
                self.transmit(cx);
            }
            if probe && let Some(logged) = self.recovery.logged() {
                logged.send_probe(&mut self.state, cx);
                return Patience::Left;
            }
        }
        if self.state.rto_at <= now { self.timeout(cx) } else { Patience::Left }
    }

    /// The retransmission timer of data or a FIN ran out: RFC 6298 rules 5.4 to 5.6, RFC 5681
    /// section 3.1, RFC 6675 section 5.1.
    #[cold]
    fn timeout<O: Output>(&mut self, cx: &mut Context<'_, O>) -> Patience {
        let (s, params) = (&mut self.state, cx.params);
        if s.backoff == params.retries {
            return Patience::Gone;
        }
        s.timeouts += 1;
        let was = BeforeTimeout {
            window: s.window,
            fresh: s.phase < Phase::Recovery,
            recovered: !before(cx.conn.snd_una, s.recover),
            first: s.backoff == 0,
        };
        let at = s.congested(&cx.call, cx.conn.in_flight());
        s.control.on_timeout(&params.tuning, &mut s.window, at, was.first);
        s.note_reduction(&mut cx.call);
        s.backoff += 1;
        s.back_off(&cx.call);
        s.phase = Phase::Loss;
        s.recover = cx.conn.snd_nxt;
        (s.dupacks, s.inflation) = (0, 0);
        self.recovery.timeout(s, &mut cx.call, was);
        self.transmit(cx);
        Patience::Left
    }
}
