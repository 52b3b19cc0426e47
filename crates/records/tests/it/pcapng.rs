//! Captures, read back by this test, by another library and by tshark.

use etherparse::{NetHeaders, PacketHeaders, TransportHeader};
use sojourn_base::Time;
use sojourn_records::pcapng::{Content, Packet, TCP, UDP, Writer};
use std::io::Write as _;
use std::process::Command;

/// NOP, NOP, timestamps.
const STAMPS: &[u8] = &[1, 1, 8, 10, 0, 0, 3, 232, 0, 0, 0, 7];
/// MSS 1460, SACK permitted, window scale 7 (9 bytes, to be padded).
const SYN_OPTIONS: &[u8] = &[2, 4, 5, 180, 4, 2, 3, 3, 7];

const fn tcp(time: u64, flags: u16, payload_len: u16, options: &[u8]) -> Packet<'_> {
    Packet {
        time: Time(time),
        src: [10, 0, 0, 1],
        dst: [10, 1, 255, 254],
        sport: 40_000,
        dport: 80,
        protocol: TCP,
        tos: 2,
        ident: 7,
        payload_len,
        seq: 4_000_000_000,
        ack: if flags & 16 == 0 { 0 } else { 77 },
        flags,
        window: 32_120,
        options,
    }
}

/// A handshake with ECN (ECE and CWR on the SYN), data, a datagram, and odd lengths.
fn packets() -> Vec<Packet<'static>> {
    let mut answer = tcp(2_000_000_123, 0x52, 0, SYN_OPTIONS);
    (answer.src, answer.dst) = (answer.dst, answer.src);
    (answer.sport, answer.dport) = (80, 40_000);
    (answer.seq, answer.ack) = (76, 4_000_000_001);
    let mut data = tcp(3_000_000_000, 0x18, 1448, STAMPS);
    (data.seq, data.tos) = (4_000_000_001, 3);
    let mut odd = tcp(3_000_000_001, 0x10, 333, STAMPS);
    odd.seq = 4_000_000_001 + 1448;
    let mut datagram = tcp(u64::from(u32::MAX) * 1000, 0, 501, &[]);
    (datagram.protocol, datagram.tos) = (UDP, 0xb8);
    vec![tcp(1_000_000_000, 0xc2, 0, SYN_OPTIONS), answer, data, odd, datagram]
}

fn capture(packets: &[Packet<'_>], content: Content) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), "bottleneck", content).unwrap();
    packets.iter().for_each(|p| writer.write(p).unwrap());
    writer.into_inner()
}

/// The blocks of a capture as (type, body), after a check of both their lengths.
fn blocks(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut blocks = vec![];
    while !bytes.is_empty() {
        let length = word(bytes, 4) as usize;
        assert_eq!(length % 4, 0);
        assert_eq!(word(bytes, length - 4) as usize, length);
        blocks.push((word(bytes, 0), &bytes[8..length - 4]));
        bytes = &bytes[length..];
    }
    blocks
}

#[test]
fn headers_read_back_with_valid_checksums_over_the_zero_payload() {
    let packets = packets();
    for content in [Content::Headers, Content::Everything] {
        let bytes = capture(&packets, content);
        let blocks = blocks(&bytes);
        assert_eq!((blocks[0].0, blocks[1].0), (0x0a0d_0d0a, 1));
        assert_eq!(blocks.len(), packets.len() + 2);
        for (packet, (kind, body)) in packets.iter().zip(&blocks[2..]) {
            let word = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().unwrap());
            assert_eq!((*kind, word(0)), (6, 0));
            assert_eq!(u64::from(word(4)) << 32 | u64::from(word(8)), packet.time.0);
            let (kept, wire) = (word(12) as usize, word(16) as usize);
            assert_eq!(kept < wire, content == Content::Headers && packet.payload_len > 0);

            let mut whole = body[20..20 + kept].to_vec();
            whole.resize(wire, 0);
            let read = PacketHeaders::from_ip_slice(&whole).unwrap();
            let Some(NetHeaders::Ipv4(ip, _)) = read.net else { panic!("not IPv4") };
            assert_eq!(usize::from(ip.total_len), wire);
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert_eq!((ip.source, ip.destination), (packet.src, packet.dst));
            assert_eq!(ip.dscp.value() << 2 | ip.ecn.value(), packet.tos);
            let payload = vec![0; usize::from(packet.payload_len)];
            match read.transport.unwrap() {
                TransportHeader::Tcp(tcp) => {
                    assert_eq!(tcp.checksum, tcp.calc_checksum_ipv4(&ip, &payload).unwrap());
                    assert_eq!((tcp.sequence_number, tcp.window_size), (packet.seq, 32_120));
                    assert_eq!(
                        (tcp.ece, tcp.cwr),
                        (packet.flags & 64 != 0, packet.flags & 128 != 0)
                    );
                    assert_eq!(&tcp.options.as_slice()[..packet.options.len()], packet.options);
                }
                TransportHeader::Udp(udp) => {
                    assert_eq!(udp.checksum, udp.calc_checksum_ipv4(&ip, &payload).unwrap());
                    assert_eq!(usize::from(udp.length), 8 + payload.len());
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn the_same_packets_give_the_same_bytes() {
    let packets = packets();
    assert_eq!(capture(&packets, Content::Headers), capture(&packets, Content::Headers));
}

#[test]
fn packets_that_cannot_exist_are_refused() {
    let mut writer = Writer::new(Vec::new(), "x", Content::Headers).unwrap();
    for (wrong, why) in [
        (tcp(0, 16, 0, &[1; 41]), "40 bytes"),
        (tcp(0, 16, u16::MAX, &[]), "65,535"),
        (Packet { protocol: 1, ..tcp(0, 16, 0, &[]) }, "neither"),
    ] {
        assert!(writer.write(&wrong).unwrap_err().to_string().contains(why));
    }
}

#[test]
fn tshark_opens_captures_without_warnings() {
    if Command::new("tshark").arg("--version").output().is_err() {
        // Past the test harness, which hides what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "\n*** SKIPPED: tshark is not installed, captures are not checked with it ***\n"
        );
        return;
    }
    for content in [Content::Headers, Content::Everything] {
        let path = std::env::temp_dir()
            .join(format!("sojourn-capture-{}-{content:?}.pcapng", std::process::id()));
        std::fs::write(&path, capture(&packets(), content)).unwrap();
        let mut tshark = Command::new("tshark");
        tshark.arg("-r").arg(&path).args(["-T", "fields", "-E", "separator=|"]);
        for check in ["ip", "tcp", "udp"] {
            tshark.args(["-o", &format!("{check}.check_checksum:TRUE")]);
        }
        for field in [
            "frame.time_epoch",
            "frame.interface_name",
            "frame.len",
            "ip.checksum.status",
            "tcp.checksum.status",
            "udp.checksum.status",
            "tcp.flags.str",
            "ip.dsfield.ecn",
            "tcp.options.mss_val",
            "_ws.malformed",
            "_ws.expert.message",
        ] {
            tshark.args(["-e", field]);
        }
        let output = tshark.output().unwrap();
        std::fs::remove_file(&path).unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        for complaint in ["damaged", "corrupt", "cut short", "isn't", "malformed"] {
            assert!(!errors.contains(complaint), "{errors}");
        }
        let text = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split('|').collect()).collect();
        assert_eq!(lines.len(), 5, "{text}");
        // Status 1 is good, 2 unverified: without the payload a transport checksum cannot be.
        let whole = |payload: bool| {
            if payload && content == Content::Headers { "2" } else { "1" }
        };
        for (line, payload) in lines.iter().zip([false, false, true, true, true]) {
            assert_eq!((line[1], line[3]), ("bottleneck", "1"), "{text}");
            assert_eq!(format!("{}{}", line[4], line[5]), whole(payload), "{text}");
            assert_eq!(line[9], "", "{text}");
            // Notes of Wireshark about connections ("establish", "finish") are no complaints.
            let message = line[10].to_lowercase();
            for complaint in ["checksum", "bogus", "out-of-order", "unseen", "not captured"] {
                assert!(!message.contains(complaint), "{text}");
            }
        }
        assert_eq!(lines[1][0], "2.000000123");
        assert_eq!((lines[0][8], lines[2][2], lines[2][7]), ("1460", "1500", "3"));
    }
}
