//! A queue as it is read: a discipline's table in a scenario, or a price on the rate.

use serde::Deserialize;
use sojourn_qdisc::Config;

use super::Queue;
use crate::queues::{Env, Law, Rate};
use crate::{Invalid, Price, QueueLaw};

/// A law as it is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueText {
    capacity: f64,
    qdisc: Option<Config>,
    price: Option<Price>,
    #[serde(default)]
    averaging: f64,
    #[serde(default)]
    spaced: bool,
    #[serde(default = "typical")]
    mean_packet: u32,
    /// Without it the limit is that of drop-tail, and none of others.
    buffer: Option<f64>,
    #[serde(default)]
    thins: bool,
}

/// Bytes of a mean packet where none is given.
pub(crate) fn typical() -> u32 {
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
            (None, Some(price)) => Rate::made(price, text.averaging)?,
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

/// What a capacity must be.
pub(super) const CAPACITY: &str = "must be above 0 packets per second, such as 1250";
