//! One end of a connection: its parts, and the calls that an application and a network make.

mod arriving;
mod losing;
mod sending;

pub use losing::PERSISTENT;

use crate::buffer::{ReceiveBuffer, SendBuffer};
use crate::control::Control;
use crate::ecn::EcnPath;
use crate::handshake::{self, Amplification, Progress};
use crate::packet::{Packet, Space};
use crate::params::Params;
use crate::received::Received;
use crate::rtt::Rtt;
use crate::sent::SentLog;
use crate::streams::Streams;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use sojourn_base::{Ecn, Time};
use sojourn_tcp::congestion::CongestionState;

/// What an endpoint tells its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// The first of a stream's data have come.
    Begun {
        /// The stream's ID.
        stream: u32,
    },
    /// All of a stream's data have come, and it has no more.
    Finished {
        /// The stream's ID.
        stream: u32,
    },
    /// The connection is closed, as it should be.
    Closed,
    /// Nothing came for the idle timeout although something was awaited.
    Failed,
}

/// How a packet was found to be lost (RFC 9002 section 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overdue {
    /// Packets sent well after it have arrived.
    Overtaken,
    /// It was sent too long before one that has arrived.
    Late,
}

/// A packet that was taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Its packet number space.
    pub space: Space,
    /// Whether it was a 0-RTT packet.
    pub early: bool,
    /// Its number.
    pub number: u64,
    /// How that was found.
    pub why: Overdue,
}

/// Why a packet that has come is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Its keys are not there yet, or no more.
    NoKeys,
    /// It came before.
    Duplicate,
}

/// What is known of the round trip (RFC 9002 section 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTrip {
    /// `latest_rtt`.
    pub latest: Time,
    /// `min_rtt`.
    pub min: Time,
    /// `smoothed_rtt`.
    pub smoothed: Time,
    /// `rttvar`.
    pub variation: Time,
}

/// Where an endpoint's doings go.
pub trait Output {
    /// A datagram of so many `bytes` of UDP payload goes out: one to three packets, coalesced, in
    /// their order.
    fn send(&mut self, ecn: Ecn, packets: &[Packet], bytes: u32);
    /// The next `bytes` of a stream are there, in order.
    fn deliver(&mut self, stream: u32, bytes: u64);
    /// A DATAGRAM frame of so many bytes has come (RFC 9221).
    fn message(&mut self, bytes: u16) {
        let _ = bytes;
    }
    /// A packet has come and is read.
    fn read(&mut self, packet: &Packet) {
        let _ = packet;
    }
    /// A packet has come and is not read.
    fn unread(&mut self, packet: &Packet, why: Unread) {
        let _ = (packet, why);
    }
    /// A packet is taken for lost.
    fn lost(&mut self, packet: Lost) {
        let _ = packet;
    }
    /// A round trip was measured.
    fn rtt(&mut self, rtt: Time) {
        let _ = rtt;
    }
    /// Something happened.
    fn event(&mut self, event: Event);
}

/// Where a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A client that was not opened, a server that waits.
    Idle,
    /// From the first packet on.
    Open,
    Closed,
    Failed,
}

/// What belongs to a packet number space.
#[derive(Clone, Debug)]
#[repr(C)]
struct SpaceState {
    received: Received,
    /// Whether packets can be sent, and read.
    seals: bool,
    opens: bool,
    /// Probes to be sent.
    probes: u8,
    log: SentLog,
    /// Handshake messages.
    out: SendBuffer,
    input: ReceiveBuffer,
}

impl SpaceState {
    fn new() -> Self {
        Self {
            log: SentLog::new(),
            received: Received::new(),
            out: SendBuffer::default(),
            input: ReceiveBuffer::default(),
            seals: false,
            opens: false,
            probes: 0,
        }
    }
}

/// What belongs to a space.
#[inline]
fn state_of<'a>(
    data: &'a mut SpaceState,
    early: &'a mut [SpaceState; 2],
    space: Space,
) -> &'a mut SpaceState {
    match space {
        Space::Initial => &mut early[0],
        Space::Handshake => &mut early[1],
        Space::Data => data,
    }
}

/// What an endpoint has counted.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    datagrams: u64,
    retransmissions: u64,
    timeouts: u64,
    handshake_timeouts: u64,
}

/// One end of a QUIC connection.
///
/// It does no I/O and reads no clock: every call is given the time, which must not run backwards,
/// and the [`Params`] that it was made with; what it does comes out of [`Output`]. The caller
/// calls [`Endpoint::on_timer`] at [`Endpoint::deadline`].
#[derive(Clone, Debug)]
// In the order in which a packet that comes or goes needs it, from the beginning of a cache line.
#[repr(C, align(64))]
pub struct Endpoint {
    is_server: bool,
    state: State,
    progress: Progress,
    /// Whether it was sent since something came.
    sent_since: bool,
    /// The application has closed.
    closing: bool,
    /// When [`Endpoint::on_timer`] is to be called.
    deadline: Time,
    /// When it sends because of a timer that says nothing of losses.
    sends_at: Time,
    /// The loss detection timer (RFC 9002 appendix A.8).
    loss_at: Time,
    /// When pacing lets it send on.
    pace_at: Time,
    /// What the idle timeout runs from.
    active: Time,
    /// Probe timeouts in a row (`pto_count`).
    backoff: u32,
    /// Packets that came since it was closed.
    answered: u32,
    /// Those of the handshake, which few packets need: elsewhere.
    early: Box<[SpaceState; 2]>,
    data: SpaceState,
    streams: Streams,
    /// DATAGRAM frames that wait.
    messages: VecDeque<u16>,
    control: Control,
    rtt: Rtt,
    counters: Counters,
    ecn: EcnPath,
    amplification: Amplification,
}

impl Endpoint {
    fn new(params: &Params, is_server: bool) -> Self {
        let mut early = Box::new([SpaceState::new(), SpaceState::new()]);
        (early[0].opens, early[0].seals) = (true, true);
        Self {
            is_server,
            state: State::Idle,
            deadline: Time::MAX,
            sends_at: Time::MAX,
            data: SpaceState::new(),
            early,
            progress: Progress::default(),
            amplification: Amplification::default(),
            control: Control::new(params),
            rtt: Rtt::new(params),
            ecn: EcnPath::new(params.ecn),
            streams: Streams::new(params, is_server),
            messages: VecDeque::new(),
            backoff: 0,
            loss_at: Time::MAX,
            pace_at: Time::MAX,
            active: Time::ZERO,
            sent_since: false,
            closing: false,
            answered: 0,
            counters: Counters::default(),
        }
    }

    /// An end that will open a connection.
    #[must_use]
    pub fn client(params: &Params) -> Self {
        Self::new(params, false)
    }

    /// An end that waits for a connection.
    #[must_use]
    pub fn server(params: &Params) -> Self {
        Self::new(params, true)
    }

    #[inline]
    fn space(&self, space: Space) -> &SpaceState {
        match space {
            Space::Initial => &self.early[0],
            Space::Handshake => &self.early[1],
            Space::Data => &self.data,
        }
    }

    #[inline]
    fn space_mut(&mut self, space: Space) -> &mut SpaceState {
        state_of(&mut self.data, &mut self.early, space)
    }

    /// Whether this is so of a space that may be used: once the handshake is confirmed that of data
    /// alone (RFC 9001 section 4.9).
    #[inline]
    fn any(&self, so: impl Fn(&SpaceState) -> bool) -> bool {
        so(&self.data) || !self.progress.confirmed && self.early.iter().any(so)
    }

    /// The first of their times.
    #[inline]
    fn first(&self, time: impl Fn(&SpaceState) -> Time) -> Time {
        let of_data = time(&self.data);
        if self.progress.confirmed {
            return of_data;
        }
        self.early.iter().map(time).fold(of_data, Time::min)
    }

    /// Whether something is outstanding that asks for an acknowledgement.
    #[inline]
    fn awaits(&self) -> bool {
        self.any(|space| space.log.eliciting > 0)
    }

    /// Opens the connection; only for a client, and once.
    pub fn open(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.state != State::Idle || self.is_server {
            return;
        }
        (self.state, self.active) = (State::Open, now);
        self.early[0].out.written = handshake::client_hello(params);
        self.data.seals = params.zero_rtt;
        self.transmit(params, now, out);
    }

    /// Opens a bidirectional stream; its ID. Data may be written before the connection is open.
    pub fn open_stream(&mut self, params: &Params) -> u32 {
        self.streams.open(params)
    }

    /// Appends `bytes` to what is to be sent on a stream; `u64::MAX` for data without end. After
    /// [`Endpoint::finish`] it does nothing. A stream of the peer's is opened by it if need be.
    pub fn write(
        &mut self,
        params: &Params,
        now: Time,
        stream: u32,
        bytes: u64,
        out: &mut impl Output,
    ) {
        self.streams.write(params, stream, bytes);
        self.transmit(params, now, out);
    }

    /// Says when what is written to a stream here goes out among others, before it is written: less
    /// `urgency` (0 to 7) first, and of the same, streams that are not `incremental` in the order
    /// of their IDs, then the others in turns (RFC 9218 sections 4 and 10). Without this all
    /// streams take turns.
    pub fn prioritise(&mut self, params: &Params, stream: u32, urgency: u8, incremental: bool) {
        self.streams.prioritise(params, stream, urgency, incremental);
    }

    /// Appends bytes to several streams and ends each, in as few packets as they fit into.
    pub fn write_all(
        &mut self,
        params: &Params,
        now: Time,
        whole: &[(u32, u64)],
        out: &mut impl Output,
    ) {
        for &(stream, bytes) in whole {
            self.streams.write(params, stream, bytes);
            self.streams.finish(params, stream);
        }
        self.transmit(params, now, out);
    }

    /// A stream ends after everything written; its other direction stays open.
    pub fn finish(&mut self, params: &Params, now: Time, stream: u32, out: &mut impl Output) {
        self.streams.finish(params, stream);
        self.transmit(params, now, out);
    }

    /// Sends a DATAGRAM frame of up to 1150 bytes: once, unordered, under congestion control (RFC
    /// 9221 section 5).
    pub fn send_message(&mut self, params: &Params, now: Time, bytes: u16, out: &mut impl Output) {
        self.messages.push_back(bytes.min(sending::LARGEST_MESSAGE));
        self.transmit(params, now, out);
    }

    /// All streams end after what was written, and the connection closes when they are over in
    /// both directions.
    pub fn close(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.closing = true;
        self.streams.finish_all(params);
        self.transmit(params, now, out);
    }

    /// Takes back what was written and not sent yet, and closes: what is under way is still
    /// brought to its end.
    pub fn cut(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.streams.cut();
        self.close(params, now, out);
    }

    /// When [`Endpoint::on_timer`] is to be called next; [`Time::MAX`] for never. It may move
    /// with every other call.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// When it will send because of a timer that says nothing of losses: a delayed acknowledgement,
    /// or what pacing held back.
    #[inline]
    #[must_use]
    pub fn sends_at(&self) -> Time {
        self.sends_at
    }

    /// No timers from now on.
    fn end(&mut self, state: State, event: Event, out: &mut impl Output) {
        self.state = state;
        (self.deadline, self.sends_at) = (Time::MAX, Time::MAX);
        out.event(event);
    }
}

/// Its counters and its present state.
impl Endpoint {
    /// Bytes of streams given to the application.
    #[must_use]
    pub fn bytes_delivered(&self) -> u64 {
        self.streams.delivered
    }
    /// Bytes written here that the peer has acknowledged.
    #[must_use]
    pub fn bytes_acked(&self) -> u64 {
        self.streams.acked
    }
    /// Datagrams sent.
    #[must_use]
    pub fn datagrams_sent(&self) -> u64 {
        self.counters.datagrams
    }
    /// Packets whose frames were taken for lost, or sent again as a probe.
    #[must_use]
    pub fn retransmissions(&self) -> u64 {
        self.counters.retransmissions
    }
    /// How often the probe timeout ran out after the handshake.
    #[must_use]
    pub fn timeouts(&self) -> u64 {
        self.counters.timeouts
    }
    /// How often it ran out before.
    #[must_use]
    pub fn handshake_timeouts(&self) -> u64 {
        self.counters.handshake_timeouts
    }
    /// Congestion window in bytes.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.control.window.cwnd
    }
    /// Slow-start threshold in bytes, once there was congestion.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u32> {
        let ssthresh = self.control.window.ssthresh;
        (ssthresh != u32::MAX).then_some(ssthresh)
    }
    /// Smoothed round-trip time, once there is a sample.
    #[must_use]
    pub fn srtt(&self) -> Option<Time> {
        self.rtt.known()
    }
    /// All that is known of the round trip, once there is a sample.
    #[must_use]
    pub fn round_trip(&self) -> Option<RoundTrip> {
        let Rtt { latest, min, .. } = self.rtt;
        let variation = self.rtt.variation();
        self.rtt.known().map(|smoothed| RoundTrip { latest, min, smoothed, variation })
    }
    /// What it is doing about congestion.
    #[must_use]
    pub fn congestion_state(&self) -> CongestionState {
        self.control.state()
    }
    /// Probe timeouts in a row without an answer.
    #[must_use]
    pub fn timeouts_in_a_row(&self) -> u32 {
        self.backoff
    }
    /// The probe timeout that is in force (RFC 9002 section 6.2.1).
    #[must_use]
    pub fn probe_timeout(&self, params: &Params) -> Time {
        self.backed_off(self.rtt.probe_timeout() + params.max_ack_delay)
    }
    /// Bytes in flight.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.control.in_flight
    }
    /// Whether the handshake is complete and the connection not over.
    #[must_use]
    pub fn is_established(&self) -> bool {
        self.progress.complete && self.state == State::Open
    }
    /// Whether the connection is closed, as it should be.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }
    /// Whether the connection was given up.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.state == State::Failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_small() {
        assert!(size_of::<Endpoint>() <= 960, "{}", size_of::<Endpoint>());
    }
}
