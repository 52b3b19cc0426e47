//! Sending: what an acknowledgement means, what may be sent, and when.

mod accecn;
mod accecn_path;
mod cwnd_validation;
mod delivery_rate;
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
use crate::segment::{Event, Flags, Output, SackBlock, Segment, before};
use recovery::{Ack, BeforeTimeout, Lost, Recovery};
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
        if s.syn_retries == c.params.syn_retries {
            return Patience::Gone;
        }
        s.syn_retries += 1;
        c.conn.bits &= !bit::TIMED; // Karn: which SYN an answer is for cannot be told
        s.back_off(c);
        Patience::Left
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
        s.reduced = s.recover;
        s.rto_at = Time::MAX;
        self.measure(cx, segment);
        let s = &mut self.state;
        if s.syn_retries > 0 {
            s.window.cwnd = params.payload; // RFC 5681 section 3.1
            if params.lost_syn_threshold {
                s.window.ssthresh = (params.initial_cwnd / 2).max(2 * params.payload);
            }
            if s.estimator.srtt().is_none() {
                s.rto = AFTER_LOST_SYN.max(params.initial_rto).min(params.max_rto);
            }
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

/// Acknowledgements.
impl Sender {
    /// New data are acknowledged and nothing is amiss: the usual way, without a log.
    #[inline]
    pub(crate) fn expected_ack<O: Output>(
        &mut self,
        cx: &mut Context<'_, O>,
        segment: &Segment,
        acked: u32,
        flight: u32,
    ) {
        let params = cx.params;
        self.set_peer_window(params, segment);
        cx.conn.snd_una = segment.ack;
        let s = &mut self.state;
        s.acked += u64::from(acked);
        if let Some(rtt) = s.round_trip(&mut cx.call, segment) {
            s.rto = s.estimator.sample(params, rtt);
            cx.out.rtt(rtt);
        }
        if flight + params.payload > s.window.cwnd {
            s.grow(&cx.call, acked.min(params.count_limit), false);
        }
        s.restart_timer(cx.now, cx.conn);
        if cx.conn.in_flight() == 0 && s.unsent == 0 {
            cx.out.event(Event::AllAcked);
        }
        s.send_window(cx);
    }

    /// An acknowledgement, with its SACK blocks: what has arrived, what is lost, what that means
    /// for the congestion window, and for the phase. What may be sent follows by
    /// [`Self::transmit`].
    pub(crate) fn on_ack<O: Output>(
        &mut self,
        cx: &mut Context<'_, O>,
        segment: &Segment,
        sacks: &[SackBlock],
    ) {
        let flight = cx.conn.in_flight();
        let acked = segment.ack.wrapping_sub(cx.conn.snd_una);
        if acked > flight {
            return; // old, or of something never sent (RFC 9293 section 3.10.7.4)
        }
        self.set_peer_window(cx.params, segment);
        if flight == 0 && !cx.params.keeps_log && !segment.flags.has(Flags::ECE) {
            return; // data alone, from a peer to which nothing was sent
        }
        let (mut option, mut duplicate, mut sacks) = (None, None, sacks);
        if let Some(logged) = self.recovery.logged() {
            (option, sacks) = segment.split_counters(sacks);
            option = logged.test_path(cx.conn, segment, option);
            (duplicate, sacks) = split_duplicate(segment.ack, sacks);
        }
        // Arrived.
        let s = &mut self.state;
        let arrived = self.recovery.arrived(s, &cx.call, segment, sacks);
        let ack = Ack { segment: *segment, flight, acked, duplicate, option, arrived };
        if acked > 0 {
            self.advance(cx, &ack);
        } else {
            self.measure_sacked(cx, &ack);
        }
        // Lost.
        let s = &mut self.state;
        if let (Some(logged), Some(block)) = (self.recovery.logged(), duplicate) {
            logged.on_duplicate(cx.conn, block);
        }
        let lost = self.recovery.lost(s, &cx.call, &ack);
        // Congestion.
        let marked = self.recovery.sample(s, &cx.call, &ack, lost.bytes);
        if let Some(logged) = self.recovery.logged() {
            logged.probe_answered(s, &mut cx.call, &ack);
            if acked > 0 {
                logged.end_reduction(s, &cx.call);
            }
        }
        if marked {
            self.recovery.marked(s, &mut cx.call, &ack);
        }
        // Phase.
        self.change_phase(cx, &ack, marked, lost);
        let s = &mut self.state;
        if let Some(logged) = self.recovery.logged() {
            logged.reduce_proportionally(s, &cx.call, &ack, lost.bytes);
            if acked > 0 || s.phase != Phase::Open {
                logged.arm_probe(s, &cx.call);
            }
        }
    }

    /// New data are acknowledged.
    fn advance<O: Output>(&mut self, cx: &mut Context<'_, O>, ack: &Ack) {
        let &Ack { segment, flight, acked, .. } = ack;
        let fin = cx.conn.has(bit::FIN_SENT);
        let data_left = flight > u32::from(fin);
        let fin_acked = fin && acked == flight;
        cx.conn.snd_una = segment.ack;
        self.state.acked += u64::from(acked - u32::from(fin_acked));
        self.measure(cx, &segment);
        if data_left && self.state.unsent == 0 && flight - acked <= u32::from(fin) {
            cx.out.event(Event::AllAcked);
        }
    }

    /// Takes a round trip if the acknowledgement gives one. `snd_una` has moved already.
    fn measure<O: Output>(&mut self, cx: &mut Context<'_, O>, segment: &Segment) {
        if let Some(rtt) = self.state.round_trip(&mut cx.call, segment) {
            self.on_round_trip(cx, rtt);
        }
    }

    /// A round trip by what is selectively acknowledged, as Linux does: while there is a hole there
    /// are no others. If the first segment was sent later than what has arrived now, its timer
    /// starts again (`tcp_clean_rtx_queue`); if earlier, the timer must not be put off any further.
    fn measure_sacked<O: Output>(&mut self, cx: &mut Context<'_, O>, ack: &Ack) {
        let Some(rtt) = ack.arrived.rtt else { return };
        self.on_round_trip(cx, rtt);
        let first_sent = self.recovery.logged().and_then(|logged| logged.log.first_sent());
        if first_sent.is_some_and(|sent| cx.now - sent < rtt) {
            self.state.rto_at = cx.now + self.state.rto;
        }
    }

    /// A round trip was measured.
    fn on_round_trip<O: Output>(&mut self, cx: &mut Context<'_, O>, rtt: Time) {
        let (s, params) = (&mut self.state, cx.params);
        s.rto = match &mut self.recovery {
            Recovery::Logged(logged) if params.linux_rto => {
                let (una, nxt) = (cx.conn.snd_una, cx.conn.snd_nxt);
                s.estimator.sample_as_linux(params, rtt, &mut logged.deviation, una, nxt)
            }
            _ => s.estimator.sample(params, rtt),
        };
        cx.out.rtt(rtt);
    }

    /// What an acknowledgement means in the present phase, and whether another begins.
    fn change_phase<O: Output>(
        &mut self,
        cx: &mut Context<'_, O>,
        ack: &Ack,
        marked: bool,
        lost: Lost,
    ) {
        let params = cx.params;
        let over = !before(cx.conn.snd_una, self.state.recover);
        let mut restarts_timer = ack.acked > 0;
        match self.state.phase {
            Phase::Open | Phase::Disorder => {
                // RFC 3168 section 6.1.2: no growth on an echo.
                if ack.acked > 0 && !marked {
                    self.grow(cx, ack);
                }
                // All that was sent again in a recovery that is over has come twice.
                let logged = self.recovery.logged();
                if logged
                    .is_some_and(|l| l.undo.all_twice() && l.was_spurious(params, &ack.segment))
                {
                    self.undo(cx);
                }
            }
            Phase::Recovery => {
                let looks = ack.acked > 0 || over;
                let logged = self.recovery.logged();
                if looks && logged.is_some_and(|l| l.was_spurious(params, &ack.segment)) {
                    self.undo(cx);
                } else if over {
                    let s = &mut self.state;
                    s.window.cwnd = self.recovery.window_after(s, &cx.call);
                    s.end_reduction(params);
                    self.end_recovery();
                } else {
                    restarts_timer = self.recovery.partial(&mut self.state, cx, ack.acked);
                }
            }
            Phase::Loss => self.after_timeout(cx, ack, marked, over),
        }
        if restarts_timer {
            self.state.restart_timer(cx.now, cx.conn);
        }
        if self.state.phase < Phase::Recovery {
            if ack.acked > 0 {
                (self.state.dupacks, self.state.inflation) = (0, 0);
            }
            self.settle_phase();
        }
        let begins = match self.state.phase {
            Phase::Open | Phase::Disorder => self.recovery.shows_loss(&lost),
            // A retransmission that is lost after a timeout (RFC 5681 section 4.3).
            Phase::Loss => lost.again,
            Phase::Recovery => false,
        };
        if begins {
            self.begin_recovery(cx, ack.arrived.bytes);
        }
    }

    /// No recovery is under way: while SACK reports anything, or duplicates have come, the sender
    /// is in the Disorder state.
    fn settle_phase(&mut self) {
        let disorder = self.state.dupacks > 0 || self.recovery.any_sacked();
        self.state.phase = if disorder { Phase::Disorder } else { Phase::Open };
    }

    /// Grows the window, if it is what holds the sender back.
    fn grow<O: Output>(&mut self, cx: &mut Context<'_, O>, ack: &Ack) {
        let (s, params) = (&mut self.state, cx.params);
        let limited = self.recovery.cwnd_limited(s, params, ack.flight);
        let bytes = ack.acked.min(params.count_limit);
        let rtt = ack.arrived.rtt;
        let bytes = self.recovery.watch_slow_start(s, &cx.call, bytes, rtt);
        if limited && bytes > 0 {
            s.grow(&cx.call, bytes, false);
        }
    }

    /// An acknowledgement after a timeout; all that was outstanding then is acknowledged if `over`.
    fn after_timeout<O: Output>(
        &mut self,
        cx: &mut Context<'_, O>,
        ack: &Ack,
        marked: bool,
        over: bool,
    ) {
        let (s, params) = (&mut self.state, cx.params);
        if let Some(logged) = self.recovery.logged()
            && logged.timeout_was_spurious(s, &cx.call, ack)
        {
            return self.undo(cx);
        }
        if ack.acked > 0 && !marked {
            let pipe = self.recovery.pipe(s, &cx.call) + ack.acked;
            if !params.hystart_css {
                let (acked, rtt) = (ack.acked, ack.arrived.rtt);
                self.recovery.watch_slow_start(s, &cx.call, acked, rtt);
            }
            if pipe + params.payload > s.window.cwnd {
                s.grow(&cx.call, ack.acked.min(params.count_limit), true);
            }
        }
        if over {
            self.end_recovery();
        }
    }

    /// What was lost has been repaired.
    fn end_recovery(&mut self) {
        self.state.phase = Phase::Open;
        if let Some(logged) = self.recovery.logged() {
            logged.end();
        }
    }

    /// Takes the last reduction back, if it may be.
    fn undo<O: Output>(&mut self, cx: &mut Context<'_, O>) {
        let Some(window) = self.recovery.logged().and_then(|logged| logged.undo()) else {
            return;
        };
        let (s, params) = (&mut self.state, cx.params);
        s.window.cwnd = s.window.cwnd.max(window.cwnd);
        s.window.ssthresh = s.window.ssthresh.max(window.ssthresh);
        s.control.on_undo(&params.tuning, &mut s.window);
        s.clamp_window(params);
        s.backoff = 0;
        s.reduced = cx.conn.snd_una.wrapping_sub(1);
        self.settle_phase();
    }

    /// Something is lost: fast recovery (RFC 6675 section 5 step 4, RFC 6582 section 3.2 step 2,
    /// RFC 8985 section 6.2). `arrived` bytes are newly known to have arrived.
    fn begin_recovery<O: Output>(&mut self, cx: &mut Context<'_, O>, arrived: u32) {
        let s = &mut self.state;
        let reduces = s.phase == Phase::Loss || !s.reduced_in_this_window(cx.conn);
        s.phase = Phase::Recovery;
        s.recover = cx.conn.snd_nxt;
        let window = s.window;
        if reduces {
            s.reduce_for_loss(&mut cx.call);
        }
        // What is sent again has a whole timeout to arrive in, though RFC 6298 rule 5.3 would wait
        // for an acknowledgement of new data: RFC 6675 section 6 allows it.
        s.rto_at = cx.now + s.rto;
        self.recovery.begin(s, cx, window, reduces, arrived);
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
                let lost = logged.lost(s, &cx.call);
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

/// Takes a report of data that came twice off the blocks: the first one, if it is below what is
/// acknowledged or within the second (RFC 2883 section 4).
fn split_duplicate(ack: u32, sacks: &[SackBlock]) -> (Option<SackBlock>, &[SackBlock]) {
    let Some((first, rest)) = sacks.split_first() else {
        return (None, sacks);
    };
    let inside =
        |second: &SackBlock| !before(first.start, second.start) && !before(second.end, first.end);
    let twice = before(first.start, first.end) && !before(ack, first.end)
        || rest.first().is_some_and(inside);
    if twice { (Some(*first), rest) } else { (None, sacks) }
}
