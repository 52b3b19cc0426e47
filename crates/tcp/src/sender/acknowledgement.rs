//! What an acknowledgement means: for what is outstanding, for the congestion window, and for the
//! phase.

use super::Sender;
use super::recovery::{Ack, Lost, Recovery};
use super::state::Phase;
use crate::connection::bit;
use crate::context::Context;
use crate::segment::{Event, Flags, Output, SackBlock, Segment, before};
use sojourn_base::Time;

impl Sender {
    /// New data are acknowledged and nothing is amiss: the usual way, without a log.
    #[inline(always)]
    pub(crate) fn expected_ack<O: Output>(&mut self, cx: &mut Context<'_, O>, segment: &Segment) {
        let (params, flight) = (cx.params, cx.conn.in_flight());
        let acked = segment.ack.wrapping_sub(cx.conn.snd_una);
        self.set_peer_window(params, segment);
        cx.conn.snd_una = segment.ack;
        let s = &mut self.state;
        s.count_acked(acked, segment.ack);
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
        // Nothing is amiss, so nothing is added to the congestion window.
        debug_assert!(s.inflation == 0);
        s.send_inflated(cx, 0);
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
            logged.on_duplicate(s, cx.conn, block);
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
        self.state.count_acked(acked - u32::from(fin_acked), segment.ack);
        self.measure(cx, &segment);
        if data_left && self.state.unsent == 0 && flight - acked <= u32::from(fin) {
            cx.out.event(Event::AllAcked);
        }
    }

    /// Takes a round trip if the acknowledgement gives one. `snd_una` has moved already.
    pub(super) fn measure<O: Output>(&mut self, cx: &mut Context<'_, O>, segment: &Segment) {
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

    /// A recovery was for nothing: it is over, and its reduction taken back, if that may be.
    fn undo<O: Output>(&mut self, cx: &mut Context<'_, O>) {
        let (s, params) = (&mut self.state, cx.params);
        if let Some(window) = self.recovery.logged().and_then(|logged| logged.undo()) {
            s.window.cwnd = s.window.cwnd.max(window.cwnd);
            s.window.ssthresh = s.window.ssthresh.max(window.ssthresh);
            s.control.on_undo(&params.tuning, &mut s.window);
            s.clamp_window(params);
            s.forget_reduction(cx.conn.snd_una);
        }
        s.backoff = 0;
        self.settle_phase();
    }

    /// Something is lost: fast recovery (RFC 6675 section 5 step 4, RFC 6582 section 3.2 step 2,
    /// RFC 8985 section 6.2). `arrived` bytes are newly known to have arrived.
    pub(super) fn begin_recovery<O: Output>(&mut self, cx: &mut Context<'_, O>, arrived: u32) {
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
