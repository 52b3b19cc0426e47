//! Opening a connection (RFC 9293 section 3.5), and segments that break it.

use crate::endpoint::{Endpoint, State, bit};
use crate::params::{Feedback, Params};
use crate::segment::{Event, Flags, Output, Segment};
use crate::tracked::Tracked;
use alloc::boxed::Box;
use sojourn_base::{Ecn, Time};

/// The timeout after a handshake that needed more than one SYN (RFC 6298 rule 5.7).
const AFTER_LOST_SYN: Time = Time::from_secs(3);

impl Endpoint {
    #[cold]
    pub(crate) fn send_first_syn(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.snd_nxt = self.snd_una.wrapping_add(1);
        self.rto_at = now + self.rto;
        self.time_from(now);
        if self.state == State::Idle {
            self.state = State::SynSent;
        } else {
            self.state = State::SynReceived;
        }
        self.send_syn(params, now, out);
    }

    /// Sends the SYN or SYN-ACK. It is never ECN-capable (RFC 3168 section 6.1.1).
    fn send_syn(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let flags = if self.state == State::SynSent {
            // ECN-setup SYN (RFC 3168 section 6.1.1).
            Flags::SYN | self.setup(params)
        } else {
            // ECN-setup SYN-ACK, in answer to an ECN-setup SYN only.
            Flags::SYN | Flags::ACK | self.setup_answer()
        };
        let segment = Segment {
            window: params.syn_window(),
            options: params.syn_options,
            ..self.bare(params, now, self.snd_una, flags)
        };
        self.put(segment, &[], out);
    }

    /// The flags of a SYN that asks for ECN (RFC 3168 section 6.1.1; RFC 9768 section 3.1.1).
    fn setup(&self, params: &Params) -> Flags {
        let both = Flags::ECE | Flags::CWR;
        match params.feedback {
            _ if !params.ecn => Flags::NONE,
            Feedback::Counted => Flags::AE | both,
            Feedback::Latched | Feedback::Exact => both,
        }
    }

    /// The SYN or SYN-ACK was not answered in time.
    #[cold]
    pub(crate) fn syn_timeout(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.syn_retries == params.syn_retries {
            return self.finish(State::Failed, Event::Failed, out);
        }
        self.syn_retries += 1;
        self.bits &= !bit::TIMED; // Karn: which SYN an answer is for cannot be told
        self.back_off(params, now);
        self.send_syn(params, now, out);
    }

    /// Segments before the connection is established, and after it is over. Returns whether the
    /// segment is to be treated as one of an established connection.
    #[cold]
    pub(crate) fn unestablished(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        out: &mut impl Output,
    ) -> bool {
        let flags = segment.flags;
        match self.state {
            State::SynSent | State::SynReceived if flags.has(Flags::RST) => {
                self.finish(State::Failed, Event::Failed, out);
            }
            State::Listen if flags.has(Flags::SYN) && !flags.has(Flags::ACK) => {
                self.meet_setup(params, segment);
                self.meet(params, segment);
                self.send_first_syn(params, now, out);
            }
            State::SynSent if flags.has(Flags::SYN | Flags::ACK) && segment.ack == self.snd_nxt => {
                self.meet_answer(params, segment);
                self.meet(params, segment);
                self.establish(params, now, segment, out);
                self.answer_handshake(params, now, segment, out);
                self.push(params, now, out);
            }
            State::SynReceived if flags.has(Flags::SYN) => {
                self.bits &= !bit::TIMED;
                self.opening = segment.ecn; // RFC 9768 section 3.1.5: of the latest
                self.send_syn(params, now, out);
            }
            State::SynReceived if flags.has(Flags::ACK) && segment.ack == self.snd_nxt => {
                self.peer_window = params.window_bytes(segment.window, flags);
                self.establish(params, now, segment, out);
                self.handshake_answered(segment);
                return true;
            }
            // TIME-WAIT: the acknowledgement of the FIN was lost (RFC 9293 section 3.10.7.4).
            State::Closed if segment.span() > 0 => self.send_ack(params, now, out),
            State::Failed if !flags.has(Flags::RST) => {
                let reset = self.bare(params, now, self.snd_nxt, Flags::RST | Flags::ACK);
                self.put(reset, &[], out);
            }
            _ => {}
        }
        false
    }

    /// Learns from the peer's SYN.
    fn meet(&mut self, params: &Params, syn: &Segment) {
        self.rcv_nxt = syn.seq.wrapping_add(1);
        self.ack_sent = self.rcv_nxt;
        if params.timestamps {
            self.ts_recent = syn.tsval;
        }
        self.peer_window = params.window_bytes(syn.window, syn.flags);
    }

    fn establish(&mut self, params: &Params, now: Time, segment: &Segment, out: &mut impl Output) {
        self.state = State::Established;
        self.snd_una = self.snd_nxt;
        // Before anything that can be acknowledged: no recovery, no reduction yet.
        self.recover = self.snd_una.wrapping_sub(1);
        self.reduced = self.recover;
        self.rto_at = Time::MAX;
        self.measure(params, now, segment, out);
        if self.syn_retries > 0 {
            self.window.cwnd = params.payload; // RFC 5681 section 3.1
            if params.lost_syn_threshold {
                self.window.ssthresh = (params.initial_window / 2).max(2 * params.payload);
            }
            if self.srtt().is_none() {
                self.rto = AFTER_LOST_SYN.max(params.initial_rto).min(params.max_rto);
            }
        }
        if params.tracked {
            let mut tracked = Box::new(Tracked::new(params, now, self.snd_nxt));
            tracked.rto_at = Time::MAX;
            tracked.held = self.estimator.held(params, self.snd_nxt);
            self.tracked = Some(tracked);
        }
        out.event(Event::Connected);
    }

    /// A SYN or RST has come on an established connection.
    #[cold]
    pub(crate) fn unexpected(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        out: &mut impl Output,
    ) {
        if segment.flags.has(Flags::RST) {
            self.finish(State::Failed, Event::Failed, out);
        } else {
            // The SYN-ACK again: its acknowledgement was lost (RFC 9768 section 3.2.2.1).
            self.opening = segment.ecn;
            self.answer_again(params, now, out);
        }
    }

    /// A segment without payload and options but timestamps.
    #[inline]
    pub(crate) fn bare(&mut self, params: &Params, now: Time, seq: u32, flags: Flags) -> Segment {
        let counter = self.counter(params);
        Segment {
            seq,
            ack: self.rcv_nxt,
            tsval: if params.timestamps { (now.0 / 1000) as u32 } else { 0 },
            tsecr: self.ts_recent,
            window: self.window_field(params),
            len: 0,
            flags: flags | counter,
            ecn: Ecn::NotEct,
            options: params.options,
            sacks: 0,
        }
    }

    /// Times the segment that ends at `snd_nxt`.
    #[inline]
    pub(crate) fn time_from(&mut self, now: Time) {
        self.bits |= bit::TIMED;
        self.timed_at = now;
        self.timed_seq = self.snd_nxt;
    }
}
