//! From an application to the head-end: where the queue of an upload stands, stage by stage.

use crate::common::some;
use sojourn_packets::{Control, Recorder, Summary, run};
use sojourn_scenario::Scenario;
use std::path::Path;

const STAGES: [&str; 5] = ["host", "wifi", "gateway", "modem", "head-end"];

/// The example with changes.
fn chain(changes: &[(&str, &str)]) -> Summary {
    let file = Path::new("../../scenarios/chain.toml");
    let scenario = Scenario::from_file(file).unwrap().with(changes).unwrap();
    let network = scenario.network(Path::new(".")).unwrap();
    run(network, &Control::default(), &mut Recorder::none()).unwrap()
}

/// Mean delay of a stage, ms: in its discipline, and below it.
fn waits(summary: &Summary, stage: &str) -> (f64, f64) {
    let link = summary.links.iter().find(|link| link.name == stage).unwrap();
    let below = link.device.as_ref().map_or(0.0, |device| some(device.sojourn_s.mean));
    (some(link.sojourn_s.mean) * 1e3, below * 1e3)
}

/// The stage with the longest queue, and its delay.
fn longest(summary: &Summary) -> (&'static str, f64) {
    let all = STAGES.map(|stage| (stage, waits(summary, stage).0));
    all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

#[test]
fn the_queue_stands_before_the_slowest_stage() {
    let as_it_is = chain(&[]);
    let (stage, delay) = longest(&as_it_is);
    assert!(stage == "modem" && delay > 100.0, "{stage} {delay}");
    // The gateway sends less than the modem may: the queue is its own, and FQ-CoDel keeps it short.
    let shaped = chain(&[("links.gateway.rate", "9mbit")]);
    let (stage, delay) = longest(&shaped);
    assert!(stage == "gateway" && delay < 30.0, "{stage} {delay}");
    // Requests and grants stay.
    let (granted, _) = waits(&shaped, "modem");
    assert!((2.0..12.0).contains(&granted), "{granted}");
    // A station far away.
    let (stage, _) = longest(&chain(&[("links.wifi.rate", "6.5mbit")]));
    assert_eq!(stage, "wifi");
}

#[test]
fn byte_limits_keep_the_drivers_queue_in_the_discipline() {
    // A host whose own link is the slowest.
    let slow = |device: &str| {
        let changes = [("links.host.rate", "5mbit"), ("links.host.device", device)];
        waits(&chain(&changes), "host")
    };
    let (_, long) = slow("{ packets = 256 }");
    let (_, short) = slow("{ packets = 256, bql = true }");
    assert!(long > 200.0 && short < 20.0, "{long} and {short} ms in the ring");
}
