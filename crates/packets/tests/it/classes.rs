//! Classes in a run: packets find theirs by label and codepoint, and each has its row.

use crate::common::simulate;
use sojourn_records::LinkSummary;

const ARENAS: &str = r#"
    duration = "40s"
    warmup = "10s"
    [tcp]
    profile = "classic"
    receive_window = "256kB"
    [bottleneck]
    rate = "7.5mbit"
    delay = "5ms"
    mean_packet = 1000
    reverse = "ideal"
    [bottleneck.qdisc]
    kind = "cbq"
    # So that agencies keep their shares, whichever of their classes are busy.
    borrowing = "formal"
    classes = [
      { name = "short", share = 0.333, labels = ["short"] },
      { name = "middle", share = 0.333, labels = ["middle"], qdisc = { kind = "pi", qref = 20 } },
      { name = "long", share = 0.333, classes = [
        { name = "urgent", share = 0.5, dscp = ["ef"] },
        { name = "rest", share = 0.5 },
      ] },
    ]
    [[traffic]]
    kind = "bulk"
    name = "short"
    flows = 4
    rtt = "20ms"
    [[traffic]]
    kind = "bulk"
    flows = 4
    label = "middle"
    rtt = "100ms"
    [[traffic]]
    kind = "bulk"
    flows = 4
    rtt = "300ms"
    [[traffic]]
    kind = "udp"
    rate = "200kbit"
    packet = "500B"
    dscp = "ef"
"#;

fn row<'a>(links: &'a [LinkSummary], name: &str) -> &'a LinkSummary {
    links.iter().find(|link| link.name == name).unwrap_or_else(|| panic!("no row {name}"))
}

#[test]
fn every_class_has_a_row_and_the_link_is_their_sum() {
    let links = simulate(ARENAS).links;
    let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
    let classes = ["short", "middle", "long/urgent", "long/rest"];
    let rows: Vec<String> = classes.iter().map(|name| format!("bottleneck/{name}")).collect();
    assert_eq!(names[0], "bottleneck");
    assert_eq!(names[1..], rows);
    let sum = |of: fn(&LinkSummary) -> u64| -> u64 { links[1..].iter().map(of).sum() };
    assert_eq!(sum(|row| row.counts.arrived), links[0].counts.arrived);
    assert_eq!(sum(|row| row.counts.dequeued_bytes), links[0].counts.dequeued_bytes);
    assert_eq!(sum(|row| row.counts.dropped), links[0].counts.dropped);
    let mean: f64 = links[1..].iter().filter_map(|row| row.queue_packets.mean).sum();
    let all = links[0].queue_packets.mean.unwrap();
    assert!((mean - all).abs() < 1e-3 * all, "{mean} {all}");
}

#[test]
fn cbq_arenas_share_equally_at_any_rtt() {
    let links = simulate(ARENAS).links;
    let rate = |name: &str| row(&links, &format!("bottleneck/{name}")).throughput_bps.unwrap();
    let all = links[0].throughput_bps.unwrap();
    let long = rate("long/urgent") + rate("long/rest");
    for rate in [rate("short"), rate("middle"), long] {
        assert!((rate / all - 1.0 / 3.0).abs() < 0.02, "{rate} of {all}");
    }
    // Below its share, so it hardly waits.
    assert!((rate("long/urgent") - 2e5).abs() < 1e4);
    let wait = |name: &str| row(&links, &format!("bottleneck/{name}")).sojourn_s.mean.unwrap();
    assert!(wait("long/urgent") < 0.01 && wait("long/rest") > 0.05);
}

#[test]
fn fifo_favours_short_rtt() {
    let fifo = ARENAS;
    let start = fifo.find("    [bottleneck.qdisc]").unwrap();
    let end = fifo.find("    [[traffic]]").unwrap();
    let text = format!(
        "{}    qdisc = {{ kind = \"droptail\", limit = 50 }}\n{}",
        &fifo[..start],
        &fifo[end..]
    );
    let groups = simulate(&text).groups;
    let goodput = |at: usize| groups[at].goodput_bps.unwrap();
    assert!(goodput(0) > 2.0 * goodput(2), "{} {}", goodput(0), goodput(2));
}
