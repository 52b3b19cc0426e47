//! Small simulations whose results must not change by accident: integers, compared line by line,
//! each run with hops taken together and with every hop an event of its own.
//!
//! `SOJOURN_BLESS=1 cargo test -p sojourn-packets --test golden` writes the files anew; say in
//! the commit why they changed.

mod common;

use common::{difference, simulate, unfused};
use sojourn_packets::Summary;
use std::fmt::Write as _;
use std::path::Path;

const SCENARIOS: &[&str] = &[
    "ared-web",
    "device-bql",
    "droptail-bulk",
    "lossy-jitter",
    "parking-lot",
    "pi-ecn",
    "rate-random",
    "rate-steps",
    "rate-trace",
    "red-modern",
    "rem-web-ecn",
    "shared-hosts",
    "udp-ping",
];

/// The summary in integers: counts as they are, times in nanoseconds, rates in bits per second.
fn integers(summary: &Summary) -> String {
    let mut out = String::new();
    let ns = |seconds: Option<f64>| seconds.map_or(-1, |s| (s * 1e9).round() as i64);
    for link in &summary.links {
        let c = &link.counts;
        let _ = writeln!(
            out,
            "link {}: arrived {} {} dequeued {} {} overflow {} early {} marked {} {}",
            link.name,
            c.arrived,
            c.arrived_bytes,
            c.dequeued,
            c.dequeued_bytes,
            c.dropped_overflow,
            c.dropped_early,
            c.marked,
            c.marked_bytes,
        );
        let (s, q) = (&link.sojourn_s, &link.queue_packets);
        let _ = writeln!(
            out,
            "  sojourn mean {} p50 {} p99 {} max {} queue p50 {} p99 {} max {}",
            ns(s.mean),
            ns(s.p50),
            ns(s.p99),
            ns(s.max),
            q.p50.unwrap_or(-1.0),
            q.p99.unwrap_or(-1.0),
            q.max.unwrap_or(-1.0),
        );
    }
    for link in &summary.links {
        if link.lost > 0 {
            let _ = writeln!(out, "wire of {}: lost {} {}", link.name, link.lost, link.lost_bytes);
        }
        if let Some(d) = &link.device {
            let _ = writeln!(
                out,
                "device of {}: sent {} {} limit {} queue p50 {} p99 {} sojourn mean {} max {}",
                link.name,
                d.sent,
                d.sent_bytes,
                d.limit_bytes.unwrap_or(0),
                d.queue_packets.p50.unwrap_or(-1.0),
                d.queue_packets.p99.unwrap_or(-1.0),
                ns(d.sojourn_s.mean),
                ns(d.sojourn_s.max),
            );
        }
    }
    for group in &summary.groups {
        let _ = writeln!(
            out,
            "group {}: goodput {} started {} finished {} failed {} censored {} retransmissions {} timeouts {} rtt {} response {} {}",
            group.name,
            group.goodput_bps.map_or(-1, |g| g.round() as i64),
            group.started,
            group.finished,
            group.failed,
            group.censored,
            group.retransmissions.unwrap_or_default(),
            group.timeouts.unwrap_or_default(),
            ns(group.rtt_s.p50),
            ns(group.response_time_s.quantiles.p50),
            ns(group.response_time_s.quantiles.max),
        );
    }
    out
}

#[test]
fn results_are_those_on_file_fused_and_unfused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let bless = std::env::var_os("SOJOURN_BLESS").is_some();
    let mut wrong = Vec::new();
    for name in SCENARIOS {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        let summary = simulate(&text);
        let plain = simulate(&unfused(&text));
        assert_eq!(difference(&summary, &plain), None, "{name}: fused and unfused differ");
        let got = integers(&summary);
        let file = folder.join(format!("{name}.txt"));
        if bless {
            std::fs::write(&file, &got).unwrap();
        }
        let expected = std::fs::read_to_string(&file).unwrap_or_default();
        if got != expected {
            wrong.push(format!("{name}:\n--- on file\n{expected}--- now\n{got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
