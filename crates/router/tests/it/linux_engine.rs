//! Scenarios with real TCP, through the command as it is shipped. They need root and `/dev/net/tun`
//! and say loudly when they are skipped.

mod bpf;
mod ends;
mod flows;
mod pages;
mod quic;
mod scenario;

use scenario::Scenario;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_sojourn-router");

/// Whether real packets are possible here; says so if not.
fn possible(test: &str) -> bool {
    let made = sojourn_router::net::Namespace::new()
        .and_then(|space| sojourn_router::net::Tun::new(&space, "probe").map(drop));
    if let Err(error) = &made {
        eprintln!("SKIPPED: {test}: because {error}");
    }
    made.is_ok()
}

/// A scenario in a file of its own.
fn file(name: &str, scenario: &Scenario) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("scenario.toml");
    std::fs::write(&path, scenario.text()).unwrap();
    path
}

fn start(name: &str, scenario: &Scenario) -> Child {
    Command::new(PROGRAM)
        .args(["run", "--scenario"])
        .arg(file(name, scenario))
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap()
}

/// What the command says at the end.
fn last_line(child: &mut Child) -> Value {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let last = lines.map(Result::unwrap).last().unwrap_or_default();
    serde_json::from_str(&last).unwrap_or_else(|error| panic!("{last:?}: {error}"))
}

/// The summary of a run whose packets are all accounted for; none where real ones are not possible.
fn summary(name: &str, scenario: &Scenario) -> Option<Value> {
    if !possible(name) {
        return None;
    }
    let mut child = start(name, scenario);
    let last = last_line(&mut child);
    assert!(child.wait().unwrap().success(), "{last}");
    let summary = last["summary"].clone();
    check_router(&summary);
    Some(summary)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// No packet appeared or vanished in the router, and its queues agree with it.
fn check_router(summary: &Value) {
    let router = &summary["router"];
    let count = |name: &str| router[name].as_u64().unwrap();
    assert_eq!(
        count("received"),
        count("delivered") + count("refused") + count("dropped") + count("lost") + count("held"),
        "{router}"
    );
    assert_eq!(count("refused"), 0, "{router}");
    // Every packet that it delivered has reached a host.
    let received = summary["hosts"]["received"].as_u64().unwrap();
    assert!(received.abs_diff(count("delivered")) <= 20, "{received} {router}");
}

#[test]
fn unsupported_scenario_is_one_line_error() {
    for (name, field, over, said) in [
        (
            "vegas",
            r#"tcp.congestion = { kind = "vegas", alpha = 3 }"#,
            "tcp",
            "bulk1: tcp.congestion = vegas has settings of its own",
        ),
        ("window", "tcp.max_window = 7", "tcp", "bulk1: tcp.max_window"),
        (
            "quinn",
            r#"quic.congestion = "vegas""#,
            "quic",
            "bulk1: quic.congestion = vegas: quinn has",
        ),
        ("quinn-window", "quic.max_window = 7", "quic", "bulk1: quic.max_window"),
    ] {
        let scenario = Scenario::new("5s", "10mbit", "5ms", r#"{ kind = "droptail", limit = 50 }"#)
            .with(field)
            .group("bulk", &format!(r#"transport = "{over}""#));
        let mut child = start(name, &scenario);
        let last = last_line(&mut child);
        assert_eq!(child.wait().unwrap().code(), Some(2));
        assert!(last["error"].as_str().unwrap().starts_with(said), "{last}");
        assert_eq!(last["kind"], "scenario");
    }
}
