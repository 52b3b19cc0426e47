//! A shaper whose rate follows the delay of pings: what a user writes, and the checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::{Rate, Time};

use crate::error::{Fault, steps};
use crate::limits::MAX_RATE;

/// The control loop of cake-autorate: a shaper whose rate follows the delay of pings and its load.
/// The link's `rate` is where it begins and to what it returns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Autorate {
    /// The group of kind `ping` whose answers it hears; each member is a pinger with a baseline of
    /// its own.
    pub pings: String,
    /// Never below this rate; a quarter of the link's if left out.
    #[serde(default)]
    pub min: Option<Rate>,
    /// Never above this rate; four times the link's if left out.
    #[serde(default)]
    pub max: Option<Rate>,
    /// An answer is late if half of its round trip is more than this above its baseline; three of
    /// six late ones lower the rate. From "1ms" to "10s".
    #[serde(default = "late")]
    pub late: Time,
    /// Up to this mean of six delays above the baseline the rate is raised at full speed, by 4 %;
    /// between it and `late` by less. Below `late`.
    #[serde(default = "calm")]
    pub calm: Time,
    /// From this mean on the rate is lowered at full speed, by 25 %; between `late` and this by
    /// less. Above `late`, at most "10s".
    #[serde(default = "bloated")]
    pub bloated: Time,
}

fn late() -> Time {
    Time::from_millis(30)
}

fn calm() -> Time {
    Time::from_millis(10)
}

fn bloated() -> Time {
    Time::from_millis(60)
}

/// See [`Autorate`]; checked, with every value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateControl {
    /// The group of pings, by its number, and how many members it has.
    pub pings: usize,
    /// How many members that has.
    pub pingers: u32,
    /// The rate at the start, and without load.
    pub base: Rate,
    /// The least rate.
    pub min: Rate,
    /// The greatest rate.
    pub max: Rate,
    /// Thresholds of the delay above the baseline.
    pub late: Time,
    /// Full speed up to here.
    pub calm: Time,
    /// Full speed down from here.
    pub bloated: Time,
}

impl Autorate {
    /// For a link of the rate `base`, with the number of the group of pings and of its members.
    pub(crate) fn resolve(
        &self,
        base: Rate,
        pings: usize,
        pingers: u32,
    ) -> Result<RateControl, Fault> {
        let wrong = |field: &str, message: String| Err(Fault::new(steps![field], message));
        let min = self.min.unwrap_or(Rate((base.0 / 4).max(1)));
        let max = self.max.unwrap_or(Rate(base.0.saturating_mul(4).min(MAX_RATE.0)));
        if min == Rate(0) || min > base {
            return wrong(
                "min",
                format!("\"{min}\" must be above 0 and at most rate (\"{base}\")"),
            );
        }
        if max < base || max > MAX_RATE {
            return wrong(
                "max",
                format!("\"{max}\" must be from rate (\"{base}\") to \"{MAX_RATE}\""),
            );
        }
        let Self { late, calm, bloated, .. } = *self;
        let (least, most) = (Time::from_millis(1), Time::from_secs(10));
        if !(least..=most).contains(&late) {
            return wrong("late", format!("\"{late}\" must be from \"{least}\" to \"{most}\""));
        }
        // It reckons in microseconds.
        let apart = Time::from_micros(1);
        if late < calm.saturating_add(apart) {
            let message = format!("\"{calm}\" must be \"{apart}\" or more below late (\"{late}\")");
            return wrong("calm", message);
        }
        if bloated < late.saturating_add(apart) || bloated > most {
            let message = format!(
                "\"{bloated}\" must be \"{apart}\" or more above late (\"{late}\"), at most \
                 \"{most}\""
            );
            return wrong("bloated", message);
        }
        Ok(RateControl { pings, pingers, base, min, max, late, calm, bloated })
    }
}
