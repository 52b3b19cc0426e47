//! What both halves of a connection share: its state, its sequence numbers, what was agreed on.

use crate::ecn::Feedback;
use sojourn_base::{Ecn, Time};

/// The state of a connection. Which halves are closed is told by bits, not by states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// A client that is not open yet.
    Idle,
    /// A server that waits for a SYN.
    Listen,
    /// A client whose SYN is on its way.
    SynSent,
    /// A server whose SYN-ACK is on its way.
    SynReceived,
    /// Data may flow, unless closed, either way.
    Established,
    /// All is done; a FIN that comes again is still acknowledged.
    Closed,
    /// Given up.
    Failed,
}

/// Bits of [`Connection::bits`].
pub(crate) mod bit {
    /// The application writes no more.
    pub(crate) const CLOSING: u8 = 1;
    /// The FIN was sent: the last sequence number before `snd_nxt`.
    pub(crate) const FIN_SENT: u8 = 2;
    /// The peer's FIN was seen; everything up to it is yet to come.
    pub(crate) const FIN_SEEN: u8 = 4;
    /// The peer's FIN and everything before it has arrived.
    pub(crate) const PEER_CLOSED: u8 = 8;
    /// Both ends agreed on ECN.
    pub(crate) const ECN: u8 = 16;
    /// A mark has arrived: echo it until the peer says CWR (RFC 3168 section 6.1.3), or, with
    /// exact feedback, until data come unmarked.
    pub(crate) const ECHO: u8 = 32;
    /// The window was reduced: tell the peer with the next new data (RFC 3168 section 6.1.2).
    pub(crate) const CWR: u8 = 64;
    /// A segment is being timed.
    pub(crate) const TIMED: u8 = 128;
}

/// The part of an endpoint that its sender and its receiver share: what every segment carries.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Connection {
    /// First sequence number not acknowledged.
    pub snd_una: u32,
    /// Next sequence number to send for the first time.
    pub snd_nxt: u32,
    /// Next sequence number expected from the peer.
    pub rcv_nxt: u32,
    /// The peer's timestamp to echo.
    pub ts_recent: u32,
    /// The acknowledgement field last sent.
    pub ack_sent: u32,
    pub state: State,
    pub bits: u8,
    /// How marks are reported, as both ends agreed.
    pub feedback: Feedback,
    /// The ECN field of the peer's SYN.
    pub opening: Ecn,
    /// When an acknowledgement has waited long enough.
    pub ack_at: Time,
    /// Segments sent.
    pub segments: u64,
}

impl Connection {
    /// A connection whose first sequence number is `iss`.
    pub(crate) fn new(state: State, iss: u32, feedback: Feedback) -> Self {
        Self {
            snd_una: iss,
            snd_nxt: iss,
            rcv_nxt: 0,
            ts_recent: 0,
            ack_sent: 0,
            state,
            bits: 0,
            feedback,
            opening: Ecn::NotEct,
            ack_at: Time::MAX,
            segments: 0,
        }
    }

    /// Whether any of `bits` is set.
    #[inline]
    pub(crate) const fn has(&self, bits: u8) -> bool {
        self.bits & bits != 0
    }

    /// Sequence numbers sent and not acknowledged.
    #[inline]
    pub(crate) const fn in_flight(&self) -> u32 {
        self.snd_nxt.wrapping_sub(self.snd_una)
    }

    /// Whether an acknowledgement waits for its timer.
    #[inline]
    pub(crate) fn ack_is_delayed(&self) -> bool {
        self.ack_at != Time::MAX
    }

    /// Whether AccECN was agreed on.
    #[inline]
    pub(crate) fn counts_marks(&self) -> bool {
        self.feedback == Feedback::Counted && self.has(bit::ECN)
    }
}
