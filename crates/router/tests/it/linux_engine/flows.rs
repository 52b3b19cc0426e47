//! Long flows, transfers and marks with Linux's own TCP.

use super::{check_router, last_line, number, possible, start, summary};
use std::time::{Duration, Instant};

#[test]
fn long_flows_fill_their_bottleneck() {
    let Some(summary) = summary(
        "long-flows",
        r#"
        duration = "5s"
        warmup = "2s"
        [tcp]
        profile = "modern"
        congestion = "cubic"
        [bottleneck]
        rate = "20mbit"
        delay = "5ms"
        qdisc = { kind = "droptail", limit = 60 }
        [[traffic]]
        kind = "bulk"
        flows = 2
        rtt = "20ms..40ms"
        [[traffic]]
        kind = "ping"
        interval = "20ms"
        [probes]
        flows = true
        "#,
    ) else {
        return;
    };
    check_router(&summary);
    let link = &summary["links"][0];
    assert!(number(&link["utilisation"]) > 0.9, "{link}");
    let bulk = &summary["groups"][0];
    let goodput = number(&bulk["goodput_bps"]);
    // 1448 bytes of payload in 1500 of a packet; what the queue held at either end aside.
    let throughput = number(&link["throughput_bps"]);
    assert!((goodput / throughput - 1448.0 / 1500.0).abs() < 0.03, "{goodput} {throughput}");
    assert_eq!(summary["flows"].as_array().unwrap().len(), 2);
    assert!(number(&summary["flows"][0]["rtt_s"]["mean"]) > 0.02);
    let ping = &summary["groups"][1];
    assert!(number(&ping["finished"]) > 100.0, "{ping}");
    // Two links of 5 ms, and no more queue than there is: 60 packets are 36 ms.
    let p50 = number(&ping["response_time_s"]["p50"]);
    assert!((0.01..0.08).contains(&p50), "{ping}");
}

#[test]
fn hosts_retransmit_dropped_packets() {
    // All transfers are done long before the end: nothing is under way at the last look.
    let Some(summary) = summary(
        "drops",
        r#"
        duration = "6s"
        [tcp]
        profile = "modern"
        congestion = "cubic"
        [bottleneck]
        rate = "50mbit"
        delay = "2ms"
        qdisc = { kind = "droptail", limit = 20 }
        reverse = "ideal"
        [[traffic]]
        kind = "bulk"
        flows = 6
        size = "2MB"
        rtt = "10ms..30ms"
        "#,
    ) else {
        return;
    };
    check_router(&summary);
    assert_eq!(summary["groups"][0]["finished"], 6, "{}", summary["groups"][0]);
    let dropped = number(&summary["links"][0]["dropped"]);
    let hosts = &summary["hosts"];
    let again = number(&hosts["retransmitted_segments"]) - number(&hosts["duplicates"]);
    assert!(dropped > 20.0, "{dropped}");
    // A bare acknowledgement that was dropped is not sent again.
    assert!((again - dropped).abs() <= 3.0 + 0.02 * dropped, "{again} of {dropped}: {hosts}");
    let own = number(&summary["groups"][0]["retransmissions"]);
    assert!((own - number(&hosts["retransmitted_segments"])).abs() <= 2.0, "{own} {hosts}");
}

#[test]
fn hosts_see_marks() {
    let Some(summary) = summary(
        "marks",
        r#"
        duration = "6s"
        [tcp]
        profile = "modern"
        congestion = "reno"
        ecn = true
        [bottleneck]
        rate = "50mbit"
        delay = "2ms"
        qdisc = { kind = "codel", ecn = true }
        reverse = "ideal"
        [[traffic]]
        kind = "bulk"
        flows = 6
        size = "2MB"
        rtt = "10ms..30ms"
        "#,
    ) else {
        return;
    };
    check_router(&summary);
    assert_eq!(summary["groups"][0]["finished"], 6);
    let marked = summary["links"][0]["marked"].as_u64().unwrap();
    assert!(marked > 20, "{marked}");
    assert_eq!(summary["hosts"]["ce_packets"].as_u64().unwrap(), marked);
}

#[test]
fn two_thousand_connections_leave_no_descriptor() {
    if !possible("two_thousand_connections_leave_no_descriptor") {
        return;
    }
    let mut child = start(
        "connections",
        r#"
        duration = "6s"
        [tcp]
        profile = "modern"
        [bottleneck]
        rate = "100mbit"
        delay = "1ms"
        qdisc = { kind = "droptail", limit = 1000 }
        [[traffic]]
        kind = "transfers"
        rate = 500.0
        size = "2kB"
        stop = "4200ms"
        "#,
    );
    let descriptors = format!("/proc/{}/fd", child.id());
    let count = || std::fs::read_dir(&descriptors).map_or(0, Iterator::count);
    let begun = Instant::now();
    let mut most = 0;
    while begun.elapsed() < Duration::from_millis(5700) {
        std::thread::sleep(Duration::from_millis(100));
        most = most.max(count());
    }
    let left = count();
    let last = last_line(&mut child);
    assert!(child.wait().unwrap().success(), "{last}");
    let summary = &last["summary"];
    check_router(summary);
    let group = &summary["groups"][0];
    let (started, finished) = (number(&group["started"]), number(&group["finished"]));
    assert!(started > 1900.0 && started == finished, "{group}");
    assert_eq!((&group["failed"], &group["censored"]), (&0.into(), &0.into()));
    assert!(left < 60 && left <= most, "{left} descriptors after, {most} at most");
}
