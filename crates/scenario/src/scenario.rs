//! What a user writes: the fields of a scenario, from a document and to one.
//!
//! Whether it can be simulated is not looked at here.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::Time;
use sojourn_quic::Spec as Quic;
use sojourn_tcp::Spec as Tcp;

use crate::changes::Change;
use crate::document::{Document, Node};
use crate::error::{Error, Fault, MISSING, Step};
use crate::probes::{Packets, Probes};
use crate::topology::{Access, Bottleneck, NamedLink, ParkingLot};
use crate::traffic::{self, Group};
use crate::wifi::Wifi;
use crate::{read, vary, write};

/// A scenario for a laboratory of queues: links with their queue disciplines, TCPs, traffic, and
/// what to record. The links are one of `[bottleneck]` (a dumbbell), `[parking_lot]` and
/// `[[links]]` (any graph). Quantities are strings with a unit: "10ms", "100mbit", "16kB".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// What to call it in tables and figures.
    #[serde(default)]
    pub name: Option<String>,
    /// Simulated time.
    pub duration: Time,
    /// Simulated time before measuring begins: measures cover what lies between it and the end.
    #[serde(default)]
    pub warmup: Time,
    /// Names the random numbers: same scenario, same seed, same results.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Offered load of each web group that names neither `users` nor its own `load`, as a fraction
    /// of the rate of the link that its data cross (0.98 is 98 %), of the bottleneck's where they
    /// go both ways. It must be turned into users by calibration.
    #[serde(default)]
    pub load: Option<f64>,
    /// TCP settings of all groups; a group's own override them field by field.
    #[serde(default)]
    pub tcp: Tcp,
    /// QUIC settings of all groups with `transport = "quic"`; a group's own override them field by
    /// field.
    #[serde(default, skip_serializing_if = "is_default")]
    pub quic: Quic,
    /// A dumbbell: one link that all share.
    #[serde(default)]
    pub bottleneck: Option<Bottleneck>,
    /// A parking lot: several such links in a row.
    #[serde(default)]
    pub parking_lot: Option<ParkingLot>,
    /// Any graph, link by link.
    #[serde(default)]
    pub links: Vec<NamedLink>,
    /// Media of Wi-Fi that links share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wifi: Vec<Wifi>,
    /// Each flow's private links.
    #[serde(default)]
    pub access: Access,
    /// Who sends what, when.
    #[serde(default)]
    pub traffic: Vec<Group>,
    /// What changes while the scenario runs. Packet engine only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What to record besides the summary.
    #[serde(default)]
    pub probes: Probes,
    /// Settings of the packet engine.
    #[serde(default)]
    pub packets: Packets,
    /// As it was written, so that errors can say where.
    #[serde(skip)]
    source: Source,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub(crate) fn first_seed() -> u64 {
    1
}

/// The document a scenario was read from. It is no part of what the scenario says.
#[derive(Clone, Debug, Default)]
struct Source(Option<Arc<Document>>);

impl PartialEq for Source {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Says what would be right: which kinds there are where one is missing, how a list of tables is
/// written.
fn remedied(mut fault: Fault) -> Fault {
    let keys: Vec<&str> = fault.path.iter().filter_map(Step::key).collect();
    if let [list] = keys[..]
        && fault.message == read::NO_LIST
    {
        fault.message = format!("{}; write [[{list}]]", read::NO_LIST);
    }
    let kinds = match keys[..] {
        ["traffic", "kind"] => sojourn_traffic::Source::NAMES,
        [.., "qdisc", "kind"] => sojourn_qdisc::Config::NAMES,
        _ => return fault,
    };
    if fault.message == MISSING {
        fault.message = format!("{MISSING}; one of {}", kinds.join(", "));
    }
    fault
}

impl Scenario {
    /// What a document says.
    pub(crate) fn read(document: Document) -> Result<Self, Error> {
        let scenario = read::read_root::<Self>(&document.root).map_err(remedied);
        let mut scenario = scenario.map_err(|fault| document.locate(fault))?;
        scenario.source = Source(Some(Arc::new(document)));
        Ok(scenario)
    }

    /// The scenario with values put at dotted paths; no value takes a field away.
    pub(crate) fn vary<'a>(
        &self,
        changes: impl Iterator<Item = (&'a str, Result<Option<Node>, Error>)>,
    ) -> Result<Self, Error> {
        let mut document = self.document();
        for (path, value) in changes {
            vary::put(&mut document, path, value?).map_err(|fault| document.locate(fault))?;
        }
        Self::read(document)
    }

    pub(crate) fn locate(&self, fault: Fault) -> Error {
        match &self.source.0 {
            Some(document) => document.locate(fault),
            None => Document::from_value(&serde_json::Value::Null).locate(fault),
        }
    }

    /// The document this was read from, unless the scenario was changed since.
    fn document(&self) -> Document {
        match &self.source.0 {
            Some(source) if read::read_root::<Self>(&source.root).as_ref() == Ok(self) => {
                Document::clone(source)
            }
            _ => Document::from_value(&self.to_value()),
        }
    }

    /// Every field, defaults included, as the user would write them.
    pub(crate) fn to_value(&self) -> serde_json::Value {
        // Names are strings and numbers finite, so there is nothing that JSON could not say.
        write::flatten(serde_json::to_value(self).unwrap_or_default())
    }

    /// Without what need not be said.
    pub(crate) fn shortest(&self) -> Node {
        let mut root = Node::from_json(&self.to_value());
        write::shorten(&mut root, &|node| read::read::<Self>(node).as_ref() == Ok(self));
        root
    }

    /// JSON with every field, defaults included.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.to_value().to_string()
    }

    /// The same scenario with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// The scenario without what changes in it.
    #[must_use]
    pub fn at_start(&self) -> Self {
        Self { changes: Vec::new(), ..self.clone() }
    }

    /// What engines call its groups, in order: their names, or their kind and a number.
    #[must_use]
    pub fn group_names(&self) -> Vec<String> {
        traffic::names(&self.traffic)
    }
}
