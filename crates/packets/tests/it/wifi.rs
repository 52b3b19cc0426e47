//! Wi-Fi against closed forms: saturation throughput after Bianchi, aggregates, and the performance
//! anomaly with its cure.

use crate::common::{simulate, some};
use sojourn_packets::Summary;
use std::fmt::Write as _;

/// The medium of Bianchi's Table I (FHSS at 1 Mb/s), basic access: nothing is aggregated, and a
/// collision occupies nothing but its frames.
const BIANCHI: &str = r#"
[[wifi]]
slot = "50us"
sifs = "28us"
aifs = "128us"
preamble = "128us"
ack = "242us"
ack_timeout = "1us"
mpdu_overhead = 34
aggregate_packets = 1
hardware = 1
"#;

/// Bianchi (2000), equations 7, 9 and 13, with W = `window`, m = `stages`: the fraction of time in
/// which payload is on air, in µs of Table I with a delay of 1 µs.
fn bianchi(stations: u32, window: f64, stages: i32) -> f64 {
    let others = f64::from(stations) - 1.0;
    let tau = |p: f64| {
        let twice = (2.0 * p).powi(stages);
        2.0 * (1.0 - 2.0 * p) / ((1.0 - 2.0 * p) * (window + 1.0) + p * window * (1.0 - twice))
    };
    let (mut low, mut high) = (0.0, 0.499_999);
    for _ in 0..200 {
        let p = 0.5 * (low + high);
        if 1.0 - (1.0 - tau(p)).powf(others) > p { low = p } else { high = p }
    }
    let tau = tau(low);
    let busy = 1.0 - (1.0 - tau).powf(others + 1.0);
    let success = (others + 1.0) * tau * (1.0 - tau).powf(others) / busy;
    let (payload, header) = (8184.0, 128.0 + 272.0);
    let good = header + payload + 28.0 + 1.0 + 240.0 + 128.0 + 1.0;
    let collision = header + payload + 128.0 + 1.0;
    let slot = (1.0 - busy) * 50.0 + busy * success * good + busy * (1.0 - success) * collision;
    success * busy * payload / slot
}

/// What a link carries, Mb/s.
fn mbit(summary: &Summary, link: usize) -> f64 {
    some(summary.links[link].throughput_bps) / 1e6
}

/// Stations that always have a packet of 8184 bits for the access point.
fn saturated(stations: u32, window: u32, stages: u32) -> f64 {
    let (least, most) = (window - 1, (window << stages) - 1);
    let mut text = format!(
        "duration = \"200s\"\nwarmup = \"5s\"\n{BIANCHI}cw_min = {least}\ncw_max = {most}\n"
    );
    for n in 0..stations {
        writeln!(
            text,
            "[[links]]\nname = \"up{n}\"\nfrom = \"s{n}\"\nto = \"ap\"\nrate = \"1mbit\"\n\
             wifi = \"wifi\"\nqdisc = {{ kind = \"droptail\", limit = 5 }}\n\
             [[links]]\nname = \"down{n}\"\nfrom = \"ap\"\nto = \"s{n}\"\n\
             [[traffic]]\nkind = \"udp\"\nfrom = \"s{n}\"\nto = \"ap\"\nrate = \"1mbit\"\n\
             packet = \"1023B\"\nstart = \"{n}ms\""
        )
        .unwrap();
    }
    let summary = simulate(&text);
    (0..summary.links.len()).map(|link| mbit(&summary, link)).sum()
}

#[test]
fn saturation_throughput_is_bianchi_s_to_three_per_cent() {
    for (stations, window, stages) in
        [(1, 32, 3), (5, 32, 3), (10, 32, 5), (20, 32, 3), (10, 128, 3)]
    {
        let (found, exact) = (
            saturated(stations, window, stages),
            bianchi(stations, f64::from(window), stages as i32),
        );
        assert!(
            (found / exact - 1.0).abs() < 0.03,
            "n = {stations}, W = {window}, m = {stages}: {found}, not {exact}"
        );
    }
}

/// An access point with more packets for each of its stations than it can send: at these rates.
fn downlink(medium: &str, rates: &[f64]) -> Summary {
    let mut text = format!("duration = \"30s\"\nwarmup = \"2s\"\n[[wifi]]\n{medium}\n");
    for (n, rate) in rates.iter().enumerate() {
        let kbit = (rate * 1000.0) as u64;
        writeln!(
            text,
            "[[links]]\nname = \"down{n}\"\nfrom = \"ap\"\nto = \"s{n}\"\nrate = \"{kbit}kbit\"\n\
             wifi = \"wifi\"\nqdisc = {{ kind = \"droptail\", limit = 400 }}\n\
             [[links]]\nname = \"up{n}\"\nfrom = \"s{n}\"\nto = \"ap\"\n\
             [[traffic]]\nkind = \"udp\"\nfrom = \"ap\"\nto = \"s{n}\"\nrate = \"{}kbit\"\n\
             packet = \"1500B\"\nstart = \"{n}ms\"",
            kbit * 5 / 4
        )
        .unwrap();
    }
    simulate(&text)
}

/// µs on air of an aggregate of `packets` of 1500 bytes at `rate` Mb/s, and of all that goes with
/// it but the contention.
fn exchange(packets: f64, rate: f64) -> f64 {
    40.0 + packets * 1544.0 * 8.0 / rate + 16.0 + 32.0
}

/// Mean of AIFS and backoff, µs.
const CONTENTION: f64 = 43.0 + 7.5 * 9.0;

#[test]
fn aggregates_spread_contention_and_acknowledgement_over_their_packets() {
    // At most 64 packets, 65 535 bytes (42 packets), 4 ms, or one.
    for (medium, rate, packets) in [
        ("aggregate_bytes = \"1MB\"\naggregate_time = \"100ms\"", 130.0, 64.0),
        ("", 300.0, 42.0),
        ("", 65.0, 21.0),
        ("", 7.2, 2.0),
        ("aggregate_packets = 1", 130.0, 1.0),
    ] {
        let found = mbit(&downlink(medium, &[rate]), 0);
        let padding = if packets == 1.0 { 2.0 * 8.0 / rate } else { 0.0 };
        let exact = packets * 12_000.0 / (CONTENTION + exchange(packets, rate) - padding);
        assert!((found / exact - 1.0).abs() < 0.01, "{medium} {rate}: {found}, not {exact}");
    }
}

#[test]
fn airtime_fairness_cures_the_anomaly() {
    let rates = [144.4, 144.4, 7.2];
    let shares = |medium: &str| {
        let summary = downlink(medium, &rates);
        [0, 1, 2].map(|n| mbit(&summary, n))
    };
    let took = |n: usize, packets: f64| {
        // Without an aggregate nothing is padded.
        exchange(packets, rates[n]) - if packets == 1.0 { 16.0 / rates[n] } else { 0.0 }
    };
    // One packet each in turn: all as slow as the slowest (Heusse et al., 2003).
    let time: f64 = (0..3).map(|n| CONTENTION + took(n, 1.0)).sum();
    let anomaly = shares("aggregate_packets = 1\nturns = \"round_robin\"");
    for share in anomaly {
        assert!((share * time / 12_000.0 - 1.0).abs() < 0.01, "{share} of {anomaly:?}");
    }
    // A third of the airtime each; contention is charged to nobody. Without aggregates, and with
    // those that the limits allow.
    for (medium, packets) in [("aggregate_packets = 1", [1.0; 3]), ("", [42.0, 42.0, 2.0])] {
        let fair = shares(medium);
        let turns = |n: usize| 1.0 / took(n, packets[n]);
        let time: f64 = (0..3).map(|n| turns(n) * (CONTENTION + took(n, packets[n]))).sum();
        for n in 0..3 {
            let exact = turns(n) * packets[n] * 12_000.0 / time;
            assert!((fair[n] / exact - 1.0).abs() < 0.02, "{medium} {n}: {fair:?}, not {exact}");
        }
        assert!(fair[0] > 2.0 * anomaly[0] && fair[2] < anomaly[2] || packets[2] > 1.0);
    }
}

#[test]
fn only_two_aggregates_wait_below_the_disciplines() {
    let waits = |hardware: u32| {
        let summary = downlink(&format!("hardware = {hardware}"), &[65.0]);
        let device = summary.links[0].device.clone().unwrap();
        (some(device.queue_packets.max), some(device.sojourn_s.mean))
    };
    // Of 21 packets in 4 ms each; the one on air has left.
    let one = CONTENTION + exchange(21.0, 65.0);
    for hardware in [1, 2, 8] {
        let (packets, time) = waits(hardware);
        let below = f64::from(hardware) - 1.0;
        assert!(packets <= f64::from(hardware) * 21.0, "{packets}");
        // It is filled when the one before has gone, and waits for all that are ahead of it.
        let exact = (below * one + CONTENTION) / 1e6;
        assert!((time - exact).abs() < 0.05 * exact + 1e-5, "{hardware}: {time}, not {exact}");
    }
}

#[test]
fn both_directions_share_the_medium() {
    let both = |back: &str| {
        let text = format!(
            "duration = \"30s\"\nwarmup = \"2s\"\n[[wifi]]\n[bottleneck]\nrate = \"65mbit\"\n\
             wifi = \"wifi\"\nqdisc = {{ kind = \"droptail\", limit = 400 }}\n\
             [[traffic]]\nkind = \"udp\"\nrate = \"100mbit\"\npacket = \"1500B\"\n{back}"
        );
        let summary = simulate(&text);
        (mbit(&summary, 0), mbit(&summary, 1))
    };
    let (alone, none) = both("");
    let (there, back) = both("direction = \"both\"\n");
    assert_eq!(none, 0.0);
    assert!((there / back - 1.0).abs() < 0.05, "{there} and {back}");
    // Two contend: the gap is shorter, and one in sixteen or so collides.
    assert!((0.85..1.0).contains(&((there + back) / alone)), "{there} + {back} of {alone}");
}
