//! Any bytes as a file of opportunities to send: refused by one error, or pieces that an engine can
//! take.

use sojourn_base::Time;
use sojourn_scenario::{RateSchedule, Scenario};
use std::path::PathBuf;
use std::sync::OnceLock;

const SCENARIO: &str = "duration = \"1s\"\n[bottleneck]\nrate = \"1mbit\"\n\
                        schedule = { kind = \"trace\", file = \"fuzzed\" }\n\
                        [[traffic]]\nkind = \"bulk\"\n";

/// A folder of this process, in memory where there is one.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let memory = PathBuf::from("/dev/shm");
        let place = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let folder = place.join(format!("sojourn-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    })
}

pub(crate) fn check(bytes: &[u8]) {
    std::fs::write(folder().join("fuzzed"), bytes).unwrap();
    let scenario = Scenario::from_toml(SCENARIO, "test").unwrap();
    let network = match scenario.network(folder()) {
        Ok(network) => network,
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1, "more than a line: {error}");
            return;
        }
    };
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

#[allow(dead_code, reason = "a fuzzer is stopped, a test ends")]
pub(crate) fn remove_folder() {
    std::fs::remove_dir_all(folder()).unwrap();
}
