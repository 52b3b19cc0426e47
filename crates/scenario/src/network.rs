//! The normal form of a scenario that engines take.

use sojourn_base::{Rate, Time};
use sojourn_qdisc::{Config as Qdisc, Env};

use crate::autorate::RateControl;
use crate::changes::NetworkChange;
use crate::docsis::Upstream;
use crate::groups::NetworkGroup;
use crate::schedule::RateSchedule;
use crate::wifi::Wifi;
use crate::wire::{DeviceQueue, Impairments};

/// A scenario in the form that engines take.
#[derive(Clone, Debug)]
pub struct Network {
    /// What the scenario is called; empty if it has no name.
    pub name: String,
    /// Names of the nodes.
    pub nodes: Vec<String>,
    /// All links, one direction each.
    pub links: Vec<NetworkLink>,
    /// Media that links share.
    pub media: Vec<Wifi>,
    /// All groups, in the order of the file; a group in both directions is two.
    pub groups: Vec<NetworkGroup>,
    /// The link that a summary puts first: index into `links`.
    pub bottleneck: usize,
    /// What changes, in order of time.
    pub changes: Vec<NetworkChange>,
    /// What to record.
    pub probes: NetworkProbes,
    /// Simulated time.
    pub duration: Time,
    /// When measuring begins.
    pub warmup: Time,
    /// Names the random numbers.
    pub seed: u64,
    /// Simulate every hop as events of its own.
    pub unfused: bool,
    /// The scenario as JSON with every field, for those who want to know where results are from.
    pub scenario: String,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct NetworkLink {
    /// Its name.
    pub name: String,
    /// Where packets enter: index into the nodes.
    pub from: usize,
    /// Where they leave.
    pub to: usize,
    /// None: ideal, pure delay without a queue.
    pub rate: Option<Rate>,
    /// How the rate changes; none: it is constant. `rate` is then what disciplines are told.
    pub schedule: Option<RateSchedule>,
    /// One-way propagation delay.
    pub delay: Time,
    /// Queue discipline, checked against `env`; an ideal link has no use for it.
    pub qdisc: Qdisc,
    /// Mean size of packets, for the discipline.
    pub mean_packet: u32,
    /// Bytes on the wire beyond the IP packet.
    pub frame_overhead: u32,
    /// Least bytes on the wire.
    pub min_frame: u32,
    /// What happens to packets on the wire, if anything.
    pub impairments: Option<Impairments>,
    /// The queue of the device below the discipline, if there is one.
    pub device: Option<DeviceQueue>,
    /// Requests and grants, if it is the upstream of a cable modem.
    pub docsis: Option<Upstream>,
    /// The medium that it shares: index into `media`.
    pub wifi: Option<u32>,
    /// The control loop of its rate, if it has one.
    pub autorate: Option<RateControl>,
}

impl NetworkLink {
    /// What the discipline may know of the link; none if it is ideal.
    #[must_use]
    pub fn env(&self) -> Option<Env> {
        self.rate.map(|rate| Env { rate, mean_packet: self.mean_packet })
    }

    /// Bytes on the wire of an IP packet.
    #[inline]
    #[must_use]
    pub fn frame(&self, ip_bytes: u32) -> u32 {
        (ip_bytes + self.frame_overhead).max(self.min_frame)
    }
}

/// What is to be recorded, names resolved.
#[derive(Clone, Debug)]
pub struct NetworkProbes {
    /// Time between two samples of the queues.
    pub interval: Time,
    /// Whether they are recorded.
    pub queues: bool,
    /// Window of the running minima.
    pub standing_window: Time,
    /// Span of the packet counts, if they are recorded.
    pub packet_counts: Option<Time>,
    /// Whether the summary has a row for each flow.
    pub flows: bool,
    /// Group and member of each trace.
    pub traces: Vec<(usize, u32)>,
    /// Whether exchanges and transfers are recorded.
    pub exchanges: bool,
    /// Links that are captured.
    pub pcap: Vec<usize>,
    /// Group and member of each flow that is logged.
    pub qlog: Vec<(usize, u32)>,
}
