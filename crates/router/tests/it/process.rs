//! The program `sojourn-router between`: what it gives back, and that nothing outlives it. Needs
//! the right to make network namespaces.

use crate::common::lab;
use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn router(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sojourn-router"));
    command.arg("between").args(words).stdin(Stdio::null());
    command
}

/// Whether namespaces can be had here; said loudly if not.
fn possible(test: &str) -> bool {
    lab(test, &[]).is_some()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn last_line(output: &Output) -> serde_json::Value {
    let out = text(&output.stdout);
    serde_json::from_str(out.lines().last().unwrap_or("{}"))
        .unwrap_or_else(|e| panic!("{e}: {out}"))
}

#[test]
fn the_exit_code_is_the_commands_and_its_output_is_left_alone() {
    if !possible("exit codes") {
        return;
    }
    let shell = ["--rate", "10mbit", "--", "sh", "-c", "echo at $SOJOURN_LEFT; exit 3"];
    let output = router(&shell).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "at 10.0.0.1\n");
    assert!(text(&output.stderr).contains("bottleneck"), "the table at the end");
}

#[test]
fn a_transfer_is_in_the_summary() {
    if !possible("a transfer") {
        return;
    }
    // Nobody listens: what comes back says so, which bash does not wait for.
    let client = "for i in $(seq 20); do echo 0123 > /dev/udp/10.128.0.1/9; done; sleep 0.3";
    let words = ["--rate", "10mbit", "--delay", "20ms", "--json", "--", "bash", "-c", client];
    let output = router(&words).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let summary = &last_line(&output)["summary"];
    assert!(summary["router"]["received"].as_u64().unwrap() >= 20, "{summary}");
    assert_eq!(summary["links"][0]["name"], "bottleneck");
    assert!(summary["links"][0]["dequeued"].as_u64().unwrap() >= 20, "{summary}");
    assert!(text(&output.stdout).lines().count() > 1, "snapshots come before it");
}

#[test]
fn bad_input_is_one_line() {
    for (words, part) in [
        (&["--rate", "10mbit", "--qdisc", "nosuch", "--", "true"][..], "nosuch"),
        (&["--rate", "0bit", "--", "true"], "--rate"),
        (&["--rate", "1mbit", "--sysctl", "nothing", "--", "true"], "NAME=VALUE"),
    ] {
        let output = router(words).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(part) && said.lines().count() == 1, "{said}");
    }
    if possible("a program that is not there") {
        let output = router(&["--rate", "1mbit", "--", "/no/such/program"]).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("/no/such/program") && said.lines().count() == 1, "{said}");
    }
}

/// Network namespaces that any process is in.
fn namespaces() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for process in fs::read_dir("/proc").unwrap().flatten() {
        if let Ok(link) = fs::read_link(process.path().join("ns/net")) {
            all.insert(link.to_string_lossy().into_owned());
        }
    }
    all
}

/// The namespaces of the children of a process.
fn of_children(parent: &Child) -> BTreeSet<String> {
    let path = format!("/proc/{0}/task/{0}/children", parent.id());
    let children = fs::read_to_string(path).unwrap_or_default();
    let net = |id: &str| fs::read_link(format!("/proc/{id}/ns/net")).ok();
    children
        .split_whitespace()
        .filter_map(net)
        .map(|link| link.to_string_lossy().into_owned())
        .collect()
}

fn within(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < time {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn killed_router_leaves_nothing_behind() {
    if !possible("kill -9") {
        return;
    }
    let named = || fs::read_dir("/run/netns").map_or(0, |all| all.count());
    let before = named();
    let words = ["--rate", "10mbit", "--server", "sleep 97", "--", "sleep", "97"];
    let mut process = router(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut private = BTreeSet::new();
    let own = fs::read_link("/proc/self/ns/net").unwrap().to_string_lossy().into_owned();
    let both = within(Duration::from_secs(20), || {
        private = of_children(&process);
        private.remove(&own);
        private.len() == 2
    });
    assert!(both, "two programs in two namespaces: {private:?}");
    assert_eq!(named(), before, "they have no names");
    process.kill().unwrap();
    process.wait().unwrap();
    let gone = within(Duration::from_secs(5), || private.is_disjoint(&namespaces()));
    assert!(gone, "programs are still in {private:?}");
}

#[test]
fn an_interrupt_ends_the_programs_and_gives_the_summary() {
    if !possible("an interrupt") {
        return;
    }
    let words = ["--rate", "10mbit", "--json", "--", "sleep", "97"];
    let mut process = router(&words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    assert!(within(Duration::from_secs(20), || !of_children(&process).is_empty()));
    let kill = Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert!(within(Duration::from_secs(10), || process.try_wait().unwrap().is_some()));
    let mut out = String::new();
    process.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(out.lines().last().unwrap().contains("\"summary\""), "{out}");
}
