//! Congestion controls that Linux does not have, as programs in its kernel.

use super::scenario::Scenario;
use super::{check_router, last_line, number, possible, start};
use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

/// The kernel's congestion controls that belong to a process.
fn programs_of(process: u32) -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let known = std::fs::read_to_string(path).unwrap();
    let of = format!("{process:07x}");
    known
        .split_whitespace()
        .filter(|n| n.starts_with("sj") && n.contains(&of))
        .map(Into::into)
        .collect()
}

#[test]
fn missing_kernel_controls_run_as_bpf() {
    if !possible("missing_kernel_controls_run_as_bpf") {
        return;
    }
    let scenario = Scenario::new("5s", "20mbit", "5ms", r#"{ kind = "droptail", limit = 60 }"#)
        .with(r#"tcp.profile = "modern""#)
        .with(r#"tcp.congestion = { kind = "scalable", a = 0.02 }"#)
        .ideal_way_back()
        .with(r#"warmup = "2s""#)
        .with(r#"probes.traces = ["bulk1.0"]"#)
        .group("bulk", r#"rtt = "30ms""#)
        .group("bulk", r#"rtt = "30ms", tcp = { congestion = "aimd" }"#);
    let mut child = start("program", &scenario);
    let process = child.id();
    let last = last_line(&mut child);
    assert_eq!(programs_of(process), Vec::<String>::new(), "nothing stays behind");
    if let Some(error) = last["error"].as_str() {
        let missing = ["needs clang", "needs libbpf", "the kernel refuses"];
        assert!(missing.iter().any(|part| error.contains(part)), "{error}");
        eprintln!("SKIPPED: missing_kernel_controls_run_as_bpf: because {error}");
        return;
    }
    let summary = &last["summary"];
    check_router(summary);
    assert!(number(&summary["links"][0]["utilisation"]) > 0.9, "{}", summary["links"][0]);
    for group in summary["groups"].as_array().unwrap() {
        assert!(number(&group["goodput_bps"]) > 1e6, "{group}");
    }
    assert!(!summary["hosts"]["differences"].to_string().contains("congestion"));
}

#[test]
fn killed_run_unloads_bpf_program() {
    if !possible("killed_run_unloads_bpf_program") {
        return;
    }
    let scenario = Scenario::new("30s", "10mbit", "0s", r#"{ kind = "droptail", limit = 50 }"#)
        .with(r#"tcp.congestion = "westwood""#)
        .group("bulk", "flows = 1");
    let mut child = start("killed-program", &scenario);
    let process = child.id();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..5 {
        let line = lines.next().unwrap().unwrap();
        if line.contains("error") {
            eprintln!("SKIPPED: killed_run_unloads_bpf_program: because {line}");
            child.wait().unwrap();
            return;
        }
    }
    assert_eq!(programs_of(process).len(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
    // The kernel clears up after its last socket, a little later.
    let begun = Instant::now();
    while !programs_of(process).is_empty() && begun.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(programs_of(process), Vec::<String>::new());
}
