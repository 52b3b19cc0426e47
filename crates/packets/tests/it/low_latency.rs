//! DualPI2 with TCP Prague beside a classic control (RFC 9332 section 2.1): the low-latency queue
//! stays short, and flows of both kinds get about the same rate.

use crate::common::simulate;

fn beside(classic: &str, rate: &str, flows: u32) -> sojourn_records::Summary {
    simulate(&format!(
        r#"
        duration = "40s"
        warmup = "15s"
        [tcp]
        profile = "modern"
        [bottleneck]
        rate = "{rate}"
        qdisc = "dualpi2"
        [[traffic]]
        kind = "bulk"
        name = "scalable"
        flows = {flows}
        rtt = "10ms"
        tcp = {{ congestion = "prague", ecn = true }}
        [[traffic]]
        kind = "bulk"
        name = "classic"
        flows = {flows}
        rtt = "10ms"
        tcp = {{ congestion = "{classic}", ecn = true }}
        "#
    ))
}

#[test]
fn prague_gets_short_queue_and_fair_rate() {
    for (classic, rate, flows) in
        [("cubic", "40mbit", 1), ("cubic", "120mbit", 4), ("reno", "40mbit", 4)]
    {
        let summary = beside(classic, rate, flows);
        let case = format!("{flows} + {flows} {classic} at {rate}");
        let low = summary.links.iter().find(|l| l.name == "bottleneck/L").expect("a row for L");
        let sojourn = &low.sojourn_s;
        let (mean, p99) = (sojourn.mean.unwrap(), sojourn.p99.unwrap());
        assert!(mean <= 0.001, "{case}: mean {mean}");
        assert!(p99 <= 0.002, "{case}: 99th percentile {p99}");
        let rates: Vec<f64> = summary.groups.iter().map(|g| g.goodput_bps.unwrap()).collect();
        let ratio = rates[0] / rates[1];
        assert!((0.5..=2.0).contains(&ratio), "{case}: rates {rates:?}");
        assert!(summary.links[0].utilisation.unwrap() > 0.9, "{case}");
    }
}

/// Half of the acknowledgements are lost. With the option those that come tell of all marks, so the
/// link stays busy over a short queue. The counter alone may have gone round wherever one stands
/// for more than seven segments: the sender takes the most that it may mean, and gives way.
#[test]
fn prague_counts_marks_despite_lost_acks() {
    let busy = |option: bool| {
        let summary = simulate(&format!(
            r#"
            duration = "30s"
            warmup = "10s"
            [tcp]
            profile = "modern"
            congestion = "prague"
            accecn_option = {option}
            [bottleneck]
            rate = "40mbit"
            qdisc = "dualpi2"
            [bottleneck.reverse]
            loss = 0.5
            qdisc = "droptail"
            [[traffic]]
            kind = "bulk"
            flows = 2
            rtt = "10ms"
            "#
        ));
        let low = summary.links.iter().find(|l| l.name == "bottleneck/L").expect("a row for L");
        let (mean, p99) = (low.sojourn_s.mean.unwrap(), low.sojourn_s.p99.unwrap());
        assert!(mean <= 0.001 && p99 <= 0.003, "option {option}: {mean} {p99}");
        summary.links[0].utilisation.unwrap()
    };
    let (told, guessed) = (busy(true), busy(false));
    assert!(told > 0.85, "{told}");
    assert!(guessed < told, "{guessed} {told}");
}
