//! What a simulation shows of itself at an instant.

use crate::packet::Packet;
use crate::sim::Sim;
use sojourn_base::{Ecn, Time};
use sojourn_records::{QueueRow, rate_bps};
use sojourn_scenario::NetworkGroup;
use sojourn_traffic::Source;
use std::iter::repeat;

/// Links and flows at an instant, and what has passed since the last look.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Observation {
    /// Simulated time, s.
    pub time_s: f64,
    /// The links that are not ideal.
    pub links: Vec<LinkObservation>,
    /// The groups of traffic.
    pub groups: Vec<GroupObservation>,
}

/// A link with its queue.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkObservation {
    /// Its name.
    pub name: String,
    /// Its rate now, bit/s.
    pub rate_bps: u64,
    /// The mean of its rate since the last look, bit/s; none over no time.
    pub mean_rate_bps: Option<f64>,
    /// Packets in the queue, without the one in transmission.
    pub queue_packets: u64,
    /// Their bytes.
    pub queue_bytes: u64,
    /// How long those take at the present rate, s; none if the rate is 0.
    pub queue_s: Option<f64>,
    /// The discipline's probability of dropping or marking.
    pub probability: f64,
    /// Packets that entered the queue since the last look.
    pub enqueued: u64,
    /// Packets dropped since then.
    pub dropped: u64,
    /// Packets marked since then.
    pub marked: u64,
    /// Packets whose transmission began since then.
    pub dequeued: u64,
    /// Bytes of those packets.
    pub dequeued_bytes: u64,
    /// Those bytes as a rate, bit/s; none over no time.
    pub throughput_bps: Option<f64>,
}

impl LinkObservation {
    /// `offered` are the bits times 10⁹ that could have been sent since the last look.
    pub(crate) fn of(name: String, row: &QueueRow, offered: u128, since: Time) -> Self {
        let rate = row.rate_bps;
        Self {
            name,
            rate_bps: rate,
            mean_rate_bps: (since > Time::ZERO).then(|| offered as f64 / since.0 as f64),
            queue_packets: row.packets,
            queue_bytes: row.bytes,
            queue_s: (rate > 0).then(|| row.bytes as f64 * 8.0 / rate as f64),
            probability: row.probability,
            enqueued: row.entered,
            dropped: row.dropped,
            marked: row.marked,
            dequeued: row.dequeued,
            dequeued_bytes: row.dequeued_bytes,
            throughput_bps: rate_bps(row.dequeued_bytes, since),
        }
    }
}

/// A group of traffic.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GroupObservation {
    /// Its name.
    pub name: String,
    /// Payload bytes that reached their applications since the last look.
    pub delivered_bytes: u64,
    /// Those bytes as a rate, bit/s; none over no time.
    pub throughput_bps: Option<f64>,
    /// Each flow, in a group of bulk flows.
    pub flows: Vec<FlowObservation>,
}

/// A bulk flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct FlowObservation {
    /// The sender's congestion window, bytes; none between transfers.
    pub cwnd_bytes: Option<u32>,
    /// Its smoothed round trip, s; none before the first.
    pub srtt_s: Option<f64>,
    /// Bytes that it takes to be in the network.
    pub in_flight_bytes: u32,
    /// Payload bytes that reached the receiving application since the last look.
    pub delivered_bytes: u64,
    /// Those bytes as a rate, bit/s; none over no time.
    pub throughput_bps: Option<f64>,
    /// Its packets that were dropped since the last look, in a simulation that can be changed;
    /// otherwise none are counted.
    pub dropped: u64,
    /// Its data packets that arrived with a mark since then, likewise.
    pub marked: u64,
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct QueuedPacket {
    /// The number of its group.
    pub group: usize,
    /// The number of its flow in the group: of its user, or of its transfer.
    pub flow: u32,
    /// Length of the IP packet in bytes.
    pub bytes: u32,
    /// Whether it carries a mark.
    pub marked: bool,
}

impl QueuedPacket {
    pub(crate) fn of(sim: &Sim, packet: &Packet) -> Self {
        let (group, flow) = if packet.is_datagram() {
            sim.flow_of(packet)
        } else {
            let conn = &sim.conns[packet.conn];
            (usize::from(conn.group), conn.member)
        };
        let marked = packet.segment.ecn == Ecn::Ce;
        Self { group, flow, bytes: packet.ip_bytes(), marked }
    }
}

/// What a flow had counted at some time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Seen {
    delivered: u64,
    dropped: u64,
    marked: u64,
}

impl Seen {
    fn since(self, then: Self) -> Self {
        Self {
            delivered: self.delivered - then.delivered,
            dropped: self.dropped - then.dropped,
            marked: self.marked - then.marked,
        }
    }
}

impl GroupObservation {
    /// `last` is what each member had counted at the last look.
    pub(crate) fn of(
        sim: &Sim,
        number: usize,
        group: &NetworkGroup,
        since: Time,
        last: &mut Vec<Seen>,
    ) -> Self {
        let first = sim.groups[number].first_meter;
        let meters = first.map_or(&[][..], |first| &sim.probes.meters[first as usize..]);
        let counts = meters.iter().map(|meter| (meter.dropped_ever, meter.marked_ever));
        let totals = sim.totals(number).into_iter().zip(counts.chain(repeat((0, 0))));
        let now = totals.map(|(totals, (dropped, marked))| Seen {
            delivered: totals.delivered,
            dropped,
            marked,
        });
        let now: Vec<Seen> = now.collect();
        let before = last.iter().copied().chain(repeat(Seen::default()));
        let came: Vec<Seen> = now.iter().zip(before).map(|(now, then)| now.since(then)).collect();
        *last = now;
        let delivered = came.iter().map(|came| came.delivered).sum();
        let mut flows = Vec::new();
        if matches!(group.source, Source::Bulk(_)) {
            flows.extend(came.iter().map(|came| FlowObservation {
                delivered_bytes: came.delivered,
                throughput_bps: rate_bps(came.delivered, since),
                dropped: came.dropped,
                marked: came.marked,
                ..FlowObservation::default()
            }));
            let conns = sim.conns.iter().filter(|(_, c)| usize::from(c.group) == number && !c.done);
            for (_, conn) in conns {
                let Some(flow) = flows.get_mut(conn.member as usize) else { continue };
                let sender = &conn.ends[0];
                flow.cwnd_bytes = Some(sender.cwnd());
                flow.srtt_s = sender.srtt().map(Time::as_secs_f64);
                flow.in_flight_bytes = sender.in_network();
            }
        }
        Self {
            name: group.name.clone(),
            delivered_bytes: delivered,
            throughput_bps: rate_bps(delivered, since),
            flows,
        }
    }
}
