//! What the host tells the guest beside the scenario.

use serde::Deserialize;
use std::path::Path;

/// What is to be put on the devices that stand for the scenario's links, in the words of `tc`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    /// The engine's name in results.
    pub engine: String,
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
    /// The discipline below the shaper where `tc` may be too old to know it.
    pub dualpi2: Option<DualPi2>,
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
    /// Likewise, from the low-latency queue of `DualPI2` or from its classic one.
    LaneDeparture,
}

/// The settings of `sch_dualpi2` in Linux's units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DualPi2 {
    /// Packets in both queues.
    pub limit: u32,
    /// Of the classic queue, microseconds.
    pub target_us: u32,
    /// Between two updates, microseconds.
    pub tupdate_us: u32,
    /// The gains, in units of 1/256 Hz.
    pub alpha: u32,
    pub beta: u32,
    /// Sojourn time above which the low-latency queue marks, microseconds.
    pub step_us: u32,
    /// So many packets stand there when one comes that may be marked so.
    pub min_packets: u32,
    /// By how much the low-latency queue is marked more.
    pub coupling: u8,
    /// Whether ECN-capable packets are dropped in overload.
    pub drop_overload: bool,
    /// The classic queue's share, per cent.
    pub classic_percent: u8,
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
