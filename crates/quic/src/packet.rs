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

use sojourn_base::{Ecn, Time};

/// Bytes of an IPv4 and a UDP header.
pub const HEADERS: u32 = 28;

/// Least bytes of a datagram with a packet that opens a connection (RFC 9000 section 14.1).
pub const LEAST_DATAGRAM: u32 = 1200;

/// Bytes of the tag that authenticates a packet (RFC 9001 section 5.3).
pub const TAG: u32 = 16;

/// Most STREAM frames in a packet.
pub const MOST_STREAMS: usize = 4;

/// Most ranges in an ACK frame.
pub const MOST_RANGES: usize = 32;

/// Most packets in a datagram: one of each space (RFC 9000 section 12.2).
pub const MOST_PACKETS: usize = 3;

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

/// Bytes of a variable-length integer (RFC 9000 section 16).
pub(crate) const fn varint(value: u64) -> u32 {
    match value {
        0..=0x3f => 1,
        0x40..=0x3fff => 2,
        0x4000..=0x3fff_ffff => 4,
        _ => 8,
    }
}

/// Packets counted by their ECN field (RFC 9000 section 19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// With ECT(0).
    pub ect0: u64,
    /// With ECT(1).
    pub ect1: u64,
    /// With CE.
    pub ce: u64,
}

impl EcnCounts {
    /// One more packet.
    pub(crate) fn count(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ect0 += 1,
            Ecn::Ect1 => self.ect1 += 1,
            Ecn::Ce => self.ce += 1,
        }
    }
}

/// An ACK frame (RFC 9000 section 19.3). What few have lies last.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Ack {
    /// The largest number that is acknowledged.
    pub largest: u64,
    /// How long ago that packet came.
    pub delay: Time,
    /// Packets below the largest in its range.
    pub first: u32,
    /// Bytes of the other ranges on the wire.
    below_bytes: u16,
    /// How many these are.
    more: u8,
    /// Whether it is an ACK_ECN frame, with counts. As the one field that cannot have every value,
    /// it says too whether there is a frame: among what nearly all have.
    has_counts: bool,
    counts: EcnCounts,
    /// Of each how many numbers above it are missing, and how many it has.
    below: [(u32, u32); MOST_RANGES - 1],
}

impl Ack {
    /// Makes the frame in its place for ranges `start..end`, the highest first, if there are any;
    /// those that find no room are left out.
    pub(crate) fn fill(
        place: &mut Option<Self>,
        ranges: impl Iterator<Item = (u64, u64)>,
        delay: Time,
        ecn: Option<EcnCounts>,
    ) {
        let mut ranges = ranges.take(MOST_RANGES);
        let Some((start, end)) = ranges.next() else { return };
        let ack = place.insert(Self {
            largest: end - 1,
            delay,
            first: (end - 1 - start) as u32,
            below_bytes: 0,
            more: 0,
            has_counts: ecn.is_some(),
            counts: ecn.unwrap_or_default(),
            below: [(0, 0); MOST_RANGES - 1],
        });
        let mut above = start;
        for ((start, end), below) in ranges.zip(&mut ack.below) {
            let (missing, has) = (above - end, end - start);
            *below = (missing as u32, has as u32);
            // Both are written less one (section 19.3.1).
            ack.below_bytes += (varint(missing - 1) + varint(has - 1)) as u16;
            ack.more += 1;
            above = start;
        }
    }

    /// With counts it is an ACK_ECN frame.
    #[must_use]
    pub fn ecn(&self) -> Option<EcnCounts> {
        self.has_counts.then_some(self.counts)
    }

    /// Puts it in the place of another; of the ranges only those that there are.
    fn overwrite(&self, old: &mut Self) {
        let &Self { largest, delay, first, below_bytes, more, has_counts, counts, ref below } =
            self;
        (old.largest, old.delay, old.first) = (largest, delay, first);
        (old.below_bytes, old.more, old.has_counts) = (below_bytes, more, has_counts);
        if has_counts {
            old.counts = counts;
        }
        for (old, new) in old.below.iter_mut().zip(&below[..usize::from(more)]) {
            *old = *new;
        }
    }

    /// The ranges `start..end` that it acknowledges, the highest first.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        let first = (self.largest - u64::from(self.first), self.largest + 1);
        let mut above = first.0;
        let more = self.below[..usize::from(self.more)].iter().map(move |&(missing, has)| {
            let end = above - u64::from(missing);
            above = end - u64::from(has);
            (above, end)
        });
        core::iter::once(first).chain(more)
    }

    /// Bytes on the wire. The delay is in units of 8 µs (RFC 9000 section 18.2,
    /// `ack_delay_exponent` 3).
    pub(crate) fn bytes(&self) -> u32 {
        let mut bytes = 1
            + varint(self.largest)
            + varint(self.delay.0 / 8000)
            + varint(u64::from(self.more))
            + varint(u64::from(self.first))
            + u32::from(self.below_bytes);
        if let Some(EcnCounts { ect0, ect1, ce }) = self.ecn() {
            bytes += varint(ect0) + varint(ect1) + varint(ce);
        }
        bytes
    }
}

impl PartialEq for Ack {
    fn eq(&self, other: &Self) -> bool {
        let rest = |ack: &Self| (ack.delay, ack.ecn());
        rest(self) == rest(other) && self.ranges().eq(other.ranges())
    }
}

impl Eq for Ack {}

/// A STREAM frame (RFC 9000 section 19.8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamFrame {
    /// The stream, by its ID on the wire.
    pub id: u32,
    /// Bytes of payload.
    pub len: u16,
    /// Whether the stream ends with it.
    pub fin: bool,
    /// Where in the stream it begins.
    pub offset: u64,
}

impl StreamFrame {
    /// Bytes of the shortest: type, stream and length.
    pub(crate) const LEAST: u32 = 3;

    /// Bytes in front of `len` bytes from `offset` on; the length is always written.
    pub(crate) const fn header(id: u32, offset: u64, len: u32) -> u32 {
        let at = if offset > 0 { varint(offset) } else { 0 };
        1 + varint(id as u64) + at + varint(len as u64)
    }
}

/// A CRYPTO frame (RFC 9000 section 19.6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CryptoFrame {
    /// Where in the handshake messages of its space it begins.
    pub offset: u32,
    /// Bytes of payload.
    pub len: u16,
}

impl CryptoFrame {
    /// Bytes in front of `len` bytes from `offset` on.
    pub(crate) const fn header(offset: u64, len: u32) -> u32 {
        1 + varint(offset) + varint(len as u64)
    }
}

/// Frames that few packets have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rare {
    /// Bytes of PADDING (RFC 9000 section 19.1).
    pub padding: u16,
    /// A DATAGRAM frame of so many bytes (RFC 9221 section 4).
    pub message: Option<u16>,
    /// CRYPTO.
    pub crypto: Option<CryptoFrame>,
    /// MAX_DATA (section 19.9).
    pub max_data: Option<u64>,
    /// MAX_STREAM_DATA of a stream (section 19.10).
    pub max_stream_data: Option<(u32, u64)>,
}

impl Rare {
    const NONE: Self =
        Self { padding: 0, message: None, crypto: None, max_data: None, max_stream_data: None };

    #[cold]
    fn is_eliciting(&self) -> bool {
        *self != Self { padding: self.padding, ..Self::NONE }
    }

    #[cold]
    fn bytes(&self) -> u32 {
        let mut bytes = u32::from(self.padding);
        if let Some(len) = self.message {
            bytes += 1 + varint(u64::from(len)) + u32::from(len);
        }
        if let Some(CryptoFrame { offset, len }) = self.crypto {
            let len = u32::from(len);
            bytes += CryptoFrame::header(u64::from(offset), len) + len;
        }
        if let Some(most) = self.max_data {
            bytes += 1 + varint(most);
        }
        if let Some((id, most)) = self.max_stream_data {
            bytes += 1 + varint(u64::from(id)) + varint(most);
        }
        bytes
    }
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
        // bytes); Initial packets have the length of a token. Section 17.3: first byte and
        // connection ID.
        let long = 1 + 4 + 2 * (1 + CONNECTION_ID) + 2;
        let header = match self.space {
            Space::Initial => long + 1,
            Space::Handshake => long,
            Space::Data if self.early => long,
            Space::Data => 1 + CONNECTION_ID,
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
    use alloc::vec::Vec;

    #[test]
    fn variable_length_integers_have_the_sizes_of_the_rfc() {
        // RFC 9000 appendix A.1.
        assert_eq!(varint(151_288_809_941_952_652), 8);
        assert_eq!([varint(494_878_333), varint(15_293), varint(37)], [4, 2, 1]);
    }

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

    fn ack(ranges: impl Iterator<Item = (u64, u64)>, delay: Time) -> Ack {
        let mut ack = None;
        Ack::fill(&mut ack, ranges, delay, None);
        ack.unwrap()
    }

    #[test]
    fn ack_ranges_survive_the_encoding() {
        let ranges = [(90, 100), (50, 60), (0, 49)];
        let ack = ack(ranges.into_iter(), Time::from_micros(80));
        assert_eq!(ack.ranges().collect::<Vec<_>>(), ranges);
        assert_eq!((ack.largest, ack.first), (99, 9));
        // Type, largest (two), delay, count, first; two gaps and lengths of one byte each.
        assert_eq!(ack.bytes(), 6 + 4);
    }

    #[test]
    fn ack_keeps_the_highest_ranges() {
        let ranges = (0..40).rev().map(|n| (2 * n, 2 * n + 1));
        let ack = ack(ranges, Time::ZERO);
        let kept: Vec<_> = ack.ranges().collect();
        assert_eq!((kept.len(), kept[0], kept[31]), (MOST_RANGES, (78, 79), (16, 17)));
    }

    #[test]
    fn nothing_of_the_old_packet_is_left_where_another_is_put() {
        let ack = |ranges: &[(u64, u64)]| Some(ack(ranges.iter().copied(), Time(80_000)));
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
    }

    #[test]
    fn what_most_packets_have_lies_together() {
        assert_eq!(core::mem::offset_of!(Packet, ack) + core::mem::offset_of!(Ack, counts), 56);
        assert_eq!(size_of::<Option<Ack>>(), size_of::<Ack>());
    }
}
