//! Scenarios as text in, summaries out.
#![allow(dead_code, reason = "each test file uses its part of this module")]

use sojourn_packets::{Control, Recorder, Summary, run};
use sojourn_scenario::Scenario;
use std::path::Path;

/// Runs a scenario and checks at every link that no packet and no byte got lost unnoticed.
pub(crate) fn simulate(toml: &str) -> Summary {
    simulate_into(toml, &mut Recorder::none())
}

/// The same, with records.
pub(crate) fn simulate_into(toml: &str, recorder: &mut Recorder) -> Summary {
    let scenario = Scenario::from_toml(toml, "test.toml").unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let network = scenario.network(Path::new(".")).unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let summary = run(&network, &Control::default(), recorder).unwrap();
    for link in &summary.links {
        link.check_conservation().unwrap_or_else(|e| panic!("{}: {e}\n{toml}", link.name));
    }
    summary
}

/// The same scenario with every hop an event of its own.
pub(crate) fn unfused(toml: &str) -> String {
    format!("{toml}\n[packets]\nunfused = true\n")
}

/// Where two summaries differ, leaving out what may differ between two equal runs: wall-clock
/// times, and how many events it took. `None` if nowhere.
pub(crate) fn difference(a: &Summary, b: &Summary) -> Option<String> {
    let lines = |s: &Summary| {
        let bare = Summary { events: 0, ..s.without_wall_time() };
        bare.to_json().unwrap().replace(",\"", ",\n\"")
    };
    let (a, b) = (lines(a), lines(b));
    let differ = a.lines().zip(b.lines()).enumerate().find(|(_, (a, b))| a != b);
    match differ {
        Some((at, (a, b))) => Some(format!("line {at}: {a} against {b}")),
        None => (a.len() != b.len()).then(|| "one is longer".into()),
    }
}

/// The value, or why there is none.
pub(crate) fn some(value: Option<f64>) -> f64 {
    value.expect("the quantity is defined")
}
