//! A run that its caller stops goes on from there as if nobody had.

use std::cell::Cell;
use std::path::Path;

use sojourn_base::Time;
use sojourn_packets::{Control, Recorder, Simulation};
use sojourn_scenario::Scenario;

const CODEL: &str = r#"
duration = "25s"
[bottleneck]
rate = "10mbit"
qdisc = "codel"
[[traffic]]
kind = "bulk"
"#;

fn begun() -> Simulation {
    let scenario = Scenario::from_toml(CODEL, "codel.toml").unwrap();
    Simulation::new(&scenario, Path::new("."), Recorder::none()).unwrap()
}

#[test]
fn a_run_that_was_stopped_ends_like_one_that_was_not() {
    let mut whole = begun();
    let end = whole.duration();
    whole.run_until(end, &Control::default()).unwrap();
    let (whole, _) = whole.finish();
    for stop in 1..=2 {
        let looks = Cell::new(0);
        let look = |_: Time, _: u64| {
            looks.set(looks.get() + 1);
            looks.get() == stop
        };
        let mut parts = begun();
        let reached = parts.run_until(end, &Control { look: &look, ..Control::default() }).unwrap();
        assert!(reached < end, "stopped at look {stop}");
        parts.run_until(end, &Control::default()).unwrap();
        let (parts, _) = parts.finish();
        assert_eq!(parts.links[0].throughput_bps, whole.links[0].throughput_bps, "look {stop}");
        assert_eq!(parts.groups[0].goodput_bps, whole.groups[0].goodput_bps, "look {stop}");
    }
}
