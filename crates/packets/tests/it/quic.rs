//! Connections over QUIC beside those over TCP: round trips, rates, fairness, writing at a rate.

use crate::common::{difference, records, simulate, some, unfused};

/// Over 100 ms and a link of this kind, a group with this.
fn scenario(link: &str, group: &str) -> String {
    format!(
        "duration = \"60s\"\nwarmup = \"5s\"\n[bottleneck]\n{link}\n[[traffic]]\nrtt = \"100ms\"\n{group}\n"
    )
}

/// The mean response time of transfers of 5 kB that find the link idle, in round trips.
fn round_trips(group: &str) -> f64 {
    let link = "rate = \"10gbit\"\nqdisc = \"droptail\"";
    let transfer = "kind = \"bulk\"\nsize = \"5kB\"\nrepeat = true\ngap = \"1s\"";
    let summary = simulate(&scenario(link, &format!("{transfer}\n{group}")));
    assert!(summary.groups[0].finished > 30, "{group}");
    some(summary.groups[0].response_time_s.quantiles.mean) / 0.1
}

#[test]
fn a_transfer_takes_the_round_trips_of_its_handshake() {
    for (group, expected) in [
        ("", 1.5),
        ("transport = \"quic\"", 1.5),
        ("transport = \"quic\"\nquic.certificate = \"5kB\"", 2.5),
        ("transport = \"quic\"\nquic.zero_rtt = true", 0.5),
    ] {
        let took = round_trips(group);
        assert!((took - expected).abs() < 0.01, "{group}: {took}");
    }
}

#[test]
fn reno_under_random_loss_is_as_fast_over_quic_as_over_tcp() {
    // By the square root law windows go with the loss alone: of all packets that carry data a
    // share of 0.4 % is lost, and windows are far from the link's 100 Mb/s.
    let link = "rate = \"100mbit\"\nqdisc = \"droptail\"\nloss = 0.004";
    let goodput = |transport: &str| {
        let group = format!("kind = \"bulk\"\nflows = 20\n{transport}");
        some(simulate(&scenario(link, &group)).groups[0].goodput_bps)
    };
    let (tcp, quic) = (goodput(""), goodput("transport = \"quic\""));
    assert!((quic / tcp - 1.0).abs() < 0.1, "{tcp} {quic}");
}

#[test]
fn flows_over_quic_fill_a_link_and_mostly_come_back_from_losses_without_timeouts() {
    for congestion in ["reno", "cubic", "bbr", "vegas"] {
        let link = "rate = \"10mbit\"\nqdisc = { kind = \"droptail\", limit = 100 }";
        let group = format!(
            "kind = \"bulk\"\nflows = 4\ntransport = \"quic\"\nquic.congestion = \"{congestion}\""
        );
        let text = scenario(link, &group);
        let summary = simulate(&text);
        assert!(some(summary.links[0].utilisation) > 0.93, "{congestion}");
        let timeouts = summary.groups[0].timeouts.unwrap();
        assert!(some(summary.groups[0].jain) > 0.6, "{congestion}");
        assert!(timeouts < 20, "{congestion}: {timeouts}");
        assert_eq!(difference(&summary, &simulate(&unfused(&text))), None, "{congestion}");
    }
}

#[test]
fn prague_over_quic_keeps_a_marking_queue_short() {
    let link = "rate = \"10mbit\"\nqdisc = \"dualpi2\"";
    let group = "kind = \"bulk\"\nflows = 2\ntransport = \"quic\"\nquic.congestion = \"prague\"";
    let summary = simulate(&scenario(link, group));
    assert!(some(summary.links[0].sojourn_s.p99) < 0.01);
    assert!(summary.links[0].counts.marked > 100);
    assert_eq!(summary.groups[0].retransmissions, Some(0));
}

#[test]
fn a_flow_over_quic_carries_what_its_application_writes() {
    let link = "rate = \"10mbit\"\nqdisc = { kind = \"droptail\", limit = 60 }";
    let text = scenario(link, "kind = \"bulk\"\nrate = \"3mbit\"\ntransport = \"quic\"");
    let summary = simulate(&text);
    let goodput = some(summary.groups[0].goodput_bps);
    assert!((goodput / 3e6 - 1.0).abs() < 0.01, "{goodput}");
    assert_eq!(difference(&summary, &simulate(&unfused(&text))), None);
}

#[test]
fn captures_show_datagrams_of_udp() {
    let link = "rate = \"1mbit\"\nqdisc = \"droptail\"";
    let group = "kind = \"bulk\"\nsize = \"3kB\"\ntransport = \"quic\"";
    let text = format!("{}[probes]\npcap = [\"bottleneck\"]\n", scenario(link, group));
    let (_, files) = records(&text);
    let (_, capture) = files.iter().find(|(name, _)| name.ends_with(".pcapng")).unwrap();
    // Version 4, no options; protocol 17, and port 443 behind the client's.
    let is_udp = |packet: &[u8]| packet[0] == 0x45 && packet[9] == 17 && packet[22..24] == [1, 187];
    let found = capture.windows(28).filter(|packet| is_udp(packet)).count();
    assert!((3..20).contains(&found), "{found}");
}
