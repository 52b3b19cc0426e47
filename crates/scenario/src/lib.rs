#![doc = include_str!("../README.md")]
//!
//! A [`Scenario`] is what a user writes, in TOML, in JSON or by varying another; a [`Network`] is
//! what an engine takes: nodes, links, and groups with their paths and parameters resolved. Every
//! default and every explanation stands in these structs and nowhere else; the JSON Schema for
//! editors is made from them.
//!
//! Each way in gives the same errors: one line with the field, its value, what would be right, and
//! for TOML the place in the file.
#![forbid(unsafe_code)]

mod autorate;
pub mod calibration;
mod changes;
mod copies;
mod docsis;
mod document;
mod error;
mod files;
mod groups;
mod har;
mod json;
mod limits;
mod nearest;
mod network;
mod probes;
mod radio;
mod read;
mod routes;
mod schedule;
mod schema;
mod seed;
mod size;
mod topology;
mod traffic;
mod vary;
mod wifi;
mod wire;
mod write;

use std::path::Path;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::Time;
use sojourn_quic::Spec as Quic;
use sojourn_tcp::Spec as Tcp;

pub use autorate::{Autorate, RateControl};
pub use changes::{Change, Changed, NetworkChange};
pub use docsis::{Docsis, Upstream};
use document::{Document, Node};
pub use error::Error;
use error::{Fault, MISSING, Step, steps};
pub use groups::{NetworkGroup, private_delay};
pub use nearest::nearest;
pub use network::{Network, NetworkLink, NetworkProbes};
pub use probes::{Packets, Probes};
pub use radio::{Radio, RadioModel, RadioRate};
pub use schedule::{Lognormal, Markov, RateSchedule, Schedule, Steps, TraceFile};
pub use seed::SeedFile;
pub use size::Room;
pub use topology::{Access, Bottleneck, Link, LinkChanges, NamedLink, ParkingLot, Reverse};
pub use traffic::{Direction, Group, Transport};
pub use wifi::{Turns, Wifi};
pub use wire::{Device, DeviceQueue, Impairments};

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

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn first_seed() -> u64 {
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

/// Reads a part of a scenario, such as a queue discipline, or what is made of such parts, from
/// JSON.
///
/// # Errors
/// As for a scenario.
pub fn from_json<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, Error> {
    let document = Document::from_json(text)?;
    read::read_root(&document.root).map_err(|fault| document.locate(fault))
}

/// A part of a scenario as JSON in the words of a scenario.
///
/// # Errors
/// If it is no such part.
pub fn to_json(part: &impl serde::Serialize) -> serde_json::Result<serde_json::Value> {
    serde_json::to_value(part).map(write::kind_inside).map(write::flatten)
}

impl Scenario {
    /// Reads TOML. `file` is the name to use in errors.
    ///
    /// # Errors
    /// The first thing that is wrong. Files that the scenario names are looked at by
    /// [`Scenario::network`], not here.
    pub fn from_toml(text: &str, file: &str) -> Result<Self, Error> {
        Self::from_document(Document::from_toml(text, file)?)
    }

    /// Reads JSON with the same fields.
    ///
    /// # Errors
    /// As for TOML, without a place.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Self::from_document(Document::from_json(text)?)
    }

    /// Reads a file, as TOML or, if its name ends in `.json`, as JSON.
    ///
    /// # Errors
    /// If it cannot be read, or for what is wrong in it.
    pub fn from_file(path: &Path) -> Result<Self, Error> {
        let file = path.display().to_string();
        let text = files::read(path, files::MAX_SCENARIO).map_err(|message| Error {
            file: Some(file.clone()),
            position: None,
            path: String::new(),
            message,
        })?;
        if path.extension().is_some_and(|extension| extension == "json") {
            return Self::from_json(&text).map_err(|e| Error { file: Some(file), ..e });
        }
        Self::from_toml(&text, &file)
    }

    fn from_document(document: Document) -> Result<Self, Error> {
        let scenario = read::read_root::<Self>(&document.root).map_err(remedied);
        let mut scenario = scenario.map_err(|fault| document.locate(fault))?;
        network::build(&scenario, None).map_err(|fault| document.locate(fault))?;
        scenario.source = Source(Some(Arc::new(document)));
        Ok(scenario)
    }

    /// The normal form that engines take. Paths of files in the scenario are relative to
    /// `base_dir`.
    ///
    /// # Errors
    /// If a file that the scenario names cannot be used; if a web group still has a load instead
    /// of users; and, for a scenario that was built or changed in a program, whatever reading it
    /// from a file would have found.
    pub fn network(&self, base_dir: &Path) -> Result<Network, Error> {
        network::build(self, Some(base_dir)).map_err(|fault| self.locate(fault))
    }

    fn locate(&self, fault: Fault) -> Error {
        match &self.source.0 {
            Some(document) => document.locate(fault),
            None => Document::from_value(&serde_json::Value::Null).locate(fault),
        }
    }

    /// The same scenario with some values put in other values' place. A path is dotted, such as
    /// `bottleneck.qdisc.qref`, `load`, or `traffic.web.users` and `traffic.0.users` (a group by
    /// its name or number); a value is a TOML value or a bare word (`droptail`, `10ms`, `0.98`).
    ///
    /// # Errors
    /// If a path leads nowhere, and whatever is wrong with the scenario that results.
    pub fn with(&self, changes: &[(&str, &str)]) -> Result<Self, Error> {
        let changes = changes.iter().map(|(path, text)| {
            let value = vary::value_from_text(text);
            (
                *path,
                value.map(Some).map_err(|why| Error {
                    file: None,
                    position: None,
                    path: (*path).to_string(),
                    message: why,
                }),
            )
        });
        self.vary(changes)
    }

    /// The same as [`Scenario::with`], with JSON values; null takes a field away.
    ///
    /// # Errors
    /// As there.
    pub fn with_json(&self, changes: &[(&str, serde_json::Value)]) -> Result<Self, Error> {
        self.vary(changes.iter().map(|(path, value)| {
            (*path, Ok(Some(value).filter(|value| !value.is_null()).map(Node::from_json)))
        }))
    }

    fn vary<'a>(
        &self,
        changes: impl Iterator<Item = (&'a str, Result<Option<Node>, Error>)>,
    ) -> Result<Self, Error> {
        let mut document = self.document();
        for (path, value) in changes {
            vary::put(&mut document, path, value?).map_err(|fault| document.locate(fault))?;
        }
        Self::from_document(document)
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
    fn to_value(&self) -> serde_json::Value {
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

    /// The same scenario with every option of its TCPs spelled out, whatever profile they are from,
    /// and every setting of its QUICs.
    ///
    /// # Errors
    /// For a scenario that was built or changed in a program, if settings of TCP or QUIC are not
    /// valid.
    pub fn resolved(&self) -> Result<Self, Error> {
        let tcp = |group| groups::tcp(self, group).map(|tcp| tcp.spec());
        let mut resolved = self.clone();
        resolved.tcp = tcp(None).map_err(|fault| self.locate(fault.under(steps!["tcp"])))?;
        for (index, group) in resolved.traffic.iter_mut().enumerate() {
            if group.tcp.is_some() {
                let own = tcp(Some(&self.traffic[index]));
                let place = |fault: Fault| fault.under(steps!["traffic", index, "tcp"]);
                group.tcp = Some(own.map_err(|fault| self.locate(place(fault)))?);
                // It has a congestion control of its own now, which what changes is to reach still.
                if self.traffic[index].tcp.as_ref().is_some_and(|tcp| tcp.congestion.is_none()) {
                    resolved.changes.iter_mut().for_each(|change| change.reach_control_of(index));
                }
            }
            if group.runs_over() == Transport::Quic {
                let own = groups::quic(self, Some(&self.traffic[index])).map(|quic| quic.spec());
                let place = |fault: Fault| fault.under(steps!["traffic", index, "quic"]);
                group.quic = Some(own.map_err(|fault| self.locate(place(fault)))?);
            }
        }
        Ok(resolved)
    }

    /// The same scenario with another seed.
    #[must_use]
    pub fn with_seed(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    /// The shortest TOML that reads back to the same scenario.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.seed_file().to_toml(self.seed)
    }

    /// The shortest files of this scenario with any seed.
    #[must_use]
    pub fn seed_file(&self) -> SeedFile {
        SeedFile::of(self)
    }

    /// JSON Schema (draft 2020-12) of the file format.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schema::schema()
    }
}
