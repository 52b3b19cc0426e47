//! Sending with a log: what is lost, then new data, while less is in the network than the window
//! allows and pace and host let it.

use super::delivery_rate::app_limited;
use super::log::Record;
use super::logged::Logged;
use crate::call::Call;
use crate::congestion::pacing::BURSTS_A_SECOND;
use crate::connection::Connection;
use crate::context::Context;
use crate::segment::{Output, SackBlock};
use crate::sender::cwnd_validation::Unused;
use crate::sender::offload::{MILLISECOND, Room};
use crate::sender::state::{Phase, SendState};
use sojourn_base::Time;

impl Logged {
    /// Sends what may be sent. Returns whether anything was.
    pub(crate) fn transmit<O: Output>(
        &mut self,
        s: &mut SendState,
        cx: &mut Context<'_, O>,
    ) -> bool {
        let (params, now) = (cx.params, cx.now);
        let mss = params.payload;
        if s.has_new(cx.conn) && s.restart_after_idle(&cx.call) {
            self.restart_after_idle(now);
        }
        if params.tuning.samples() && self.starts_to_send(s, cx.conn) {
            s.control.on_tx_start(&params.tuning, &mut s.window, now);
        }
        let (sent, mut limited) = (cx.conn.segments, false);
        loop {
            let outstanding = cx.conn.in_flight();
            let careful = s.phase == Phase::Disorder && !params.limited_transmit;
            let new = s.unsent.min(u64::from(mss)) as u32;
            let fin = s.fin_is_due(cx.conn);
            self.pace_at = Time::MAX;
            let pipe = if careful { outstanding } else { self.log.pipe(outstanding) };
            let again = self.log.next_waiting().filter(|_| !self.new_first);
            let len = if again.is_some() { mss } else { new.max(u32::from(fin)) };
            if len == 0 {
                if pipe + mss <= s.window.cwnd {
                    self.delivered.limit(pipe);
                }
                break;
            }
            if again.is_none() && outstanding + len > s.peer_window {
                break;
            }
            if pipe + len > s.window.cwnd && (pipe > 0 || again.is_none()) {
                limited = true;
                break;
            }
            if again.is_none() && outstanding > 0 && !cx.out.has_room() {
                self.reduce_for_mark(s, &mut cx.call, outstanding, 0);
                limited = true;
                break;
            }
            if let Some(at) = self.pacer.wait(now) {
                self.pace_at = at;
                break;
            }
            if let Some(at) = self.interface_full_until(s, &cx.call) {
                self.pace_at = at;
                break;
            }
            if again.is_none() && self.defers(s, &cx.call, pipe) {
                limited = s.window.cwnd - pipe < s.peer_window - outstanding;
                break;
            }
            match again {
                Some(number) => self.retransmit(s, cx, number),
                None => self.send_new(s, cx, new),
            }
            self.note_handed_down(&cx.call, len, cx.out);
        }
        self.cwnd_limited.note(limited, cx.conn);
        let sends = cx.conn.segments != sent;
        if sends && params.unused_decay {
            self.decay_unused(s, &cx.call);
        }
        sends
    }

    /// Whether data are due and nothing is in flight, because there was nothing to send.
    fn starts_to_send(&self, s: &SendState, conn: &Connection) -> bool {
        conn.in_flight() == 0 && self.delivered.is_app_limited() && s.has_new(conn)
    }

    /// The peer saw a congestion mark, or the host's interface is full; `arrived` bytes are newly
    /// acknowledged.
    pub(crate) fn reduce_for_mark(
        &mut self,
        s: &mut SendState,
        c: &mut Call<'_>,
        flight: u32,
        arrived: u32,
    ) {
        let cwnd = s.window.cwnd;
        if s.reduce_for_mark(c, flight) {
            self.on_marked(s, c, cwnd, arrived);
        }
    }

    /// Sends `len` bytes for the first time.
    pub(crate) fn send_new<O: Output>(
        &mut self,
        s: &mut SendState,
        cx: &mut Context<'_, O>,
        len: u32,
    ) {
        let start = cx.conn.snd_nxt;
        s.send_new(cx, len, self.codepoint(cx.params, cx.conn));
        let (end, outstanding) = (cx.conn.snd_nxt, cx.conn.in_flight());
        let bytes = end.wrapping_sub(start);
        let flight = self.log.pipe(outstanding);
        let stamp = self.delivered.stamp(cx.now, flight, outstanding == bytes);
        self.log.sent(start, end, stamp, app_limited(&self.delivered));
        self.note_sent(s, &cx.call, bytes);
    }

    /// Sends a record again.
    pub(crate) fn retransmit<O: Output>(
        &mut self,
        s: &mut SendState,
        cx: &mut Context<'_, O>,
        number: u32,
    ) {
        let Record { start, end, .. } = *self.log.get(number);
        let bytes = end.wrapping_sub(start);
        let flight = self.pipe(cx.conn) + bytes;
        let stamp = self.delivered.stamp(cx.now, flight, false);
        self.log.sent_again(number, stamp, app_limited(&self.delivered));
        self.undo.sent_again(cx.now, s.acked_at(cx.conn, end));
        s.retransmit(cx, SackBlock { start, end }, self.codepoint(cx.params, cx.conn));
        if start == cx.conn.snd_una {
            s.rto_at = cx.now + s.rto; // `tcp_xmit_retransmit_queue` of Linux
        }
        self.note_sent(s, &cx.call, bytes);
    }

    /// `bytes` were sent, new or not.
    fn note_sent(&mut self, s: &SendState, c: &Call<'_>, bytes: u32) {
        self.prr.sent(bytes);
        if c.params.pacing {
            self.pacer.sent(c.params.bursts(), c.now, bytes, s.pacing_rate(c));
        }
    }

    /// What is handed down at once: a millisecond at the pace.
    fn burst_bytes(s: &SendState, c: &Call<'_>) -> u32 {
        let most = u64::from(c.params.burst_segments.max(2)) * u64::from(c.params.payload);
        let least = u64::from(2 * c.params.payload);
        (s.pacing_rate(c) / BURSTS_A_SECOND).clamp(least, most) as u32
    }

    /// Whether so much of this flow waits at the interface that it sends no more, and until when.
    /// What is sent alone is always sent (`tcp_rtx_queue_empty_or_single_skb`).
    fn interface_full_until(&mut self, s: &SendState, c: &Call<'_>) -> Option<Time> {
        let alone = c.conn.in_flight() <= c.params.payload;
        if !c.params.small_queues || alone || self.offload.is_empty() {
            return None;
        }
        let packet = if c.params.tso { Self::burst_bytes(s, c) } else { c.params.payload };
        let rate = s.pacing_rate(c);
        self.offload.full_until(c.now, (rate / BURSTS_A_SECOND).max(2 * u64::from(packet)))
    }

    /// Whether new data wait for an acknowledgement that makes room for a larger burst. `pipe`
    /// bytes are in the network.
    fn defers(&mut self, s: &SendState, c: &Call<'_>, pipe: u32) -> bool {
        if !c.params.tso || s.phase >= Phase::Recovery || self.offload.in_burst() {
            return false;
        }
        let room = Room {
            window: s.window.cwnd.min(s.peer_window),
            left: (s.window.cwnd.saturating_sub(pipe))
                .min(s.peer_window.saturating_sub(c.conn.in_flight())),
            burst: Self::burst_bytes(s, c),
            unsent: s.unsent,
            mss: c.params.payload,
        };
        if room.is_worth_waiting_for() && self.ack_is_near(s, c.now) {
            return true;
        }
        self.offload.begin_burst(&room);
        false
    }

    /// Whether an acknowledgement may be expected soon: within a millisecond, or half a round trip.
    fn ack_is_near(&self, s: &SendState, now: Time) -> bool {
        let srtt = s.estimator.smoothed();
        let Some(oldest) = self.log.oldest() else {
            return false;
        };
        let expected = self.log.get(oldest).stamp.sent + srtt;
        now.saturating_sub(s.sent_at) <= MILLISECOND
            && expected.saturating_sub(now) <= MILLISECOND.min(Time(srtt.0 / 2))
    }

    /// `bytes` of data were handed down to the host's interface.
    fn note_handed_down(&mut self, c: &Call<'_>, bytes: u32, out: &mut impl Output) {
        if c.params.small_queues {
            self.offload.sent(c.now, out.leaves(), bytes);
        }
        if c.params.tso {
            self.offload.take_from_burst(bytes);
        }
    }

    /// Something was sent: brings the window down if the application has left part of it unused for
    /// a timeout (RFC 2861 section 3.2, `tcp_cwnd_application_limited` of Linux).
    fn decay_unused(&mut self, s: &mut SendState, c: &Call<'_>) {
        let cwnd = s.window.cwnd;
        if self.cwnd_limited.holds(cwnd, s.in_slow_start()) {
            self.unused = Unused::new(c.now);
            return;
        }
        let Some(used) = self.unused.after(c.now, c.conn.in_flight(), s.rto) else {
            return;
        };
        self.unused = Unused::new(c.now);
        let used = used.max(c.params.initial_cwnd);
        let idle = s.unsent == 0 && s.phase == Phase::Open && !self.reducing;
        if idle && used < cwnd {
            s.remember_window();
            s.window.cwnd = used + (cwnd - used) / 2;
        }
    }
}
