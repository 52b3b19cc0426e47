//! What the host tells the guest beside the scenario.

use serde::Deserialize;
use std::path::Path;

/// What is to be put on the devices that stand for the scenario's links, in the words of `tc`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    /// Forward, and back unless that direction is ideal.
    pub links: Vec<LinkPlan>,
    /// What Linux does otherwise than the scenario says.
    pub remarks: Vec<String>,
}

/// One link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkPlan {
    /// The link's name in the scenario.
    pub name: String,
    /// What follows `tc`, with `{dev}` for the device.
    pub commands: Vec<String>,
    /// When packets that the discipline drops leave the queue.
    pub drops: Drops,
}

/// When packets that a discipline drops leave its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Drops {
    /// As they come.
    Arrival,
    /// When it looks for one to send that came later.
    Departure,
    /// Likewise, from a queue of each flow's own.
    FlowDeparture,
}

/// Reads it.
///
/// # Errors
/// In one line.
pub(super) fn read(path: &Path) -> Result<Plan, String> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}
