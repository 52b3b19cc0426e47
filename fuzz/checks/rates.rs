//! Any bytes as a file of opportunities to send: refused by one error, or pieces that an engine can
//! take.

use super::file::network;
use sojourn_base::Time;
use sojourn_scenario::RateSchedule;

const SCENARIO: &str = "duration = \"1s\"\n[bottleneck]\nrate = \"1mbit\"\n\
                        schedule = { kind = \"trace\", file = \"fuzzed\" }\n\
                        [[traffic]]\nkind = \"bulk\"\n";

pub(crate) fn check(bytes: &[u8]) {
    let Some(network) = network(SCENARIO, bytes) else { return };
    let schedule = network.links.iter().find_map(|link| link.schedule.as_ref()).unwrap();
    let RateSchedule::Pieces { pieces, repeats } = schedule else { panic!("no pieces") };
    assert!(*repeats && !pieces.is_empty());
    let mut before = Time::ZERO;
    for (end, _) in pieces.iter() {
        assert!(*end > before, "{end} is not after {before}");
        before = *end;
    }
    assert!(pieces.iter().any(|(_, rate)| rate.0 > 0), "nothing is ever sent");
}
