//! From a link's counters and meters to its rows of the summary.

use crate::classes::Class;
use crate::device::Device;
use crate::link::Link;
use crate::meter::Meter;
use crate::waiting::Waiting;
use sojourn_base::Time;
use sojourn_qdisc::{Count, Counters};
use sojourn_records::{DeviceSummary, LinkCounts, LinkSummary, Quantiles, rate_bps};
use sojourn_scenario::{Network, NetworkLink};

/// The rows of a network's links, of which `links` are those that are not ideal, in order, brought
/// up to the end of a measured window of this length: one for each link, and after all links one
/// for each class of those that have classes.
#[must_use]
pub fn summaries<S: Waiting>(
    network: &Network,
    links: &[Link<S>],
    window: Time,
) -> Vec<LinkSummary> {
    let each = || network.links.iter().filter(|link| link.rate.is_some()).zip(links);
    let mut rows: Vec<LinkSummary> = each().map(|(n, l)| link_summary(n, l, window)).collect();
    for (n, l) in each() {
        let classes = l.classes.iter().flat_map(|classes| &classes.0);
        rows.extend(classes.map(|class| class_summary(n, class, window)));
    }
    rows
}

fn link_summary<S: Waiting>(network: &NetworkLink, link: &Link<S>, window: Time) -> LinkSummary {
    let (start, stood) = &link.at_start;
    let (counts, dequeued) = link_counts(&link.counters(), start, link.standing(), *stood);
    let bits = link.meter.wire_bytes as f64 * 8.0;
    let capacity = link.capacity(window.as_secs_f64());
    let rate = match link.varies() {
        false => network.rate.map(|rate| rate.0),
        // Its mean; undefined over no time.
        true => (window > Time::ZERO).then(|| (capacity / window.as_secs_f64()).round() as u64),
    };
    let device = link.device.as_ref().map(|device| device_summary(device, window));
    let sent_bytes = device.as_ref().map_or(dequeued.bytes, |device| device.sent_bytes);
    let lost = link.lost().minus(link.lost_at_start);
    LinkSummary {
        name: network.name.clone(),
        rate_bps: rate,
        // The last packet's transmission may end after the window.
        utilisation: (capacity > 0.0).then(|| (bits / capacity).min(1.0)),
        throughput_bps: rate_bps(sent_bytes, window),
        loss: counts.loss(),
        mark_fraction: counts.mark_fraction(),
        counts,
        queue_packets: Quantiles::of(&link.meter.lengths(), 1.0),
        queue_bytes: bytes(&link.meter, window),
        sojourn_s: Quantiles::seconds(&link.meter.sojourn),
        standing_packets: mean_and_max(link.meter.standing.lengths(), 1.0),
        standing_s: mean_and_max(link.meter.standing.sojourns(), 1e9),
        lost: lost.packets,
        lost_bytes: lost.bytes,
        device,
    }
}

pub(crate) fn link_counts(
    now: &Counters,
    start: &Counters,
    standing: Count,
    stood: Count,
) -> (LinkCounts, Count) {
    let (arrived, dropped) =
        (now.arrived().minus(start.arrived()), now.dropped().minus(start.dropped()));
    let enqueued = now.enqueued.minus(start.enqueued);
    let dequeued = now.dequeued.minus(start.dequeued);
    let overflow = now.overflow.minus(start.overflow);
    let early = now.early.minus(start.early);
    let marked = now.marked.minus(start.marked);
    let counts = LinkCounts {
        arrived: arrived.packets,
        arrived_bytes: arrived.bytes,
        enqueued: enqueued.packets,
        enqueued_bytes: enqueued.bytes,
        dequeued: dequeued.packets,
        dequeued_bytes: dequeued.bytes,
        dropped: dropped.packets,
        dropped_bytes: dropped.bytes,
        dropped_overflow: overflow.packets,
        dropped_overflow_bytes: overflow.bytes,
        dropped_early: early.packets,
        dropped_early_bytes: early.bytes,
        marked: marked.packets,
        marked_bytes: marked.bytes,
        queued_at_start: stood.packets,
        queued_at_start_bytes: stood.bytes,
        queued_at_end: standing.packets,
        queued_at_end_bytes: standing.bytes,
    };
    (counts, dequeued)
}

/// The row of a class: what its queue counts and measures. It has no rate of its own.
fn class_summary(network: &NetworkLink, class: &Class, window: Time) -> LinkSummary {
    let Class { name, meter, counters, at_start } = class;
    let standing = (counters.standing(), at_start.standing());
    let (counts, dequeued) = link_counts(counters, at_start, standing.0, standing.1);
    LinkSummary {
        name: format!("{}/{name}", network.name),
        throughput_bps: rate_bps(dequeued.bytes, window),
        loss: counts.loss(),
        mark_fraction: counts.mark_fraction(),
        counts,
        queue_packets: Quantiles::of(&meter.lengths(), 1.0),
        queue_bytes: bytes(meter, window),
        sojourn_s: Quantiles::seconds(&meter.sojourn),
        standing_packets: mean_and_max(meter.standing.lengths(), 1.0),
        standing_s: mean_and_max(meter.standing.sojourns(), 1e9),
        ..LinkSummary::default()
    }
}

fn device_summary<S: Waiting>(device: &Device<S>, window: Time) -> DeviceSummary {
    let (left, stood) = device.at_start;
    let (sent, standing, meter) = (device.left.minus(left), device.standing(), &device.meter);
    DeviceSummary {
        sent: sent.packets,
        sent_bytes: sent.bytes,
        queued_at_start: stood.packets,
        queued_at_start_bytes: stood.bytes,
        queued_at_end: standing.packets,
        queued_at_end_bytes: standing.bytes,
        queue_packets: Quantiles::of(&meter.lengths(), 1.0),
        queue_bytes: bytes(meter, window),
        sojourn_s: Quantiles::seconds(&meter.sojourn),
        standing_packets: mean_and_max(meter.standing.lengths(), 1.0),
        standing_s: mean_and_max(meter.standing.sojourns(), 1e9),
        limit_bytes: device.limit(),
    }
}

pub(crate) fn bytes(meter: &Meter, window: Time) -> Quantiles {
    let (mean, max) = meter.bytes(window);
    Quantiles { mean: Some(mean), max: Some(max as f64), ..Quantiles::default() }
}

pub(crate) fn mean_and_max(found: Option<(f64, u64)>, unit: f64) -> Quantiles {
    Quantiles {
        mean: found.map(|(mean, _)| mean / unit),
        max: found.map(|(_, max)| max as f64 / unit),
        ..Quantiles::default()
    }
}
