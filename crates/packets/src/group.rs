//! A traffic group at run time: where its packets go, how its members differ, what it counts.

use crate::connection::{Connection, Side};
use crate::interface::{Access, Machines};
use sojourn_base::{Kind, Stream};
use sojourn_records::Histogram;
use sojourn_scenario::private_delay;
use sojourn_traffic::Sampler;

/// One direction of a group's path.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// The first link that can contend, or [`DIRECT`].
    pub step: u32,
    /// Delay before it, ns.
    pub lead: u64,
    /// Propagation over the whole way, ns.
    pub propagation: u64,
}

/// Sums over the members of a group since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Bytes that reached their applications.
    pub delivered: u64,
    pub sent: u64,
    pub retransmissions: u64,
    pub timeouts: u64,
}

impl Totals {
    /// Adds what both ends of a connection have counted.
    pub fn add(&mut self, conn: &Connection) {
        for end in &conn.ends {
            self.delivered += end.bytes_delivered();
            self.sent += end.segments_sent();
            self.retransmissions += end.retransmissions();
            self.timeouts += end.timeouts();
        }
    }

    /// What came since `start`.
    pub fn since(&self, start: &Self) -> Self {
        Self {
            delivered: self.delivered - start.delivered,
            sent: self.sent - start.sent,
            retransmissions: self.retransmissions - start.retransmissions,
            timeouts: self.timeouts - start.timeouts,
        }
    }
}

/// What a group counts in the measured window.
#[derive(Default)]
pub struct Stats {
    pub rtt: Histogram,
    /// Response times of exchanges and transfers that began in the window.
    pub response: Histogram,
    pub started: u64,
    pub finished: u64,
    pub failed: u64,
    pub censored: u64,
    /// Of connections that are gone.
    pub retired: Totals,
    pub at_start: Totals,
}

/// A group.
pub struct Group {
    pub name: String,
    pub kind: &'static str,
    /// Names its random streams.
    pub key: u32,
    pub members: u32,
    /// Number of its first member among those of all groups.
    pub first_member: u32,
    pub tcp: sojourn_tcp::Params,
    /// How hosts are connected at each end.
    pub access: Access,
    /// The machines that its members share, if they do.
    pub machines: Option<Machines>,
    /// How long what waits at a sending host's interface may take to go out, ns.
    pub backlog: u64,
    /// The longest time that a host takes over a segment that it sends, ns.
    pub processing: u64,
    /// The way of data, and the way back.
    pub ways: [Way; 2],
    pub rtt: Option<Sampler>,
    /// Whether the first byte of a response is noted.
    pub first_bytes: bool,
    /// Whether segments are stamped with their time of sending because they carry no timestamps.
    pub stamp: bool,
    pub stats: Stats,
    /// Whether its time is over: nothing new is sent or begun.
    pub stopped: bool,
    pub seed: u64,
}

impl Group {
    /// The stream of one kind for one member (or one transfer, by its number).
    pub fn stream(&self, kind: Kind, index: u64) -> Stream {
        Stream::new(self.seed, kind, self.key, index)
    }

    /// What the two ends of flow `index` need to send: the delay that its minimum
    /// round trip leaves beside propagation is shared by both ends. `data_from` is the end on the
    /// data's side.
    pub fn sides(&self, index: u64, data_from: usize) -> [Side; 2] {
        let ways = &self.ways;
        let propagation = ways[0].propagation + ways[1].propagation;
        let stream = &mut self.stream(Kind::Delay, index);
        let extra = private_delay(self.rtt.as_ref(), propagation, self.members, index, stream);
        // A host takes at least a nanosecond: what it sends at an instant can then not meet, at
        // that same instant, what others have sent before.
        let side = |way: &Way, delay: u64| Side::new((way.lead + delay).max(1), way.step);
        let (mut data, mut back) = (side(&ways[0], extra / 2), side(&ways[1], extra - extra / 2));
        if let Some(machines) = &self.machines {
            data = data.shares(machines.of(index, false));
            back = back.shares(machines.of(index, true));
        }
        if data_from == 0 { [data, back] } else { [back, data] }
    }
}
