//! Any packets, written as a capture, which is walked block by block and read back with another
//! library.

use etherparse::{NetHeaders, PacketHeaders, TransportHeader};
use sojourn_base::Time;
use sojourn_records::pcapng::{Content, Packet, Writer};

/// Bytes of a packet's fields; its options follow.
const FIELDS: usize = 40;

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The packet that some bytes stand for.
fn packet<'a>(bytes: &[u8], options: &'a [u8]) -> Packet<'a> {
    let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    Packet {
        time: Time(u64::from(word(bytes, 0)) << 32 | u64::from(word(bytes, 4))),
        src: word(bytes, 8).to_be_bytes(),
        dst: word(bytes, 12).to_be_bytes(),
        sport: half(16),
        dport: half(18),
        // Seldom neither of those that there are.
        protocol: match bytes[20] {
            0..=120 => 6,
            121..=240 => 17,
            other => other,
        },
        tos: bytes[21],
        ident: half(22),
        payload_len: half(24),
        seq: word(bytes, 26),
        ack: word(bytes, 30),
        flags: half(34),
        window: half(36),
        options,
    }
}

pub(crate) fn check(mut bytes: &[u8]) {
    let Some((&first, rest)) = bytes.split_first() else { return };
    bytes = rest;
    let content = if first & 1 == 0 { Content::Headers } else { Content::Everything };
    let name = "any name"[..usize::from(first >> 5)].to_string();
    let mut writer = Writer::new(Vec::new(), &name, content).unwrap();
    let mut packets = Vec::new();
    while bytes.len() >= FIELDS && packets.len() < 16 {
        let (fields, rest) = bytes.split_at(FIELDS);
        let (options, rest) = rest.split_at(usize::from(fields[38] % 44).min(rest.len()));
        bytes = rest;
        let packet = packet(fields, options);
        let headers =
            if packet.protocol == 6 { 40 + options.len().next_multiple_of(4) } else { 28 };
        let possible = matches!(packet.protocol, 6 | 17)
            && (packet.protocol == 17 || options.len() <= 40)
            && headers + usize::from(packet.payload_len) <= 65_535;
        assert_eq!(writer.write(&packet).is_ok(), possible, "{packet:?}");
        if possible {
            packets.push(packet);
        }
    }
    // What is left stands for a packet of a real host, which may be anything.
    writer.write_bytes(Time(7), bytes).unwrap();
    read_back(&writer.into_inner(), &packets, bytes, content);
}

fn read_back(mut file: &[u8], packets: &[Packet<'_>], real: &[u8], content: Content) {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let length = word(file, 4) as usize;
        assert_eq!((length % 4, word(file, length - 4) as usize), (0, length));
        blocks.push((word(file, 0), &file[8..length - 4]));
        file = &file[length..];
    }
    assert_eq!(blocks.len(), packets.len() + 3);
    assert!(blocks[2..].iter().all(|(kind, _)| *kind == 6));
    for (packet, (_, body)) in packets.iter().zip(&blocks[2..]) {
        let time = u64::from(word(body, 4)) << 32 | u64::from(word(body, 8));
        assert_eq!(time, packet.time.0);
        let (kept, wire) = (word(body, 12) as usize, word(body, 16) as usize);
        assert_eq!(content == Content::Everything || packet.payload_len == 0, kept == wire);
        let mut whole = body[20..20 + kept].to_vec();
        whole.resize(wire, 0);
        same(packet, &whole);
    }
    let (_, last) = blocks[blocks.len() - 1];
    let kept = word(last, 12) as usize;
    assert_eq!((word(last, 16) as usize, &last[20..20 + kept]), (real.len(), &real[..kept]));
    assert!(kept == real.len() || content == Content::Headers);
}

/// The bytes say what the packet said, and their checksums are right.
fn same(packet: &Packet<'_>, bytes: &[u8]) {
    let read = PacketHeaders::from_ip_slice(bytes).unwrap_or_else(|e| panic!("{e}: {packet:?}"));
    let Some(NetHeaders::Ipv4(ip, _)) = read.net else { panic!("not IPv4") };
    assert_eq!((ip.source, ip.destination), (packet.src, packet.dst));
    assert_eq!((usize::from(ip.total_len), ip.identification), (bytes.len(), packet.ident));
    assert_eq!(ip.dscp.value() << 2 | ip.ecn.value(), packet.tos);
    assert_eq!(ip.header_checksum, ip.calc_header_checksum());
    let payload = vec![0; usize::from(packet.payload_len)];
    match read.transport.unwrap() {
        TransportHeader::Tcp(tcp) => {
            assert_eq!((tcp.source_port, tcp.destination_port), (packet.sport, packet.dport));
            assert_eq!((tcp.sequence_number, tcp.acknowledgment_number), (packet.seq, packet.ack));
            assert_eq!(tcp.window_size, packet.window);
            assert_eq!((tcp.fin, tcp.cwr), (packet.flags & 1 != 0, packet.flags & 128 != 0));
            assert_eq!(tcp.ns, packet.flags & 256 != 0);
            let options = tcp.options.as_slice();
            assert_eq!(&options[..packet.options.len()], packet.options);
            assert!(options[packet.options.len()..].iter().all(|byte| *byte == 0));
            assert_eq!(tcp.checksum, tcp.calc_checksum_ipv4(&ip, &payload).unwrap());
        }
        TransportHeader::Udp(udp) => {
            assert_eq!((udp.source_port, udp.destination_port), (packet.sport, packet.dport));
            assert_eq!(usize::from(udp.length), 8 + payload.len());
            assert_eq!(udp.checksum, udp.calc_checksum_ipv4(&ip, &payload).unwrap());
        }
        other => panic!("{other:?}"),
    }
}
