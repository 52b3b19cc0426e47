//! Runs that end before their time leave nothing behind.

use super::scenario::Scenario;
use super::{PROGRAM, file, last_line, number, possible, start};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The network namespaces that any process is in.
fn namespaces() -> BTreeSet<PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let tasks = processes.filter_map(|process| std::fs::read_dir(process.path().join("task")).ok());
    tasks
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|task| std::fs::read_link(task.path().join("ns/net")).ok())
        .collect()
}

#[test]
fn killed_run_leaves_nothing_behind() {
    if !possible("killed_run_leaves_nothing_behind") {
        return;
    }
    let devices = || std::fs::read_to_string("/proc/self/net/dev").unwrap().lines().count();
    let had = devices();
    let scenario = Scenario::new("30s", "10mbit", "5ms", r#"{ kind = "droptail", limit = 50 }"#)
        .group("bulk", "flows = 3");
    let mut child = start("killed", &scenario);
    let tasks = format!("/proc/{}/task", child.id());
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..5 {
        let line = lines.next().unwrap().unwrap();
        assert!(line.contains("now_s"), "{line}");
    }
    let own: BTreeSet<PathBuf> = std::fs::read_dir(tasks)
        .unwrap()
        .filter_map(|task| std::fs::read_link(task.unwrap().path().join("ns/net")).ok())
        .collect();
    assert!(own.len() >= 3, "two namespaces of its own, and the one it came from: {own:?}");
    let outside = std::fs::read_link("/proc/self/ns/net").unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let left: Vec<_> =
        namespaces().intersection(&own).filter(|space| **space != outside).cloned().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(devices(), had);
}

#[test]
fn early_stop_gives_partial_summary() {
    if !possible("early_stop_gives_partial_summary") {
        return;
    }
    let scenario = Scenario::new("60s", "10mbit", "5ms", r#"{ kind = "droptail", limit = 50 }"#)
        .group("bulk", "flows = 1");
    let mut child = Command::new(PROGRAM)
        .args(["run", "--stop-with-input", "--scenario"])
        .arg(file("early", &scenario))
        .stdout(Stdio::piped())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    drop(child.stdin.take());
    let asked = Instant::now();
    let last = last_line(&mut child);
    assert!(asked.elapsed() < Duration::from_secs(5));
    let summary = &last["summary"];
    assert_eq!(summary["stopped_early"], true, "{last}");
    assert!((0.2..10.0).contains(&number(&summary["simulated_s"])), "{last}");
    assert!(number(&summary["links"][0]["dequeued"]) > 10.0, "{last}");
}
