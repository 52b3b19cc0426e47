//! The packet that most are.

use super::{Packet, Space, StreamFrame};

/// A 1-RTT packet with one STREAM frame and nothing else. Most packets with data are such.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPacket {
    /// Its number.
    pub number: u64,
    /// Bytes that its number takes.
    pub number_bytes: u8,
    /// The frame.
    pub frame: StreamFrame,
}

impl From<StreamPacket> for Packet {
    fn from(StreamPacket { number, number_bytes, frame }: StreamPacket) -> Self {
        let mut packet = Self { number, number_bytes, ..Self::empty(Space::Data) };
        packet.add_stream(frame);
        packet
    }
}
