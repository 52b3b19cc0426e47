//! What travels: packets and the frames in them, as fields and counts of bytes, and their sizes on
//! the wire (RFC 9000 sections 12, 17 and 19; DATAGRAM frames: RFC 9221).
//!
//! # Differences from the source
//!
//! 1. Payload is counted, never stored. Frames of each type lie in fields of their own, so the
//!    order of the types in a packet is always the same.
//! 2. A packet has at most [`MOST_STREAMS`] STREAM frames, and one of each other type.
//! 3. Connection IDs are eight bytes each way, as those of most servers; Initial packets carry no
//!    token.

mod ack;
mod frames;
mod stream;
mod varint;

pub use ack::{Ack, EcnCounts, MOST_RANGES};
pub use frames::{CryptoFrame, Rare, StreamFrame};
pub use stream::StreamPacket;
pub(crate) use varint::varint;

/// Bytes of an IPv4 and a UDP header.
pub const HEADERS: u32 = 28;

/// Least bytes of a datagram with a packet that opens a connection (RFC 9000 section 14.1).
pub const LEAST_DATAGRAM: u32 = 1200;

/// Bytes of the tag that authenticates a packet (RFC 9001 section 5.3).
pub const TAG: u32 = 16;

/// Most STREAM frames in a packet.
pub const MOST_STREAMS: usize = 4;

/// Most packets in a datagram: one of each space (RFC 9000 section 12.2).
pub const MOST_PACKETS: usize = 3;

/// Most bytes in a DATAGRAM frame, so that it fits a packet in any datagram.
pub(crate) const LARGEST_MESSAGE: u16 = 1150;

/// Bytes of a connection ID.
const CONNECTION_ID: u32 = 8;

/// The packet number spaces (RFC 9000 section 12.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Initial packets.
    Initial,
    /// Handshake packets.
    Handshake,
    /// 0-RTT and 1-RTT packets.
    Data,
}

impl Space {
    /// All, in their order.
    pub const ALL: [Self; 3] = [Self::Initial, Self::Handshake, Self::Data];
}

/// A packet. What most have lies in its first 56 bytes, so that those of a packet with one STREAM
/// frame or a short ACK frame are all that is touched of it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Packet {
    /// Its number, in its space.
    pub number: u64,
    /// Its space.
    pub space: Space,
    /// Whether it is a 0-RTT packet.
    pub early: bool,
    /// Bytes that its number takes (RFC 9000 section 17.1).
    pub number_bytes: u8,
    /// PING (section 19.2).
    pub ping: bool,
    /// HANDSHAKE_DONE (section 19.20).
    pub done: bool,
    /// CONNECTION_CLOSE (section 19.19).
    pub close: bool,
    /// How many STREAM frames there are.
    count: u8,
    /// Whether `rare` is its own, and not what a packet had in whose place this was put.
    has_rare: bool,
    /// The first STREAM frame.
    stream: StreamFrame,
    /// ACK.
    pub ack: Option<Ack>,
    /// The other STREAM frames.
    streams: [StreamFrame; MOST_STREAMS - 1],
    rare: Rare,
}

impl PartialEq for Packet {
    fn eq(&self, other: &Self) -> bool {
        let head = |p: &Self| (p.number, p.space, p.early, p.number_bytes, p.ping, p.done, p.close);
        head(self) == head(other)
            && self.ack == other.ack
            && self.rare() == other.rare()
            && self.streams().eq(other.streams())
    }
}

impl Eq for Packet {}

impl Packet {
    /// A packet without frames.
    #[must_use]
    pub const fn empty(space: Space) -> Self {
        let stream = StreamFrame { id: 0, len: 0, fin: false, offset: 0 };
        Self {
            number: 0,
            space,
            early: false,
            number_bytes: 1,
            ping: false,
            done: false,
            close: false,
            count: 0,
            has_rare: false,
            stream,
            ack: None,
            streams: [stream; MOST_STREAMS - 1],
            rare: Rare::NONE,
        }
    }

    /// Makes a 1-RTT packet with nothing but an ACK frame, in the place of another of which the
    /// frame may be there.
    #[inline]
    pub(crate) fn acknowledge(&mut self, number: u64, number_bytes: u8) -> &mut Option<Ack> {
        (self.number, self.space, self.early) = (number, Space::Data, false);
        (self.number_bytes, self.ping, self.done, self.close) = (number_bytes, false, false, false);
        (self.count, self.has_rare) = (0, false);
        &mut self.ack
    }

    /// Puts it in the place of another. What there is not of it is not copied.
    #[inline]
    pub fn overwrite(&self, old: &mut Self) {
        let &Self { number, space, early, number_bytes, ping, done, close, count, .. } = self;
        match (&self.ack, &mut old.ack) {
            (Some(ack), Some(old)) => ack.overwrite(old),
            (Some(ack), old) => *old = Some(*ack),
            (None, old) => *old = None,
        }
        (old.number, old.space, old.early, old.number_bytes) = (number, space, early, number_bytes);
        (old.ping, old.done, old.close, old.count) = (ping, done, close, count);
        (old.stream, old.has_rare) = (self.stream, self.has_rare);
        if count > 1 {
            old.streams = self.streams;
        }
        if self.has_rare {
            old.rare = self.rare;
        }
    }

    /// Its STREAM frames.
    #[inline]
    pub fn streams(&self) -> impl Iterator<Item = &StreamFrame> {
        let behind = |at: usize| at.checked_sub(1).and_then(|at| self.streams.get(at));
        (0..usize::from(self.count)).map(move |at| behind(at).unwrap_or(&self.stream))
    }

    /// Whether there is room for a STREAM frame.
    pub(crate) fn takes_stream(&self) -> bool {
        usize::from(self.count) < MOST_STREAMS
    }

    /// Adds a STREAM frame, for which there is room.
    pub(crate) fn add_stream(&mut self, frame: StreamFrame) {
        match self.count {
            0 => self.stream = frame,
            count => self.streams[usize::from(count) - 1] = frame,
        }
        self.count += 1;
    }

    /// Frames that few packets have, if this one has any.
    #[inline]
    #[must_use]
    pub fn rare(&self) -> Option<&Rare> {
        self.has_rare.then_some(&self.rare)
    }

    /// The same, to be set.
    pub(crate) fn rare_mut(&mut self) -> &mut Rare {
        if !self.has_rare {
            (self.rare, self.has_rare) = (Rare::NONE, true);
        }
        &mut self.rare
    }

    /// Whether it asks for an acknowledgement (RFC 9002 section 2: anything but ACK, PADDING and
    /// CONNECTION_CLOSE).
    #[inline]
    #[must_use]
    pub fn is_eliciting(&self) -> bool {
        self.count > 0 || self.ping || self.done || self.rare().is_some_and(Rare::is_eliciting)
    }

    /// Bytes of PADDING.
    #[inline]
    pub(crate) fn padding(&self) -> u16 {
        self.rare().map_or(0, |rare| rare.padding)
    }

    /// Bytes of header and tag around the frames.
    #[must_use]
    pub fn around(&self) -> u32 {
        // Section 17.2: first byte, version, two connection IDs with their lengths, length (two
        // bytes); Initial packets have the length of a token.
        let long = 1 + 4 + 2 * (1 + CONNECTION_ID) + 2;
        let header = match self.space {
            Space::Initial => long + 1,
            Space::Handshake => long,
            Space::Data if self.early => long,
            Space::Data => return around_short(self.number_bytes),
        };
        header + u32::from(self.number_bytes) + TAG
    }

    /// Bytes in a datagram.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        let mut bytes = self.around() + self.rare().map_or(0, Rare::bytes);
        bytes += u32::from(self.ping) + u32::from(self.done);
        if self.close {
            bytes += 4; // type, error code, frame type, length of the reason
        }
        for frame in self.streams() {
            let len = u32::from(frame.len);
            bytes += StreamFrame::header(frame.id, frame.offset, len) + len;
        }
        bytes + self.ack.as_ref().map_or(0, Ack::bytes)
    }
}

/// Bytes of header and tag around the frames of a 1-RTT packet (RFC 9000 section 17.3: first byte,
/// connection ID and number).
pub(crate) const fn around_short(number_bytes: u8) -> u32 {
    1 + CONNECTION_ID + number_bytes as u32 + TAG
}

/// Bytes for a number when `acked` is the largest that the peer is known to have: twice what is
/// unacknowledged must fit (RFC 9000 appendix A.2).
pub(crate) fn number_bytes(number: u64, acked: Option<u64>) -> u8 {
    match 2 * acked.map_or(number + 1, |acked| number - acked) {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xff_ffff => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Time;

    #[test]
    fn numbers_take_the_bytes_of_the_rfc() {
        // RFC 9000 section 17.1: with 0xabe8b3 acknowledged, 0xac5c02 takes 16 bits and 0xace8fe
        // 18, so three bytes.
        assert_eq!(number_bytes(0xac_5c02, Some(0xab_e8b3)), 2);
        assert_eq!(number_bytes(0xac_e8fe, Some(0xab_e8b3)), 3);
        assert_eq!(number_bytes(0, None), 1);
    }

    #[test]
    fn a_full_packet_of_one_stream_carries_all_but_31_bytes() {
        let mut packet = Packet::empty(Space::Data);
        packet.add_stream(StreamFrame { id: 0, len: 1421, fin: false, offset: 100 });
        // 9 header, 1 number, 16 tag, 1 type, 1 stream, 2 offset, 2 length.
        assert_eq!(packet.bytes(), 1421 + 32);
        packet.stream.offset = 0;
        assert_eq!(packet.bytes(), 1421 + 30);
    }

    #[test]
    fn headers_have_the_bytes_of_the_rfc() {
        let around = |space, early| Packet { early, ..Packet::empty(space) }.around();
        // RFC 9000 section 17.2: 1 first byte, 4 version, 2 × (1 + 8) connection IDs, 2 length, 1
        // number, 16 tag; with the length of a token in Initial packets.
        assert_eq!(around(Space::Initial, false), 43);
        assert_eq!((around(Space::Handshake, false), around(Space::Data, true)), (42, 42));
        // Section 17.3: 1 first byte, 8 connection ID, 1 number, 16 tag.
        assert_eq!(around(Space::Data, false), 26);
    }

    #[test]
    fn nothing_of_the_old_packet_is_left_where_another_is_put() {
        let ack = |ranges: &[(u64, u64)]| {
            let mut ack = None;
            Ack::fill(&mut ack, ranges.iter().copied(), Time(80_000), None);
            ack
        };
        let frame = StreamFrame { id: 4, len: 100, fin: true, offset: 7 };
        let full = Packet {
            number: 900,
            space: Space::Initial,
            early: true,
            number_bytes: 2,
            ping: true,
            done: true,
            close: true,
            count: 4,
            has_rare: true,
            stream: frame,
            streams: [StreamFrame { id: 8, ..frame }; MOST_STREAMS - 1],
            rare: Rare {
                padding: 3,
                message: Some(5),
                crypto: Some(CryptoFrame { offset: 1, len: 2 }),
                max_data: Some(1 << 20),
                max_stream_data: Some((4, 1 << 16)),
            },
            ack: ack(&[(90, 100), (50, 60), (0, 49)]),
        };
        let short = Packet { ack: ack(&[(7, 9), (1, 3)]), ..Packet::empty(Space::Handshake) };
        let mut slot = Packet::empty(Space::Data);
        for packet in [full, short, full, Packet::empty(Space::Data), short] {
            packet.overwrite(&mut slot);
            assert_eq!(slot, packet);
            assert_eq!(slot.bytes(), packet.bytes());
        }
        assert_ne!(full, short);
        for old in [full, short, Packet::empty(Space::Data)] {
            let mut place = old;
            let frame = place.acknowledge(7, 1);
            Ack::fill(frame, [(7, 9), (1, 3)].into_iter(), Time(80_000), None);
            assert_eq!(place, Packet { number: 7, space: Space::Data, ..short });
            assert_eq!(place.bytes(), around_short(1) + short.ack.unwrap().bytes());
            Ack::fill(&mut place.ack, core::iter::empty(), Time::ZERO, None);
            assert_eq!(place.ack, None);
        }
    }
}
