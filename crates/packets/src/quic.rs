//! QUIC packets on their way. A datagram travels as a [`Packet`] like all others, with its length
//! and ECN field; what is in it lies in a pool beside.

use crate::packet::{DATAGRAM_HEADER, Packet};
use sojourn_base::{Ecn, Time};
use sojourn_quic::{MOST_PACKETS, Packet as QuicPacket, Space};
use sojourn_tcp::{Flags, HEADERS, Segment};

/// No more packets in a datagram.
const END: u32 = u32::MAX;

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

    /// The packets of a datagram, which stay in it, and how many they are.
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
    fn a_datagram_is_as_long_on_the_wire_as_its_payload_and_headers() {
        let segment = segment(Time::ZERO, 1452, Ecn::Ect0);
        let packet = Packet { segment, conn: 0, sacks: 0 };
        assert_eq!((packet.ip_bytes(), packet.is_quic()), (1480, true));
        assert_eq!(payload(&segment), 1452);
    }
}
