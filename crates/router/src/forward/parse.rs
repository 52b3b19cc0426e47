//! What the router needs to know of a packet, read from its bytes; and the change of its ECN field.
//!
//! Packets come from programs that may send anything. Nothing is trusted: every length is checked
//! against the bytes that are there, and what cannot be understood is nothing.

use super::ack::acknowledged;
use crate::headers::{IPV4_HEADER, IPV6_HEADER, TCP, UDP, long, word};
use sojourn_base::Ecn;
use sojourn_qdisc::Ack;

/// What a packet says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// Length of the IP packet in bytes: that of what was read.
    pub bytes: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// Its differentiated services codepoint.
    pub dscp: u8,
    /// IPv4 source and destination; 0 in a packet of IPv6.
    pub source: u32,
    /// See `source`.
    pub destination: u32,
    /// A hash of addresses, protocol and ports; the same in both directions.
    pub connection: u64,
    /// A hash of the same that differs with the direction.
    pub flow: u32,
    /// What it acknowledges, if it is of TCP.
    pub ack: Option<Ack>,
}

/// Reads a packet; none if it is no IP, shorter than a header, or not as long as it says.
#[inline]
pub(super) fn facts(bytes: &[u8]) -> Option<Facts> {
    match bytes.first().map(|first| first >> 4) {
        Some(4) => version4(bytes),
        Some(6) if bytes.len() >= IPV6_HEADER => version6(bytes),
        _ => None,
    }
}

#[inline]
fn version4(bytes: &[u8]) -> Option<Facts> {
    if bytes.len() < IPV4_HEADER {
        return None;
    }
    let header = usize::from(bytes[0] & 15) * 4;
    let total = usize::from(word(bytes, 2));
    // RFC 791: the header is at least five words and lies within the packet.
    if header < IPV4_HEADER || header > bytes.len() || total != bytes.len() {
        return None;
    }
    let (source, destination) = (long(bytes, 12), long(bytes, 16));
    let protocol = bytes[9];
    // Only the first fragment has ports, so that of fragments none are used.
    let fragment = word(bytes, 6) & 0x3fff != 0;
    let ports = if fragment { None } else { ports(protocol, &bytes[header..]) };
    let (connection, flow) = hashes(source.into(), destination.into(), protocol, ports);
    Some(Facts {
        bytes: bytes.len() as u32,
        ecn: Ecn::from_bits(bytes[1]),
        dscp: bytes[1] >> 2,
        source,
        destination,
        connection,
        flow,
        ack: if fragment || protocol != TCP { None } else { acknowledged(&bytes[header..]) },
    })
}

fn version6(bytes: &[u8]) -> Option<Facts> {
    if IPV6_HEADER + usize::from(word(bytes, 4)) != bytes.len() {
        return None;
    }
    let class = (word(bytes, 0) >> 4) as u8;
    let folded = |at: usize| (0..4).fold(0, |sum, i| sum ^ u64::from(long(bytes, at + 4 * i)));
    // Headers between that of IP and the ports are not looked into.
    let (protocol, rest) = (bytes[6], &bytes[IPV6_HEADER..]);
    let (connection, flow) = hashes(folded(8), folded(24), protocol, ports(protocol, rest));
    Some(Facts {
        bytes: bytes.len() as u32,
        ecn: Ecn::from_bits(class),
        dscp: class >> 2,
        source: 0,
        destination: 0,
        connection,
        flow,
        ack: if protocol == TCP { acknowledged(rest) } else { None },
    })
}

fn ports(protocol: u8, rest: &[u8]) -> Option<(u16, u16)> {
    (matches!(protocol, TCP | UDP) && rest.len() >= 4).then(|| (word(rest, 0), word(rest, 2)))
}

/// The hash of a connection, and that of the flow in this direction.
fn hashes(source: u64, destination: u64, protocol: u8, ports: Option<(u16, u16)>) -> (u64, u32) {
    let (from, to) = ports.unwrap_or_default();
    let a = mix(source << 16 | u64::from(from));
    let b = mix(destination << 16 | u64::from(to));
    let protocol = u64::from(protocol);
    let flow = mix(a.wrapping_mul(3) ^ b ^ protocol);
    (mix(a.wrapping_add(b) ^ protocol), (flow >> 32) as u32)
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Sets the ECN field of a packet that [`facts`] has read to CE.
#[inline]
pub(super) fn set_ce(bytes: &mut [u8]) {
    if bytes[0] >> 4 == 6 {
        // The traffic class lies across the first two bytes (RFC 8200, section 3); no checksum.
        bytes[1] |= 0x30;
        return;
    }
    let before = word(bytes, 0);
    bytes[1] |= 3;
    let after = word(bytes, 0);
    let checksum = updated(word(bytes, 10), before, after);
    bytes[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// A checksum after one word of what it covers has changed. RFC 1624, equation 3:
/// HC' = ~(~HC + ~m + m').
const fn updated(checksum: u16, before: u16, after: u16) -> u16 {
    let sum = !checksum as u32 + !before as u32 + after as u32;
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{Ipv4HeaderSlice, PacketBuilder};
    use proptest::prelude::*;

    fn tcp(tos: u8, payload: &[u8]) -> Vec<u8> {
        let mut header = etherparse::Ipv4Header::new(
            0,
            64,
            etherparse::IpNumber::TCP,
            [10, 0, 1, 7],
            [10, 128, 1, 7],
        )
        .unwrap();
        header.dscp = etherparse::IpDscp::try_new(tos >> 2).unwrap();
        header.ecn = etherparse::IpEcn::try_new(tos & 3).unwrap();
        let builder = PacketBuilder::ip(etherparse::IpHeaders::Ipv4(header, Default::default()))
            .tcp(4321, 80, 1, 1000);
        let mut bytes = Vec::new();
        builder.write(&mut bytes, payload).unwrap();
        bytes
    }

    #[test]
    fn a_packet_is_read_as_it_was_written() {
        let packet = tcp(0xba, b"hello");
        let facts = facts(&packet).unwrap();
        assert_eq!(facts.bytes, 45);
        assert_eq!((facts.ecn, facts.dscp), (Ecn::Ect0, 46));
        assert_eq!(facts.source, 0x0a00_0107);
        assert_eq!(facts.destination, 0x0a80_0107);
    }

    #[test]
    fn both_directions_are_one_connection_and_two_flows() {
        let there = hashes(1, 2, TCP, Some((10, 20)));
        let back = hashes(2, 1, TCP, Some((20, 10)));
        assert_eq!(there.0, back.0);
        assert_ne!(there.1, back.1);
        assert_ne!(there.0, hashes(1, 2, TCP, Some((11, 20))).0);
        assert_ne!(there.0, hashes(1, 2, UDP, Some((10, 20))).0);
    }

    #[test]
    fn fragments_of_a_packet_have_one_flow_whatever_their_bytes() {
        let mut first = tcp(0, b"abcdefgh");
        first[6] = 0x20; // more fragments follow
        let mut second = first.clone();
        (second[6], second[7]) = (0, 5);
        second[20..24].copy_from_slice(b"wxyz");
        assert_eq!(facts(&first).unwrap().flow, facts(&second).unwrap().flow);
    }

    #[test]
    fn marking_ipv6_changes_its_traffic_class_only() {
        let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(5, 6);
        let mut packet = Vec::new();
        builder.write(&mut packet, &[1, 2, 3]).unwrap();
        packet[0] |= 0x0a; // DSCP 40
        packet[1] |= 0x20; // ECT(0)
        let before = facts(&packet).unwrap();
        assert_eq!((before.ecn, before.dscp), (Ecn::Ect0, 40));
        let unmarked = packet.clone();
        set_ce(&mut packet);
        let after = facts(&packet).unwrap();
        assert_eq!(after, Facts { ecn: Ecn::Ce, ..before });
        assert_eq!(packet[2..], unmarked[2..]);
    }

    proptest! {
        #[test]
        fn the_checksum_holds_after_a_mark(
            tos in 0u8..=255, payload in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            let mut packet = tcp(tos, &payload);
            let payload_before = packet[20..].to_vec();
            set_ce(&mut packet);
            let header = Ipv4HeaderSlice::from_slice(&packet).unwrap();
            prop_assert_eq!(header.header_checksum(), header.to_header().calc_header_checksum());
            prop_assert_eq!(header.ecn().value(), 3);
            prop_assert_eq!(header.dcp().value(), tos >> 2);
            prop_assert_eq!(&packet[20..], &payload_before[..]);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(facts) = facts(&bytes) {
                prop_assert_eq!(facts.bytes as usize, bytes.len());
            }
        }

        #[test]
        fn truncated_and_oversized_packets_are_refused(cut in 0usize..60, more in 1usize..9) {
            let mut packet = tcp(2, &[7; 20]);
            let cut = cut.min(packet.len() - 1);
            prop_assert_eq!(facts(&packet[..cut]), None);
            packet.extend(vec![0; more]);
            prop_assert_eq!(facts(&packet), None);
        }

        #[test]
        fn a_damaged_header_never_panics(at in 0usize..40, value in any::<u8>()) {
            let mut packet = tcp(2, &[7; 20]);
            packet[at] = value;
            if facts(&packet).is_some() {
                set_ce(&mut packet);
                prop_assert_eq!(facts(&packet).unwrap().ecn, Ecn::Ce);
            }
        }
    }
}
