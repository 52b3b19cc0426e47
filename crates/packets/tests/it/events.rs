//! How many events a bottleneck packet takes, which is what a run's speed depends on most. Timings
//! would depend on the machine, and these do not.

use crate::common::simulate;

const DUMBBELL: &str = r#"
    duration = "10s"
    warmup = "3s"
    seed = 1
    [access]
    rate = "1gbit"
    [[traffic]]
    kind = "bulk"
    flows = 100
    rtt = { even = "50ms..150ms" }
    start = "0s..1s"
"#;

const WEB: &str = r#"
    duration = "4s"
    warmup = "2s"
    seed = 1
    [access]
    rate = "1gbit"
    [[traffic]]
    kind = "web"
    direction = "both"
    users = 10137
    rtt = "10ms..150ms"
    start = "0s..1s"
"#;

/// Traffic over 100 Mb/s takes `most` events a packet at most, and more than one.
#[track_caller]
fn takes(most: f64, traffic: &str, profile: &str, qdisc: &str) {
    let bottleneck =
        format!("[bottleneck]\nrate = \"100mbit\"\ndelay = \"5ms\"\nqdisc = {qdisc}\n");
    let tcp = format!("[tcp]\nprofile = \"{profile}\"\n");
    let summary = simulate(&format!("{traffic}{bottleneck}{tcp}"));
    let events = summary.events as f64 / summary.bottleneck_packets as f64;
    assert!(events <= most, "{events:.3} events a packet: {profile}, {qdisc}");
    assert!(events > 1.0, "{events:.3} events a packet say nothing: {profile}, {qdisc}");
}

#[test]
fn few_events_a_packet() {
    takes(2.2, DUMBBELL, "classic", r#"{ kind = "droptail", limit = 1000 }"#);
    takes(3.2, DUMBBELL, "classic", r#"{ kind = "codel" }"#);
    takes(2.0, DUMBBELL, "modern", r#"{ kind = "droptail", limit = 1000 }"#);
    takes(3.6, WEB, "classic", r#"{ kind = "droptail", limit = 240 }"#);
}
