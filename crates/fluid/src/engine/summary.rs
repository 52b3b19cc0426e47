//! From sums to the summary. What a model without packets cannot know is left out: retransmissions,
//! timeouts, one-way delays and their variation.

use sojourn_base::{Time, sort_by, sort_by_key};
use sojourn_records::{
    FlowSummary, GroupSummary, LinkCounts, LinkSummary, Quantiles, Summary, jain,
};
use sojourn_scenario::Network;

use super::measure::{Measure, QueueMeter};
use crate::integrate::Work;

impl Measure {
    /// The summary of a run that ended at `end` seconds.
    pub(super) fn summarise(&mut self, network: &Network, end: f64, work: Work) -> Summary {
        let window = self.window();
        let mut summary = Summary {
            events: work.steps + work.events,
            ..Summary::of("fluid", network, Time((end * 1e9).round() as u64))
        };
        if window <= 0.0 {
            return summary;
        }
        summary.links = (0..self.queues.len()).map(|q| self.link(network, q, window)).collect();
        let bottleneck = self.plan.links.iter().position(|&link| link == network.bottleneck);
        if bottleneck.is_none() {
            // No data cross it, but it is the link that measures without a name are of.
            let link = &network.links[network.bottleneck];
            let rate_bps = link.rate.map(|rate| rate.0);
            summary.links.insert(
                0,
                LinkSummary { name: link.name.clone(), rate_bps, ..LinkSummary::default() },
            );
        }
        summary.bottleneck_packets =
            bottleneck.map_or(0, |queue| self.queues[queue].left().round() as u64);
        for group in 0..network.groups.len() {
            let flows = self.flows(network, group, window);
            let group = self.group(network, group, &flows);
            summary.add_group(group, network.probes.flows.then_some(flows), self.recorder());
        }
        summary
    }

    fn link(&self, network: &Network, queue: usize, window: f64) -> LinkSummary {
        let link = &network.links[self.plan.links[queue]];
        let (meter, bytes) = (&self.queues[queue], self.plan.ip_bytes[queue]);
        let counts = counts(meter, u64::from(bytes));
        let spec = &self.plan.parameters.queues[queue];
        let flow = &meter.window;
        let left = (flow.arrived - flow.dropped() + meter.at_start - meter.length).max(0.0);
        let mean = meter.area / window;
        let mut lengths: Vec<(f64, f64)> = meter.lengths.iter().map(|q| (*q, 1.0)).collect();
        let lengths = quantiles(&mut lengths);
        let scaled = |by: f64| scale(&lengths, by, Some(mean * by));
        // Of packets and not of time: a mean wait by Little's law, and lengths by what left.
        let by_packets = meter.lengths.iter().copied().zip(meter.leaving.iter().copied());
        let waits = quantiles(&mut by_packets.filter(|(_, left)| *left > 0.0).collect::<Vec<_>>());
        let wait = (left > 0.0).then(|| meter.area / left);
        let standing = |by: f64| Quantiles {
            mean: Some(meter.standing_area / window * by),
            max: Some(meter.standing_most * by),
            ..Quantiles::default()
        };
        LinkSummary {
            name: link.name.clone(),
            rate_bps: link.rate.map(|rate| rate.0),
            utilisation: Some((left / (spec.capacity * window)).min(1.0)),
            throughput_bps: Some(left * f64::from(bytes) * 8.0 / window),
            counts,
            loss: share(flow.dropped(), left + flow.dropped()),
            mark_fraction: share(flow.marked, flow.arrived.max(left + flow.dropped())),
            queue_packets: scaled(1.0),
            queue_bytes: Quantiles {
                mean: Some(mean * f64::from(bytes)),
                max: scaled(f64::from(bytes)).max,
                ..Quantiles::default()
            },
            sojourn_s: scale(&waits, 1.0 / spec.capacity, wait),
            standing_packets: standing(1.0),
            standing_s: standing(1.0 / spec.capacity),
            // Links that lose packets, or have a device below, are refused.
            lost: 0,
            lost_bytes: 0,
            device: None,
        }
    }

    /// The flows of a group, those of one class alike.
    fn flows(&self, network: &Network, group: usize, window: f64) -> Vec<FlowSummary> {
        let mut flows = Vec::new();
        for (meter, member) in self.classes.iter().zip(&self.plan.members) {
            if member.group != group {
                continue;
            }
            let mut times: Vec<(f64, f64)> = meter.round_trips.iter().map(|r| (*r, 1.0)).collect();
            let template = FlowSummary {
                group: network.groups[group].name.clone(),
                goodput_bps: Some(meter.delivered * 8.0 * f64::from(member.payload) / window),
                loss: share(meter.sent - meter.passed, meter.sent),
                rtt_s: quantiles(&mut times),
                ..FlowSummary::default()
            };
            flows.extend(
                member
                    .flows
                    .iter()
                    .map(|&index| FlowSummary { index: u64::from(index), ..template.clone() }),
            );
        }
        sort_by_key(&mut flows, |flow| flow.index);
        flows
    }

    fn group(&self, network: &Network, number: usize, flows: &[FlowSummary]) -> GroupSummary {
        let group = &network.groups[number];
        let rates = || flows.iter().map(|flow| flow.goodput_bps.unwrap_or(0.0));
        let mut times = Vec::new();
        for (meter, member) in self.classes.iter().zip(&self.plan.members) {
            if member.group == number {
                let weight = member.flows.len() as f64;
                times.extend(meter.round_trips.iter().map(|time| (*time, weight)));
            }
        }
        GroupSummary {
            goodput_bps: Some(rates().sum()),
            jain: if flows.len() > 1 { jain(rates()) } else { None },
            rtt_s: quantiles(&mut times),
            // Endless flows begin no exchanges.
            ..GroupSummary::of(group)
        }
    }
}

/// Counts that add up, from expected numbers.
fn counts(meter: &QueueMeter, bytes: u64) -> LinkCounts {
    let whole = |packets: f64| packets.max(0.0).round() as u64;
    let flow = &meter.window;
    let (early, overflow) = (whole(flow.early), whole(flow.overflow));
    let (start, end) = (whole(meter.at_start), whole(meter.length));
    let dropped = early + overflow;
    // What arrived is at least what was dropped and what the queue has grown by.
    let arrived = whole(flow.arrived).max(dropped + end.saturating_sub(start));
    let enqueued = arrived - dropped;
    let dequeued = enqueued + start - end;
    let marked = whole(flow.marked);
    LinkCounts {
        arrived,
        arrived_bytes: arrived * bytes,
        enqueued,
        enqueued_bytes: enqueued * bytes,
        dequeued,
        dequeued_bytes: dequeued * bytes,
        dropped,
        dropped_bytes: dropped * bytes,
        dropped_overflow: overflow,
        dropped_overflow_bytes: overflow * bytes,
        dropped_early: early,
        dropped_early_bytes: early * bytes,
        marked,
        marked_bytes: marked * bytes,
        queued_at_start: start,
        queued_at_start_bytes: start * bytes,
        queued_at_end: end,
        queued_at_end_bytes: end * bytes,
    }
}

fn share(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| (part / whole).clamp(0.0, 1.0))
}

fn scale(of: &Quantiles, by: f64, mean: Option<f64>) -> Quantiles {
    let at = |value: Option<f64>| value.map(|value| value * by);
    Quantiles { mean, p50: at(of.p50), p90: at(of.p90), p99: at(of.p99), max: at(of.max) }
}

/// Mean and quantiles of values with weights; sorts them.
fn quantiles(values: &mut [(f64, f64)]) -> Quantiles {
    sort_by(values, |a, b| a.0.total_cmp(&b.0));
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    let Some(&(max, _)) = values.last() else { return Quantiles::default() };
    let at = |fraction: f64| {
        let mut below = 0.0;
        values
            .iter()
            .find(|(_, weight)| {
                below += weight;
                below >= fraction * total
            })
            .map_or(max, |(value, _)| *value)
    };
    let sum: f64 = values.iter().map(|(value, weight)| value * weight).sum();
    Quantiles {
        mean: Some(sum / total),
        p50: Some(at(0.5)),
        p90: Some(at(0.9)),
        p99: Some(at(0.99)),
        max: Some(max),
    }
}

#[cfg(test)]
mod tests;
