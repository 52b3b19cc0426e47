//! One end of a connection: its parts, and the calls that an application and a network make.

mod handshake;

use crate::call::Call;
use crate::congestion::CongestionState;
use crate::connection::{Connection, State, bit};
use crate::context::Context;
use crate::params::Params;
use crate::receiver::{Receiver, Reply};
use crate::segment::{Event, Flags, Output, SackBlock, Segment};
use crate::sender::{Patience, Sender};
use sojourn_base::{Ecn, Time};

/// One end of a TCP connection, sender and receiver.
///
/// It does no I/O and reads no clock: every call is given the time, which must not run backwards,
/// and the [`Params`] that it was made with; what it does comes out of [`Output`]. The caller
/// calls [`Endpoint::on_timer`] at [`Endpoint::deadline`].
// The parts, and their fields, in the order of their heat: the first 128 bytes are what an
// acknowledgement needs.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Endpoint {
    conn: Connection,
    sender: Sender,
    receiver: Receiver,
}

/// A segment of one of the two kinds that make up nearly all of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// It acknowledges new data while nothing is amiss.
    Acknowledgement,
    /// The next data in order, and nothing else.
    Data,
}

impl Endpoint {
    fn new(params: &Params, state: State, iss: u32) -> Self {
        Self {
            conn: Connection::new(state, iss, params.feedback),
            sender: Sender::new(params, iss),
            receiver: Receiver::default(),
        }
    }

    /// An end that will open a connection, with `iss` as its first sequence number.
    #[must_use]
    pub fn client(params: &Params, iss: u32) -> Self {
        Self::new(params, State::Idle, iss)
    }

    /// An end that waits for a connection, with `iss` as its first sequence number.
    #[must_use]
    pub fn server(params: &Params, iss: u32) -> Self {
        Self::new(params, State::Listen, iss)
    }

    /// The sender, and what it works with.
    #[inline(always)]
    fn split<'a, O: Output>(
        &'a mut self,
        params: &'a Params,
        now: Time,
        out: &'a mut O,
    ) -> (&'a mut Sender, Context<'a, O>) {
        let Self { conn, sender, receiver } = self;
        (sender, Context { call: Call { params, now, conn }, receiver, out })
    }

    /// Opens the connection; only for a client, and once.
    pub fn open(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.conn.state == State::Idle {
            self.send_first_syn(params, now, out);
        }
    }

    /// Appends `bytes` to what is to be sent; `u64::MAX` for data without end. May be called
    /// before the connection is open; after [`Endpoint::close`] it does nothing.
    pub fn write(&mut self, params: &Params, now: Time, bytes: u64, out: &mut impl Output) {
        if !self.conn.has(bit::CLOSING) {
            self.sender.write(bytes);
            self.transmit(params, now, out);
        }
    }

    /// Sends a FIN after everything written. The other direction stays open.
    pub fn close(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.conn.bits |= bit::CLOSING;
        self.transmit(params, now, out);
    }

    /// Takes back what was written and not sent yet, and closes: what is under way is still
    /// brought to its end.
    pub fn cut(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.sender.cut();
        self.close(params, now, out);
    }

    /// Sends what may be sent.
    fn transmit(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let (sender, mut cx) = self.split(params, now, out);
        sender.transmit(&mut cx);
    }

    /// Sends a bare acknowledgement.
    #[inline(never)]
    fn acknowledge(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let ect = self.ack_codepoint(params);
        self.split(params, now, out).1.acknowledge(ect);
    }

    /// The codepoint of bare acknowledgements, where they have one.
    #[inline(always)]
    fn ack_codepoint(&self, params: &Params) -> Ecn {
        if params.ect_control { self.sender.codepoint(params, &self.conn) } else { Ecn::NotEct }
    }

    /// Whether a segment is one of the two that make up nearly all of a transfer: header
    /// prediction.
    #[inline(always)]
    #[must_use]
    pub fn expects(&self, params: &Params, segment: &Segment) -> Option<Expected> {
        let conn = &self.conn;
        if conn.state != State::Established || segment.flags != Flags::ACK {
            return None;
        }
        let acked = segment.ack.wrapping_sub(conn.snd_una);
        if segment.len == 0 {
            let usual = self.sender.is_open()
                && segment.sacks == 0
                && acked.wrapping_sub(1) < conn.in_flight()
                && !conn.has(bit::FIN_SENT)
                && !params.keeps_log;
            usual.then_some(Expected::Acknowledgement)
        } else {
            let usual = acked == 0
                && segment.seq == conn.rcv_nxt
                && segment.ecn != Ecn::Ce
                && !conn.has(params.watch)
                && u32::from(segment.len) <= params.rcv_window
                && self.receiver.is_in_order();
            usual.then_some(Expected::Data)
        }
    }

    /// A segment has arrived that is [expected](Self::expects).
    #[inline(always)]
    pub fn on_expected(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        expected: Expected,
        out: &mut impl Output,
    ) {
        let Self { conn, sender, receiver } = self;
        match expected {
            Expected::Acknowledgement => {
                let mut cx = Context { call: Call { params, now, conn }, receiver, out };
                sender.expected_ack(&mut cx, segment);
            }
            Expected::Data => {
                sender.set_peer_window(params, segment);
                let srtt = sender.smoothed_round_trip();
                let mut call = Call { params, now, conn };
                if receiver.expected_data(&mut call, segment, srtt, out) {
                    let ect = self.ack_codepoint(params);
                    self.split(params, now, out).1.acknowledge(ect);
                }
            }
        }
    }

    /// A segment has arrived, with its SACK blocks.
    #[inline]
    pub fn on_segment(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        sacks: &[SackBlock],
        out: &mut impl Output,
    ) {
        match self.expects(params, segment) {
            Some(expected) => self.on_expected(params, now, segment, expected, out),
            None => self.on_other(params, now, segment, sacks, out),
        }
    }

    /// A segment has arrived that is not [expected](Self::expects), with its SACK blocks.
    #[inline(never)]
    pub fn on_other(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        sacks: &[SackBlock],
        out: &mut impl Output,
    ) {
        if self.conn.state != State::Established && !self.unestablished(params, now, segment, out) {
            return;
        }
        if segment.flags.any(Flags::SYN | Flags::RST) {
            return self.unexpected(params, now, segment, out);
        }
        if segment.flags.has(Flags::ACK) {
            let (sender, mut cx) = self.split(params, now, out);
            sender.on_ack(&mut cx, segment, sacks);
        }
        // Data come before the answer to the acknowledgement, so that what is sent acknowledges
        // them too.
        let at_once = self.receive(params, now, segment, out);
        let segments = self.conn.segments;
        self.transmit(params, now, out);
        // SACK blocks travel on bare acknowledgements alone.
        let extra = !self.receiver.is_in_order() || self.receiver.saw_duplicate();
        if at_once && (self.conn.segments == segments || extra) {
            self.acknowledge(params, now, out);
        }
        let all = bit::PEER_CLOSED | bit::FIN_SENT;
        if self.conn.bits & all == all && self.conn.in_flight() == 0 {
            self.finish(State::Closed, Event::Closed, out);
        }
    }

    /// What a segment brings to the receiver. Returns whether to acknowledge it at once.
    fn receive(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        out: &mut impl Output,
    ) -> bool {
        let Self { conn, sender, receiver } = self;
        let mark = receiver.count_mark(conn, segment);
        let mut call = Call { params, now, conn };
        if segment.span() == 0 {
            receiver.on_bare(&mut call, segment);
            return mark;
        }
        let srtt = sender.smoothed_round_trip();
        if receiver.must_acknowledge_first(&call, segment) {
            self.acknowledge(params, now, out);
        }
        let mut call = Call { params, now, conn: &mut self.conn };
        self.receiver.receive(&mut call, segment, srtt, out) == Reply::Now || mark
    }

    /// The time of [`Endpoint::deadline`] has come. Too early a call does nothing.
    #[cold]
    pub fn on_timer(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.conn.ack_at <= now {
            self.acknowledge(params, now, out);
        }
        let patience = match self.conn.state {
            State::SynSent | State::SynReceived if self.sender.deadline() <= now => {
                self.syn_timeout(params, now, out)
            }
            State::Established => {
                let (sender, mut cx) = self.split(params, now, out);
                sender.on_timer(&mut cx)
            }
            _ => Patience::Left,
        };
        if patience == Patience::Gone {
            self.finish(State::Failed, Event::Failed, out);
        }
    }

    /// When [`Endpoint::on_timer`] is to be called next; [`Time::MAX`] for never. It may move
    /// with every other call.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.sender.deadline().min(self.conn.ack_at)
    }

    /// When it will send because of a timer that says nothing of losses: a delayed acknowledgement,
    /// or what pacing held back.
    #[must_use]
    pub fn sends_at(&self) -> Time {
        self.sender.pace_at().min(self.conn.ack_at)
    }

    /// No timers and no memory from now on.
    fn finish(&mut self, state: State, event: Event, out: &mut impl Output) {
        self.conn.state = state;
        self.conn.ack_at = Time::MAX;
        self.sender.finish();
        self.receiver.finish();
        out.event(event);
    }
}

/// Its counters and its present state.
impl Endpoint {
    /// Bytes given to the application.
    #[must_use]
    pub fn bytes_delivered(&self) -> u64 {
        self.receiver.bytes_delivered()
    }
    /// Bytes written here that the peer has acknowledged.
    #[must_use]
    pub fn bytes_acked(&self) -> u64 {
        self.sender.bytes_acked()
    }
    /// Segments sent, of any kind.
    #[must_use]
    pub fn segments_sent(&self) -> u64 {
        self.conn.segments
    }
    /// Segments with data or a FIN that were sent again.
    #[must_use]
    pub fn retransmissions(&self) -> u64 {
        self.sender.retransmissions()
    }
    /// How often the retransmission timer of data or a FIN ran out.
    #[must_use]
    pub fn timeouts(&self) -> u64 {
        self.sender.timeouts()
    }
    /// How often the timer of a SYN or SYN-ACK ran out.
    #[must_use]
    pub fn syn_retries(&self) -> u64 {
        self.sender.syn_retries()
    }
    /// Congestion window in bytes.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.sender.cwnd()
    }
    /// Slow-start threshold in bytes, once there was congestion.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u32> {
        self.sender.ssthresh()
    }
    /// Smoothed round-trip time, once there is a sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Time> {
        self.sender.srtt()
    }
    /// Its mean deviation (RTTVAR of RFC 6298), likewise.
    #[must_use]
    pub fn rttvar(&self) -> Option<Time> {
        self.sender.rttvar()
    }
    /// What it is doing about congestion.
    #[must_use]
    pub fn congestion_state(&self) -> CongestionState {
        self.sender.congestion_state()
    }
    /// The retransmission timeout that is in force.
    #[must_use]
    pub fn rto(&self) -> Time {
        self.sender.rto()
    }
    /// Sequence numbers sent and not acknowledged.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.conn.in_flight()
    }
    /// Bytes taken to be in the network: of what is not acknowledged, what neither has arrived nor
    /// is lost, and what was sent again (`pipe` of RFC 6675 section 4). Without a log of segments
    /// all that is not acknowledged.
    #[must_use]
    pub fn in_network(&self) -> u32 {
        self.sender.in_network(&self.conn)
    }
    /// Bytes that the peer has reported as marked, by AccECN; 0 without.
    #[must_use]
    pub fn bytes_marked(&self) -> u64 {
        self.sender.bytes_marked()
    }
    /// Whether the handshake is over and the connection not yet.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.conn.state == State::Established
    }
    /// Whether it is over: closed both ways, or failed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.conn.state, State::Closed | State::Failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Congestion;

    #[test]
    fn endpoint_keeps_what_an_acknowledgement_needs_in_two_cache_lines() {
        let sender = core::mem::offset_of!(Endpoint, sender);
        assert!(sender + Sender::hot_bytes() <= 128, "{sender} + {}", Sender::hot_bytes());
        assert!(size_of::<Congestion>() <= 16);
        assert!(size_of::<Endpoint>() <= 192, "{}", size_of::<Endpoint>());
    }
}
