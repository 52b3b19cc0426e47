//! Small simulations whose results must not change by accident: integers, compared line by line,
//! each run with hops taken together and with every hop an event of its own.
//!
//! `SOJOURN_BLESS=1 cargo test -p sojourn-packets --test it golden` writes the files anew; say in
//! the commit why they changed.

use crate::common::{difference, simulate, unfused};
use sojourn_packets::Summary;
use sojourn_qdisc::Config;
use std::fmt::Write as _;
use std::path::Path;

const SCENARIOS: &[&str] = &[
    "ared-web",
    "device-bql",
    "droptail-bulk",
    "lossy-jitter",
    "modern-hosts",
    "parking-lot",
    "pi-ecn",
    "quic",
    "rate-random",
    "rate-steps",
    "rate-trace",
    "red-modern",
    "rem-web-ecn",
    "shared-hosts",
    "udp-ping",
    "web-http",
    "web-servers",
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
fn results_match_golden_files_fused_and_unfused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut wrong = Vec::new();
    for name in SCENARIOS {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
        wrong.extend(compare(&folder, name, &text));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_discipline_matches_golden_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/disciplines");
    let base = std::fs::read_to_string(folder.join("scenario.toml")).unwrap();
    let mut wrong = Vec::new();
    for name in Config::NAMES {
        let more = match *name {
            // There is nothing to run without a class in Python.
            "python" => continue,
            "tbf" => r#", rate = "8mbit", burst = "20kB""#,
            "cbq" => {
                r#", classes = [{ name = "ef", share = 0.2, dscp = ["ef"] }, { name = "rest", share = 0.8 }]"#
            }
            "drr" => r#", classes = [{ name = "ef", dscp = ["ef"] }, { name = "rest" }]"#,
            _ => "",
        };
        let text = format!("{base}qdisc = {{ kind = \"{name}\"{more} }}\n");
        wrong.extend(compare(&folder, name, &text));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs a scenario both ways; what differs from `name`.txt in `folder`, which is written anew if
/// so asked.
fn compare(folder: &Path, name: &str, text: &str) -> Option<String> {
    let summary = simulate(text);
    let plain = simulate(&unfused(text));
    assert_eq!(difference(&summary, &plain), None, "{name}: fused and unfused differ");
    let got = integers(&summary);
    let file = folder.join(format!("{name}.txt"));
    if std::env::var_os("SOJOURN_BLESS").is_some() {
        std::fs::write(&file, &got).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    (got != expected).then(|| format!("{name}:\n--- on file\n{expected}--- now\n{got}"))
}
