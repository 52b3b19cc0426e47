//! Sending: new data as far as the windows allow, retransmissions, bare acknowledgements.

use crate::endpoint::{Endpoint, Phase, State, bit};
use crate::params::{Feedback, Params};
use crate::segment::{COUNTER_BYTES, Flags, MOST_OPTIONS, Output, SackBlock, Segment};
use sojourn_base::Time;

/// Bytes of the SACK option without its blocks, two of padding among them, and of a block.
const SACK_BYTES: u8 = 4;
const BLOCK_BYTES: u8 = 8;

impl Endpoint {
    /// Sends whatever may be sent now.
    #[inline]
    pub(crate) fn push(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.state != State::Established {
            return;
        }
        if params.tracked {
            self.push_tracked(params, now, out);
        } else if self.phase == Phase::Loss || self.phase == Phase::Recovery && params.sack {
            self.push_by_pipe(params, now, out);
        } else {
            self.push_new(params, now, out);
        }
    }

    /// Sends new data while less is outstanding than the windows allow. Only full segments, but
    /// for the last of what is written: the window never moves by less (RFC 9293 section 3.8.6.2).
    #[inline]
    pub(crate) fn push_new(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.unsent == 0 && !self.fin_is_due() {
            return;
        }
        if self.snd_una == self.snd_nxt {
            self.after_pause(params, now);
        }
        let window = self.window.cwnd.saturating_add_signed(self.inflation).min(self.peer_window);
        let mss = params.payload;
        while self.unsent >= u64::from(mss) && self.in_flight() + mss <= window {
            if !out.has_room() && self.in_flight() > 0 {
                return self.local_congestion(params, now);
            }
            self.send_new(params, now, mss, out);
        }
        if self.unsent < u64::from(mss) {
            self.push_last(params, now, window, out);
        }
    }

    /// The host's interface is full: the window is reduced as after a mark, once in a round trip
    /// (`tcp_enter_cwr` of Linux 2.4).
    #[cold]
    pub(crate) fn local_congestion(&mut self, params: &Params, now: Time) {
        let flight = self.in_flight();
        self.reduce_for_mark(params, now, flight, 0);
    }

    /// The last segment of what is written, which may be less than full, and the FIN.
    fn push_last(&mut self, params: &Params, now: Time, window: u32, out: &mut impl Output) {
        let rest = self.unsent as u32;
        if rest > 0 && self.in_flight() + rest <= window {
            self.send_new(params, now, rest, out);
        }
        if self.fin_is_due() && self.in_flight() < window {
            self.send_new(params, now, 0, out);
        }
    }

    /// Whether nothing but the FIN is left to send.
    #[inline]
    pub(crate) fn fin_is_due(&self) -> bool {
        self.unsent == 0 && self.bits & (bit::CLOSING | bit::FIN_SENT) == bit::CLOSING
    }

    /// Sends `len` bytes for the first time, and the FIN if it comes after them and fits.
    #[inline]
    pub(crate) fn send_new(&mut self, params: &Params, now: Time, len: u32, out: &mut impl Output) {
        if self.unsent != u64::MAX {
            self.unsent -= u64::from(len);
        }
        let start = self.snd_nxt;
        let mut segment = self.bare(params, now, start, Flags::ACK);
        segment.len = len as u16;
        self.snd_nxt = self.snd_nxt.wrapping_add(len);
        if self.bits & (bit::ECN | bit::CLOSING) != 0 {
            self.dress(params, &mut segment);
        }
        if !params.timestamps && self.bits & bit::TIMED == 0 {
            self.time_from(now);
        }
        self.sent_at = now;
        // RFC 6298 rule 5.1.
        if self.rto_at == Time::MAX {
            self.rto_at = now + self.rto;
        }
        self.put(segment, &[], out);
        if params.tracked {
            self.log_new(params, now, start);
        }
    }

    /// ECN and FIN of a new segment.
    fn dress(&mut self, params: &Params, segment: &mut Segment) {
        if self.bits & bit::ECN != 0 && segment.len > 0 {
            segment.ecn = self.codepoint(params);
            // RFC 3168 section 6.1.2: on the first new data after a reduction.
            if self.bits & bit::CWR != 0 && self.feedback != Feedback::Counted {
                segment.flags |= Flags::CWR;
                self.bits &= !bit::CWR;
            }
        }
        let room = self.in_flight() < self.peer_window;
        if self.fin_is_due() && room {
            segment.flags |= Flags::FIN;
            self.bits |= bit::FIN_SENT;
            self.snd_nxt = self.snd_nxt.wrapping_add(1);
        }
    }

    /// Sends what lies from `block.start` again, a segment at most, and gives where that ends. It
    /// is not ECN-capable (RFC 3168 section 6.1.5) unless settings say so, and spoils the timing
    /// (Karn; RFC 6298 section 3).
    #[cold]
    pub(crate) fn send_again(
        &mut self,
        params: &Params,
        now: Time,
        block: SackBlock,
        out: &mut impl Output,
    ) -> u32 {
        let SackBlock { start, end } = block;
        let rest = end.wrapping_sub(start);
        let has_fin = self.bits & bit::FIN_SENT != 0 && end == self.snd_nxt;
        let mut len = rest.min(params.payload);
        let mut segment = self.bare(params, now, start, Flags::ACK);
        let mut end = start.wrapping_add(len);
        if has_fin && rest <= params.payload + 1 {
            segment.flags |= Flags::FIN;
            len = rest - 1;
            end = block.end;
        }
        segment.len = len as u16;
        if params.ect_again && segment.len > 0 && self.bits & bit::ECN != 0 {
            segment.ecn = self.codepoint(params);
        }
        self.bits &= !bit::TIMED;
        self.retransmissions += 1;
        self.sent_at = now;
        if self.rto_at == Time::MAX {
            self.rto_at = now + self.rto;
        }
        self.put(segment, &[], out);
        end
    }

    /// Sends a bare acknowledgement, with SACK blocks if there is a hole.
    #[inline]
    pub(crate) fn send_ack(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let mut segment = self.bare(params, now, self.snd_nxt, Flags::ACK);
        if params.ect_acks && self.bits & bit::ECN != 0 {
            segment.ecn = self.codepoint(params);
        }
        let told = params.accecn_option
            && self.feedback == Feedback::Counted
            && self.tracked.as_ref().is_some_and(|t| t.counts.option_due());
        if told || params.sack && (!self.holds_nothing() || params.dsack && self.saw_duplicate()) {
            self.put_sacks(params, segment, told, out);
        } else {
            self.put(segment, &[], out);
        }
    }

    /// With SACK blocks, and AccECN's option where `told`.
    #[cold]
    fn put_sacks(
        &mut self,
        params: &Params,
        mut segment: Segment,
        told: bool,
        out: &mut impl Output,
    ) {
        let mut blocks = [SackBlock::default(); 4];
        let mut most = usize::from(params.max_sacks);
        if told {
            let left = MOST_OPTIONS - params.options - COUNTER_BYTES - SACK_BYTES;
            most = most.min(usize::from(left / BLOCK_BYTES));
        }
        let mut count = 0;
        if let Some(duplicate) = self.tracked.as_mut().and_then(|t| t.duplicate.take()) {
            // RFC 2883 section 4: first, once, before the run that it lies in.
            (blocks[0], count) = (duplicate, 1);
        }
        if let Some(held) = &mut self.reassembly {
            count += held.blocks(&mut blocks[count..most]);
        }
        segment.sacks = count as u8;
        if count > 0 {
            segment.options += SACK_BYTES + BLOCK_BYTES * count as u8;
        }
        if told {
            blocks[count] = self.tracked().counts.option();
            segment.sacks |= Segment::COUNTERS;
            segment.options += COUNTER_BYTES;
        }
        self.put(segment, &blocks[..segment.blocks()], out);
    }

    /// Hands a segment out. Every segment but the first carries an acknowledgement, so none need
    /// wait any more.
    #[inline]
    pub(crate) fn put(&mut self, mut segment: Segment, sacks: &[SackBlock], out: &mut impl Output) {
        if self.bits & bit::ECHO != 0 {
            segment.flags |= Flags::ECE; // RFC 3168 section 6.1.3
        }
        self.segments += 1;
        self.ack_sent = segment.ack;
        self.ack_at = Time::MAX;
        out.send(segment, sacks);
    }

    /// Nothing is outstanding and something will be sent: after a pause longer than the timeout the
    /// window starts again (RFC 5681 section 4.1).
    #[inline]
    pub(crate) fn after_pause(&mut self, params: &Params, now: Time) {
        let pause = now.saturating_sub(self.sent_at);
        if params.idle_restart && pause > self.rto && self.window.cwnd > params.initial_window {
            self.restart(params, now, pause);
        }
    }
}
