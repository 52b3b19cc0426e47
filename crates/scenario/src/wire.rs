//! What a link does to packets beyond its queue: losses and jitter on the wire, and the queue of
//! the device below the discipline.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::{Size, Time};
use sojourn_traffic::{Distribution, Sampler};

use crate::error::{Fault, steps};
use crate::groups::read_text;
use crate::topology::Link;

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

/// The impairments of a link; none if it has none.
pub(crate) fn impairments(
    link: &Link,
    base_dir: Option<&Path>,
) -> Result<Option<Impairments>, Fault> {
    let wrong = |field: &str, message: String| Err(Fault::new(steps![field], message));
    let loss = link.loss;
    if !(0.0..1.0).contains(&loss) {
        return wrong("loss", format!("{loss:?} must be from 0 to below 1"));
    }
    if let Some(burst) = link.loss_burst {
        if loss == 0.0 {
            return wrong("loss_burst", format!("{burst:?} is of use with a loss above 0 only"));
        }
        // Below, the good state could not last long enough for so many losses.
        let least = (loss / (1.0 - loss)).max(1.0);
        if !(burst >= least && burst <= 1e6) {
            let message = format!("{burst:?} must be from {least:.3} to 1000000");
            return wrong("loss_burst", message);
        }
    }
    let jitter = match &link.jitter {
        None if link.reorder => {
            return wrong("reorder", "true is of use with jitter only".into());
        }
        None => None,
        Some(Distribution::Even { .. }) => {
            let message =
                "even needs members, and packets are none; write a range like \"0ms..5ms\"";
            return wrong("jitter", message.into());
        }
        Some(jitter) => {
            let mut jitter = jitter.clone();
            jitter.load_files("jitter", &mut |path| read_text(base_dir, path))?;
            Some(jitter.sampler("jitter")?)
        }
    };
    let any = loss > 0.0 || jitter.is_some();
    let impairments =
        Impairments { loss, loss_burst: link.loss_burst, jitter, reorder: link.reorder };
    Ok(any.then_some(impairments))
}
