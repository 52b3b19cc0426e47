//! Opening a connection (RFC 9293 section 3.5), and segments that break it.

use super::Endpoint;
use crate::call::Call;
use crate::connection::{State, bit};
use crate::ecn::{self, Feedback};
use crate::params::Params;
use crate::segment::{Event, Flags, Output, Segment};
use crate::sender::Patience;
use sojourn_base::{Ecn, Time};

impl Endpoint {
    #[cold]
    pub(super) fn send_first_syn(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let Self { conn, sender, .. } = self;
        conn.snd_nxt = conn.snd_una.wrapping_add(1);
        sender.begin_handshake(now, conn);
        conn.state = if conn.state == State::Idle { State::SynSent } else { State::SynReceived };
        self.send_syn(params, now, out);
    }

    /// Sends the SYN or SYN-ACK. It is never ECN-capable (RFC 3168 section 6.1.1).
    fn send_syn(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let flags = if self.conn.state == State::SynSent {
            // ECN-setup SYN (RFC 3168 section 6.1.1).
            Flags::SYN | setup(params)
        } else {
            // ECN-setup SYN-ACK, in answer to an ECN-setup SYN only.
            Flags::SYN | Flags::ACK | self.setup_answer()
        };
        let (_, mut cx) = self.split(params, now, out);
        let segment = Segment {
            window: params.syn_window(),
            options: params.syn_options,
            ..cx.header(cx.conn.snd_una, flags)
        };
        cx.put(segment, &[]);
    }

    /// The flags of a SYN-ACK.
    fn setup_answer(&self) -> Flags {
        match self.conn.feedback {
            _ if !self.conn.has(bit::ECN) => Flags::NONE,
            Feedback::Counted => ecn::flags(ecn::handshake(self.conn.opening)),
            Feedback::Latched | Feedback::Exact => Flags::ECE,
        }
    }

    /// The SYN or SYN-ACK was not answered in time.
    #[cold]
    pub(super) fn syn_timeout(
        &mut self,
        params: &Params,
        now: Time,
        out: &mut impl Output,
    ) -> Patience {
        let patience =
            self.sender.handshake_timeout(&mut Call { params, now, conn: &mut self.conn });
        if patience == Patience::Left {
            self.send_syn(params, now, out);
        }
        patience
    }

    /// Segments before the connection is established, and after it is over. Returns whether the
    /// segment is to be treated as one of an established connection.
    #[cold]
    pub(super) fn unestablished(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        out: &mut impl Output,
    ) -> bool {
        let flags = segment.flags;
        let acknowledges = flags.has(Flags::ACK) && segment.ack == self.conn.snd_nxt;
        match self.conn.state {
            State::SynSent | State::SynReceived if flags.has(Flags::RST) => {
                self.finish(State::Failed, Event::Failed, out);
            }
            State::Listen if flags.has(Flags::SYN) && !flags.has(Flags::ACK) => {
                self.read_syn(params, segment);
                self.send_first_syn(params, now, out);
            }
            State::SynSent if flags.has(Flags::SYN) && acknowledges => {
                self.read_syn(params, segment);
                self.establish(params, now, segment, out);
                self.sender.handshake_reported(segment, false);
                self.receiver.count_handshake(segment.ecn);
                self.acknowledge_handshake(params, now, out);
                self.transmit(params, now, out);
            }
            State::SynReceived if flags.has(Flags::SYN) => {
                let mut call = Call { params, now, conn: &mut self.conn };
                self.sender.syn_came_again(&mut call);
                self.conn.opening = segment.ecn; // RFC 9768 section 3.1.5: of the latest
                self.send_syn(params, now, out);
            }
            State::SynReceived if acknowledges => {
                self.sender.set_peer_window(params, segment);
                self.establish(params, now, segment, out);
                let bare = segment.len == 0 && segment.sacks == 0;
                if bare && self.conn.feedback == Feedback::Counted {
                    self.sender.handshake_reported(segment, true);
                }
                return true;
            }
            // TIME-WAIT: the acknowledgement of the FIN was lost (RFC 9293 section 3.10.7.4).
            State::Closed if segment.span() > 0 => self.acknowledge(params, now, out),
            State::Failed if !flags.has(Flags::RST) => {
                let (_, mut cx) = self.split(params, now, out);
                let reset = cx.header(cx.conn.snd_nxt, Flags::RST | Flags::ACK);
                cx.put(reset, &[]);
            }
            _ => {}
        }
        false
    }

    /// Learns from the peer's SYN or SYN-ACK.
    fn read_syn(&mut self, params: &Params, syn: &Segment) {
        self.agree_on_ecn(params, syn);
        self.sender.set_peer_window(params, syn);
        let conn = &mut self.conn;
        conn.rcv_nxt = syn.seq.wrapping_add(1);
        conn.ack_sent = conn.rcv_nxt;
        if params.timestamps {
            conn.ts_recent = syn.tsval;
        }
    }

    /// Agrees with the peer's SYN (RFC 9768 table 2, section 3.1.3) or SYN-ACK on how marks are
    /// reported.
    fn agree_on_ecn(&mut self, params: &Params, syn: &Segment) {
        let answer = syn.flags.has(Flags::ACK);
        self.conn.opening = syn.ecn;
        if !params.ecn {
            return;
        }
        // An ECN-setup SYN or SYN-ACK (RFC 3168 section 6.1.1).
        let both = Flags::ECE | Flags::CWR;
        let setup = if answer {
            syn.flags.has(Flags::ECE) && !syn.flags.has(Flags::CWR)
        } else {
            syn.flags.has(both)
        };
        let knows_rfc3168_only = if answer { 0b001 } else { 0b011 };
        match (params.feedback, ecn::number(syn.flags)) {
            (Feedback::Counted, 0b000) => {}
            // A server that sends back what it got.
            (Feedback::Counted, 0b111) if answer => {}
            (Feedback::Counted, n) if n == knows_rfc3168_only => self.fall_back(params),
            (Feedback::Counted, _) => self.conn.bits |= bit::ECN,
            _ if setup => self.conn.bits |= bit::ECN,
            _ => {}
        }
    }

    /// The peer knows RFC 3168 only. A Prague sender then goes without ECN: RFC 9331 section 4.1
    /// asks for accurate feedback.
    fn fall_back(&mut self, params: &Params) {
        if params.ect != Ecn::Ect1 {
            self.conn.feedback = Feedback::Latched;
            self.conn.bits |= bit::ECN;
        }
    }

    fn establish(&mut self, params: &Params, now: Time, segment: &Segment, out: &mut impl Output) {
        self.conn.state = State::Established;
        self.conn.snd_una = self.conn.snd_nxt;
        let (sender, mut cx) = self.split(params, now, out);
        sender.establish(&mut cx, segment);
        cx.receiver.establish(&cx.call);
        cx.out.event(Event::Connected);
    }

    /// Acknowledges the SYN-ACK.
    fn acknowledge_handshake(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let ect = self.ack_codepoint(params);
        self.split(params, now, out).1.acknowledge_handshake(ect);
    }

    /// A SYN or RST has come on an established connection.
    #[cold]
    pub(super) fn unexpected(
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
            self.conn.opening = segment.ecn;
            self.acknowledge_handshake(params, now, out);
        }
    }
}

/// The flags of a SYN that asks for ECN (RFC 3168 section 6.1.1; RFC 9768 section 3.1.1).
fn setup(params: &Params) -> Flags {
    let both = Flags::ECE | Flags::CWR;
    match params.feedback {
        _ if !params.ecn => Flags::NONE,
        Feedback::Counted => Flags::AE | both,
        Feedback::Latched | Feedback::Exact => both,
    }
}
