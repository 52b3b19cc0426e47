//! Any bytes as what the kernel hands to the router whole, to be cut into packets; and as packets to
//! be handed back to it as one.

use sojourn_router::net::{Burst, Merge};

/// What the kernel puts before a packet, `struct virtio_net_hdr`.
const HEADER: usize = 10;
const IPV4_AND_TCP: usize = 40;

pub(crate) fn check(bytes: &[u8]) {
    let mut read = bytes.to_vec();
    let mut burst = Burst::new(&mut read);
    let mut packets: Vec<Vec<u8>> = Vec::new();
    while let Some(packet) = burst.packet() {
        assert!(packet.len() + HEADER <= bytes.len());
        packets.push(packet.to_vec());
    }
    match packets.len() {
        0 => assert!(bytes.len() < HEADER),
        1 => assert_eq!(packets[0].len(), bytes.len() - HEADER),
        // Each but the last has as much payload as the first, and together they have all.
        count => {
            let headers = packets[0].len() - payload(bytes);
            let all: usize = packets.iter().map(|packet| packet.len() - headers).sum();
            assert_eq!(all, bytes.len() - HEADER - headers);
            let same = packets[..count - 1].iter().all(|p| p.len() == packets[0].len());
            assert!(same && packets[count - 1].len() <= packets[0].len());
        }
    }
    united(&packets);
    // A burst is cut from one packet; unlike ones come one after another.
    united(&bytes.chunks(80).map(<[u8]>::to_vec).collect::<Vec<_>>());
}

/// How much of a burst goes into each packet.
fn payload(bytes: &[u8]) -> usize {
    usize::from(u16::from_ne_bytes([bytes[4], bytes[5]]))
}

/// Packets become one only if nothing of them is lost.
fn united(packets: &[Vec<u8>]) {
    let mut merge = Merge::default();
    let (mut taken, mut length) = (0, 0);
    for packet in packets {
        if merge.take(packet) {
            length += packet.len() - if taken == 0 { 0 } else { data_offset(packet) };
            taken += 1;
            continue;
        }
        finish(&mut merge, taken, length);
        (taken, length) = (0, 0);
    }
    finish(&mut merge, taken, length);
}

fn finish(merge: &mut Merge, taken: u32, length: usize) {
    match merge.finish() {
        None => assert_eq!(taken, 0),
        Some((whole, packets)) => {
            assert_eq!((packets, whole.len()), (taken, HEADER + length));
            assert!(length > IPV4_AND_TCP);
        }
    }
}

/// Where the payload begins in a packet that has been taken: IPv4 without options, then TCP.
fn data_offset(packet: &[u8]) -> usize {
    20 + usize::from(packet[32] >> 4) * 4
}
