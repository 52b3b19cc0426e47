//! Receiving: data in order and out of order, delayed acknowledgements, the echo of marks.

use crate::Params;
use crate::endpoint::{Endpoint, bit};
use crate::segment::{Event, Flags, Output, Segment, before};
use alloc::boxed::Box;
use sojourn_base::{Ecn, Time};

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
        if self.owes_ack(params, now) == Reply::Now {
            self.send_ack(params, now, out);
        }
    }

    /// Data have arrived in order. An acknowledgement is owed at once for every second full
    /// segment, and may wait for less (RFC 5681 section 4.2).
    #[inline]
    fn owes_ack(&mut self, params: &Params, now: Time) -> Reply {
        if !params.delayed_ack || self.rcv_nxt.wrapping_sub(self.ack_sent) > params.payload {
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
            return Reply::Now;
        }
        self.note_marks(segment);
        // RFC 7323 section 4.3, with the condition of RFC 1323 section 3.4.
        if params.timestamps && !before(self.ack_sent, segment.seq) && before(self.ack_sent, end) {
            self.ts_recent = segment.tsval;
        }
        if segment.flags.has(Flags::FIN) {
            self.bits |= bit::FIN_SEEN;
            self.fin_end = end;
        }
        if before(self.rcv_nxt, segment.seq) {
            self.reassembly.get_or_insert_with(Box::default).insert(segment.seq, end);
            return Reply::Now;
        }
        let mut next = end;
        let had_hole = !self.holds_nothing();
        if let Some(held) = &mut self.reassembly {
            next = held.fill(end);
        }
        let mut bytes = next.wrapping_sub(self.rcv_nxt);
        self.rcv_nxt = next;
        let closed = self.bits & bit::FIN_SEEN != 0 && next == self.fin_end;
        bytes -= u32::from(closed);
        self.delivered += u64::from(bytes);
        if bytes > 0 {
            out.deliver(bytes);
        }
        if closed {
            self.bits |= bit::PEER_CLOSED;
            out.event(Event::PeerClosed);
        }
        // RFC 5681 section 4.2: at once when a hole is filled, wholly or in part.
        if closed || had_hole { Reply::Now } else { self.owes_ack(params, now) }
    }

    /// The receiver's half of ECN (RFC 3168 section 6.1.3): CWR ends the echo of earlier marks.
    fn note_marks(&mut self, segment: &Segment) {
        if self.bits & bit::ECN != 0 {
            if segment.flags.has(Flags::CWR) {
                self.bits &= !bit::ECHO;
            }
            if segment.ecn == Ecn::Ce {
                self.bits |= bit::ECHO;
            }
        }
    }
}
