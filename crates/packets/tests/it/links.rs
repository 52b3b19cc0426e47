//! What links do beyond a queue and a constant rate: changing rates, losses, jitter, devices.

use crate::common::{simulate, some};

/// A flood of UDP through a link with a schedule, for 20 s.
fn flood(link: &str, packet: u32) -> sojourn_packets::Summary {
    simulate(&format!(
        "duration = \"20s\"\n[bottleneck]\n{link}\nreverse = \"ideal\"\n\
         [[traffic]]\nkind = \"udp\"\nrate = \"400mbit\"\npacket = \"{packet}B\"\n"
    ))
}

#[test]
fn steps_carry_the_integral_of_their_rates() {
    let link = "rate = \"100mbit\"\nschedule = { kind = \"steps\", steps = [[\"2s\", \"1mbit\"], [\"3s\", \"50mbit\"], [\"4s\", \"0bit\"]], repeat = \"5s\" }";
    let summary = flood(link, 1500);
    let link = &summary.links[0];
    // (2·100 + 1 + 50) Mb in each of four cycles.
    assert_eq!(link.rate_bps, Some(50_200_000));
    let sent = link.counts.dequeued_bytes * 8;
    // The first packet comes at the start, the last is under way at the end.
    assert!(sent.abs_diff(1_004_000_000) <= 12_000, "{sent}");
    assert!(some(link.utilisation) > 0.9999 && some(link.utilisation) <= 1.0);
}

#[test]
fn a_trace_sends_a_packet_for_each_of_its_lines() {
    let lines = std::fs::read_to_string("tests/golden/cellular.trace").unwrap().lines().count();
    let link =
        "rate = \"8mbit\"\nschedule = { kind = \"trace\", file = \"tests/golden/cellular.trace\" }";
    let summary = flood(link, 1500);
    // 20 s are five rounds of 4 s; one packet is under way at the end.
    let sent = summary.links[0].counts.dequeued;
    assert!(sent.abs_diff(5 * lines as u64) <= 1, "{sent} of {}", 5 * lines);
    // Packets of half the size share an opportunity.
    let sent = flood(link, 750).links[0].counts.dequeued;
    assert!(sent.abs_diff(10 * lines as u64) <= 2, "{sent}");
}

#[test]
fn permanent_outage_keeps_queue() {
    let link = "rate = \"10mbit\"\nschedule = { kind = \"steps\", steps = [[\"1s\", \"0bit\"]] }\nqdisc = { kind = \"droptail\", limit = 10 }";
    let summary = flood(link, 1500);
    let counts = &summary.links[0].counts;
    assert_eq!(counts.queued_at_end, 10);
    assert!(counts.dequeued.abs_diff(10_000_000 / 12_000) <= 1, "{}", counts.dequeued);
}

#[test]
fn random_rates_are_the_same_for_the_same_seed_whatever_the_traffic() {
    let run = |seed: u32, packet| {
        let link = "rate = \"10mbit\"\nschedule = { kind = \"lognormal\" }".to_string();
        let text = format!(
            "seed = {seed}\nduration = \"20s\"\n[bottleneck]\n{link}\n\
             [[traffic]]\nkind = \"udp\"\nrate = \"4mbit\"\npacket = \"{packet}B\"\n"
        );
        let summary = simulate(&text);
        (summary.links[0].rate_bps, summary.links[1].rate_bps)
    };
    assert_eq!(run(1, 1500), run(1, 200));
    assert_ne!(run(1, 1500).0, run(2, 1500).0);
    let (there, back) = run(1, 1500);
    assert_ne!(there, back, "each direction has its own draws");
}

/// Four bulk flows over 20 Mb/s and 50 ms, with `link` at the bottleneck.
fn bulk(link: &str) -> sojourn_packets::Summary {
    simulate(&format!(
        "duration = \"60s\"\nwarmup = \"20s\"\n[bottleneck]\nrate = \"20mbit\"\ndelay = \"25ms\"\n{link}\n\
         [tcp]\nprofile = \"modern\"\n[[traffic]]\nkind = \"bulk\"\nflows = 4\nstart = \"0s..1s\"\n"
    ))
}

#[test]
fn packets_lost_on_the_wire_are_counted_apart_from_drops() {
    let text = "duration = \"100s\"\n[bottleneck]\nrate = \"20mbit\"\nloss = 0.03\nreverse = \"ideal\"\n\
                [[traffic]]\nkind = \"udp\"\nrate = \"10mbit\"\nstop = \"90s\"\n[probes]\nflows = true\n";
    let summary = simulate(text);
    let link = &summary.links[0];
    let (lost, sent) = (link.lost, link.counts.dequeued);
    assert_eq!(link.counts.dropped, 0);
    assert!((lost as f64 / sent as f64 / 0.03 - 1.0).abs() < 0.05, "{lost} of {sent}");
    // All has arrived that was not lost.
    assert_eq!(summary.groups[0].started, summary.groups[0].finished + lost);
    assert!((some(summary.flows[0].loss) - lost as f64 / sent as f64).abs() < 1e-9);
}

#[test]
fn jitter_delays_and_only_reordering_makes_tcp_send_again() {
    // Windows so small that no queue builds up.
    let quiet = |jitter: &str| {
        simulate(&format!(
            "duration = \"60s\"\n[bottleneck]\nrate = \"100mbit\"\ndelay = \"25ms\"\n{jitter}\n\
             [tcp]\nprofile = \"modern\"\nreceive_window = \"60kB\"\n[[traffic]]\nkind = \"bulk\"\nflows = 4\n"
        ))
    };
    let plain = quiet("");
    let kept = quiet("jitter = \"0ms..20ms\"");
    let mixed = quiet("jitter = \"0ms..20ms\"\nreorder = true");
    for summary in [&plain, &kept] {
        assert_eq!(summary.groups[0].retransmissions, Some(0));
    }
    assert!(mixed.groups[0].retransmissions > Some(10), "{:?}", mixed.groups[0].retransmissions);
    let ping = |link: &str| {
        let text = format!(
            "duration = \"60s\"\n[bottleneck]\nrate = \"20mbit\"\ndelay = \"25ms\"\n{link}\nreverse = {{ jitter = \"0ms\" }}\n\
             [[traffic]]\nkind = \"ping\"\ninterval = \"50ms\"\n"
        );
        some(simulate(&text).groups[0].response_time_s.quantiles.mean)
    };
    let more = ping("jitter = \"0ms..20ms\"") - ping("");
    assert!((more - 0.010).abs() < 0.0008, "{more}");
}

#[test]
fn large_device_queue_blinds_codel_and_red() {
    for qdisc in ["\"codel\"", "{ kind = \"red\", min_th = 5, max_th = 15 }"] {
        let bare = bulk(&format!("qdisc = {qdisc}"));
        let hidden = bulk(&format!("qdisc = {qdisc}\ndevice = {{ packets = 4000 }}"));
        let (bare, hidden) = (&bare.links[0], &hidden.links[0]);
        assert!(bare.counts.dropped > 0, "{qdisc} works without the device's queue");
        assert!(some(bare.sojourn_s.mean) < 0.02, "{qdisc}");
        // With it there is nothing to see above, and all the delay is below.
        let device = hidden.device.as_ref().expect("the device is summed up");
        assert_eq!(hidden.counts.dropped, 0, "{qdisc}");
        assert_eq!(hidden.sojourn_s.max, Some(0.0), "{qdisc}");
        assert!(some(device.sojourn_s.mean) > 0.1, "{qdisc}: {:?}", device.sojourn_s);
        assert!(some(device.standing_s.mean) > 0.05, "{qdisc}: {:?}", device.standing_s);
    }
}

#[test]
fn bql_returns_queue_to_discipline() {
    let device = "device = { packets = 1000, bql = true, interrupts = \"1ms\" }";
    let limited = bulk(&format!("qdisc = \"codel\"\n{device}"));
    let link = &limited.links[0];
    let device = link.device.as_ref().expect("the device is summed up");
    // An interrupt a millisecond later: two packets of 1500 bytes are sent meanwhile.
    let limit = device.limit_bytes.expect("it is regulated");
    assert!((1500..=10_000).contains(&limit), "{limit}");
    assert!(some(device.sojourn_s.max) < 0.005, "{:?}", device.sojourn_s);
    assert!(link.counts.dropped > 0 && some(link.utilisation) > 0.95);
}

#[test]
fn bursts_make_no_standing_queue() {
    let deep = bulk("qdisc = { kind = \"droptail\", limit = 500 }");
    let standing = &deep.links[0].standing_packets;
    let queue = &deep.links[0].queue_packets;
    assert!(some(standing.mean) > 100.0 && some(standing.mean) <= some(queue.mean), "{standing:?}");
    let bursts = simulate(
        "duration = \"60s\"\n[bottleneck]\nrate = \"20mbit\"\n[access]\nrate = \"1gbit\"\n\
         [[traffic]]\nkind = \"bulk\"\nsize = \"60kB\"\nrepeat = true\ngap = \"1s\"\n",
    );
    let link = &bursts.links[0];
    assert!(some(link.queue_packets.max) >= 8.0, "{:?}", link.queue_packets);
    assert_eq!(link.standing_packets.max, Some(0.0));
    assert_eq!(link.standing_s.max, Some(0.0));
}

#[test]
fn every_flow_of_datagrams_has_its_own_losses() {
    let group = |name: &str, rate: &str| {
        format!("[[traffic]]\nkind = \"udp\"\nname = \"{name}\"\nflows = 3\nrate = \"{rate}\"\n")
    };
    let summary = simulate(&format!(
        "duration = \"20s\"\n[bottleneck]\nrate = \"100mbit\"\nloss = 0.1\nreverse = \"ideal\"\n\
         {}{}[probes]\nflows = true\n",
        group("slow", "3mbit"),
        group("fast", "6mbit"),
    ));
    let flows = &summary.flows;
    assert_eq!(flows.len(), 6);
    // Of 5000 and of 10 000 packets; six standard deviations of the fewer are 0.025.
    for flow in flows {
        assert!(
            (some(flow.loss) - 0.1).abs() < 0.025,
            "{} {}: {:?}",
            flow.group,
            flow.index,
            flow.loss
        );
    }
}
