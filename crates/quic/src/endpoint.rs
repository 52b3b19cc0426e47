//! One end of a connection: its parts, and the calls that an application and a network make.

mod answering;
mod arriving;
mod counters;
mod losing;
mod output;
mod sending;

pub use losing::PERSISTENT;
pub use output::{Event, Lost, Output, Overdue, RoundTrip, Unread};

use crate::buffer::{ReceiveBuffer, SendBuffer};
use crate::control::Control;
use crate::ecn::EcnPath;
use crate::handshake::{self, Amplification, Progress};
use crate::packet::{LARGEST_MESSAGE, Space};
use crate::params::Params;
use crate::received::Received;
use crate::rtt::Rtt;
use crate::sent::SentLog;
use crate::streams::Streams;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use sojourn_base::Time;

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
        self.messages.push_back(bytes.min(LARGEST_MESSAGE));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_small() {
        assert!(size_of::<Endpoint>() <= 960, "{}", size_of::<Endpoint>());
    }
}
