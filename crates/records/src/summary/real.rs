//! Of runs with real packets: the hosts, and the router between them.

use super::{Distribution, finite};
use serde::{Deserialize, Serialize};

/// Real hosts: in what they differ from the scenario, and what their kernels counted in the whole
/// run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostsSummary {
    /// The kernel's release.
    pub kernel: String,
    /// One line for each setting that the kernel does not follow.
    pub differences: Vec<String>,
    /// Segments sent again, SYNs included.
    pub retransmitted_segments: u64,
    /// Packets with the mark CE that arrived.
    pub ce_packets: u64,
    /// Packets that arrived.
    pub received: u64,
    /// Duplicates that receivers told of.
    pub duplicates: u64,
}

/// The router that real packets went through. Counts are of the whole run:
/// `received = delivered + refused + dropped + lost + held`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RouterSummary {
    /// Packets that hosts sent into it.
    pub received: u64,
    /// Packets that it handed to hosts.
    pub delivered: u64,
    /// Of those: together with the one before, as one.
    #[serde(default)]
    pub merged: u64,
    /// Packets that went no further, for one of the reasons below.
    pub refused: u64,
    /// Of those: no IP packet, or one whose lengths are wrong.
    pub malformed: u64,
    /// Of those: longer than the devices' MTU.
    pub too_long: u64,
    /// Of those: of or to an address that has no path here.
    pub unroutable: u64,
    /// Of those: no buffer was free.
    pub no_buffer: u64,
    /// Of those: the receiving host's kernel would not have it.
    pub undeliverable: u64,
    /// Packets that queues dropped.
    pub dropped: u64,
    /// Packets that wires lost.
    pub lost: u64,
    /// Packets that were under way at the end.
    pub held: u64,
    /// Packets delivered in the measuring window, and how much later than they should have been,
    /// in seconds.
    pub lateness_s: Distribution,
    /// The lateness that the 99th percentile must not exceed for the run to be trusted, in
    /// seconds.
    #[serde(serialize_with = "finite")]
    pub lateness_limit_s: f64,
    /// Whether it did: the machine was too busy, and delays may be wrong by that much.
    pub late: bool,
    /// Processor time of the router's thread, in seconds.
    #[serde(serialize_with = "finite")]
    pub cpu_s: f64,
}
