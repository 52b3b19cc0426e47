//! What an endpoint tells those around it.

use crate::packet::{Packet, Space, StreamPacket};
use sojourn_base::{Ecn, Time};

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
    /// The same of a datagram with a packet of one STREAM frame, which may come to the peer by
    /// [`Endpoint::on_stream_packet`](super::Endpoint::on_stream_packet).
    fn send_stream(&mut self, ecn: Ecn, packet: StreamPacket, bytes: u32) {
        self.send(ecn, &[packet.into()], bytes);
    }
    /// The same of a datagram with a packet that has nothing but an ACK frame: `fill` makes it in
    /// the place of any other packet, and tells the bytes.
    fn send_ack(&mut self, ecn: Ecn, fill: impl FnOnce(&mut Packet) -> u32) {
        let mut packet = Packet::empty(Space::Data);
        let bytes = fill(&mut packet);
        self.send(ecn, &[packet], bytes);
    }
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
    /// The same of a packet of one STREAM frame.
    fn read_stream(&mut self, packet: StreamPacket) {
        self.read(&packet.into());
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
