//! Groups of traffic as a user writes them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::{Dscp, Time};
use sojourn_quic::Spec as Quic;
use sojourn_tcp::Spec as Tcp;
use sojourn_traffic::{Distribution, Http, Source, SourceByName};

/// A group of like members: where they are, how far apart, when they start, and what they do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// What the group does, and the parameters of that kind.
    #[serde(rename = "$kind", deserialize_with = "SourceByName::deserialize")]
    pub source: Source,
    /// Name for probes and tables; by default the kind and a number, such as "web1".
    #[serde(default)]
    pub name: Option<String>,
    /// The node where the data come from (web: where the servers are). By default the left end of
    /// a dumbbell or the first node of a parking lot.
    #[serde(default)]
    pub from: Option<String>,
    /// The node where the data go. By default the right end of a dumbbell or the last node of a
    /// parking lot.
    #[serde(default)]
    pub to: Option<String>,
    /// The label that this group's packets carry, all of them and in both directions; a queue
    /// discipline with classes chooses a packet's class by it. By default the group's name
    /// (without .reverse); "" for none.
    #[serde(default)]
    pub label: Option<String>,
    /// The differentiated services codepoint of this group's packets in both directions (RFC
    /// 2474): 0 to 63, or a name such as "ef", "cs1", "af41".
    #[serde(default)]
    pub dscp: Dscp,
    /// The machine that all members of this group run on, at the end called `to`; groups that name
    /// the same share it. Disciplines that are fair to hosts see its address. By default each
    /// member has a machine of its own.
    #[serde(default)]
    pub host: Option<String>,
    /// Which way the data go: "forward" (from `from` to `to`), "reverse", or "both": the group
    /// twice, once each way, the second called NAME.reverse.
    #[serde(default)]
    pub direction: Direction,
    /// All nodes from `from` to `to`, where data do not take the path with the fewest links;
    /// what comes back takes the same nodes in reverse.
    #[serde(default)]
    pub path: Option<Vec<String>>,
    /// Each member's minimum round-trip time: propagation over the path both ways plus the
    /// member's own access delay, which makes up what the path lacks. By default the path's own.
    /// "60ms" for all, "50ms..150ms" drawn for each (uniform), { even = "50ms..150ms" } from the
    /// first member to the last, or a table with `dist`.
    #[serde(default)]
    pub rtt: Option<Distribution<Time>>,
    /// When each member starts, in the same forms.
    #[serde(default = "at_once")]
    pub start: Distribution<Time>,
    /// When all members stop: whoever still sends, sends nothing new, and nothing starts again. By
    /// default never.
    #[serde(default)]
    pub stop: Option<Time>,
    /// What its connections run over: "tcp" or "quic". QUIC is for the packet engine and the linux
    /// engine, and for traffic that has connections: bulk, transfers, replay, web, video. Default:
    /// "tcp", and "quic" with HTTP/3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// TCP settings of this group that differ from those of the scenario.
    #[serde(default)]
    pub tcp: Option<Tcp>,
    /// QUIC settings of this group that differ from those of the scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quic: Option<Quic>,
}

fn at_once() -> Distribution<Time> {
    Distribution::Constant(Time::ZERO)
}

/// What a group's connections run over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Transport {
    /// TCP, with the settings in `tcp`.
    #[default]
    #[serde(rename = "tcp")]
    Tcp,
    /// QUIC, with the settings in `quic`.
    #[serde(rename = "quic")]
    Quic,
}

impl Group {
    /// What its connections run over: HTTP/3 implies QUIC.
    pub(crate) fn runs_over(&self) -> Transport {
        match &self.source {
            Source::Web(web) if web.http == Http::V3 => Transport::Quic,
            _ => self.transport.unwrap_or_default(),
        }
    }
}

/// Which way a group's data go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Direction {
    /// From `from` to `to`.
    #[default]
    #[serde(rename = "forward")]
    Forward,
    /// From `to` to `from`.
    #[serde(rename = "reverse")]
    Reverse,
    /// The group twice, once each way.
    #[serde(rename = "both")]
    Both,
}

/// The name of the `nth` group (from 1) of a kind that has none of its own.
pub(crate) fn default_name(kind: &str, nth: usize) -> String {
    format!("{kind}{nth}")
}

/// What groups are called, in order: their names, or their kind and a number.
pub(crate) fn names(groups: &[Group]) -> Vec<String> {
    let mut kinds: Vec<&str> = Vec::new();
    let mut names = Vec::new();
    for group in groups {
        let kind = group.source.kind();
        kinds.push(kind);
        let nth = kinds.iter().filter(|other| **other == kind).count();
        names.push(group.name.clone().unwrap_or_else(|| default_name(kind, nth)));
    }
    names
}
