//! What a link's capture holds, as another program reads it.

use crate::common::{records, simulate_into, some, unfused};
use sojourn_packets::Recorder;
use std::io::Write as _;
use std::process::Command;

const SCENARIO: &str = r#"
    duration = "10s"
    [tcp]
    profile = "classic"
    ecn = true
    timestamps = true
    receive_window = "256kB"
    [bottleneck]
    rate = "5mbit"
    qdisc = { kind = "red", min_th = 5, max_th = 15, ecn = true, limit = 30 }
    [[traffic]]
    kind = "bulk"
    flows = 3
    rtt = "50ms..100ms"
    size = "200kB"
    repeat = true
    [[traffic]]
    kind = "bulk"
    name = "plain"
    rtt = "40ms"
    tcp = { ecn = false, timestamps = false }
    [[traffic]]
    kind = "ping"
    interval = "100ms"
    dscp = "ef"
    [probes]
    pcap = ["bottleneck", "reverse"]
"#;

/// Lines that tshark prints for a capture; none if there is no tshark.
fn tshark(file: &std::path::Path, arguments: &[&str]) -> Option<Vec<String>> {
    let output = Command::new("tshark").arg("-r").arg(file).args(arguments).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn tshark_reads_capture_without_warnings() {
    let folder = std::env::temp_dir().join(format!("sojourn-capture-{}", std::process::id()));
    let mut recorder = Recorder::to_directory(&folder).unwrap();
    let summary = simulate_into(SCENARIO, &mut recorder);
    recorder.finish().unwrap();
    let file = folder.join("bottleneck.pcapng");
    let Some(all) = tshark(&file, &["-T", "fields", "-e", "ip.dsfield.ecn"]) else {
        // Straight to the terminal: the harness would keep it to itself.
        let _ = writeln!(std::io::stderr(), "SKIPPED: tshark is not installed, captures not read");
        std::fs::remove_dir_all(&folder).unwrap();
        return;
    };
    let counts = &summary.links[0].counts;
    assert_eq!(all.len() as u64, counts.dequeued, "each that was sent, once");
    let marked = all.iter().filter(|ecn| *ecn == "3").count() as u64;
    assert!(marked > 0 && counts.marked >= marked, "{marked} of {}", counts.marked);
    // Warnings of lost and reordered segments are as they should be: errors are not.
    let complaints = "_ws.malformed || _ws.expert.severity >= 0x800000 || ip.checksum.status == 0 \
                      || tcp.checksum.status == 0 || udp.checksum.status == 0";
    for link in ["bottleneck", "reverse"] {
        let checks = ["-o", "ip.check_checksum:TRUE", "-Y", complaints];
        let found = tshark(&folder.join(format!("{link}.pcapng")), &checks).unwrap();
        assert_eq!(found.first(), None, "{link}: the first of {}", found.len());
    }
    // Handshakes carry their options, selective acknowledgements their blocks.
    let seen = |link: &str, filter: &str| {
        !tshark(&folder.join(format!("{link}.pcapng")), &["-Y", filter]).unwrap().is_empty()
    };
    assert!(seen("bottleneck", "tcp.flags.syn == 1 && tcp.options.mss_val == 1460"));
    assert!(seen("bottleneck", "tcp.flags.syn == 1 && tcp.flags.ece == 1 && tcp.flags.cwr == 1"));
    assert!(seen("reverse", "tcp.options.sack_le"));
    assert!(seen("bottleneck", "udp"));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Time in nanoseconds of every packet of a capture, and the packet.
fn packets(bytes: &[u8]) -> Vec<(u64, &[u8])> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        const ENHANCED_PACKET: u32 = 6;
        let next = at + word(at + 4) as usize;
        if word(at) == ENHANCED_PACKET {
            let time = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            found.push((time, &bytes[at + 28..next]));
        }
        at = next;
    }
    found
}

/// Upper six bits of the second byte of every IPv4 header, and the header's protocol number.
fn codepoints(file: &std::path::Path) -> Vec<(u8, u8)> {
    let bytes = std::fs::read(file).unwrap();
    packets(&bytes).iter().map(|(_, header)| (header[1] >> 2, header[9])).collect()
}

/// Of two links in a row, the first so fast that it holds nothing, the second has packets stand in
/// its queue from one capture to the other.
const TWO: &str = r#"
    duration = "20s"
    [[links]]
    name = "fast"
    from = "source"
    to = "router"
    rate = "100gbit"
    [[links]]
    name = "slow"
    from = "router"
    to = "sink"
    rate = "1mbit"
    qdisc = "droptail"
    [[links]]
    name = "back"
    from = "sink"
    to = "source"
    rate = "1gbit"
    [[traffic]]
    kind = "udp"
    flows = 5
    rate = "190kbit"
    from = "source"
    to = "sink"
    [probes]
    pcap = ["fast", "slow"]
"#;

#[test]
fn packets_are_captured_when_they_leave_the_queue() {
    let device = TWO.replace("\"droptail\"", "\"droptail\"\n    device = { packets = 1 }");
    for text in [TWO.into(), unfused(TWO), TWO.replace("\"droptail\"", "\"codel\""), device] {
        let (summary, files) = records(&text);
        let times = |link: &str| -> Vec<u64> {
            let (_, file) = files.iter().find(|(name, _)| name.starts_with(link)).unwrap();
            packets(file).iter().map(|(time, _)| *time).collect()
        };
        let (before, after) = (times("fast"), times("slow"));
        assert!(after.is_sorted());
        let link = summary.links.iter().find(|link| link.name == "slow").unwrap();
        let sent = link.device.as_ref().map_or(link.counts.dequeued, |device| device.sent);
        assert_eq!(after.len() as u64, sent);
        let stood: u64 = after.iter().zip(&before).map(|(after, before)| after - before).sum();
        let below = link.device.as_ref().map_or(0.0, |device| some(device.sojourn_s.mean));
        let (mean, told) = (stood as f64 / sent as f64 / 1e9, some(link.sojourn_s.mean) + below);
        // A packet crosses the fast link in less than 0.2 us.
        assert!(told > 0.003 && (mean - told).abs() < 2e-6 + told * 1e-3, "{mean} and {told}");
    }
}

#[test]
fn packets_carry_the_codepoint_of_their_group_both_ways() {
    let name = format!("sojourn-codepoints-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    for unfused in ["", "[packets]\nunfused = true"] {
        let mut recorder = Recorder::to_directory(&folder).unwrap();
        simulate_into(&format!("{SCENARIO}\n{unfused}"), &mut recorder);
        recorder.finish().unwrap();
        for link in ["bottleneck", "reverse"] {
            let found = codepoints(&folder.join(format!("{link}.pcapng")));
            // The pings are the only datagrams here, and they alone are "ef".
            assert!(found.contains(&(46, 17)), "{link}");
            assert!(found.iter().all(|&(dscp, protocol)| (dscp == 46) == (protocol == 17)));
            assert!(found.iter().all(|&(dscp, _)| dscp == 46 || dscp == 0));
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
