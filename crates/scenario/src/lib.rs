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
mod input;
mod json;
mod limits;
mod nearest;
mod network;
mod probes;
mod radio;
mod read;
mod resolve;
mod routes;
mod scenario;
mod schedule;
mod schema;
mod seed;
mod size;
mod topology;
mod traffic;
mod transport;
mod vary;
mod wifi;
mod wire;
mod write;

pub use autorate::{Autorate, RateControl};
pub use changes::{Change, Changed, NetworkChange};
pub use docsis::{Docsis, Upstream};
pub use error::Error;
pub use groups::{MOST_LOAD, NetworkGroup, private_delay};
pub use nearest::nearest;
pub use network::{Network, NetworkLink, NetworkProbes};
pub use probes::{Packets, Probes};
pub use radio::{Radio, RadioModel, RadioRate};
pub use read::from_json;
pub use scenario::Scenario;
pub use schedule::{Lognormal, Markov, RateSchedule, Schedule, Steps, TraceFile};
pub use seed::SeedFile;
pub use size::Room;
pub use topology::{Access, Bottleneck, Link, LinkChanges, NamedLink, ParkingLot, Reverse};
pub use traffic::{Direction, Group, Transport};
pub use wifi::{Turns, Wifi};
pub use wire::{Device, DeviceQueue, Impairments};
pub use write::to_json;
