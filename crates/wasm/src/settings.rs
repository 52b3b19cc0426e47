//! What a scenario says, and scenarios with other values.

use crate::words;
use serde_json::{Map, Value};
use sojourn_scenario::Scenario;

/// A scenario with other values, as TOML. `asking` is JSON: the scenario as TOML, and values by
/// dotted path, `["…", {"bottleneck.qdisc.qref": 40}]`; null takes a field away.
///
/// # Errors
/// What is wrong with the scenario, a path or a value.
pub fn changed(asking: &str) -> Result<String, String> {
    let (toml, values): (String, Map<String, Value>) =
        serde_json::from_str(asking).map_err(|error| error.to_string())?;
    let changes: Vec<_> = values.iter().map(|(path, value)| (&**path, value.clone())).collect();
    let scenario = Scenario::from_toml(&toml, "scenario").map_err(words)?;
    Ok(scenario.with_json(&changes).map_err(words)?.to_toml())
}

/// A scenario as JSON, with every field, defaults included.
///
/// # Errors
/// What is wrong with the scenario.
pub fn fields(toml: &str) -> Result<String, String> {
    Ok(Scenario::from_toml(toml, "scenario").map_err(words)?.to_json())
}
