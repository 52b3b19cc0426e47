//! The packet as it travels through events and queues, and the little that queues need of it.

use crate::end_id::EndId;
use sojourn_base::{Dscp, Ecn, Time};
use sojourn_link::{Dropped, Machine, Waiting};
use sojourn_qdisc::{Ack, DropReason, Sacks, Sink};
use sojourn_tcp::{Flags, SackBlock, Segment};

/// No SACK blocks.
pub(crate) const NO_SACKS: u32 = u32::MAX;

/// Set in [`Packet::conn`] of a datagram: its number counts datagram flows, not connections.
pub(crate) const DATAGRAM: u32 = 1 << 26;

/// Bytes of an IPv4 header and a UDP header.
pub(crate) const DATAGRAM_HEADER: u32 = 28;

/// Bytes of an RTP header.
pub(crate) const RTP_HEADER: u32 = 12;

/// A packet: 32 bytes, copied from event to event. SACK blocks lie in a pool beside it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Packet {
    /// TCP header fields; a datagram uses `seq` (its number), `len` and `ecn` only.
    pub segment: Segment,
    /// The connection, or the datagram flow with [`DATAGRAM`] set.
    pub conn: u32,
    /// Where its SACK blocks lie, or [`NO_SACKS`]; of QUIC, where its packets do.
    pub sacks: u32,
}

impl Packet {
    /// A datagram of `ip_bytes` from `member`, sent at `now`. Its time of sending travels in the
    /// fields that TCP would use for sequence numbers (whole) and timestamps (microseconds).
    pub(crate) fn datagram(member: u32, ip_bytes: u32, ecn: Ecn, now: Time) -> Self {
        let mut segment = Segment::EMPTY;
        segment.len = (ip_bytes - DATAGRAM_HEADER) as u16;
        segment.ecn = ecn;
        segment.seq = now.0 as u32;
        segment.ack = (now.0 >> 32) as u32;
        segment.tsval = (now.0 / 1000) as u32;
        Self { segment, conn: member | DATAGRAM, sacks: NO_SACKS }
    }

    /// When a datagram was sent.
    pub(crate) fn sent(&self) -> Time {
        Time(u64::from(self.segment.ack) << 32 | u64::from(self.segment.seq))
    }

    /// Whether it is a datagram: its number counts datagram flows.
    #[inline]
    pub(crate) fn is_datagram(&self) -> bool {
        self.conn & DATAGRAM != 0
    }

    /// Length of the IP packet in bytes.
    #[inline]
    pub(crate) fn ip_bytes(&self) -> u32 {
        if self.is_datagram() {
            DATAGRAM_HEADER + u32::from(self.segment.len)
        } else {
            self.segment.ip_bytes()
        }
    }
}

/// What stands in the queue of a link that is not fused: the whole packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub packet: Packet,
    /// When it came.
    pub enqueued: Time,
    /// Where on its path it is.
    pub step: u32,
    /// Whether it goes to its connection's server.
    pub to_server: bool,
    /// The hash of its group's label, and its group's codepoint.
    pub label: u32,
    pub dscp: Dscp,
    /// Its group's machine.
    pub machine: Machine,
    /// The number of its member's machines, if the discipline asks for that.
    pub number: u32,
}

impl Standing {
    /// The end that it goes to.
    #[inline]
    pub(crate) fn to(&self) -> EndId {
        EndId::of_bits(self.packet.conn << 1 | u32::from(self.to_server))
    }

    fn addresses(&self) -> (u32, u32) {
        self.machine.addresses(addresses(self.number, self.to_server))
    }
}

impl sojourn_qdisc::Packet for Standing {
    #[inline]
    fn bytes(&self) -> u32 {
        self.packet.ip_bytes()
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.packet.segment.ecn
    }
    #[inline]
    fn set_ce(&mut self) {
        self.packet.segment.ecn = Ecn::Ce;
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        // The finaliser of MurmurHash3: neighbouring numbers land far apart.
        let mut h = self.to().bits() ^ 0x9e37_79b9;
        h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
        h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
        h ^ (h >> 16)
    }
    #[inline]
    fn label(&self) -> u32 {
        self.label
    }
    #[inline]
    fn dscp(&self) -> u8 {
        self.dscp.bits()
    }
    fn ack(&self) -> Option<Ack> {
        let Segment { ack, tsval, tsecr, len, flags, sacks, .. } = self.packet.segment;
        let echoes = Flags::ECE | Flags::CWR;
        let acknowledges = flags.has(Flags::ACK) && !flags.any(Flags::SYN);
        (acknowledges && !self.packet.is_datagram()).then_some(Ack {
            number: ack,
            tsval,
            tsecr,
            echo: flags.0 & echoes.0,
            blocks: sacks & !Segment::COUNTERS != 0,
            bare: len == 0 && sacks & Segment::COUNTERS == 0 && flags.0 & !echoes.0 == Flags::ACK.0,
        })
    }
    #[inline]
    fn source(&self) -> u32 {
        self.addresses().0
    }
    #[inline]
    fn destination(&self) -> u32 {
        self.addresses().1
    }
}

impl Waiting for Standing {
    #[inline]
    fn enqueued(&self) -> Time {
        self.enqueued
    }
    #[inline]
    fn came(self, now: Time) -> Self {
        Self { enqueued: now, ..self }
    }
}

/// Set in the number of a member's machines if it is one that comes and goes.
pub(crate) const TRANSIENT: u32 = 1 << 31;

/// The IPv4 addresses, source and destination, of a packet between a member's machines: clients
/// live in 10/8 and servers in 172.16/12, those that come and go in the upper halves of these. Of
/// the first 2^23 machines of either kind no two share a client's address.
pub(crate) fn addresses(number: u32, to_server: bool) -> (u32, u32) {
    let upper = if number & TRANSIENT != 0 { 0x0088_0000 } else { 0 };
    let client = 0x0a00_0000 | (upper ^ (number & 0x007f_ffff));
    let server = 0xac10_0000 | (upper & 0x000f_ffff) | (number & 0x0007_ffff);
    if to_server { (client, server) } else { (server, client) }
}

/// SACK blocks of the packets on their way. Slots are reused; nothing is allocated after the
/// high-water mark.
#[derive(Clone, Default)]
pub(crate) struct SackPool {
    blocks: Vec<[SackBlock; 4]>,
    free: Vec<u32>,
}

impl SackPool {
    /// Keeps the blocks (at most four) and returns their handle.
    #[inline(never)]
    pub(crate) fn put(&mut self, blocks: &[SackBlock]) -> u32 {
        let mut kept = [SackBlock::default(); 4];
        kept[..blocks.len()].copy_from_slice(blocks);
        if let Some(at) = self.free.pop() {
            self.blocks[at as usize] = kept;
            at
        } else {
            self.blocks.push(kept);
            (self.blocks.len() - 1) as u32
        }
    }

    /// Asks for the memory of a packet's blocks.
    #[inline]
    pub(crate) fn prefetch(&self, packet: &Packet) {
        if let Some(blocks) = self.blocks.get(packet.sacks as usize) {
            crate::prefetch::lines(blocks, size_of_val(blocks));
        }
    }

    /// The blocks of a packet.
    #[inline]
    pub(crate) fn get(&self, packet: &Packet) -> [SackBlock; 4] {
        if packet.sacks == NO_SACKS {
            [SackBlock::default(); 4]
        } else {
            self.blocks[packet.sacks as usize]
        }
    }

    /// Gives a packet's blocks back.
    #[inline]
    pub(crate) fn release(&mut self, packet: &Packet) {
        if packet.sacks != NO_SACKS {
            self.free.push(packet.sacks);
        }
    }
}

/// Where links put what their disciplines drop, and where SACK blocks lie.
pub(crate) struct Beside<'a> {
    pub dropped: &'a mut Dropped<Standing>,
    pub sacks: &'a SackPool,
}

impl Sink<Standing> for Beside<'_> {
    fn dropped(&mut self, now: Time, packet: Standing, reason: DropReason) {
        self.dropped.dropped(now, packet, reason);
    }
    fn sacks(&self, packet: &Standing) -> Sacks {
        let blocks = self.sacks.get(&packet.packet);
        let segment = &packet.packet.segment;
        let (_, blocks) = segment.split_counters(&blocks[..segment.blocks()]);
        let mut sacks = Sacks::default();
        for (sack, block) in sacks.iter_mut().zip(blocks) {
            *sack = (block.start, block.end);
        }
        sacks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_32_bytes() {
        assert_eq!(size_of::<Packet>(), 32);
        assert_eq!(size_of::<Standing>(), 56);
    }

    #[test]
    fn a_datagram_says_when_it_was_sent_and_how_long_it_is() {
        // More nanoseconds, and more microseconds, than 32 bits hold.
        let at = Time(7_654_321_098_765);
        let packet = Packet::datagram(9, 1228, Ecn::Ect1, at);
        assert_eq!((packet.sent(), packet.segment.tsval), (at, 3_359_353_802));
        assert_eq!(
            (packet.conn, packet.ip_bytes(), packet.segment.len),
            (9 | DATAGRAM, 1228, 1200)
        );
        assert_eq!((packet.segment.ecn, packet.is_datagram()), (Ecn::Ect1, true));
        let segment = Segment { len: 1448, options: 12, ..Segment::EMPTY };
        let packet = Packet { segment, conn: 9, sacks: NO_SACKS };
        assert_eq!((packet.ip_bytes(), packet.is_datagram()), (1500, false));
    }

    #[test]
    fn machines_have_an_address_at_either_end() {
        assert_eq!(addresses(5, true), (0x0a00_0005, 0xac10_0005));
        assert_eq!(addresses(5, false), (0xac10_0005, 0x0a00_0005));
        let (client, server) = addresses(5 | TRANSIENT, true);
        assert_eq!((client >> 23, server >> 19), (0x0a80_0000 >> 23, 0xac18_0000 >> 19));
        let of = |number: u32| addresses(number | TRANSIENT, true).0;
        for number in [0, 5, 0x000f_ffff, 0x0037_1234] {
            for bit in 0..23 {
                assert_ne!(of(number), of(number ^ (1 << bit)), "{number} and bit {bit}");
            }
        }
    }

    fn standing(segment: Segment, conn: u32) -> Standing {
        Standing {
            packet: Packet { segment, conn, sacks: NO_SACKS },
            enqueued: Time(3),
            step: 0,
            to_server: true,
            label: 7,
            dscp: Dscp::default(),
            machine: Machine::new(0, false),
            number: 5,
        }
    }

    #[test]
    fn only_an_acknowledgement_of_nothing_else_is_bare() {
        let pure = Segment { ack: 11, tsval: 12, tsecr: 13, flags: Flags::ACK, ..Segment::EMPTY };
        let ack = |segment: Segment| sojourn_qdisc::Packet::ack(&standing(segment, 1));
        let wanted = Ack { number: 11, tsval: 12, tsecr: 13, echo: 0, blocks: false, bare: true };
        assert_eq!(ack(pure), Some(wanted));
        assert_eq!(ack(Segment { sacks: 2, ..pure }), Some(Ack { blocks: true, ..wanted }));
        let (ece, both) = (Flags::ACK | Flags::ECE, Flags::ACK | Flags::ECE | Flags::CWR);
        assert_eq!(ack(Segment { flags: ece, ..pure }), Some(Ack { echo: 0x40, ..wanted }));
        assert_eq!(ack(Segment { flags: both, ..pure }), Some(Ack { echo: 0xc0, ..wanted }));
        for more in [
            Segment { len: 1, ..pure },
            Segment { sacks: Segment::COUNTERS, ..pure },
            Segment { flags: Flags::ACK | Flags::FIN, ..pure },
        ] {
            assert_eq!(ack(more), Some(Ack { bare: false, ..wanted }), "{more:?}");
        }
        for flags in [Flags::NONE, Flags::SYN, Flags::SYN | Flags::ACK, Flags::RST] {
            assert_eq!(ack(Segment { flags, ..pure }), None, "{flags:?}");
        }
        assert_eq!(sojourn_qdisc::Packet::ack(&standing(pure, 1 | DATAGRAM)), None);
    }

    #[test]
    fn blocks_lie_in_places_that_are_used_again() {
        let blocks = |start| [SackBlock { start, end: start + 1 }];
        let mut pool = SackPool::default();
        let mut packet = Packet { segment: Segment::EMPTY, conn: 0, sacks: pool.put(&blocks(1)) };
        let other = pool.put(&blocks(5));
        assert_eq!((packet.sacks, other, pool.get(&packet)[0]), (0, 1, blocks(1)[0]));
        pool.release(&packet);
        packet.sacks = pool.put(&blocks(8));
        assert_eq!((packet.sacks, pool.get(&packet)[0]), (0, blocks(8)[0]));
        packet.sacks = NO_SACKS;
        pool.release(&packet);
        assert_eq!((pool.free.len(), pool.get(&packet)), (0, [SackBlock::default(); 4]));
    }
}
