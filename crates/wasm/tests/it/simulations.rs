//! Simulations by number: whole runs, steps, copies, tables, errors.

use serde_json::{Value, json};
use sojourn_packets::{Control, Recorder, run};
use sojourn_scenario::Scenario;
use sojourn_wasm::{MEMORY, Simulations};
use std::path::Path;

const SCENARIO: &str = r#"
duration = "6s"
warmup = "1s"
[bottleneck]
rate = "5mbit"
delay = "5ms"
qdisc = { kind = "pi", qref = 30 }
[[traffic]]
kind = "bulk"
flows = 3
rtt = "40ms"
[[traffic]]
kind = "web"
users = 5
[probes]
queues = true
flows = true
"#;

fn natively(toml: &str) -> Value {
    let scenario = Scenario::from_toml(toml, "scenario").unwrap();
    let network = scenario.network(Path::new(".")).unwrap();
    let summary = run(network, &Control::default(), &mut Recorder::none()).unwrap();
    read(&summary.to_json().unwrap())
}

/// A summary without its number of events, which depends on where a run pauses.
fn read(text: &str) -> Value {
    let mut summary: Value = serde_json::from_str(text).unwrap();
    assert!(summary["events"].as_u64() > Some(0));
    summary["events"].take();
    summary
}

fn summary(all: &mut Simulations, number: usize) -> Value {
    read(&all.finish(number).unwrap())
}

#[test]
fn steps_and_looks_change_nothing() {
    let mut all = Simulations::default();
    let (number, about) = all.start(SCENARIO, false, 0.0).unwrap();
    let about: Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["duration_s"], 6.0);
    assert_eq!(about["observation"]["groups"], json!(["bulk1", "web1"]));
    for time in [0.3, 0.300_000_001, 2.5, 5.9, 6.0] {
        assert!((all.run_until(number, time).unwrap() - time).abs() < 1e-12);
        let mut seen = Vec::new();
        all.observe(number, &mut seen).unwrap();
        assert!(seen.len() > 20);
    }
    // Beyond the end there is nothing.
    assert_eq!(all.run_until(number, 1e9), Ok(6.0));
    assert_eq!(summary(&mut all, number), natively(SCENARIO));
    // Asked again it says the same.
    assert_eq!(summary(&mut all, number), natively(SCENARIO));
}

#[test]
fn rows_are_given_once() {
    let mut all = Simulations::default();
    let (one, about) = all.start(SCENARIO, true, 0.0).unwrap();
    let about: Value = serde_json::from_str(&about).unwrap();
    let width = about["tables"]["queues"].as_array().unwrap().len();
    all.run_until(one, 2.0).unwrap();
    let before = all.rows(one, "queues").unwrap();
    // Two links, a hundred times a second.
    assert_eq!(before.len() / width, 400);
    assert!((before[0] - 0.01).abs() < 1e-12);
    assert_eq!(all.rows(one, "queues"), Ok(vec![]));
    all.set(one, r#"["bottleneck.rate", "2mbit"]"#).unwrap();
    let (mut seen, mut queued) = (Vec::new(), Vec::new());
    all.observe(one, &mut seen).unwrap();
    all.queued(one, "bottleneck", 1000, &mut queued).unwrap();
    let packets = about["observation"]["queued_columns"].as_array().unwrap().len();
    let columns = about["observation"]["link_columns"].as_array().unwrap();
    // The time comes first.
    let waiting = seen[1 + columns.iter().position(|name| name == "queue_packets").unwrap()];
    assert!(waiting > 0.0);
    assert_eq!((queued.len() / packets) as f64, waiting);
    all.run_until(one, 6.0).unwrap();
    assert_eq!(all.rows(one, "queues").unwrap().len() / width, 800);
    summary(&mut all, one);
    let flows = about["tables"]["flows"].as_array().unwrap().len();
    assert_eq!(all.rows(one, "flows").unwrap().len(), 3 * flows);
    assert_eq!(all.rows(one, "transfers"), Ok(vec![]));
    assert!(all.rows(one, "queue").unwrap_err().contains("one of queues, "));
}

#[test]
fn what_was_set_is_in_the_scenario_and_runs_again() {
    let mut all = Simulations::default();
    let (number, _) = all.start(SCENARIO, true, 0.0).unwrap();
    all.run_until(number, 3.0).unwrap();
    all.set(number, r#"["bottleneck.rate", "3mbit"]"#).unwrap();
    let again = all.scenario(number).unwrap();
    all.run_until(number, 6.0).unwrap();
    let found = summary(&mut all, number);
    assert_eq!(found, natively(&again));
    assert_ne!(found["links"], natively(SCENARIO)["links"]);
}

#[test]
fn fluid_runs_are_those_of_the_engine() {
    let toml = SCENARIO.replace("[[traffic]]\nkind = \"web\"\nusers = 5\n", "");
    let mut all = Simulations::default();
    let (number, about) = all.run_fluid(&toml, 0.0).unwrap();
    let about: Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["names"]["group"], json!(["bulk1"]));
    assert_eq!(summary(&mut all, number)["engine"], "fluid");
    assert!(!all.rows(number, "queues").unwrap().is_empty());
    let error = all.run_fluid(SCENARIO, 0.0).unwrap_err();
    assert!(error.contains("web"), "{error}");
}

#[test]
fn loads_become_users() {
    let loaded = SCENARIO.replace("users = 5", "load = 0.3");
    let counted = Simulations::calibrated(&loaded, 0.0).unwrap();
    let scenario = Scenario::from_toml(&counted, "counted").unwrap();
    assert_eq!(scenario.open_loads(), [None, None]);
    assert!(counted.contains("users = ") && !counted.contains("load"), "{counted}");
    Simulations::default().start(&counted, true, 0.0).unwrap();
    // Nothing to count.
    let same = Simulations::calibrated(SCENARIO, 0.0).unwrap();
    assert_eq!(same, Scenario::from_toml(SCENARIO, "same").unwrap().to_toml());
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let mut all = Simulations::default();
    let mut said = |toml: &str, used| all.start(toml, true, used).unwrap_err();
    let error = said(&SCENARIO.replace("qref = 30", "qref = \"much\""), 0.0);
    assert!(error.contains("qref") && !error.contains('\n'), "{error}");
    let error = said(&SCENARIO.replace("flows = 3", "flows = 2000000"), MEMORY / 2.0);
    assert!(error.contains("traffic[0].flows: 2000000 takes about 3 GB"), "{error}");
    let error = said(&SCENARIO.replace("flows = true", "pcap = [\"bottleneck\"]"), 0.0);
    assert!(error.starts_with("probes.pcap: bottleneck"), "{error}");
    let error = said(&SCENARIO.replace("flows = true", "qlog = [\"bulk1.0\"]"), 0.0);
    assert!(error.starts_with("probes.qlog: bulk1.0"), "{error}");

    let (number, _) = all.start(SCENARIO, false, 0.0).unwrap();
    let error = all.set(number, r#"["bottleneck.rate", "1mbit"]"#).unwrap_err();
    assert!(error.contains("cannot be changed"), "{error}");
    let error = all.queued(number, "bottleneck", 9, &mut Vec::new()).unwrap_err();
    assert!(error.contains("that can be changed only"), "{error}");
    let error = all.set(number, r#"["bottleneck.rate", [1]]"#).unwrap_err();
    assert!(error.contains("must be a number"), "{error}");
    assert!(all.run_until(number, f64::NAN).unwrap_err().starts_with("time:"));
    all.finish(number).unwrap();
    assert_eq!(all.run_until(number, 1.0), Err("the simulation is finished".into()));
    all.forget(number);
    assert_eq!(all.finish(number), Err("there is no simulation 0".into()));
    // Its number is given again.
    assert_eq!(all.start(SCENARIO, false, 0.0).unwrap().0, number);
}
