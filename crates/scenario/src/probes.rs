//! What is to be recorded, and how the engines run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_base::Time;

/// What is recorded besides the summary, which comes with every run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Probes {
    /// Time between two samples of the queues.
    pub interval: Time,
    /// Each link's queue once per interval: packets, bytes, the discipline's probability, and how
    /// many packets entered, were dropped, marked and sent since the last sample.
    pub queues: bool,
    /// Window over which the least length and the least sojourn time of each queue are taken: what
    /// stands there however the traffic comes and goes. At least the longest round trip.
    pub standing_window: Time,
    /// Packets that arrive at each link per span of this length, such as "1ms".
    pub packet_counts: Option<Time>,
    /// One row per flow of bulk and UDP groups: goodput, delay, jitter, loss, retransmissions,
    /// quantiles of the round-trip time.
    pub flows: bool,
    /// Bulk flows whose congestion window and smoothed round-trip time are recorded as they change,
    /// each a group's name and a number from 0: "elephants.0".
    pub traces: Vec<String>,
    /// One row per exchange, per page and per transfer: times, bytes, timeouts, retransmissions,
    /// and how it ended.
    pub exchanges: bool,
    /// Links whose packets are written to a pcapng file, each as its transmission begins: when it
    /// leaves the queue, or that of the device below.
    pub pcap: Vec<String>,
    /// Bulk flows, web users, viewers of video and calls whose ends each write a log in the format
    /// of qlog, named as in `traces`: packets sent and received on all their connections, losses,
    /// and what recovery and congestion control make of them. In the packet engine.
    pub qlog: Vec<String>,
}

impl Default for Probes {
    fn default() -> Self {
        Self {
            interval: Time::from_millis(10),
            queues: false,
            standing_window: Time::from_millis(100),
            packet_counts: None,
            flows: false,
            traces: Vec::new(),
            exchanges: false,
            pcap: Vec::new(),
            qlog: Vec::new(),
        }
    }
}

/// Settings of the packet engine. They change how it works, never what comes out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Packets {
    /// Simulate every hop as events of its own, where hops on which packets cannot contend would
    /// be taken together. Slower, with the same results: for tests of the engine.
    pub unfused: bool,
}
