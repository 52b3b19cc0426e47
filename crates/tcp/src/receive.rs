//! Receiving: data in order and out of order, delayed acknowledgements, the echo of marks.

use crate::Params;
use crate::endpoint::{Endpoint, bit};
use crate::segment::{Event, Flags, Output, SackBlock, Segment, before};
use alloc::boxed::Box;
use sojourn_base::Time;

/// What is owed for a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Nothing, or an acknowledgement that may wait.
    Later,
    /// An acknowledgement at once.
    Now,
}

impl Endpoint {
    /// Whether nothing is held beyond a hole.
    #[inline]
    pub(crate) fn holds_nothing(&self) -> bool {
        match &self.reassembly {
            None => true,
            Some(held) => held.is_empty(),
        }
    }

    /// The next data in order, and nothing else: the usual way.
    #[inline]
    pub(crate) fn expected_data(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        out: &mut impl Output,
    ) {
        self.peer_window = params.window_bytes(segment.window, segment.flags);
        let len = u32::from(segment.len);
        if params.timestamps && self.ack_sent == self.rcv_nxt {
            self.ts_recent = segment.tsval;
        }
        self.rcv_nxt = self.rcv_nxt.wrapping_add(len);
        self.delivered += u64::from(len);
        out.deliver(len);
        let grows = params.autotune && self.fit_window(params, now, segment);
        if grows || self.owes_ack(params, now) == Reply::Now {
            self.send_ack(params, now, out);
        }
    }

    /// Data have arrived in order. An acknowledgement is owed at once for every second full
    /// segment, and may wait for less (RFC 5681 section 4.2), but not at the beginning of a
    /// connection, where the sender's window is small (`tcp_incr_quickack` of Linux).
    #[inline]
    fn owes_ack(&mut self, params: &Params, now: Time) -> Reply {
        let second = self.rcv_nxt.wrapping_sub(self.ack_sent) > params.payload;
        if second || !params.delayed_ack || self.delivered <= params.quick_bytes {
            return Reply::Now;
        }
        if self.ack_at == Time::MAX {
            self.ack_at = now + params.delayed_ack_time;
        }
        Reply::Later
    }

    /// The general case of a segment with data or a FIN.
    pub(crate) fn receive(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        out: &mut impl Output,
    ) -> Reply {
        let span = segment.span();
        if span == 0 {
            return Reply::Later;
        }
        let end = segment.seq.wrapping_add(span);
        let limit = self.rcv_nxt.wrapping_add(params.receive_window);
        // RFC 9293 section 3.10.7.4: outside the window, acknowledge and forget.
        if !before(self.rcv_nxt, end) || before(limit, end) {
            if !before(self.rcv_nxt, end) {
                self.note_duplicate(params, segment.seq, end);
            }
            return Reply::Now;
        }
        let sudden = self.note_marks(params, now, segment, out);
        // RFC 7323 section 4.3, with the condition of RFC 1323 section 3.4.
        if params.timestamps && !before(self.ack_sent, segment.seq) && before(self.ack_sent, end) {
            self.ts_recent = segment.tsval;
        }
        let fin = segment.flags.has(Flags::FIN);
        if fin {
            self.bits |= bit::FIN_SEEN;
        }
        if before(self.rcv_nxt, segment.seq) {
            self.tell_before(params, now, (segment.seq, end), out);
            let held = self.reassembly.get_or_insert_with(Box::default);
            held.fin_end = if fin { end } else { held.fin_end };
            let twice = params.dsack && held.holds(segment.seq, end);
            held.insert(segment.seq, end);
            if twice {
                self.note_duplicate(params, segment.seq, end);
            }
            let grows = params.autotune && self.grow_window(params);
            return if grows || twice || sudden { Reply::Now } else { self.owes_sack(params, now) };
        }
        let mut next = end;
        let had_hole = !self.holds_nothing();
        if let Some(held) = &mut self.reassembly {
            next = held.fill(end);
        }
        let mut bytes = next.wrapping_sub(self.rcv_nxt);
        self.rcv_nxt = next;
        // It lies in this segment, or behind it beyond what was a hole.
        let fin_end = match &self.reassembly {
            Some(held) if !fin => held.fin_end,
            _ => end,
        };
        let closed = self.bits & bit::FIN_SEEN != 0 && next == fin_end;
        bytes -= u32::from(closed);
        self.delivered += u64::from(bytes);
        let mut grows = false;
        if bytes > 0 {
            out.deliver(bytes);
            grows = params.autotune && self.fit_window(params, now, segment);
        }
        if closed {
            self.bits |= bit::PEER_CLOSED;
            out.event(Event::PeerClosed);
        }
        if had_hole && let Some(t) = &mut self.tracked {
            t.compression.moved(next);
        }
        // RFC 5681 section 4.2: at once when a hole is filled, wholly or in part.
        if closed || had_hole || sudden || grows { Reply::Now } else { self.owes_ack(params, now) }
    }

    /// Data have come twice: the next acknowledgement says so (RFC 2883).
    fn note_duplicate(&mut self, params: &Params, start: u32, end: u32) {
        if params.dsack
            && let Some(t) = &mut self.tracked
        {
            t.duplicate = Some(SackBlock { start, end });
        }
    }

    /// Whether the next acknowledgement has to say that data came twice.
    #[inline]
    pub(crate) fn saw_duplicate(&self) -> bool {
        self.tracked.as_ref().is_some_and(|t| t.duplicate.is_some())
    }
}
