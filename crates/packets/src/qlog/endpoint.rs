//! An endpoint that is logged: which one, what arrives there, and what it does.

use crate::end::End;
use crate::group::Group;
use sojourn_base::Ecn;
use sojourn_quic::{Lost, Packet as QuicPacket, Unread};
use sojourn_tcp::{SackBlock, Segment};

/// An endpoint that is logged.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// 0, the client, or 1, the server.
    pub end: usize,
    /// Of its connection.
    pub generation: u32,
    pub endpoint: &'a End,
    pub group: &'a Group,
}

/// What an endpoint does during a call, in the names of qlog's events.
#[derive(Clone)]
pub(crate) enum Action {
    /// A segment of TCP is sent.
    SegmentSent(Segment, Vec<SackBlock>),
    /// A datagram of QUIC is sent.
    DatagramSent(Ecn, Vec<QuicPacket>),
    /// A packet of QUIC that has come is read.
    PacketReceived(QuicPacket),
    /// It is not.
    PacketDropped(QuicPacket, Unread),
    /// A packet of QUIC is taken for lost.
    PacketLost(Lost),
    /// The connection is closed as it should be, or given up.
    ConnectionClosed { well: bool },
}

/// A packet that has arrived.
pub(crate) enum Arrival<'a> {
    Segment(&'a Segment, &'a [SackBlock]),
    Datagram(Ecn, &'a [QuicPacket]),
}
