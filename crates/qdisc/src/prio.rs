//! Strict priority: the first class that has a packet ready sends. What comes later in the list
//! waits, for ever if need be.
//!
//! Source: the discipline is older than its names; RFC 2474 section 4.2.2.4 names it first among
//! the ways to serve classes. Which class a packet belongs to follows from its label or its
//! codepoint (RFC 2474).
//!
//! # Differences from the source
//!
//! There is no one source. 1. Every class has a queue of any discipline, which is told the rate of
//! the whole link. 2. A class whose discipline holds its packets back lets the next ones send.
//!
//! # Differences from Linux
//!
//! 1. `sch_prio` has bands with numbers, 3 by default, and a `priomap` from the socket's priority;
//!    here are classes with names, chosen by label or codepoint. By default there are three as
//!    well: `high` for the codepoints ef, voice-admit, cs5, cs6 and cs7, `low` for le and cs1, and
//!    `middle` for the rest.
//! 2. Filters and actions (`tc filter`) do not exist.
//! 3. `sch_prio` asks all classes before the one that sends, for each packet. Here one that has run
//!    empty is asked once more, behind those that send too.

use crate::classes::{Leaf, Leaves, Scheduled, Scheduler, check, infos};
use crate::{ClassInfo, Config, Env, Invalid, Packet, Parameters, droptail};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use sojourn_base::{Dscp, Stream, Time};

/// Strict priority.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Prio"))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The classes, the most urgent first: 1 to 64 (default: `high`, `middle` and `low`, by
    /// codepoint).
    pub classes: Vec<Class>,
    /// Name of the class for packets that no class names (default: the last; with the default
    /// classes `middle`).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub default: Option<String>,
}

/// A class of strict priority.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "PrioClass"))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Class {
    /// Its name, for tables and variations.
    pub name: String,
    /// Labels of the traffic that it takes (default: none).
    #[cfg_attr(feature = "schema", serde(default))]
    pub labels: Vec<String>,
    /// Codepoints that it takes, where a packet's label is no class's: 0 to 63 or names (default:
    /// none).
    #[cfg_attr(feature = "schema", serde(default))]
    pub dscp: Vec<Dscp>,
    /// Its queue (default: droptail).
    #[cfg_attr(feature = "schema", serde(default = "droptail::config"))]
    pub qdisc: Config,
}

impl Class {
    /// A class that takes the packets with one of `labels`, in a queue of `qdisc`.
    #[must_use]
    pub fn new(name: &str, labels: &[&str], qdisc: Config) -> Self {
        let labels = labels.iter().map(ToString::to_string).collect();
        Self { name: name.into(), labels, dscp: Vec::new(), qdisc }
    }

    fn of_codepoints(name: &str, codepoints: &[u8]) -> Self {
        let dscp = codepoints.iter().filter_map(|&bits| Dscp::new(bits)).collect();
        Self { dscp, ..Self::new(name, &[], droptail::config()) }
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            classes: vec![
                Class::of_codepoints("high", &[46, 44, 40, 48, 56]),
                Class::new("middle", &[], droptail::config()),
                Class::of_codepoints("low", &[1, 8]),
            ],
            default: None,
        }
    }
}

impl Params {
    /// The class for packets that no class names, if it is not the last.
    fn default_class(&self) -> Option<&str> {
        let usual = || (self.classes == Self::default().classes).then_some("middle");
        self.default.as_deref().or_else(usual)
    }

    fn leaves<'a>(&'a self) -> Vec<Leaf<'a>> {
        let leaf = |(at, class): (usize, &'a Class)| {
            let Class { name, labels, dscp, qdisc } = class;
            let (outer, field) = (String::new(), format!("classes[{at}]"));
            Leaf { name, outer, field, labels, dscp, qdisc, share: 1.0 }
        };
        self.classes.iter().enumerate().map(leaf).collect()
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        check(&self.leaves(), self.default_class(), env).map(|_| ())
    }

    fn classes(&self) -> Vec<ClassInfo> {
        infos(&self.leaves())
    }

    fn inner(&self) -> Vec<&Config> {
        self.classes.iter().map(|class| &class.qdisc).collect()
    }
}

/// Classes in order of priority.
pub type Discipline<P> = Scheduled<P, First>;

/// The first class that has a packet ready sends.
#[derive(Clone, Copy, Debug)]
pub struct First;

impl<P: Packet> Discipline<P> {
    /// Empty queues; each draws from its own stream.
    pub fn new(params: &Params, env: &Env, coin: Stream) -> Result<Self, Invalid> {
        let leaves = params.leaves();
        let default = check(&leaves, params.default_class(), env)?;
        Ok(Self { leaves: Leaves::new(&leaves, default, env, coin)?, scheduler: First })
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> Scheduler<P> for First {
    #[inline]
    fn next(&mut self, ready: u64, _: &Leaves<P>, _: Time) -> Option<usize> {
        Some(ready.trailing_zeros() as usize)
    }

    #[inline]
    fn sent(&mut self, _: usize, _: u32, _: &Leaves<P>, _: Time) {}
}
