//! A queue and its link, and how they are read: a discipline's table in a scenario, or a price on
//! the rate.

use serde::Deserialize;
use sojourn_qdisc::Config;

use crate::queues::{Env, Law, Rate};
use crate::{Invalid, Price, QueueLaw};

/// What a capacity must be.
const CAPACITY: &str = "must be above 0 packets per second, such as 1250";

/// A queue and its link.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "QueueText")]
pub struct Queue {
    /// What the link sends, in packets per second.
    pub capacity: f64,
    /// Most packets that may wait; may be infinite.
    pub buffer: f64,
    /// The control law.
    pub law: QueueLaw,
    /// Whether the law drops packets, which then wait nowhere, instead of marking them.
    pub thins: bool,
    /// How many of the packets that the law counts in one packet is: 1, or its size over the mean
    /// packet of a law that counts bytes.
    pub unit: f64,
    /// What the law's probability is multiplied by, for a law that scales it by a packet's size.
    pub weight: f64,
}

impl Queue {
    /// A queue without a limit under `law`.
    pub fn new(capacity: f64, law: impl Into<QueueLaw>) -> Self {
        let law = law.into();
        Self { capacity, buffer: f64::INFINITY, law, thins: false, unit: 1.0, weight: 1.0 }
    }

    pub(super) fn validate(&self) -> Result<(), Invalid> {
        if !(self.capacity > 0.0 && self.capacity <= 1e12) {
            return Err(Invalid::new("capacity", self.capacity, CAPACITY));
        }
        if self.buffer.is_nan() || self.buffer <= 0.0 {
            return Err(Invalid::new("buffer", self.buffer, "must be above 0 packets"));
        }
        let droptail = matches!(self.law, QueueLaw::Droptail(_));
        if droptail && self.buffer.is_infinite() {
            let remedy = "a queue without a control law needs one, or nothing is ever lost";
            return Err(Invalid::new("buffer", self.buffer, remedy));
        }
        for (field, value) in [("unit", self.unit), ("weight", self.weight)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Invalid::new(field, value, "must be above 0"));
            }
        }
        if self.thins && !self.law.has_state() && self.law.looks_at_rate() {
            let remedy = "a price on the present rate marks and cannot thin it: set thins = false, \
                          or give averaging";
            return Err(Invalid::new("thins", self.thins, remedy));
        }
        Ok(())
    }
}

/// A queue as it is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct QueueText {
    capacity: f64,
    qdisc: Option<Config>,
    price: Option<Price>,
    #[serde(default)]
    averaging: f64,
    #[serde(default)]
    spaced: bool,
    #[serde(default = "typical_packet")]
    mean_packet: u32,
    /// Without it the limit is that of drop-tail, and none of others.
    buffer: Option<f64>,
    #[serde(default)]
    thins: bool,
}

/// Bytes of a mean packet where none is given.
pub(crate) fn typical_packet() -> u32 {
    500
}

impl TryFrom<QueueText> for Queue {
    type Error = Invalid;

    fn try_from(text: QueueText) -> Result<Self, Invalid> {
        let QueueText { capacity, thins, buffer, .. } = text;
        if !(capacity > 0.0 && capacity <= 1e12) {
            return Err(Invalid::new("capacity", capacity, CAPACITY));
        }
        let env = Env { spaced: text.spaced, ..Env::packets(capacity, text.mean_packet) };
        let made = match (text.qdisc, text.price) {
            (Some(config), None) => QueueLaw::of(&config, &env)?,
            (None, Some(price)) => Rate::made(price, text.averaging, capacity)?,
            _ => return Err(Invalid::new("qdisc, price", "", "give exactly one of them")),
        };
        let limit = match made.law {
            QueueLaw::Droptail(_) => made.buffer,
            _ => f64::INFINITY,
        };
        let (unit, weight) = (made.unit, made.weight);
        let buffer = buffer.unwrap_or(limit);
        Ok(Self { capacity, buffer, law: made.law, thins, unit, weight })
    }
}
