//! QUIC packets on their way. A datagram travels as a [`Packet`] like all others, with its length
//! and ECN field; what is in it lies in a pool beside.

use crate::packet::{DATAGRAM_HEADER, Packet};
use sojourn_base::{Ecn, Time};
use sojourn_quic::{MOST_PACKETS, Packet as QuicPacket, Space, StreamFrame, StreamPacket};
use sojourn_tcp::{Flags, HEADERS, Segment};

/// No more packets in a datagram.
const END: u32 = u32::MAX;

/// The handle of a datagram with a packet of one STREAM frame, which lies in the fields that TCP
/// has in its header.
const IN_HEADER: u32 = u32::MAX - 1;

/// Set in the byte of a datagram's header that has the bytes of its packet's number: the stream
/// ends.
const FIN: u8 = 0x80;

/// A packet on its way, and the place of the one coalesced behind it.
#[derive(Clone)]
#[repr(C, align(64))]
pub(crate) struct Slot {
    next: u32,
    pub packet: QuicPacket,
}

/// Bytes of a slot that most packets fill: those behind are ranges of ACK frames.
const FILLED: usize = 256;

/// What is in the datagrams on their way. Slots are used again; nothing is allocated after the
/// high-water mark.
#[derive(Clone, Default)]
pub(crate) struct QuicPool {
    /// None while it is lent. They are boxes so that a packet is read where it lies, while the
    /// endpoint that reads it puts others beside it.
    slots: Vec<Option<Box<Slot>>>,
    /// Slots without a packet, those that last had one with an ACK frame apart: another such takes
    /// their place without the ranges that it has not.
    free: [Vec<u32>; 2],
}

impl QuicPool {
    /// A place for a packet with an ACK frame alone, in which any other lies, and its handle.
    #[inline]
    pub(crate) fn place(&mut self) -> (&mut QuicPacket, u32) {
        let [without, with] = &mut self.free;
        let at = with.pop().or_else(|| without.pop()).unwrap_or_else(|| {
            let packet = QuicPacket::empty(Space::Data);
            self.slots.push(Some(Box::new(Slot { packet, next: END })));
            (self.slots.len() - 1) as u32
        });
        let slot = self.slots[at as usize].as_mut().expect("what is free is not lent");
        slot.next = END;
        (&mut slot.packet, at)
    }

    /// Keeps the packets of a datagram and returns their handle.
    pub(crate) fn put(&mut self, packets: &[QuicPacket]) -> u32 {
        packets.iter().rev().fold(END, |next, packet| {
            let [without, with] = &mut self.free;
            let free = if packet.ack.is_some() {
                with.pop().or_else(|| without.pop())
            } else {
                without.pop().or_else(|| with.pop())
            };
            if let Some(at) = free
                && let Some(slot) = &mut self.slots[at as usize]
            {
                packet.overwrite(&mut slot.packet);
                slot.next = next;
                return at;
            }
            self.slots.push(Some(Box::new(Slot { packet: *packet, next })));
            (self.slots.len() - 1) as u32
        })
    }

    /// Lends the packet of a datagram, if it is the only one in it.
    #[inline]
    pub(crate) fn lend(&mut self, handle: u32) -> Option<Box<Slot>> {
        self.slots[handle as usize].take_if(|slot| slot.next == END)
    }

    /// Takes back the packet of a datagram that was lent: the datagram is no more.
    #[inline]
    pub(crate) fn take_back(&mut self, handle: u32, slot: Box<Slot>) {
        self.free[usize::from(slot.packet.ack.is_some())].push(handle);
        self.slots[handle as usize] = Some(slot);
    }

    /// Asks for the memory of a datagram's first packet, as far as most are filled.
    #[inline]
    pub(crate) fn prefetch(&self, handle: u32) {
        if let Some(Some(slot)) = self.slots.get(handle as usize) {
            crate::prefetch::lines(&**slot, FILLED);
        }
    }

    /// The packets of a datagram that lie here, which stay in it, and how many they are.
    pub(crate) fn peek(&self, handle: u32) -> ([QuicPacket; MOST_PACKETS], usize) {
        let mut packets = [QuicPacket::empty(Space::Data); MOST_PACKETS];
        let (mut at, mut count) = (handle, 0);
        while let Some(Some(slot)) = self.slots.get(at as usize) {
            (packets[count], at) = (slot.packet, slot.next);
            count += 1;
        }
        (packets, count)
    }

    /// Gives the packets of a datagram out, and how many they are.
    pub(crate) fn take(&mut self, handle: u32) -> ([QuicPacket; MOST_PACKETS], usize) {
        let packets = self.peek(handle);
        self.release(handle);
        packets
    }

    /// A datagram is lost.
    pub(crate) fn release(&mut self, handle: u32) {
        let mut at = handle;
        while let Some(Some(slot)) = self.slots.get(at as usize) {
            self.free[usize::from(slot.packet.ack.is_some())].push(at);
            at = slot.next;
        }
    }
}

/// The fields that stand for a datagram of so many bytes of UDP payload, sent at `now`. It has no
/// flags, which every segment of TCP has, and carries its time of sending for delay probes. Length
/// counts from a TCP header, so that all packets are as long as they say in the same way.
pub(crate) fn segment(now: Time, payload: u32, ecn: Ecn) -> Segment {
    let mut segment = Segment::EMPTY;
    segment.len = (payload + DATAGRAM_HEADER - HEADERS) as u16;
    segment.ecn = ecn;
    segment.tsval = (now.0 / 1000) as u32;
    segment
}

impl Packet {
    /// A datagram for a connection with a packet of one STREAM frame, sent with such a header, if
    /// it fits in there.
    #[inline(always)]
    pub(crate) fn of_stream(mut segment: Segment, conn: u32, packet: StreamPacket) -> Option<Self> {
        let StreamPacket { number, number_bytes, frame } = packet;
        segment.seq = u32::try_from(number).ok()?;
        segment.tsecr = u32::try_from(frame.offset).ok()?;
        (segment.ack, segment.window) = (frame.id, frame.len);
        segment.sacks = number_bytes | if frame.fin { FIN } else { 0 };
        Some(Self { segment, conn, sacks: IN_HEADER })
    }

    /// The packet of one STREAM frame that is in its header.
    #[inline]
    pub(crate) fn stream_packet(&self) -> Option<StreamPacket> {
        let Segment { seq, ack, tsecr, window, sacks, .. } = self.segment;
        let fin = sacks & FIN != 0;
        let frame = StreamFrame { id: ack, len: window, fin, offset: u64::from(tsecr) };
        let number_bytes = sacks & !FIN;
        let packet = StreamPacket { number: u64::from(seq), number_bytes, frame };
        (self.sacks == IN_HEADER).then_some(packet)
    }
}

/// The bytes of UDP payload of a datagram with these fields.
pub(crate) fn payload(segment: &Segment) -> u16 {
    segment.len + (HEADERS - DATAGRAM_HEADER) as u16
}

impl Packet {
    /// Whether it is a datagram of QUIC.
    pub(crate) fn is_quic(&self) -> bool {
        self.segment.flags == Flags::NONE && !self.is_datagram()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_keep_their_packets_and_slots_are_used_again() {
        let numbered = |number| {
            let mut packet = QuicPacket::empty(Space::Data);
            packet.number = number;
            packet
        };
        let mut pool = QuicPool::default();
        let one = pool.put(&[numbered(1)]);
        let three = pool.put(&[numbered(2), numbered(3), numbered(4)]);
        let (packets, count) = pool.take(three);
        assert_eq!((count, packets.map(|packet| packet.number)), (3, [2, 3, 4]));
        let lent = pool.lend(one).unwrap();
        assert_eq!(lent.packet, numbered(1));
        pool.take_back(one, lent);
        pool.put(&[numbered(5), numbered(6), numbered(7)]);
        assert_eq!(pool.slots.len(), 4);
        let two = pool.put(&[numbered(8), numbered(9)]);
        assert!(pool.lend(two).is_none());
        pool.release(two);
        assert_eq!(pool.free.iter().map(Vec::len).sum::<usize>(), 2);
    }

    #[test]
    fn a_packet_of_one_stream_frame_lies_in_the_header_if_it_fits() {
        let frame = StreamFrame { id: 9, len: 1400, fin: true, offset: 1 << 31 };
        let packet = StreamPacket { number: 70_000, number_bytes: 2, frame };
        let header = segment(Time(5_000), 1440, Ecn::Ect1);
        let datagram = Packet::of_stream(header, 3, packet).unwrap();
        assert_eq!(datagram.stream_packet(), Some(packet));
        assert_eq!((datagram.ip_bytes(), datagram.is_quic(), datagram.conn), (1468, true, 3));
        assert_eq!((datagram.segment.ecn, datagram.segment.tsval), (Ecn::Ect1, 5));
        let far = StreamPacket { number: 1 << 32, ..packet };
        assert!(Packet::of_stream(header, 3, far).is_none());
        let far = StreamFrame { offset: 1 << 32, ..frame };
        assert!(Packet::of_stream(header, 3, StreamPacket { frame: far, ..packet }).is_none());
        assert_eq!(Packet { sacks: 0, ..datagram }.stream_packet(), None);
    }

    #[test]
    fn a_datagram_is_as_long_on_the_wire_as_its_payload_and_headers() {
        let segment = segment(Time::ZERO, 1452, Ecn::Ect0);
        let packet = Packet { segment, conn: 0, sacks: 0 };
        assert_eq!((packet.ip_bytes(), packet.is_quic()), (1480, true));
        assert_eq!(payload(&segment), 1452);
    }
}
