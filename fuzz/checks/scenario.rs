//! Any text as a scenario: it is refused by one error, or it survives being written.

use sojourn_scenario::Scenario;

pub(crate) fn check(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = if text.starts_with('{') {
        Scenario::from_json(text)
    } else {
        Scenario::from_toml(text, "fuzzed.toml")
    };
    let scenario = match read {
        Ok(scenario) => scenario,
        Err(error) => {
            assert!(!error.message.is_empty(), "an error without words");
            let said = error.to_string();
            assert_eq!(said.lines().count(), 1, "more than a line: {said:?}");
            return;
        }
    };
    let toml = scenario.to_toml();
    let again = Scenario::from_toml(&toml, "again").unwrap_or_else(|e| panic!("{e}\n{toml}"));
    assert_eq!(again, scenario, "{toml}");
    let json = scenario.to_json();
    let again = Scenario::from_json(&json).unwrap_or_else(|e| panic!("{e}\n{json}"));
    assert_eq!(again, scenario, "{json}");
}
