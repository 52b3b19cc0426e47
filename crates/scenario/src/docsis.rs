//! The upstream of a cable modem: what a user writes, and the checks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::{Rate, Size, Time};

use crate::error::{Fault, steps};
use crate::limits::MAX_RATE;

/// The upstream of a cable modem (DOCSIS): the modem asks, the head-end grants, and packets leave
/// in bursts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Docsis {
    /// How long the grants of a MAP reach, from "100us" to "100ms".
    pub map_interval: Time,
    /// From the sending of a request to the start of the first MAP interval that can grant it, at
    /// least: up to "100ms".
    pub request_delay: Time,
    /// Rate of a burst, at least the link's `rate`, which is what the head-end grants on average.
    /// As `rate` if left out.
    pub channel: Option<Rate>,
    /// Bytes that the head-end grants beyond `rate` after a pause (the Maximum Traffic Burst), from
    /// "1522B" to "1GB".
    pub burst: Size,
}

impl Default for Docsis {
    fn default() -> Self {
        Self {
            map_interval: Time::from_millis(2),
            request_delay: Time::from_micros(1200),
            channel: None,
            burst: Size(3044),
        }
    }
}

/// See [`Docsis`]; checked, with every value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Length of a MAP interval.
    pub map_interval: Time,
    /// From a request to the first interval that can grant it.
    pub request_delay: Time,
    /// Rate of a burst.
    pub channel: Rate,
    /// What may be granted beyond the rate after a pause, bytes.
    pub burst: u64,
}

/// What a MAP interval must hold.
const LEAST_BITS: u128 = 8 * 100;

impl Docsis {
    /// For a link of this rate.
    pub(crate) fn resolve(&self, rate: Rate) -> Result<Upstream, Fault> {
        let Self { map_interval, request_delay, channel, burst } = *self;
        let wrong = |field: &str, message: String| Err(Fault::new(steps![field], message));
        let (least, most) = (Time::from_micros(100), Time::from_millis(100));
        if !(least..=most).contains(&map_interval) {
            let message = format!("\"{map_interval}\" must be from \"{least}\" to \"{most}\"");
            return wrong("map_interval", message);
        }
        if request_delay > most {
            return wrong(
                "request_delay",
                format!("\"{request_delay}\" must be at most \"{most}\""),
            );
        }
        let channel = channel.unwrap_or(rate);
        if channel < rate || channel > MAX_RATE {
            let message = format!("\"{channel}\" must be from rate (\"{rate}\") to \"{MAX_RATE}\"");
            return wrong("channel", message);
        }
        // Grants are whole bytes: of fewer in an interval what is rounded off would be seen.
        let bits = u128::from(channel.0) * u128::from(map_interval.0) / 1_000_000_000;
        if bits < LEAST_BITS {
            let message = format!(
                "\"{map_interval}\" of a channel of \"{channel}\" holds {} bytes; give at least {}",
                bits / 8,
                LEAST_BITS / 8
            );
            return wrong("map_interval", message);
        }
        if !(1522..=1_000_000_000).contains(&burst.0) {
            return wrong("burst", format!("\"{burst}\" must be from \"1522B\" to \"1GB\""));
        }
        Ok(Upstream { map_interval, request_delay, channel, burst: burst.0 })
    }
}
