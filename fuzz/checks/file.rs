//! Any bytes as the file that a scenario names.

use sojourn_scenario::{Network, Scenario};
use std::path::PathBuf;
use std::sync::OnceLock;

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

/// The network of a scenario that names the file `fuzzed`, which has these bytes; none if it is
/// refused, by one line.
pub(crate) fn network(scenario: &str, bytes: &[u8]) -> Option<Network> {
    std::fs::write(folder().join("fuzzed"), bytes).unwrap();
    match Scenario::from_toml(scenario, "test").unwrap().network(folder()) {
        Ok(network) => Some(network),
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1, "more than a line: {error}");
            None
        }
    }
}

#[allow(dead_code, reason = "a fuzzer is stopped, a test ends")]
pub(crate) fn remove_folder() {
    std::fs::remove_dir_all(folder()).unwrap();
}
