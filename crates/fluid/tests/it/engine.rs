//! Scenarios through the fluid engine: what it takes, what it refuses, and what it gives back.

use std::path::Path;

use sojourn_fluid::engine::{Control, read, run};
use sojourn_records::{Clock, Recorder, Summary};
use sojourn_scenario::{Network, Scenario};

const LONG: &str = r#"
duration = "60s"
warmup = "20s"
[tcp]
profile = "classic"
mss = 460
receive_window = "64KiB"
[bottleneck]
rate = "15mbit"
delay = "20ms"
mean_packet = 500
reverse = "ideal"
qdisc = { kind = "pi", frequency = 160, qref = 200, limit = 800 }
[[traffic]]
kind = "bulk"
name = "flows"
flows = 40
rtt = "200ms"
[probes]
flows = true
"#;

fn network(changes: &[(&str, &str)]) -> Network {
    let scenario = Scenario::from_toml(LONG, "long").unwrap().with(changes).unwrap();
    scenario.network(Path::new(".")).unwrap()
}

fn outcome(changes: &[(&str, &str)]) -> Result<Summary, String> {
    run(&network(changes), &Control::default(), &mut Recorder::none()).map_err(|e| e.to_string())
}

#[test]
fn pi_holds_its_queue_and_the_counts_add_up() {
    let summary = outcome(&[]).unwrap();
    let link = &summary.links[0];
    link.counts.check_conservation().unwrap();
    assert!((link.queue_packets.mean.unwrap() - 200.0).abs() < 10.0, "{:?}", link.queue_packets);
    assert!(link.utilisation.unwrap() > 0.999);
    // 500 bytes each, 3750 a second.
    let pairs = [
        (&link.queue_bytes, 500.0, &link.queue_packets),
        (&link.standing_s, 1.0 / 3750.0, &link.standing_packets),
    ];
    for (scaled, by, of) in pairs {
        for (scaled, of) in [(scaled.mean, of.mean), (scaled.max, of.max)] {
            assert!((scaled.unwrap() / of.unwrap() / by - 1.0).abs() < 1e-9, "{scaled:?} {of:?}");
        }
    }
    let throughput = link.throughput_bps.unwrap();
    // Waits are those of packets: by what the link let go, of 500 bytes each.
    let waits = &link.sojourn_s;
    let little = waits.mean.unwrap() * throughput / 4000.0;
    assert!((little / link.queue_packets.mean.unwrap() - 1.0).abs() < 1e-9, "{waits:?}");
    // Before the first sample of the window, the longest here, nothing has left in it.
    let longest = waits.max.unwrap() * 3750.0 / link.queue_packets.max.unwrap();
    assert!((1.0 - 1e-7..=1.0).contains(&longest), "{waits:?}");
    assert!((throughput / 15e6 - 1.0).abs() < 1e-3, "{throughput}");
    let (loss, counts) = (link.loss.unwrap(), &link.counts);
    let dropped = counts.dropped as f64 / (counts.dropped + counts.dequeued) as f64;
    assert!((loss / dropped - 1.0).abs() < 0.01, "{loss} {dropped}");
    // 460 of 500 bytes are payload, and what is dropped is not delivered.
    let goodput = summary.groups[0].goodput_bps.unwrap();
    assert!((goodput / (15e6 * 0.92) - 1.0).abs() < 0.01, "{goodput}");
    assert_eq!(summary.flows.len(), 40);
    assert_eq!(summary.flows[7].index, 7);
    assert!((summary.groups[0].jain.unwrap() - 1.0).abs() < 1e-9, "all are alike");
    let alone = outcome(&[("traffic.flows.flows", "1")]).unwrap();
    assert_eq!(alone.groups[0].jain, None);
    assert_eq!(summary.groups[0].timeouts, None);
}

#[test]
fn red_in_bytes_is_red_in_packets_with_its_thresholds_in_other_units() {
    // A packet of 500 bytes counts as two, and the average still takes a sample with each.
    let packets = r#"{ kind = "red", min_th = 50, max_th = 150, wq = 1e-4, limit = 800 }"#;
    let bytes = r#"{ kind = "red", min_th = 100, max_th = 300, wq = 1e-4, limit = 800,
        queue_in_bytes = true, mean_packet = 250 }"#;
    let [one, other] = [packets, bytes].map(|qdisc| {
        let link = outcome(&[("bottleneck.qdisc", qdisc)]).unwrap().links.remove(0);
        (link.queue_packets, link.loss.unwrap())
    });
    assert!(one.0.max.unwrap() - one.0.mean.unwrap() > 20.0, "it swings: {:?}", one.0);
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-3, "{one:?} {other:?}");
    near(one.0.mean.unwrap(), other.0.mean.unwrap());
    near(one.0.max.unwrap(), other.0.max.unwrap());
    near(one.1, other.1);
}

#[test]
fn each_discipline_with_a_law_runs() {
    for (qdisc, low, high) in [
        // Packets: thresholds of 5 ms at 3750 a second; 20 ms, about which it swings with round
        // trips as long as these; no queue.
        ("ared", 5.0, 40.0),
        ("pi2", 40.0, 90.0),
        ("rate", 0.0, 40.0),
    ] {
        let summary = outcome(&[("bottleneck.qdisc", qdisc)]).unwrap();
        summary.links[0].counts.check_conservation().unwrap();
        let queue = summary.links[0].queue_packets.mean.unwrap();
        assert!((low..=high).contains(&queue), "{qdisc}: {queue}");
        assert!(summary.links[0].loss.unwrap() > 1e-3, "{qdisc}");
    }
}

/// Both are told by the packet engine in the same way.
#[test]
fn rem_and_rate_take_the_link_for_what_their_discipline_does() {
    let busy = |qdisc: &str, link: &[(&str, &str)]| {
        let qdisc = format!("{{ {qdisc}, ecn = true }}");
        let changes = [
            &[
                ("bottleneck.qdisc", &*qdisc),
                ("tcp.ecn", "true"),
                ("duration", "800s"),
                ("warmup", "600s"),
            ],
            link,
        ]
        .concat();
        let link = outcome(&changes).unwrap().links.remove(0);
        (link.utilisation.unwrap(), link.queue_packets.mean.unwrap())
    };
    let near = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
    let rem = r#"kind = "rem", gamma = 1e-4, period = "1ms", limit = 800"#;
    near(busy(rem, &[]).1, 20.0);
    // Packets of 500 bytes take 550; of the 3750 that REM reckons with 3409 are sent.
    let (full, queue) = busy(rem, &[("bottleneck.frame_overhead", "50")]);
    near(full, 1.0);
    near(queue, 20.0 + 3750.0 * (1.0 - 500.0 / 550.0) * 0.01);
    // Packets of 2000 bytes: 937.5 come, and as many as an empty queue stands for.
    let (part, queue) = busy(rem, &[("bottleneck.mean_packet", "2000")]);
    near(part, (937.5 + 20.0 / 0.01) / 3750.0);
    assert!(queue < 0.1, "{queue}");
    // A load of 1 is two thirds of the link.
    let rate = r#"kind = "rate", limit = 800"#;
    let (part, whole) = (busy(rate, &[("bottleneck.mean_packet", "750")]).0, busy(rate, &[]).0);
    assert!(part < 0.66 && whole > 0.75, "{part} {whole}");
}

#[test]
fn ecn_marks_what_would_be_dropped() {
    let summary = outcome(&[("tcp.ecn", "true"), ("bottleneck.qdisc.ecn", "true")]).unwrap();
    let counts = &summary.links[0].counts;
    assert_eq!(counts.dropped, 0);
    // W² p = 2 with N W = C R, over 40 s at 3750 packets per second.
    let window = 3750.0 * (0.2 + 200.0 / 3750.0) / 40.0;
    let expected = 2.0 / (window * window) * 3750.0 * 40.0;
    assert!((counts.marked as f64 / expected - 1.0).abs() < 0.05, "{counts:?}");
}

#[test]
fn flows_that_differ_are_classes_of_their_own_up_to_a_limit() {
    let classes = |changes: &[(&str, &str)]| {
        let plan = read(&network(changes)).unwrap();
        let flows: usize = plan.members.iter().map(|member| member.flows.len()).sum();
        assert_eq!(flows, plan.members.iter().flat_map(|m| &m.flows).count());
        (plan.parameters.classes.len(), flows)
    };
    assert_eq!(classes(&[]), (1, 40));
    let range = ("traffic.flows.rtt", "100ms..300ms");
    assert_eq!(classes(&[range]), (40, 40));
    assert_eq!(classes(&[range, ("traffic.flows.flows", "1000")]), (64, 1000));
    let starts = ("traffic.flows.start", "0s..5s");
    assert_eq!(classes(&[range, starts, ("traffic.flows.flows", "1000")]), (64, 1000));
}

#[test]
fn windows_end_at_what_the_receiver_has_room_for() {
    let changes = [("tcp.receive_window", "4600B"), ("traffic.flows.flows", "1")];
    let most = read(&network(&changes)).unwrap().parameters.classes[0].max_window;
    assert!((most - 10.0).abs() < 1e-12, "{most} segments of 460 bytes");
}

#[test]
fn round_trips_hold_transmissions_and_private_links() {
    let rtt = |changes: &[(&str, &str)]| read(&network(changes)).unwrap().parameters.classes[0].rtt;
    let bare = rtt(&[]);
    // 500 bytes at 15 Mb/s beside the 200 ms.
    assert!((bare - 0.2 - 4000.0 / 15e6).abs() < 1e-12, "{bare}");
    let access = rtt(&[("access.rate", "10mbit")]);
    assert!((access - bare - 2.0 * 8.0 * 540.0 / 10e6).abs() < 1e-12, "{access}");
}

#[test]
fn what_has_no_place_in_the_model_is_named() {
    for (changes, message) in [
        (vec![("bottleneck.qdisc", "blue")], "bottleneck.qdisc.kind = \"blue\""),
        (vec![("tcp.congestion", "cubic")], "traffic.flows.tcp.congestion = \"cubic\""),
        (vec![("traffic.flows.size", "1MB")], "traffic.flows.size"),
        (vec![("probes.packet_counts", "1ms")], "probes.packet_counts"),
        (vec![("access.rate", "200kbit")], "access.rate"),
    ] {
        let error = outcome(&changes).unwrap_err();
        assert!(error.starts_with(message), "{error}");
        assert!(error.contains("--engine packets") && !error.contains('\n'), "{error}");
    }
}

#[test]
fn a_run_that_is_asked_to_stop_gives_what_it_has() {
    let control = Control { look: &|_| true, ..Control::default() };
    let network = network(&[("duration", "8000s")]);
    let summary = run(&network, &control, &mut Recorder::none()).unwrap();
    assert!(summary.stopped_early && summary.simulated_s < 8000.0);
}

thread_local! {
    static CALLS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[test]
fn a_run_is_timed_as_a_whole_and_without_what_comes_before_and_after() {
    let clock = Clock(|| {
        CALLS.set(CALLS.get() + 1);
        [100.0, 107.0, 118.0, 130.0][CALLS.get() - 1]
    });
    let control = Control { clock, ..Control::default() };
    let network = network(&[("duration", "30s")]);
    let summary = run(&network, &control, &mut Recorder::none()).unwrap();
    assert_eq!((summary.engine_seconds, summary.wall_s), (11.0, 30.0));
    assert_eq!((summary.simulated_s, summary.window_s), (30.0, (20.0, 30.0)));
    assert!(!summary.stopped_early && summary.events > 100);
}

#[test]
fn tables_are_recorded_for_those_who_ask_for_them() {
    let mut recorder = Recorder::in_memory();
    let network = network(&[
        ("probes.queues", "true"),
        ("probes.interval", "500ms"),
        ("probes.traces", r#"["flows.39"]"#),
    ]);
    run(&network, &Control::default(), &mut recorder).unwrap();
    let queues = recorder.take("queues").unwrap();
    assert_eq!(queues.len(), 120 * 16);
    // From half a second on to the end.
    assert_eq!((queues[0], queues[119]), (0.5, 60.0));
    assert_eq!(recorder.take("traces").unwrap().len(), 120 * 7);
    assert_eq!(recorder.take("flows").unwrap().len() % 40, 0);
}

#[test]
fn what_cannot_be_followed_says_what_to_do() {
    // Hundreds of flows share what is less than a packet a round trip for each.
    let flows = r#"[
        { kind = "bulk", flows = 300, rtt = "20ms", start = "1s" },
        { kind = "bulk", flows = 3, rtt = "1ms", start = "1s" },
    ]"#;
    let crowd = [
        ("duration", "20s"),
        ("warmup", "2s"),
        ("tcp", r#"{ profile = "modern", congestion = "reno", receive_window = "16KiB" }"#),
        ("bottleneck", r#"{ rate = "1mbit", qdisc = { kind = "codel", ecn = true } }"#),
        ("traffic", flows),
    ];
    let error = outcome(&crowd).unwrap_err();
    assert!(error.starts_with("the fluid engine stopped: the solution changes too"), "{error}");
    assert!(error.ends_with("; use fewer flows for the rate, or --engine packets"), "{error}");
}
