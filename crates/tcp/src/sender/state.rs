//! What every sender has, however it finds and repairs losses: windows, timers, round trips; and
//! how it sends.

use super::rtt::Estimator;
use crate::call::Call;
use crate::congestion::{Acked, Congested, Congestion, Control, Tuning, Window};
use crate::connection::{Connection, bit};
use crate::context::Context;
use crate::ecn::Feedback;
use crate::params::Params;
use crate::segment::{Flags, Output, SackBlock, Segment, before};
use sojourn_base::{Ecn, Time};

/// The window times this, in percent, goes out in a round trip of slow start, and afterwards
/// (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
const SLOW_START: u64 = 200;
const AVOIDANCE: u64 = 120;

/// The sender's state with regard to loss (`tcp_ca_state` of Linux).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(super) enum Phase {
    /// Nothing amiss.
    Open,
    /// Duplicate acknowledgements or SACKs have come, too few to tell a loss from reordering.
    Disorder,
    /// Fast recovery (RFC 6675, RFC 6582).
    Recovery,
    /// After a timeout, until all that was outstanding then is acknowledged.
    Loss,
}

/// Fields in the order of their heat: with what a connection has, those up to the first half of
/// `control` are all that an acknowledgement in order needs.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct SendState {
    /// The peer's receive window in bytes.
    pub peer_window: u32,
    /// Where the timed segment ends.
    timed_seq: u32,
    /// What duplicate acknowledgements add to the congestion window (RFC 3042, RFC 6582), bytes.
    /// In a recovery with `simple_pipe`: bytes taken to be in the network. 0 in [`Phase::Open`].
    pub inflation: i32,
    pub phase: Phase,
    /// Duplicate acknowledgements in a row; in NewReno's recovery: not 0 before the first partial
    /// acknowledgement.
    pub dupacks: u8,
    /// Timeouts in a row without progress.
    pub backoff: u8,
    /// How often the SYN or SYN-ACK was sent again.
    pub syn_retries: u8,
    /// When the retransmission timer runs out.
    pub rto_at: Time,
    /// Bytes written and not sent yet; `u64::MAX` for no end.
    pub unsent: u64,
    pub window: Window,
    pub estimator: Estimator,
    /// The present retransmission timeout, backed off where need be.
    pub rto: Time,
    /// When data were last sent.
    pub sent_at: Time,
    /// Bytes that were acknowledged.
    pub acked: u64,
    /// What a small algorithm counts is in its first half.
    pub control: Congestion,
    /// When the timed segment was sent.
    timed_at: Time,
    /// Recovery ends when everything before here is acknowledged.
    pub recover: u32,
    /// The window was last reduced with everything before here sent: no mark or loss reduces it
    /// again until that is acknowledged.
    pub reduced: u32,
    pub retransmissions: u32,
    pub timeouts: u32,
}

impl SendState {
    pub(super) fn new(params: &Params, iss: u32) -> Self {
        Self {
            peer_window: 0,
            timed_seq: 0,
            inflation: 0,
            phase: Phase::Open,
            dupacks: 0,
            backoff: 0,
            syn_retries: 0,
            rto_at: Time::MAX,
            unsent: 0,
            window: Window { cwnd: params.initial_cwnd, ssthresh: u32::MAX },
            estimator: Estimator::default(),
            rto: params.initial_rto,
            sent_at: Time::ZERO,
            acked: 0,
            control: Congestion::new(&params.tuning),
            timed_at: Time::ZERO,
            recover: iss,
            reduced: iss,
            retransmissions: 0,
            timeouts: 0,
        }
    }

    /// Whether nothing but the FIN is left to send.
    #[inline]
    pub(super) fn fin_is_due(&self, conn: &Connection) -> bool {
        self.unsent == 0 && conn.bits & (bit::CLOSING | bit::FIN_SENT) == bit::CLOSING
    }

    /// Whether data or a FIN are left to send.
    pub(super) fn has_new(&self, conn: &Connection) -> bool {
        self.unsent > 0 || self.fin_is_due(conn)
    }

    /// How many bytes are acknowledged once all before `end` is, which is not before `snd_una`.
    pub(super) fn acked_at(&self, conn: &Connection, end: u32) -> u64 {
        self.acked + u64::from(end.wrapping_sub(conn.snd_una))
    }

    /// Whether the window grows by slow start.
    pub(super) fn in_slow_start(&self) -> bool {
        self.window.cwnd < self.window.ssthresh
    }
}

/// Round trips and the retransmission timer.
impl SendState {
    /// Times the segment that ends at `snd_nxt`.
    #[inline(always)]
    pub(super) fn time_from(&mut self, now: Time, conn: &mut Connection) {
        conn.bits |= bit::TIMED;
        self.timed_at = now;
        self.timed_seq = conn.snd_nxt;
    }

    /// The round trip that an acknowledgement of new data gives, if it does.
    #[inline(always)]
    pub(super) fn round_trip(&mut self, c: &mut Call<'_>, segment: &Segment) -> Option<Time> {
        if c.params.timestamps {
            // RFC 7323 section 4.1: the echoed time is that of whatever caused this.
            let us = ((c.now.0 / 1000) as u32).wrapping_sub(segment.tsecr);
            Some(Time::from_micros(u64::from(us)))
        } else if c.conn.has(bit::TIMED) && !before(segment.ack, self.timed_seq) {
            c.conn.bits &= !bit::TIMED;
            Some(c.now - self.timed_at)
        } else {
            None
        }
    }

    /// RFC 6298 rules 5.2 and 5.3.
    #[inline(always)]
    pub(super) fn restart_timer(&mut self, now: Time, conn: &Connection) {
        self.backoff = 0;
        self.rto_at = if conn.in_flight() == 0 { Time::MAX } else { now + self.rto };
    }

    /// RFC 6298 rules 5.5 and 5.6.
    pub(super) fn back_off(&mut self, c: &Call<'_>) {
        self.rto = (self.rto * 2).min(c.params.max_rto);
        self.rto_at = c.now + self.rto;
    }

    /// The rate to pace at in bytes per second: the algorithm's own, or the window over the round
    /// trip with the gains of Linux; 0 before there is a round trip.
    pub(super) fn pacing_rate(&self, c: &Call<'_>) -> u64 {
        let srtt = self.estimator.smoothed();
        let own = self.control.pace(&c.params.tuning, &self.window, srtt);
        if own > 0 {
            return own;
        }
        let window = u64::from(self.window.cwnd.max(c.conn.in_flight()));
        let gain = if self.window.cwnd < self.window.ssthresh / 2 { SLOW_START } else { AVOIDANCE };
        let rate = u128::from(window * gain) * 10_000_000 / u128::from(srtt.0.max(1));
        if srtt == Time::ZERO { 0 } else { u64::try_from(rate).unwrap_or(u64::MAX) }
    }
}

/// The congestion window.
impl SendState {
    /// Grows the window by `acked` bytes; asked only if it was what held the sender back.
    #[inline(always)]
    pub(super) fn grow(&mut self, c: &Call<'_>, acked: u32, after_timeout: bool) {
        let (srtt, smooth, mss) =
            (self.estimator.smoothed(), c.params.smooth_growth, c.params.payload);
        let acked = Acked { now: c.now, srtt, bytes: acked, mss, after_timeout, smooth };
        match (&mut self.control, &c.params.tuning) {
            // Here and not in a function of all: that of most hosts takes few instructions.
            (Congestion::Reno(reno), Tuning::Reno(t)) => reno.on_ack(t, &mut self.window, acked),
            (control, tuning) => control.on_ack(tuning, &mut self.window, acked),
        }
        self.window.cwnd = self.window.cwnd.min(c.params.max_cwnd);
    }

    /// Keeps the window within its limits.
    pub(super) fn clamp_window(&mut self, params: &Params) {
        self.window.cwnd = self.window.cwnd.min(params.max_cwnd).max(params.payload);
    }

    /// What congestion finds, with `flight` bytes outstanding.
    pub(super) fn congested(&self, c: &Call<'_>, flight: u32) -> Congested {
        let flight = flight.min(self.window.cwnd);
        Congested { now: c.now, srtt: self.estimator.smoothed(), flight, mss: c.params.payload }
    }

    /// So many bytes more are acknowledged, up to `una`.
    #[inline(always)]
    pub(super) fn count_acked(&mut self, bytes: u32, una: u32) {
        let before = self.acked;
        self.acked += u64::from(bytes);
        // Sequence numbers come around after 4 GiB.
        if (self.acked ^ before) >> 29 != 0 {
            self.forget_old_reduction(una);
        }
    }

    /// Lets the mark of a reduction that is over follow what is acknowledged.
    #[cold]
    fn forget_old_reduction(&mut self, una: u32) {
        if before(self.reduced, una) {
            self.forget_reduction(una);
        }
    }

    /// No reduction stands in the way of another.
    pub(super) fn forget_reduction(&mut self, una: u32) {
        self.reduced = una.wrapping_sub(1);
    }

    /// Whether the window was reduced and not all that was sent then is acknowledged.
    pub(super) fn reduced_in_this_window(&self, conn: &Connection) -> bool {
        self.reduced.wrapping_sub(conn.snd_una).wrapping_sub(1) < conn.in_flight()
    }

    /// The window has just been reduced.
    pub(super) fn note_reduction(&mut self, c: &mut Call<'_>) {
        self.clamp_window(c.params);
        self.reduced = c.conn.snd_nxt;
        if c.conn.has(bit::ECN) {
            c.conn.bits |= bit::CWR;
        }
    }

    /// A loss reduces the window.
    pub(super) fn reduce_for_loss(&mut self, c: &mut Call<'_>) {
        let at = self.congested(c, c.conn.in_flight());
        self.control.on_loss(&c.params.tuning, &mut self.window, at);
        self.note_reduction(c);
    }

    /// The peer saw a congestion mark (RFC 3168 section 6.1.2), or the host's interface is full: at
    /// most one reduction per window, or as the algorithm has it. The acknowledgement of the last
    /// data before a reduction still carries the echo: the CWR comes behind them. Returns whether
    /// it did reduce.
    pub(super) fn reduce_for_mark(&mut self, c: &mut Call<'_>, flight: u32) -> bool {
        let answered = self.reduced_in_this_window(c.conn) || self.reduced == c.conn.snd_una;
        let reduces =
            self.phase < Phase::Recovery && !answered && self.control.answers_marks(c.now);
        if reduces {
            let at = self.congested(c, flight);
            self.control.on_mark(&c.params.tuning, &mut self.window, at);
            self.note_reduction(c);
        }
        reduces
    }

    /// The same where the window follows at once.
    pub(super) fn reduce_at_once(&mut self, c: &mut Call<'_>, flight: u32) {
        if self.reduce_for_mark(c, flight) {
            self.end_reduction(c.params);
        }
    }

    /// A reduction is over and was not undone.
    pub(super) fn end_reduction(&mut self, params: &Params) {
        self.control.on_recovered(&params.tuning, &mut self.window, params.payload);
        self.clamp_window(params);
    }

    /// Something will be sent. If nothing is outstanding, after a pause longer than the timeout the
    /// window starts again (RFC 5681 section 4.1). Returns whether it has.
    #[inline]
    pub(super) fn restart_after_idle(&mut self, c: &Call<'_>) -> bool {
        let pause = c.now.saturating_sub(self.sent_at);
        let restarts = c.conn.in_flight() == 0
            && c.params.idle_restart
            && pause > self.rto
            && self.window.cwnd > c.params.initial_cwnd;
        if restarts {
            self.restart(c, pause);
        }
        restarts
    }

    /// The window after a `pause` longer than the timeout: the initial one (RFC 5681 section 4.1),
    /// or half for each timeout (RFC 2861 section 3.1, `tcp_cwnd_restart` of Linux).
    #[cold]
    fn restart(&mut self, c: &Call<'_>, pause: Time) {
        let params = c.params;
        if params.idle_decay {
            self.remember_window();
            let halvings = (pause.0 - 1) / self.rto.0.max(1);
            let left = self.window.cwnd.checked_shr(halvings.min(32) as u32).unwrap_or(0);
            self.window.cwnd = left.max(params.initial_cwnd);
        } else {
            self.window.cwnd = params.initial_cwnd;
        }
        let at = self.congested(c, 0);
        self.control.on_restart(&params.tuning, &mut self.window, at);
    }

    /// The threshold keeps three quarters of a window that comes down (`tcp_current_ssthresh`).
    pub(super) fn remember_window(&mut self) {
        let Self { window, .. } = self;
        window.ssthresh = window.ssthresh.max(window.cwnd - window.cwnd / 4);
    }
}

/// Sending.
impl SendState {
    /// Sends `len` bytes for the first time, and the FIN if it comes after them and fits. `ect` is
    /// the codepoint of data that are ECN-capable.
    #[inline(always)]
    pub(super) fn send_new<O: Output>(&mut self, cx: &mut Context<'_, O>, len: u32, ect: Ecn) {
        if self.unsent != u64::MAX {
            self.unsent -= u64::from(len);
        }
        let mut segment = cx.header(cx.conn.snd_nxt, Flags::ACK);
        segment.len = len as u16;
        cx.conn.snd_nxt = cx.conn.snd_nxt.wrapping_add(len);
        if cx.conn.has(bit::ECN | bit::CLOSING) {
            let (ecn, flags) = self.ecn_and_fin(cx.conn, len, ect);
            segment.ecn = ecn;
            segment.flags |= flags;
        }
        if !cx.params.timestamps && !cx.conn.has(bit::TIMED) {
            self.time_from(cx.now, cx.conn);
        }
        self.note_sent(cx.now);
        cx.put(segment, &[]);
    }

    /// Data go out: the timer runs (RFC 6298 rule 5.1).
    #[inline(always)]
    fn note_sent(&mut self, now: Time) {
        self.sent_at = now;
        if self.rto_at == Time::MAX {
            self.rto_at = now + self.rto;
        }
    }

    /// ECN and FIN of a new segment of `len` bytes.
    #[inline(never)]
    fn ecn_and_fin(&mut self, conn: &mut Connection, len: u32, ect: Ecn) -> (Ecn, Flags) {
        let (mut ecn, mut flags) = (Ecn::NotEct, Flags::NONE);
        if conn.has(bit::ECN) && len > 0 {
            ecn = ect;
            // RFC 3168 section 6.1.2: on the first new data after a reduction.
            if conn.has(bit::CWR) && conn.feedback != Feedback::Counted {
                flags |= Flags::CWR;
                conn.bits &= !bit::CWR;
            }
        }
        let room = conn.in_flight() < self.peer_window;
        if self.fin_is_due(conn) && room {
            flags |= Flags::FIN;
            conn.bits |= bit::FIN_SENT;
            conn.snd_nxt = conn.snd_nxt.wrapping_add(1);
        }
        (ecn, flags)
    }

    /// Retransmits a segment at most from `block.start` on, and returns where that ends. It
    /// is not ECN-capable (RFC 3168 section 6.1.5) unless settings say so, and spoils the timing
    /// (Karn; RFC 6298 section 3).
    #[cold]
    pub(super) fn retransmit<O: Output>(
        &mut self,
        cx: &mut Context<'_, O>,
        block: SackBlock,
        ect: Ecn,
    ) -> u32 {
        let SackBlock { start, end } = block;
        let rest = end.wrapping_sub(start);
        let has_fin = cx.conn.has(bit::FIN_SENT) && end == cx.conn.snd_nxt;
        let mut len = rest.min(cx.params.payload);
        let mut segment = cx.header(start, Flags::ACK);
        let mut end = start.wrapping_add(len);
        if has_fin && rest <= cx.params.payload + 1 {
            segment.flags |= Flags::FIN;
            len = rest - 1;
            end = block.end;
        }
        segment.len = len as u16;
        if cx.params.ect_again && segment.len > 0 && cx.conn.has(bit::ECN) {
            segment.ecn = ect;
        }
        cx.conn.bits &= !bit::TIMED;
        self.retransmissions += 1;
        self.note_sent(cx.now);
        cx.put(segment, &[]);
        end
    }

    /// Sends new data while less is outstanding than the windows allow.
    #[inline(never)]
    pub(super) fn send_window<O: Output>(&mut self, cx: &mut Context<'_, O>) {
        self.send_inflated(cx, self.inflation);
    }

    /// The same with `inflation` bytes more than the congestion window. Only full segments, but for
    /// the last of what is written, which the FIN may follow: the window never moves by less (RFC
    /// 9293 section 3.8.6.2).
    #[inline(always)]
    pub(super) fn send_inflated<O: Output>(&mut self, cx: &mut Context<'_, O>, inflation: i32) {
        if !self.has_new(cx.conn) {
            return;
        }
        if cx.conn.in_flight() == 0 {
            self.restart_after_idle(&cx.call.again());
        }
        let window = self.window.cwnd.saturating_add_signed(inflation).min(self.peer_window);
        let (mss, ect) = (cx.params.payload, cx.params.ect);
        loop {
            let flight = cx.conn.in_flight();
            let mut len = mss;
            if self.unsent < u64::from(mss) {
                len = self.unsent as u32;
                if len == 0 && !(self.fin_is_due(cx.conn) && flight < window) {
                    return;
                }
            }
            if flight + len > window {
                return;
            }
            if len == mss && flight > 0 && !cx.out.has_room() {
                return self.local_congestion(&mut cx.call.again());
            }
            self.send_new(cx, len, ect);
        }
    }

    /// The host's interface is full: the window is reduced as after a mark, once in a round trip
    /// (`tcp_enter_cwr` of Linux 2.4).
    #[cold]
    #[inline(never)]
    fn local_congestion(&mut self, c: &mut Call<'_>) {
        let flight = c.conn.in_flight();
        self.reduce_at_once(c, flight);
    }
}
