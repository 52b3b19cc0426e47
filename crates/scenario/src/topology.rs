//! Nodes and links as a user writes them.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::{Rate, Time};
use sojourn_qdisc::Config as Qdisc;

use crate::autorate::Autorate;
use crate::docsis::Docsis;
use crate::error::{Fault, steps};
use crate::files::read_text;
use crate::schedule::Schedule;
use crate::wire::{Device, Impairments};
use sojourn_traffic::Distribution;

/// One direction of a link: what it does to packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Link {
    /// Rate in bits per second, such as "100mbit". Only a link of the free form `[[links]]` may
    /// leave it out; it is then ideal: pure delay, no queue.
    pub rate: Option<Rate>,
    /// How the rate changes, if it does: a table with `kind`, one of `steps`, `trace`, `lognormal`,
    /// `markov` and `radio`, and its parameters. Disciplines, and a `load`, are told `rate`.
    pub schedule: Option<Schedule>,
    /// One-way propagation delay.
    pub delay: Time,
    /// Queue discipline: its name, for its defaults, or a table with `kind` and its parameters.
    pub qdisc: Qdisc,
    /// Bytes that each packet costs on the wire beyond the IP packet (Ethernet: 38).
    pub frame_overhead: u32,
    /// Least bytes that a packet takes on the wire, overhead included (Ethernet: 84).
    pub min_frame: u32,
    /// Mean packet size in bytes that disciplines assume where they must know the rate in packets.
    pub mean_packet: u32,
    /// Probability that a packet is lost on the wire after its transmission, from 0 to below 1.
    pub loss: f64,
    /// Mean number of packets lost in a row (Gilbert's model: all are lost in the bad state, none
    /// in the good one), with the same `loss`. Left out, each is lost on its own.
    pub loss_burst: Option<f64>,
    /// Delay of each packet on the wire beyond `delay`, a distribution. Packets keep their order:
    /// one that would overtake arrives together with the one before it.
    pub jitter: Option<Distribution<Time>>,
    /// Let `jitter` change the order of packets.
    pub reorder: bool,
    /// A queue of the device below the discipline, which does not see it.
    pub device: Option<Device>,
    /// The upstream of a cable modem: requests, grants and bursts; `{}` for its defaults.
    pub docsis: Option<Docsis>,
    /// The name of a `[[wifi]]`: its medium, on which `rate` is that of the PHY for this link.
    pub wifi: Option<String>,
    /// Let the rate follow the delay of pings, as cake-autorate does.
    pub autorate: Option<Autorate>,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            rate: None,
            schedule: None,
            delay: Time::ZERO,
            qdisc: Qdisc::Droptail(Default::default()),
            frame_overhead: 0,
            min_frame: 0,
            mean_packet: 1500,
            loss: 0.0,
            loss_burst: None,
            jitter: None,
            reorder: false,
            device: None,
            docsis: None,
            wifi: None,
            autorate: None,
        }
    }
}

/// Single fields of a link that differ from those of the forward direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinkChanges {
    /// Rate in bits per second; it is constant unless a `schedule` is given beside it.
    pub rate: Option<Rate>,
    /// How the rate changes.
    pub schedule: Option<Schedule>,
    /// One-way propagation delay.
    pub delay: Option<Time>,
    /// Queue discipline.
    pub qdisc: Option<Qdisc>,
    /// Bytes that each packet costs on the wire beyond the IP packet.
    pub frame_overhead: Option<u32>,
    /// Least bytes that a packet takes on the wire.
    pub min_frame: Option<u32>,
    /// Mean packet size in bytes that disciplines assume.
    pub mean_packet: Option<u32>,
    /// Probability that a packet is lost on the wire; independent losses unless a `loss_burst` is
    /// given beside it.
    pub loss: Option<f64>,
    /// Mean number of packets lost in a row.
    pub loss_burst: Option<f64>,
    /// Delay of each packet on the wire beyond `delay`; in order unless `reorder` is given beside
    /// it.
    pub jitter: Option<Distribution<Time>>,
    /// Let `jitter` change the order of packets.
    pub reorder: Option<bool>,
    /// A queue of the device below the discipline; `{ packets = 0 }`: none.
    pub device: Option<Device>,
    /// The upstream of a cable modem; none, if a `rate` is given and not this beside it.
    pub docsis: Option<Docsis>,
    /// The name of a `[[wifi]]`.
    pub wifi: Option<String>,
    /// Let the rate follow the delay of pings; not, if a `rate` is given and not this beside it.
    pub autorate: Option<Autorate>,
}

/// The direction back. Left out, it is like the direction forward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::large_enum_variant, reason = "a scenario has a handful of links")]
pub enum Reverse {
    /// Pure delay, infinite rate, no queue.
    #[serde(rename = "ideal")]
    Ideal,
    /// Like the direction forward but for the fields given here.
    #[serde(rename = "$changes")]
    Changes(LinkChanges),
}

impl Link {
    /// What happens to packets on the wire; none if nothing does.
    pub(crate) fn impairments(
        &self,
        base_dir: Option<&Path>,
    ) -> Result<Option<Impairments>, Fault> {
        let wrong = |field: &str, message: String| Err(Fault::new(steps![field], message));
        let loss = self.loss;
        if !(0.0..1.0).contains(&loss) {
            return wrong("loss", format!("{loss:?} must be from 0 to below 1"));
        }
        if let Some(burst) = self.loss_burst {
            if loss == 0.0 {
                return wrong(
                    "loss_burst",
                    format!("{burst:?} is of use with a loss above 0 only"),
                );
            }
            // Below, the good state could not last long enough for so many losses.
            let least = (loss / (1.0 - loss)).max(1.0);
            if !(burst >= least && burst <= 1e6) {
                let message = format!("{burst:?} must be from {least:.3} to 1000000");
                return wrong("loss_burst", message);
            }
        }
        let jitter = match &self.jitter {
            None if self.reorder => {
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
            Impairments { loss, loss_burst: self.loss_burst, jitter, reorder: self.reorder };
        Ok(any.then_some(impairments))
    }

    /// The link in the opposite direction.
    #[must_use]
    pub fn reversed(&self, reverse: Option<&Reverse>) -> Self {
        match reverse {
            None => self.clone(),
            Some(Reverse::Ideal) => Self { delay: self.delay, ..Self::default() },
            Some(Reverse::Changes(changes)) => Self {
                rate: changes.rate.or(self.rate),
                schedule: match (&changes.schedule, changes.rate) {
                    (Some(schedule), _) => Some(schedule.clone()),
                    (None, Some(_)) => None,
                    (None, None) => self.schedule.clone(),
                },
                delay: changes.delay.unwrap_or(self.delay),
                qdisc: changes.qdisc.clone().unwrap_or_else(|| self.qdisc.clone()),
                frame_overhead: changes.frame_overhead.unwrap_or(self.frame_overhead),
                min_frame: changes.min_frame.unwrap_or(self.min_frame),
                mean_packet: changes.mean_packet.unwrap_or(self.mean_packet),
                loss: changes.loss.unwrap_or(self.loss),
                loss_burst: match changes.loss {
                    None => changes.loss_burst.or(self.loss_burst),
                    Some(_) => changes.loss_burst,
                },
                reorder: match changes.jitter {
                    None => changes.reorder.unwrap_or(self.reorder),
                    Some(_) => changes.reorder.unwrap_or(false),
                },
                jitter: changes.jitter.clone().or_else(|| self.jitter.clone()),
                device: changes.device.clone().or_else(|| self.device.clone()),
                docsis: match (&changes.docsis, changes.rate) {
                    (Some(docsis), _) => Some(docsis.clone()),
                    (None, Some(_)) => None,
                    (None, None) => self.docsis.clone(),
                },
                wifi: changes.wifi.clone().or_else(|| self.wifi.clone()),
                autorate: match (&changes.autorate, changes.rate) {
                    (Some(autorate), _) => Some(autorate.clone()),
                    (None, Some(_)) => None,
                    (None, None) => self.autorate.clone(),
                },
            },
        }
    }
}

/// A dumbbell: the nodes `left` and `right`, the links `bottleneck` from left to right and
/// `reverse` from right to left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Bottleneck {
    /// The direction from left to right.
    #[serde(rename = "$link")]
    pub link: Link,
    /// The direction from right to left: "ideal", or a table of what differs from the direction
    /// forward. Left out, both are alike.
    #[serde(default)]
    pub reverse: Option<Reverse>,
}

/// A parking lot: the nodes `n0`, `n1`, …, the links `hop1` from n0 to n1, `hop2` from n1 to n2,
/// …, and `back1` from n1 to n0, ….
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ParkingLot {
    /// How many links there are in a row.
    pub hops: u32,
    /// Each hop forward.
    #[serde(rename = "$link")]
    pub link: Link,
    /// Each hop back, as in `[bottleneck]`.
    #[serde(default)]
    pub reverse: Option<Reverse>,
}

/// One direction of one link in a graph of any shape. The nodes are those that links name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedLink {
    /// Name of the link, for probes and tables.
    pub name: String,
    /// The node where packets enter.
    pub from: String,
    /// The node where they leave.
    pub to: String,
    /// How many there are, 1 to 100000: NAME.0, NAME.1, …, and as many of the nodes that only such
    /// links have, and of the groups at those.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub count: u32,
    /// What it does to packets.
    #[serde(rename = "$link")]
    pub link: Link,
}

fn once() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_once(count: &u32) -> bool {
    *count == once()
}

/// The interfaces of hosts: each flow has its own at each of its ends, where packets of different
/// flows never meet, unless `hosts` says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Access {
    /// Rate of each private link; unlimited if left out.
    pub rate: Option<Rate>,
    /// Packets of full size that may wait at the interface of a sending host, its `txqueuelen`;
    /// unlimited if left out. When it is full no more is sent, and TCP takes it for congestion, as
    /// Linux did in 2003. Needs `rate`.
    pub queue: Option<u32>,
    /// Machines at either end of a group, over which its flows or users are dealt in turn: those on
    /// one machine share its interface and its queue. 1 to 1000000; each flow has a machine of its
    /// own if left out. Needs `rate`.
    pub hosts: Option<u32>,
    /// The longest time that a sending host takes over a segment or datagram: each takes a random
    /// time between nothing and this, uniformly, and they stay in order. A little of it (the time
    /// of a packet on the bottleneck) breaks the marching in step of flows with the same round
    /// trip, which drop-tail queues turn into unfairness (Floyd and Jacobson, 1992).
    pub processing: Time,
}
