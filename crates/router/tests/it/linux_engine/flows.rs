//! Long flows, transfers and marks with Linux's own TCP.

use super::scenario::Scenario;
use super::{check_router, last_line, number, possible, start, summary};
use std::time::{Duration, Instant};

#[test]
fn long_flows_fill_their_bottleneck() {
    let scenario = Scenario::new("5s", "20mbit", "5ms", r#"{ kind = "droptail", limit = 60 }"#)
        .modern("cubic")
        .with(r#"warmup = "2s""#)
        .with("probes.flows = true")
        .group("bulk", r#"flows = 2, rtt = "20ms..40ms""#)
        .group("ping", r#"interval = "20ms""#);
    let Some(summary) = summary("long-flows", &scenario) else { return };
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
    let scenario = Scenario::new("6s", "50mbit", "2ms", r#"{ kind = "droptail", limit = 20 }"#)
        .modern("cubic")
        .ideal_way_back()
        .group("bulk", r#"flows = 6, size = "2MB", rtt = "10ms..30ms""#);
    let Some(summary) = summary("drops", &scenario) else { return };
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
    let scenario = Scenario::new("6s", "50mbit", "2ms", r#"{ kind = "codel", ecn = true }"#)
        .modern("reno")
        .ideal_way_back()
        .with("tcp.ecn = true")
        .group("bulk", r#"flows = 6, size = "2MB", rtt = "10ms..30ms""#);
    let Some(summary) = summary("marks", &scenario) else { return };
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
    let scenario = Scenario::new("6s", "100mbit", "1ms", r#"{ kind = "droptail", limit = 1000 }"#)
        .with(r#"tcp.profile = "modern""#)
        .group("transfers", r#"rate = 500.0, size = "2kB", stop = "4200ms""#);
    let mut child = start("connections", &scenario);
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
