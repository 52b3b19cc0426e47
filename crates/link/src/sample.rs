//! Samples of the queues, for whoever probes. Taking one changes no decision.

use crate::link::Link;
use crate::meter::Meter;
use crate::waiting::Waiting;
use sojourn_base::Time;
use sojourn_qdisc::{Count, Counters};
use sojourn_records::{LinkId, QueueRow};

/// What the last sample of each link saw, so that the next one can tell the difference.
#[derive(Clone)]
pub struct Samples(Vec<(Counters, u64)>);

impl Samples {
    /// For so many links.
    #[must_use]
    pub fn new(links: usize) -> Self {
        Self(vec![Default::default(); links])
    }

    /// Samples all queues at `now` and gives each row away.
    pub fn take<S: Waiting>(
        &mut self,
        now: Time,
        links: &mut [Link<S>],
        mut give: impl FnMut(QueueRow),
    ) {
        for (at, link) in links.iter_mut().enumerate() {
            link.settle(now);
            let counters = link.counters();
            let lost = link.lost().packets;
            let (last, last_lost) = std::mem::replace(&mut self.0[at], (counters, lost));
            let device = link.device.as_ref().map_or_else(Count::default, |d| d.standing());
            give(QueueRow {
                rate_bps: link.rate(),
                probability: link.probability(),
                lost: lost - last_lost,
                device_packets: device.packets,
                device_bytes: device.bytes,
                ..since(now, at as u32, link.standing(), counters, last, &link.meter)
            });
        }
    }
}

/// What stands in the queue of a link, and what its counters have counted since `last`; the fields
/// of which they know nothing are 0.
pub(crate) fn since(
    now: Time,
    link: u32,
    standing: Count,
    counters: Counters,
    last: Counters,
    meter: &Meter,
) -> QueueRow {
    let dequeued = counters.dequeued.minus(last.dequeued);
    let (standing_packets, standing_sojourn) = meter.standing.now();
    QueueRow {
        time_s: now,
        link: LinkId(link),
        rate_bps: 0,
        packets: standing.packets,
        bytes: standing.bytes,
        probability: 0.0,
        entered: counters.enqueued.packets - last.enqueued.packets,
        dropped: counters.dropped().packets - last.dropped().packets,
        marked: counters.marked.packets - last.marked.packets,
        dequeued: dequeued.packets,
        dequeued_bytes: dequeued.bytes,
        standing_packets,
        standing_s: standing_sojourn.map(Time),
        lost: 0,
        device_packets: 0,
        device_bytes: 0,
    }
}
