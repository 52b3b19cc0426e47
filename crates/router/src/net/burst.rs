//! What one read of a TUN device gives: a packet, or a burst of TCP that is yet to be cut into
//! packets.
//!
//! A kernel hands a burst of one connection to the device whole if that says, as network cards do,
//! that it cuts them and completes checksums. Cut here, it is the very packets that the kernel
//! would have cut at the same instant, for a fraction of the work.

use crate::headers::{CWR, FIN, IPV4_HEADER, PSH, TCP, TCP_HEADER, long, word};

/// Length of what precedes a packet: `struct virtio_net_hdr` (virtio 1.2, section 5.1.6), in the
/// machine's byte order.
pub(super) const HEADER: usize = 10;

/// Its flag for a checksum that is to be completed, its kind of burst: TCP over IPv4.
pub(super) const NEEDS_CHECKSUM: u8 = 1;
pub(super) const TCP_OVER_IPV4: u8 = 1;

/// Flags of TCP that only the last packet of a burst has.
const LAST_ONLY: u8 = FIN | PSH;

/// Packets that lie one behind the other in a buffer.
#[derive(Debug)]
pub struct Burst<'a> {
    bytes: &'a mut [u8],
    /// Where the next packet's header will lie, if there is a next one.
    next: Option<usize>,
    /// How it is cut; none if it is one packet.
    cut: Option<Cut>,
}

#[derive(Clone, Copy, Debug)]
struct Cut {
    ip_header: usize,
    headers: usize,
    payload: usize,
    flags: u8,
}

impl<'a> Burst<'a> {
    /// What was read: the ten bytes about the packet, and the packet. What makes no sense is left
    /// as it is: one packet, which may be too long or damaged.
    pub fn new(read: &'a mut [u8]) -> Self {
        let Some((about, bytes)) = read.split_at_mut_checked(HEADER) else {
            return Self { bytes: &mut [], next: None, cut: None };
        };
        let cut = (about[1] == TCP_OVER_IPV4).then(|| Cut::of(bytes, about_it(about, 4))).flatten();
        if cut.is_none() && about[0] & NEEDS_CHECKSUM != 0 {
            complete(bytes, about_it(about, 6), about_it(about, 8));
        }
        Self { bytes, next: Some(0), cut }
    }

    /// The next packet.
    #[inline]
    pub fn packet(&mut self) -> Option<&[u8]> {
        let start = self.next.take()?;
        let Some(cut) = self.cut else { return Some(self.bytes) };
        let end = (start + cut.headers + cut.payload).min(self.bytes.len());
        let last = end == self.bytes.len();
        if !last {
            self.next = Some(start + cut.payload);
        }
        if start > 0 {
            // Over the end of the packet before, which is done with.
            let before = start - cut.payload;
            self.bytes.copy_within(before..before + cut.headers, start);
        }
        let packet = &mut self.bytes[start..end];
        cut.finish(packet, start == 0, last);
        Some(packet)
    }
}

impl Cut {
    /// How `bytes` are cut if each packet takes `payload` bytes of what is behind the headers.
    fn of(bytes: &[u8], payload: usize) -> Option<Self> {
        let ip_header = usize::from(bytes.first()? & 15) * 4;
        let whole = bytes.len() >= ip_header + TCP_HEADER && ip_header >= IPV4_HEADER;
        if !whole || bytes[0] >> 4 != 4 || bytes[9] != TCP || payload == 0 {
            return None;
        }
        let headers = ip_header + usize::from(bytes[ip_header + 12] >> 4) * 4;
        let enough = headers >= ip_header + TCP_HEADER && headers < bytes.len();
        enough.then(|| Self { ip_header, headers, payload, flags: bytes[ip_header + 13] })
    }

    /// Makes a packet of one that still has the headers of the packet before it, or those of the
    /// burst.
    fn finish(self, packet: &mut [u8], first: bool, last: bool) {
        let length = packet.len();
        let (ip, tcp) = packet.split_at_mut(self.ip_header);
        put(ip, 2, length as u16);
        if !first {
            // As Linux does: identifications follow each other.
            put(ip, 4, word(ip, 4).wrapping_add(1));
            let sequence = long(tcp, 4);
            tcp[4..8].copy_from_slice(&sequence.wrapping_add(self.payload as u32).to_be_bytes());
        }
        check_ip(ip);

        tcp[13] = self.flags;
        if !first {
            // Only the first says that the window was reduced.
            tcp[13] &= !CWR;
        }
        if !last {
            tcp[13] &= !LAST_ONLY;
        }
        put(tcp, 16, 0);
        let checksum = !folded(pseudo(ip, tcp.len()) + sum(tcp));
        tcp[16..18].copy_from_slice(&checksum.to_ne_bytes());
    }
}

/// Writes the checksum of a header of IPv4.
pub(super) fn check_ip(ip: &mut [u8]) {
    put(ip, 10, 0);
    let checksum = !folded(sum(ip));
    ip[10..12].copy_from_slice(&checksum.to_ne_bytes());
}

/// What the checksum of `length` bytes of TCP covers besides (RFC 9293, section 3.1).
pub(super) fn pseudo(ip: &[u8], length: usize) -> u64 {
    sum(&ip[12..20]) + sum(&[0, TCP]) + sum(&(length as u16).to_be_bytes())
}

/// Completes a checksum over all from `start` on; at `offset` behind that is the sum of what else
/// it covers.
fn complete(bytes: &mut [u8], start: usize, offset: usize) {
    if start + offset + 2 > bytes.len() {
        return;
    }
    let checksum = !folded(sum(&bytes[start..]));
    // Zero would say that there is none (RFC 768); to other protocols the two are the same.
    let checksum = if checksum == 0 { !0 } else { checksum };
    bytes[start + offset..start + offset + 2].copy_from_slice(&checksum.to_ne_bytes());
}

/// The sum of 16-bit words before it is folded, in the machine's byte order, which makes no
/// difference (RFC 1071, section 2 (B)).
#[inline]
pub(super) fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(4);
    let mut last = [0; 4];
    last[..words.remainder().len()].copy_from_slice(words.remainder());
    let all = words.map(|w| u64::from(u32::from_ne_bytes([w[0], w[1], w[2], w[3]]))).sum::<u64>();
    all + u64::from(u32::from_ne_bytes(last))
}

/// A sum with its carries added.
pub(super) fn folded(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// A number of the header before a packet.
fn about_it(about: &[u8], at: usize) -> usize {
    usize::from(u16::from_ne_bytes([about[at], about[at + 1]]))
}

/// Writes a number into a packet.
pub(super) fn put(packet: &mut [u8], at: usize, value: u16) {
    packet[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{IpEcn, IpNumber, Ipv4Header, PacketBuilder, TcpHeader, TcpOptionElement};
    use proptest::prelude::*;

    fn packets(read: &mut [u8]) -> Vec<Vec<u8>> {
        let mut burst = Burst::new(read);
        let mut all = Vec::new();
        while let Some(packet) = burst.packet() {
            all.push(packet.to_vec());
        }
        all
    }

    /// What is read of a packet: nothing said about it but these.
    fn said(flags: u8, kind: u8, payload: u16, start: u16, offset: u16, packet: &[u8]) -> Vec<u8> {
        let mut read = vec![flags, kind];
        for number in [0, payload, start, offset] {
            read.extend(number.to_ne_bytes());
        }
        read.extend(packet);
        read
    }

    #[derive(Clone, Debug)]
    struct Segment {
        identification: u16,
        sequence: u32,
        flags: u8,
        timestamps: bool,
        payload: Vec<u8>,
    }

    /// A packet of TCP as another library makes it, checksums and all.
    fn made(segment: &Segment) -> Vec<u8> {
        let mut tcp = TcpHeader::new(1234, 80, segment.sequence, 5000);
        tcp.acknowledgment_number = 99;
        let flag = |bit: u8| segment.flags & bit != 0;
        (tcp.fin, tcp.syn, tcp.rst, tcp.psh) = (flag(1), flag(2), flag(4), flag(8));
        (tcp.ack, tcp.urg, tcp.ece, tcp.cwr) = (flag(16), flag(32), flag(64), flag(128));
        if segment.timestamps {
            tcp.set_options(&[TcpOptionElement::Timestamp(7, 8)]).unwrap();
        }
        let mut ip = Ipv4Header::new(
            (tcp.header_len() + segment.payload.len()) as u16,
            64,
            IpNumber::TCP,
            [10, 0, 0, 1],
            [10, 128, 0, 1],
        )
        .unwrap();
        ip.identification = segment.identification;
        ip.dont_fragment = true;
        ip.ecn = IpEcn::ONE;
        ip.header_checksum = ip.calc_header_checksum();
        tcp.checksum = tcp.calc_checksum_ipv4(&ip, &segment.payload).unwrap();
        let mut bytes = Vec::new();
        ip.write(&mut bytes).unwrap();
        tcp.write(&mut bytes).unwrap();
        bytes.extend(&segment.payload);
        bytes
    }

    prop_compose! {
        fn segments()(
            identification in any::<u16>(), sequence in any::<u32>(), flags in any::<u8>(),
            timestamps in any::<bool>(), payload in prop::collection::vec(any::<u8>(), 1..9000),
        ) -> Segment {
            // Nobody sends bursts with these.
            let flags = flags & !0x26 | 0x10;
            Segment { identification, sequence, flags, timestamps, payload }
        }
    }

    proptest! {
        #[test]
        fn a_burst_is_cut_into_the_packets_that_would_have_been_sent(
            whole in segments(), size in 1usize..3000,
        ) {
            let count = whole.payload.len().div_ceil(size);
            let each = whole.payload.chunks(size).enumerate().map(|(i, payload)| {
                let (first, last) = (i == 0, i + 1 == count);
                let mut flags = whole.flags;
                if !first { flags &= !0x80; }
                if !last { flags &= !0x09; }
                made(&Segment {
                    identification: whole.identification.wrapping_add(i as u16),
                    sequence: whole.sequence.wrapping_add((i * size) as u32),
                    flags,
                    timestamps: whole.timestamps,
                    payload: payload.to_vec(),
                })
            });
            let each: Vec<_> = each.collect();
            let mut read = said(1, 1, size as u16, 20, 16, &made(&whole));
            prop_assert_eq!(packets(&mut read), each);
        }

        #[test]
        fn a_checksum_is_completed(payload in prop::collection::vec(any::<u8>(), 0..1400)) {
            let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 128, 0, 1], 64).udp(5, 6);
            let mut right = Vec::new();
            builder.write(&mut right, &payload).unwrap();
            // The kernel leaves the sum of the pseudo-header there.
            let mut partial = right.clone();
            let length = (8 + payload.len()) as u16;
            let pseudo = [&right[12..20], &[0, 17], &length.to_be_bytes()].concat();
            partial[26..28].copy_from_slice(&folded(sum(&pseudo)).to_ne_bytes());
            let mut read = said(1, 0, 0, 20, 6, &partial);
            prop_assert_eq!(packets(&mut read), vec![right.clone()]);
            // And if it says nothing, there is nothing to complete.
            let mut read = said(0, 0, 0, 20, 6, &right);
            prop_assert_eq!(packets(&mut read), vec![right]);
        }

        #[test]
        fn arbitrary_bursts_never_panic(
            mut read in prop::collection::vec(any::<u8>(), 0..200), kind in 0u8..3,
        ) {
            if read.len() > 11 {
                (read[1], read[10]) = (kind, 0x45);
            }
            let most = read.len();
            prop_assert!(packets(&mut read).len() <= most);
        }
    }

    #[test]
    fn a_checksum_of_zero_is_written_as_ones() {
        // All that is covered sums to ones already.
        let mut read = said(1, 0, 0, 0, 2, &[0xff, 0xff, 0, 0]);
        assert_eq!(packets(&mut read), vec![vec![0xff; 4]]);
    }

    #[test]
    fn other_packets_are_not_cut() {
        let whole = made(&Segment {
            identification: 1,
            sequence: 1,
            flags: 0x10,
            timestamps: false,
            payload: vec![1; 100],
        });
        let change = |at: usize, value: u8| {
            let mut bytes = whole.clone();
            bytes[at] = value;
            bytes
        };
        for odd in [
            change(0, 0x65),
            change(0, 0x44),
            change(9, 17),
            change(32, 0x40),
            change(0, 0x4f),
            whole[..39].to_vec(),
            whole[..40].to_vec(),
        ] {
            assert_eq!(packets(&mut said(0, 1, 10, 0, 0, &odd)), vec![odd]);
        }
        assert_eq!(packets(&mut said(0, 1, 0, 0, 0, &whole)), vec![whole.clone()]);
        assert_eq!(packets(&mut said(0, 4, 10, 0, 0, &whole)), vec![whole]);
        assert_eq!(packets(&mut [0; 5]), Vec::<Vec<u8>>::new());
    }
}
