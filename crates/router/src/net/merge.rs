//! Packets of one TCP connection that leave together, gathered for one write, as drivers of network
//! cards do (Linux calls it generic receive offload).

use super::burst::{self, HEADER, NEEDS_CHECKSUM, TCP_OVER_IPV4};
use crate::headers::{ACK, IPV4_HEADER, PSH, TCP, TCP_HEADER, long, word};

/// The longest IP packet.
const LONGEST: usize = 65_535;

/// Packets that can be one.
#[derive(Debug)]
pub struct Merge {
    /// What is said about them, then the first packet, then the payload of the others.
    bytes: Vec<u8>,
    headers: usize,
    payload: usize,
    packets: u32,
    /// The sequence number that the next one must have; none if there can be no next one.
    expected: Option<u32>,
    pushed: bool,
}

impl Default for Merge {
    fn default() -> Self {
        Self {
            bytes: Vec::with_capacity(HEADER + LONGEST),
            headers: 0,
            payload: 0,
            packets: 0,
            expected: None,
            pushed: false,
        }
    }
}

impl Merge {
    /// Takes a packet if it follows those that are there, or if there are none and others may
    /// follow it. If not, it is to be written behind them.
    pub fn take(&mut self, packet: &[u8]) -> bool {
        let Some(headers) = headers(packet) else { return false };
        let tcp = &packet[IPV4_HEADER..];
        let (sequence, payload) = (long(tcp, 4), packet.len() - headers);
        if self.packets == 0 {
            self.bytes.clear();
            self.bytes.resize(HEADER, 0);
            self.bytes.extend_from_slice(packet);
            (self.headers, self.payload, self.pushed) = (headers, payload, false);
        } else {
            let follows = self.expected == Some(sequence)
                && payload <= self.payload
                && self.bytes.len() - HEADER + payload <= LONGEST
                && alike(&self.bytes[HEADER..HEADER + self.headers], &packet[..headers]);
            if !follows {
                return false;
            }
            self.bytes.extend_from_slice(&packet[headers..]);
        }
        self.packets += 1;
        self.pushed |= tcp[13] & PSH != 0;
        let more = payload == self.payload && !self.pushed;
        self.expected = more.then(|| sequence.wrapping_add(payload as u32));
        true
    }

    /// What is to be written, if anything, and how many packets that is. Then there is nothing.
    pub fn finish(&mut self) -> Option<(&[u8], u32)> {
        let packets = std::mem::take(&mut self.packets);
        match packets {
            0 => return None,
            1 => {}
            _ => self.unite(),
        }
        Some((&self.bytes, packets))
    }

    /// Makes one long packet, of which the kernel is told how it was cut.
    fn unite(&mut self) {
        let (about, packet) = self.bytes.split_at_mut(HEADER);
        (about[0], about[1]) = (NEEDS_CHECKSUM, TCP_OVER_IPV4);
        for (at, value) in [self.headers, self.payload, IPV4_HEADER, 16].into_iter().enumerate() {
            about[2 + 2 * at..4 + 2 * at].copy_from_slice(&(value as u16).to_ne_bytes());
        }
        let length = packet.len();
        let (ip, tcp) = packet.split_at_mut(IPV4_HEADER);
        burst::put(ip, 2, length as u16);
        burst::check_ip(ip);
        if self.pushed {
            tcp[13] |= PSH;
        }
        // The rest of it was right in each packet.
        let pseudo = burst::folded(burst::pseudo(ip, tcp.len()));
        tcp[16..18].copy_from_slice(&pseudo.to_ne_bytes());
    }
}

/// Length of the headers of a packet that others may follow: data of TCP over IPv4 with nothing
/// unusual, and right, as nobody will check it again.
fn headers(packet: &[u8]) -> Option<usize> {
    let enough = packet.len() > IPV4_HEADER + TCP_HEADER && packet.len() <= LONGEST;
    // Without options, fragments and anything but TCP.
    let usual = enough && packet[0] == 0x45 && packet[6] & 0xbf == 0 && packet[7] == 0;
    if !usual || packet[9] != TCP {
        return None;
    }
    let (ip, tcp) = packet.split_at(IPV4_HEADER);
    let headers = IPV4_HEADER + usize::from(tcp[12] >> 4) * 4;
    let data = headers >= IPV4_HEADER + TCP_HEADER && headers < packet.len();
    let plain = tcp[13] & !PSH == ACK && tcp[12] & 15 == 0;
    let whole = usize::from(word(ip, 2)) == packet.len();
    let right = data && plain && whole && {
        let covered = burst::pseudo(ip, tcp.len()) + burst::sum(tcp);
        burst::folded(burst::sum(ip)) == !0 && burst::folded(covered) == !0
    };
    right.then_some(headers)
}

/// Whether two packets' headers differ only where those of packets that follow each other do:
/// length, identification, sequence number, checksums, and the flag that data are to be passed on.
fn alike(a: &[u8], b: &[u8]) -> bool {
    const SAME: [std::ops::Range<usize>; 6] = [0..2, 6..10, 12..24, 28..33, 34..36, 38..40];
    a.len() == b.len() && SAME.into_iter().all(|r| a[r.clone()] == b[r]) && a[40..] == b[40..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Burst;
    use etherparse::{PacketBuilder, TcpHeader};
    use proptest::prelude::*;

    /// A packet with this sequence number and payload, and what `change` does to its header.
    fn made(sequence: u32, payload: &[u8], change: impl FnOnce(&mut TcpHeader)) -> Vec<u8> {
        let mut tcp = TcpHeader::new(1234, 80, sequence, 5000);
        (tcp.ack, tcp.acknowledgment_number) = (true, 99);
        change(&mut tcp);
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 128, 0, 1], 64).tcp_header(tcp);
        let mut bytes = Vec::new();
        builder.write(&mut bytes, payload).unwrap();
        bytes
    }

    /// What is written of packets.
    fn written(packets: &[Vec<u8>]) -> Vec<(Vec<u8>, u32)> {
        let mut merge = Merge::default();
        let mut all = Vec::new();
        for packet in packets {
            if !merge.take(packet) {
                all.extend(merge.finish().map(|(bytes, count)| (bytes.to_vec(), count)));
                if !merge.take(packet) {
                    all.push(([&[0; HEADER], &packet[..]].concat(), 1));
                }
            }
        }
        all.extend(merge.finish().map(|(bytes, count)| (bytes.to_vec(), count)));
        all
    }

    /// The payloads of what is written, cut as the kernel is told.
    fn cut(written: &[(Vec<u8>, u32)]) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        for (bytes, count) in written {
            let mut bytes = bytes.clone();
            let mut burst = Burst::new(&mut bytes);
            let before = all.len();
            while let Some(packet) = burst.packet() {
                all.push(packet.to_vec());
            }
            assert_eq!(all.len() - before, *count as usize);
        }
        all
    }

    proptest! {
        /// Cut again, the packets are there as they were, but for their identifications.
        #[test]
        fn merging_keeps_every_byte(
            sizes in prop::collection::vec((1usize..4, 0u8..12), 1..80), start in any::<u32>(),
        ) {
            let mut sequence = start;
            let packets: Vec<Vec<u8>> = sizes.iter().enumerate().map(|(i, &(size, odd))| {
                let payload = vec![i as u8; [1, 700, 1448, 1460][size]];
                // Some do not follow.
                if odd == 0 { sequence = sequence.wrapping_add(1); }
                let packet = made(sequence, &payload, |tcp| {
                    tcp.psh = odd == 1;
                    tcp.ece = odd == 2;
                    tcp.window_size = if odd == 3 { 4000 } else { 5000 };
                });
                sequence = sequence.wrapping_add(payload.len() as u32);
                packet
            }).collect();
            let known = |packets: Vec<Vec<u8>>| -> Vec<Vec<u8>> {
                packets.into_iter().map(|mut packet| {
                    packet[4..6].fill(0);
                    packet[10..12].fill(0);
                    packet
                }).collect()
            };
            prop_assert_eq!(known(cut(&written(&packets))), known(packets));
        }
    }

    #[test]
    fn packets_that_follow_each_other_are_one() {
        let packets: Vec<_> = (0..60).map(|i| made(i * 1000, &[7; 1000], |_| ())).collect();
        let counts = |packets: &[Vec<u8>]| -> Vec<u32> {
            written(packets).iter().map(|(_, count)| *count).collect()
        };
        assert_eq!(counts(&packets), [60]);
        // 65 of them and the headers are the longest packet there can be.
        let packets: Vec<_> = (0..70).map(|i| made(i * 1000, &[7; 1000], |_| ())).collect();
        assert_eq!(counts(&packets), [65, 5]);
    }

    #[test]
    fn non_consecutive_packets_are_not_merged() {
        let first = made(0, &[1; 100], |_| ());
        let second = |change: fn(&mut TcpHeader)| made(100, &[2; 100], change);
        let edited = |at: usize, value: u8| {
            let mut bytes = second(|_| ());
            bytes[at] = value;
            bytes
        };
        let counts =
            |b: Vec<u8>| written(&[first.clone(), b]).iter().map(|w| w.1).collect::<Vec<_>>();
        assert_eq!(counts(second(|_| ())), [2]);
        for other in [
            second(|tcp| tcp.ece = true),
            second(|tcp| tcp.cwr = true),
            second(|tcp| tcp.fin = true),
            second(|tcp| tcp.acknowledgment_number = 100),
            second(|tcp| tcp.source_port = 1235),
            second(|tcp| tcp.window_size = 1),
            second(|tcp| {
                tcp.set_options(&[etherparse::TcpOptionElement::Timestamp(1, 2)]).unwrap()
            }),
            made(101, &[2; 100], |_| ()),
            made(100, &[2; 101], |_| ()),
            made(100, &[], |_| ()),
            // The mark of a queue, a fragment, another length, and damage.
            edited(1, 3),
            edited(6, 0x20),
            edited(3, 1),
            edited(60, 9),
            vec![0x45; 30],
            Vec::new(),
        ] {
            assert_eq!(counts(other.clone()), [1, 1], "{other:?}");
        }
        // Behind data that are to be passed on at once, and behind a shorter packet.
        let pushed = made(0, &[1; 100], |tcp| tcp.psh = true);
        assert_eq!(written(&[pushed, second(|_| ())]).len(), 2);
        let rest = [first, made(100, &[2; 50], |_| ()), made(150, &[2; 50], |_| ())];
        assert_eq!(written(&rest).len(), 2);
    }
}
