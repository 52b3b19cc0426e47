//! What a link does to packets beyond its queue: losses and jitter on the wire, and the queue of
//! the device below the discipline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::{Size, Time};
use sojourn_traffic::Sampler;

use crate::error::{Fault, steps};

/// The queue of a network device (its ring), between the discipline and the transmitter. The
/// discipline hands packets down as long as there is room, so what they wait here it does not see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Device {
    /// Packets that it holds, the one in transmission not counted; 0: there is no such queue.
    pub packets: Option<u32>,
    /// Packets are handed down as long as it holds fewer bytes than this.
    pub bytes: Option<Size>,
    /// Whether Linux's byte queue limits (BQL) hold what is handed down as short as keeps the
    /// device busy.
    pub bql: bool,
    /// With `bql`: time from the end of a transmission to the interrupt that reports it, with all
    /// others that have ended since; the bytes count until then. "0ns": each is reported at once.
    pub interrupts: Time,
}

/// What happens to packets after their transmission.
#[derive(Clone, Debug)]
pub struct Impairments {
    /// Probability that a packet is lost, below 1.
    pub loss: f64,
    /// Mean number of packets lost in a row; none: each on its own.
    pub loss_burst: Option<f64>,
    /// Additional delay.
    pub jitter: Option<Sampler>,
    /// Whether a packet with less of it overtakes one with more.
    pub reorder: bool,
}

/// The queue of a device: see [`Device`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceQueue {
    /// Most packets, above 0.
    pub packets: u32,
    /// Room is left as long as fewer bytes are held, above 0.
    pub bytes: u64,
    /// With byte queue limits: the delay of interrupts.
    pub bql: Option<Time>,
}

/// The longest delay of an interrupt.
const LATEST: Time = Time::from_secs(1);

impl Device {
    pub(crate) fn resolve(&self) -> Result<Option<DeviceQueue>, Fault> {
        let Self { packets, bytes, bql, interrupts } = *self;
        if packets.is_none() && bytes.is_none() {
            let message = "there is no limit; give it packets, for example 256, or bytes";
            return Err(Fault::new(Vec::new(), message));
        }
        if packets == Some(0) && (bytes.is_some() || bql) {
            let message = "0 is no queue; leave out the rest of the table, or packets";
            return Err(Fault::new(steps!["packets"], message));
        }
        if bytes == Some(Size(0)) {
            return Err(Fault::new(steps!["bytes"], "\"0B\" must be above 0"));
        }
        if packets.is_some_and(|packets| packets > MOST_PACKETS) {
            let message = format!("{} must be at most {MOST_PACKETS}", packets.unwrap_or_default());
            return Err(Fault::new(steps!["packets"], message));
        }
        if interrupts > Time::ZERO && !bql {
            let message = format!("\"{interrupts}\" is of use with bql = true only");
            return Err(Fault::new(steps!["interrupts"], message));
        }
        if interrupts > LATEST {
            let message = format!("\"{interrupts}\" must be at most \"{LATEST}\"");
            return Err(Fault::new(steps!["interrupts"], message));
        }
        Ok((packets != Some(0)).then(|| DeviceQueue {
            packets: packets.unwrap_or(MOST_PACKETS),
            bytes: bytes.map_or(u64::MAX, |bytes| bytes.0),
            bql: bql.then_some(interrupts),
        }))
    }
}

/// The longest ring, in packets.
const MOST_PACKETS: u32 = 1 << 20;
