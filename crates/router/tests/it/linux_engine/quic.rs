//! Flows and transfers over QUIC, by quinn.

use super::scenario::Scenario;
use super::{number, summary};
use serde_json::Value;

#[test]
fn quic_flows_fill_their_bottleneck_and_transfers_over_quic_finish() {
    let scenario = Scenario::new("6s", "20mbit", "5ms", r#"{ kind = "droptail", limit = 60 }"#)
        .ideal_way_back()
        .with(r#"warmup = "2s""#)
        .with(r#"quic.congestion = "cubic""#)
        .with("probes.flows = true")
        .group("bulk", r#"flows = 3, rtt = "20ms..40ms", transport = "quic""#)
        .group(
            "transfers",
            r#"rate = 5.0, size = "20kB", stop = "4s", rtt = "40ms", transport = "quic""#,
        )
        .group("bulk", r#"transport = "quic", stop = "4s""#);
    let Some(summary) = summary("quic", &scenario) else { return };
    let link = &summary["links"][0];
    assert!(number(&link["utilisation"]) > 0.7, "{link}");
    let [long, short, stopped] = [0, 1, 2].map(|at| &summary["groups"][at]);
    assert_eq!(summary["flows"].as_array().unwrap().len(), 4);
    for flow in summary["flows"].as_array().unwrap() {
        assert!(number(&flow["goodput_bps"]) > 5e5, "{flow}");
    }
    // Propagation is 30 ms on the mean; the queue adds 36 ms at most.
    let rtt = number(&long["rtt_s"]["mean"]);
    assert!((0.02..0.09).contains(&rtt), "{long}");
    assert!(number(&link["dropped"]) > 5.0, "{link}");
    let lost = number(&long["retransmissions"]) + number(&stopped["retransmissions"]);
    assert!(lost > 5.0, "{long} {stopped}");
    assert_eq!(long["timeouts"], Value::Null);
    assert_eq!((&short["failed"], &short["censored"]), (&0.into(), &0.into()), "{short}");
    assert!(number(&short["finished"]) > 4.0, "{short}");
    // A handshake and a transfer of two windows or so.
    assert!(number(&short["response_time_s"]["p50"]) > 0.1, "{short}");
    let told = summary["hosts"]["differences"].to_string();
    assert!(told.contains("bulk1: quic.congestion.alpha_rises = true; quinn: never"), "{told}");
    assert!(!told.contains("tcp."), "no group runs over TCP: {told}");
}

#[test]
fn quic_without_round_trip_saves_one_and_sees_marks() {
    let red = r#"{ kind = "red", min_th = 3, max_th = 60, max_p = 0.5, ecn = true, limit = 300 }"#;
    let requests = r#"rate = 10.0, size = "2kB", stop = "3s", transport = "quic""#;
    let scenario = Scenario::new("5s", "20mbit", "50ms", red)
        .ideal_way_back()
        .with("quic.ecn = true")
        .group("transfers", requests)
        .group("transfers", &format!("quic = {{ zero_rtt = true }}, {requests}"))
        .group("bulk", r#"transport = "quic", size = "1MB""#)
        .group("bulk", r#"dscp = "ef", transport = "quic", quic = { ecn = false }, size = "20kB""#);
    let Some(summary) = summary("quic-early", &scenario) else { return };
    let [first, again, marked, plain] = [0, 1, 2, 3].map(|at| &summary["groups"][at]);
    for (group, least) in [(first, 10), (again, 10), (marked, 1), (plain, 1)] {
        assert_eq!((&group["failed"], &group["censored"]), (&0.into(), &0.into()), "{group}");
        assert!(group["finished"].as_u64().unwrap() >= least, "{group}");
    }
    // 50 ms there: a round trip for the handshake, and half a one for the data.
    let p50 = |group: &Value| number(&group["response_time_s"]["p50"]);
    assert!((0.145..0.25).contains(&p50(first)), "{first}");
    assert!((0.045..0.14).contains(&p50(again)), "{again}");
    let marks = summary["links"][0]["marked"].as_u64().unwrap();
    assert!(marks > 5, "{marks}");
    assert_eq!(summary["hosts"]["ce_packets"].as_u64().unwrap(), marks);
}
