//! What changes while a scenario runs: what a user writes, and the form that engines take.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::{Rate, Time, Value};
use sojourn_qdisc::Config as Qdisc;
use sojourn_tcp::Params as TcpParams;

/// Values that are set while the scenario runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When: after everything else of that instant.
    pub at: Time,
    /// What: values by dotted path. A parameter of a link's queue discipline
    /// (`"bottleneck.qdisc.qref" = 20`), a link's rate (`"bottleneck.rate" = "20mbit"`), or a
    /// setting of a congestion control (`"traffic.0.tcp.congestion.cwnd" = "30kB"`).
    pub set: BTreeMap<String, Value>,
}

impl Change {
    /// What is set in the scenario's congestion control is set in that of a group, too.
    pub(crate) fn reach_control_of(&mut self, group: usize) {
        let of_all = |(path, value): (&String, &Value)| {
            let setting = path.strip_prefix("tcp.congestion.")?;
            Some((format!("traffic.{group}.tcp.congestion.{setting}"), value.clone()))
        };
        let more: Vec<_> = self.set.iter().filter_map(of_all).collect();
        self.set.extend(more);
    }
}

/// What happens while a network is simulated.
#[derive(Clone, Debug)]
pub struct NetworkChange {
    /// When.
    pub at: Time,
    /// What.
    pub what: Changed,
}

/// What is other than before.
#[derive(Clone, Debug)]
pub enum Changed {
    /// A link, by its index: its discipline with other parameters, another rate.
    Link(usize, Option<Qdisc>, Option<Rate>),
    /// A group, by its index: its congestion control with other settings.
    Group(usize, Box<TcpParams>),
}

impl NetworkChange {
    /// Whether a rate changes.
    #[must_use]
    pub fn is_of_rate(&self) -> bool {
        matches!(self.what, Changed::Link(_, _, Some(_)))
    }
}
