//! What a link's capture holds, as another program reads it.

use crate::common::simulate_into;
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
    // The last may have begun its transmission and not ended it.
    let sent = counts.dequeued - 1..=counts.dequeued;
    assert!(
        sent.contains(&(all.len() as u64)),
        "{} of {sent:?}: each that was sent, once",
        all.len()
    );
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

/// Upper six bits of the second byte of every IPv4 header, and the header's protocol number.
fn codepoints(file: &std::path::Path) -> Vec<(u8, u8)> {
    let bytes = std::fs::read(file).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let (mut at, mut found) = (0, Vec::new());
    while at < bytes.len() {
        const ENHANCED_PACKET: u32 = 6;
        if word(at) == ENHANCED_PACKET {
            let header = at + 28;
            found.push((bytes[header + 1] >> 2, bytes[header + 9]));
        }
        at += word(at + 4) as usize;
    }
    found
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
