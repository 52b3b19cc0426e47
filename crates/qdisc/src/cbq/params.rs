//! What a scenario says of CBQ, and what can be wrong with it.

use crate::classes::{Leaf, check, infos, name, twice};
use crate::{ClassInfo, Config, Env, Invalid, Parameters, droptail};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};
use sojourn_base::{Dscp, Time};

/// When a class that is over its limit may send nevertheless.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Borrowing {
    /// Never.
    None,
    /// When a class around it is under its limit.
    #[default]
    Ancestor,
    /// The same, up to a level that falls when a class below it has packets and is under its
    /// limit.
    TopLevel,
    /// The same, as long as no class on a lower level is unsatisfied: under its limit with packets
    /// waiting.
    Formal,
}

/// How classes of one priority take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Rounds {
    /// Bytes in proportion to their shares.
    #[default]
    Weighted,
    /// One packet each.
    Packet,
}

/// Class-based queueing.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Cbq"))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The classes below the link: with those inside them at most 64 with queues (default: one
    /// for everything).
    pub classes: Vec<Class>,
    /// Name of the class for packets that no class names; it must have a queue (default: the last
    /// that has).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub default: Option<String>,
    /// When a class that is over its limit may send: "none", "ancestor", "top_level" or "formal"
    /// (default "ancestor").
    pub borrowing: Borrowing,
    /// How classes of one priority take turns: "weighted" by their shares, or "packet" by packet
    /// (default "weighted").
    pub rounds: Rounds,
    /// How many packets of mean size a class may send at once after a pause, above its share: 1 to
    /// 1000 (default 16); each class's `maxidle` follows from it.
    pub max_burst: u32,
}

/// A class of CBQ: with a queue, or with further classes inside.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "CbqClass"))]
#[cfg_attr(feature = "schema", serde(deny_unknown_fields))]
pub struct Class {
    /// Its name, for tables and variations.
    pub name: String,
    /// Its part of the class around it, or of the link: above 0, those of all together at most 1.
    pub share: f64,
    /// Classes of a lower number send first: 1 to 8 (default 1). Only of those with queues.
    #[cfg_attr(feature = "schema", serde(default = "first"))]
    pub priority: u8,
    /// Whether it may borrow from the class around it, or from the link (default true).
    #[cfg_attr(feature = "schema", serde(default = "yes"))]
    pub borrow: bool,
    /// Most that the average of its idle time is credited (default: what `max_burst` needs).
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub maxidle: Option<Time>,
    /// How far that average may fall below zero: how long the class pays for what it borrowed
    /// (default: no bound).
    #[cfg_attr(feature = "schema", serde(default, skip_serializing_if = "Option::is_none"))]
    pub minidle: Option<Time>,
    /// How much longer it waits when it is held back, to send a burst then (default "0ns").
    #[cfg_attr(feature = "schema", serde(default))]
    pub extradelay: Time,
    /// Labels of the traffic that it takes (default: none).
    #[cfg_attr(feature = "schema", serde(default))]
    pub labels: Vec<String>,
    /// Codepoints that it takes, where a packet's label is no class's: 0 to 63 or names (default:
    /// none).
    #[cfg_attr(feature = "schema", serde(default))]
    pub dscp: Vec<Dscp>,
    /// Its queue (default: droptail); a class with classes inside has none.
    #[cfg_attr(feature = "schema", serde(default = "droptail::config"))]
    pub qdisc: Config,
    /// Classes inside it (default: none).
    #[cfg_attr(feature = "schema", serde(default))]
    pub classes: Vec<Class>,
}

#[cfg(feature = "schema")]
fn first() -> u8 {
    1
}

#[cfg(feature = "schema")]
fn yes() -> bool {
    true
}

impl Class {
    /// A class that takes the packets with one of `labels`, in a queue of `qdisc`.
    #[must_use]
    pub fn new(name: &str, share: f64, labels: &[&str], qdisc: Config) -> Self {
        Self {
            name: name.into(),
            share,
            priority: 1,
            borrow: true,
            maxidle: None,
            minidle: None,
            extradelay: Time::ZERO,
            labels: labels.iter().map(ToString::to_string).collect(),
            dscp: Vec::new(),
            qdisc,
            classes: Vec::new(),
        }
    }

    /// A class with others inside.
    #[must_use]
    pub fn around(name: &str, share: f64, classes: Vec<Class>) -> Self {
        Self { classes, ..Self::new(name, share, &[], droptail::config()) }
    }
}

impl Default for Params {
    fn default() -> Self {
        Self {
            classes: vec![Class::new("all", 1.0, &[], droptail::config())],
            default: None,
            borrowing: Borrowing::default(),
            rounds: Rounds::default(),
            max_burst: 16,
        }
    }
}

/// A class of the tree, the ones around it before it.
pub(super) struct Placed<'a> {
    pub class: &'a Class,
    /// The class around it: its place in the list.
    pub parent: Option<usize>,
    /// Its part of the link.
    pub share: f64,
    /// Names of the classes around it, each with a slash behind.
    outer: String,
    field: String,
    depth: u32,
}

impl Placed<'_> {
    pub(super) fn is_leaf(&self) -> bool {
        self.class.classes.is_empty()
    }
}

impl Params {
    /// All classes, in the order in which they are written.
    pub(super) fn placed(&self) -> Vec<Placed<'_>> {
        let mut all = Vec::new();
        place(&self.classes, None, 1.0, "", "", 1, &mut all);
        all
    }

    pub(super) fn leaves<'a>(placed: &[Placed<'a>]) -> Vec<Leaf<'a>> {
        let leaf = |placed: &Placed<'a>| {
            let Class { name, labels, dscp, qdisc, .. } = placed.class;
            let (outer, field) = (placed.outer.clone(), placed.field.clone());
            Leaf { name, outer, field, labels, dscp, qdisc, share: placed.share }
        };
        placed.iter().filter(|placed| placed.is_leaf()).map(leaf).collect()
    }

    /// Checks all, and gives the number of the default leaf.
    pub(super) fn check(&self, placed: &[Placed<'_>], env: &Env) -> Result<usize, Invalid> {
        if !(1..=1000).contains(&self.max_burst) {
            return Err(Invalid::new("max_burst", self.max_burst, "must be 1 to 1000 packets"));
        }
        shares(&self.classes, "", "the link")?;
        for (at, one) in placed.iter().enumerate() {
            let Placed { class, field, .. } = one;
            name(&class.name, field)?;
            let before = placed[..at].iter().find(|other| other.class.name == class.name);
            if let Some(other) = before {
                return Err(twice(&class.name, field, &other.field));
            }
            shares(&class.classes, &format!("{field}."), &format!("class \"{}\"", class.name))?;
            let wrong = |name: &str, value: String, remedy: &str| {
                let remedy = format!("{remedy} (class \"{}\")", class.name);
                Err(Invalid::new(format!("{field}.{name}"), value, remedy))
            };
            if !(1..=8).contains(&class.priority) {
                return wrong("priority", class.priority.to_string(), "must be from 1 to 8");
            }
            if !one.is_leaf() {
                let remedy = "leave it to the classes inside";
                if !class.labels.is_empty() {
                    return wrong("labels", format!("{:?}", class.labels), remedy);
                }
                if !class.dscp.is_empty() {
                    return wrong("dscp", "[...]".into(), remedy);
                }
                if class.qdisc != droptail::config() {
                    return wrong("qdisc", format!("\"{}\"", class.qdisc.name()), remedy);
                }
                if class.priority != 1 {
                    return wrong("priority", class.priority.to_string(), remedy);
                }
            }
        }
        check(&Self::leaves(placed), self.default.as_deref(), env)
    }
}

fn place<'a>(
    classes: &'a [Class],
    parent: Option<usize>,
    share: f64,
    outer: &str,
    field: &str,
    depth: u32,
    all: &mut Vec<Placed<'a>>,
) {
    for (at, class) in classes.iter().enumerate() {
        let here = format!("{field}classes[{at}]");
        let share = share * class.share;
        let (inside, below) = (format!("{outer}{}/", class.name), format!("{here}."));
        all.push(Placed { class, parent, share, outer: outer.into(), field: here, depth });
        let own = Some(all.len() - 1);
        place(&class.classes, own, share, &inside, &below, depth + 1, all);
    }
}

/// Shares within one class, or of the link, must be parts of a whole.
fn shares(classes: &[Class], field: &str, whole: &str) -> Result<(), Invalid> {
    let mut sum = 0.0;
    for (at, class) in classes.iter().enumerate() {
        let place = || format!("{field}classes[{at}].share");
        if !(class.share >= 1e-6 && class.share <= 1.0) {
            let remedy =
                format!("must be a part of {whole}: from 0.000001 to 1 (class \"{}\")", class.name);
            return Err(Invalid::new(place(), class.share, remedy));
        }
        sum += class.share;
        if sum > 1.0 + 1e-9 {
            let rest = (1.0 - (sum - class.share)).max(0.0);
            let rest = libm::round(rest * 1e6) / 1e6;
            let remedy = format!(
                "the shares of {whole} add up to more than 1: at most {rest} is left (class \"{}\")",
                class.name
            );
            return Err(Invalid::new(place(), class.share, remedy));
        }
    }
    Ok(())
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        if self.depth() > crate::DEEPEST {
            let remedy = "classes and disciplines must lie at most 8 deep in each other";
            return Err(Invalid::new("classes", "[...]", remedy));
        }
        self.check(&self.placed(), env).map(|_| ())
    }

    fn classes(&self) -> Vec<ClassInfo> {
        infos(&Self::leaves(&self.placed()))
    }

    fn inner(&self) -> Vec<&Config> {
        let leaves = self.placed().into_iter().filter(Placed::is_leaf);
        leaves.map(|placed| &placed.class.qdisc).collect()
    }

    fn holds_back(&self) -> bool {
        true
    }

    fn depth(&self) -> u32 {
        let placed = self.placed();
        let levels = placed.iter().map(|placed| placed.depth).max().unwrap_or(0);
        levels + placed.iter().map(|placed| placed.class.qdisc.depth()).max().unwrap_or(0)
    }
}
