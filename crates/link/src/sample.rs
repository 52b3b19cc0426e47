//! Samples of the queues, for whoever probes. Taking one changes no decision.

use crate::link::Link;
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
        mut row: impl FnMut(QueueRow),
    ) {
        for (at, link) in links.iter_mut().enumerate() {
            link.settle(now);
            let counters = link.counters();
            let lost = link.lost().packets;
            let (last, last_lost) = std::mem::replace(&mut self.0[at], (counters, lost));
            let device = link.device.as_ref().map_or_else(Count::default, |d| d.standing());
            let standing = link.standing();
            let dequeued = counters.dequeued.minus(last.dequeued);
            let (standing_packets, standing_sojourn) = link.meter.standing.now();
            row(QueueRow {
                time_s: now,
                link: LinkId(at as u32),
                rate_bps: link.rate(),
                packets: standing.packets,
                bytes: standing.bytes,
                probability: link.probability(),
                entered: counters.enqueued.packets - last.enqueued.packets,
                dropped: counters.dropped().packets - last.dropped().packets,
                marked: counters.marked.packets - last.marked.packets,
                dequeued: dequeued.packets,
                dequeued_bytes: dequeued.bytes,
                standing_packets,
                standing_s: standing_sojourn.map(Time),
                lost: lost - last_lost,
                device_packets: device.packets,
                device_bytes: device.bytes,
            });
        }
    }
}
