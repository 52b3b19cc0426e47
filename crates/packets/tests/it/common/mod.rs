//! Scenarios as text in, summaries out.
#![allow(dead_code, reason = "each test file uses its part of this module")]

use sojourn_packets::{Control, Recorder, Summary, run};
use sojourn_scenario::Scenario;
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// Runs a scenario and checks at every link that no packet and no byte got lost unnoticed.
pub(crate) fn simulate(toml: &str) -> Summary {
    simulate_into(toml, &mut Recorder::none())
}

/// The same, with records.
pub(crate) fn simulate_into(toml: &str, recorder: &mut Recorder) -> Summary {
    let scenario = Scenario::from_toml(toml, "test.toml").unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let network = scenario.network(Path::new(".")).unwrap_or_else(|e| panic!("{e}\n{toml}"));
    let summary = run(network, &Control::default(), recorder).unwrap();
    for link in &summary.links {
        link.check_conservation().unwrap_or_else(|e| panic!("{}: {e}\n{toml}", link.name));
    }
    summary
}

/// The summary, and every file that the run records, by name.
pub(crate) fn records(toml: &str) -> (Summary, Vec<(String, Vec<u8>)>) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Relaxed);
    let folder = std::env::temp_dir().join(format!("sojourn-{}-{number}", std::process::id()));
    let mut recorder = Recorder::to_directory(&folder).unwrap();
    let summary = simulate_into(toml, &mut recorder);
    recorder.finish().unwrap();
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (name, std::fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    std::fs::remove_dir_all(&folder).unwrap();
    (summary, files)
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
