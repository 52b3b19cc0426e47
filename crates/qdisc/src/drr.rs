//! Deficit round robin: Shreedhar and Varghese, "Efficient fair queuing using deficit round-robin",
//! IEEE/ACM Transactions on Networking 4(3), 1996.
//!
//! Classes take turns. A turn adds the class's quantum of bytes to its deficit counter; while its
//! head packet is not larger than the counter it is sent and its size taken off; what is left is
//! kept for the next turn, and forgotten when the class has nothing to send. So classes that
//! always have packets share the link in proportion to their quanta, whatever the sizes of their
//! packets, and one that has none leaves its share to the others.
//!
//! # Differences from the source
//!
//! 1. Classes chosen by label or codepoint instead of flows by a hash, each with a queue of any
//!    discipline; that is told its part of the link's rate, by its weight among all.
//! 2. Where a discipline cannot say what it would give next (CoDel may drop it), any deficit above
//!    zero will do, and the counter may fall below zero: the debt is paid by later turns.
//! 3. Quanta may be smaller than a packet. Where no counter is enough the rounds that the first
//!    to have enough still needs are added at once; the order is that of the paper, the work is
//!    bounded by two rounds.
//! 4. Classes take turns in the order in which they are written. In the paper one that has been
//!    idle goes to the end of the list of those that are active.
//!
//! # Differences from Linux
//!
//! 1. `sch_drr` takes a quantum in bytes, by default the MTU; here it is `weight` times
//!    `quantum`, which is the link's mean packet.
//! 2. `sch_drr` asks a discipline for its next packet and keeps it if the deficit is too small, so
//!    that CoDel has decided too early: here a packet is never taken out before it is sent.
//! 3. `sch_drr` drops packets that no filter has given a class; here the default class takes them.
//! 4. Its list of active classes is that of the paper; see 4. above.
//! 5. It does not ask a class that has run empty once more: FQ-CoDel in it goes on after any pause
//!    with the flows and times of before.

use crate::classes::{Leaf, Leaves, Scheduled, Scheduler, Turns, check, infos};
use crate::{ClassInfo, Config, Env, Invalid, Packet, Parameters, droptail};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use sojourn_base::{Dscp, Size, Stream, Time};

/// Deficit round robin.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Drr"))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The classes: 1 to 64 (default: one for everything).
    pub classes: Vec<Class>,
    /// Bytes that a class of weight 1 may send in a turn: "1B" to "1GB" (default: the link's mean
    /// packet). The paper wants at least the largest packet, for turns that cost the same work.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub quantum: Option<Size>,
    /// Name of the class for packets that no class names (default: the last).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub default: Option<String>,
}

/// A class of deficit round robin.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "DrrClass"))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Class {
    /// Its name, for tables and variations.
    pub name: String,
    /// Its part of the link is its weight among those of all that have packets: 0.001 to 1000
    /// (default 1).
    #[cfg_attr(feature = "schema", serde(default = "one"))]
    pub weight: f64,
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

#[cfg(feature = "schema")]
fn one() -> f64 {
    1.0
}

impl Class {
    /// A class that takes the packets with one of `labels`, in a queue of `qdisc`.
    #[must_use]
    pub fn new(name: &str, weight: f64, labels: &[&str], qdisc: Config) -> Self {
        let labels = labels.iter().map(ToString::to_string).collect();
        Self { name: name.into(), weight, labels, dscp: Vec::new(), qdisc }
    }
}

impl Default for Params {
    fn default() -> Self {
        let all = Class::new("all", 1.0, &[], droptail::config());
        Self { classes: vec![all], quantum: None, default: None }
    }
}

impl Params {
    fn leaves<'a>(&'a self) -> Vec<Leaf<'a>> {
        let all: f64 = self.classes.iter().map(|class| class.weight).sum();
        let leaf = |(at, class): (usize, &'a Class)| {
            let Class { name, weight, labels, dscp, qdisc } = class;
            let (outer, field) = (String::new(), format!("classes[{at}]"));
            Leaf { name, outer, field, labels, dscp, qdisc, share: *weight / all }
        };
        self.classes.iter().enumerate().map(leaf).collect()
    }

    /// What each class is given in a turn, in bytes.
    fn quanta(&self, env: &Env) -> Result<Vec<i64>, Invalid> {
        let unit = self.quantum.map_or(u64::from(env.mean_packet), |size| size.0);
        if !(1..=1_000_000_000).contains(&unit) {
            let value = format!("\"{unit}B\"");
            return Err(Invalid::new("quantum", value, "must be from \"1B\" to \"1GB\""));
        }
        let quantum = |(at, class): (usize, &Class)| {
            if !(0.001..=1000.0).contains(&class.weight) {
                let remedy = format!("must be from 0.001 to 1000 (class \"{}\")", class.name);
                return Err(Invalid::new(format!("classes[{at}].weight"), class.weight, remedy));
            }
            Ok(libm::round(class.weight * unit as f64).max(1.0) as i64)
        };
        self.classes.iter().enumerate().map(quantum).collect()
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        self.quanta(env)?;
        check(&self.leaves(), self.default.as_deref(), env).map(|_| ())
    }

    fn classes(&self) -> Vec<ClassInfo> {
        infos(&self.leaves())
    }

    fn inner(&self) -> Vec<&Config> {
        self.classes.iter().map(|class| &class.qdisc).collect()
    }
}

/// Classes that take turns.
pub type Discipline<P> = Scheduled<P, Turns>;

impl<P: Packet> Discipline<P> {
    /// Empty queues; each draws from its own stream.
    pub fn new(params: &Params, env: &Env, coin: Stream) -> Result<Self, Invalid> {
        let scheduler = Turns::new(params.quanta(env)?);
        let leaves = params.leaves();
        let default = check(&leaves, params.default.as_deref(), env)?;
        Ok(Self { leaves: Leaves::new(&leaves, default, env, coin)?, scheduler })
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> Scheduler<P> for Turns {
    #[inline]
    fn next(&mut self, ready: u64, leaves: &Leaves<P>, _: Time) -> Option<usize> {
        Some(self.choose(ready, |leaf| leaves.head(leaf).map_or(1, i64::from)))
    }

    #[inline]
    fn sent(&mut self, leaf: usize, bytes: u32, leaves: &Leaves<P>, _: Time) {
        self.spend(leaf, bytes, !leaves.backlogged(leaf));
    }

    fn emptied(&mut self, leaf: usize) {
        self.spend(leaf, 0, true);
    }
}
