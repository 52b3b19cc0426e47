//! A link that somebody else runs, such as the kernel of another machine: told of every packet that
//! comes and goes, it gives the measures of a [`Link`](crate::Link), by the same definitions.

use crate::meter::Meter;
use crate::sample::since;
use crate::summary::{bytes, link_counts, mean_and_max};
use sojourn_base::Time;
use sojourn_qdisc::{Count, Counters};
use sojourn_records::{LinkSummary, Quantiles, QueueRow, rate_bps};
use sojourn_scenario::{Network, NetworkLink};

/// The measures of a link with a constant rate whose packets are told of in order of time.
pub struct Observed {
    link: NetworkLink,
    rate: u64,
    counters: Counters,
    meter: Meter,
    at_start: (Counters, Count),
    at_sample: Counters,
}

impl Observed {
    /// Link `number` of a network; none if it is ideal.
    #[must_use]
    pub fn new(network: &Network, number: usize) -> Option<Self> {
        let link = network.links[number].clone();
        let rate = link.rate?.0;
        Some(Self {
            link,
            rate,
            counters: Counters::default(),
            meter: Meter::new(network.probes.standing_window),
            at_start: Default::default(),
            at_sample: Counters::default(),
        })
    }

    fn standing(&self) -> Count {
        let gone = self.counters.dequeued.plus(self.counters.evicted);
        self.counters.enqueued.minus(gone)
    }

    /// The queue is about to change, or somebody wants to know, at `now`.
    fn until(&mut self, now: Time) {
        let Count { packets, bytes } = self.standing();
        self.meter.until(now, packets as u32, bytes);
    }

    /// A packet joins the queue.
    pub fn enqueued(&mut self, now: Time, bytes: u32) {
        self.until(now);
        self.counters.enqueued.add(bytes);
    }

    fn drops(&mut self, bytes: u32, overflow: bool) {
        let counters = &mut self.counters;
        (if overflow { &mut counters.overflow } else { &mut counters.early }).add(bytes);
    }

    /// A packet is dropped as it comes.
    pub fn refused(&mut self, now: Time, bytes: u32, overflow: bool) {
        self.until(now);
        self.drops(bytes, overflow);
    }

    /// A packet that had joined the queue is dropped.
    pub fn evicted(&mut self, now: Time, bytes: u32, overflow: bool) {
        self.until(now);
        self.drops(bytes, overflow);
        self.counters.evicted.add(bytes);
    }

    /// A packet that joined the queue at `enqueued` begins its transmission; whether it got its
    /// mark CE here.
    pub fn sent(&mut self, now: Time, enqueued: Time, bytes: u32, marked: bool) {
        let Count { packets, bytes: standing } = self.standing();
        let wire = self.link.frame(bytes);
        self.meter.departs(now, (packets as u32, standing), enqueued.min(now), wire);
        self.counters.dequeued.add(bytes);
        if marked {
            self.counters.marked.add(bytes);
        }
    }

    /// The measured window begins.
    pub fn start_window(&mut self, now: Time) {
        self.until(now);
        self.at_start = (self.counters, self.standing());
        self.meter.start(now);
    }

    /// A sample of the queue of what is the link of this number among those with a rate.
    pub fn sample(&mut self, now: Time, number: u32, probability: f64) -> QueueRow {
        self.until(now);
        let counters = self.counters;
        let last = std::mem::replace(&mut self.at_sample, counters);
        QueueRow {
            rate_bps: self.rate,
            probability,
            ..since(now, number, self.standing(), counters, last, &self.meter)
        }
    }

    /// The link's row of the summary, at the end of a window of this length.
    #[must_use]
    pub fn summary(&mut self, end: Time, window: Time) -> LinkSummary {
        self.until(end);
        let (start, stood) = self.at_start;
        let (counts, dequeued) = link_counts(&self.counters, &start, self.standing(), stood);
        let capacity = self.rate as f64 * window.as_secs_f64();
        let bits = self.meter.wire_bytes as f64 * 8.0;
        LinkSummary {
            name: self.link.name.clone(),
            rate_bps: Some(self.rate),
            utilisation: (capacity > 0.0).then(|| (bits / capacity).min(1.0)),
            throughput_bps: rate_bps(dequeued.bytes, window),
            loss: counts.loss(),
            mark_fraction: counts.mark_fraction(),
            counts,
            queue_packets: Quantiles::of(&self.meter.lengths(), 1.0),
            queue_bytes: bytes(&self.meter, window),
            sojourn_s: Quantiles::seconds(&self.meter.sojourn),
            standing_packets: mean_and_max(self.meter.standing.lengths(), 1.0),
            standing_s: mean_and_max(self.meter.standing.sojourns(), 1e9),
            ..LinkSummary::default()
        }
    }

    /// Packets that have left since the start of the run.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.counters.dequeued.packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_scenario::Scenario;

    fn observed() -> Observed {
        let text = "duration = \"10s\"\n[bottleneck]\nrate = \"12mbit\"\nreverse = \"ideal\"\n\
                    [[traffic]]\nkind = \"bulk\"\n";
        let network = Scenario::from_toml(text, "test").unwrap().network(".".as_ref()).unwrap();
        assert!(Observed::new(&network, 1).is_none(), "an ideal link has no queue");
        Observed::new(&network, 0).unwrap()
    }

    const MS: Time = Time::from_millis(1);

    #[test]
    fn observer_events_match_summary() {
        let mut link = observed();
        link.enqueued(Time::ZERO, 1500);
        link.enqueued(Time::ZERO, 1500);
        link.sent(Time::ZERO, Time::ZERO, 1500, false);
        link.start_window(MS);
        // One stood there for 1 ms more, then two for 1 ms, then none.
        link.sent(MS * 2, Time::ZERO, 1500, true);
        link.enqueued(MS * 2, 1500);
        link.enqueued(MS * 2, 1500);
        link.refused(MS * 2, 1500, true);
        link.evicted(MS * 3, 1500, false);
        link.sent(MS * 3, MS * 2, 1500, false);
        let row = link.summary(MS * 11, MS * 10);
        row.check_conservation().unwrap();
        assert_eq!(
            (row.counts.arrived, row.counts.dequeued, row.counts.queued_at_start),
            (3, 2, 1)
        );
        assert_eq!((row.counts.dropped_overflow, row.counts.dropped_early), (1, 1));
        assert_eq!(row.counts.marked, 1);
        // Of four that left the queue two were dropped, and one was marked.
        assert_eq!((row.loss, row.mark_fraction), (Some(0.5), Some(0.25)));
        assert_eq!((row.rate_bps, row.throughput_bps), (Some(12_000_000), Some(2.4e6)));
        assert_eq!((row.queue_packets.mean, row.queue_bytes.mean), (Some(0.3), Some(450.0)));
        assert_eq!(row.sojourn_s.mean, Some(0.0015));
        // Two packets of 1 ms each in 10 ms.
        assert_eq!(row.utilisation, Some(0.2));
        assert_eq!(link.packets(), 3);
    }

    #[test]
    fn what_stands_for_seconds_is_the_standing_queue() {
        let mut link = observed();
        link.enqueued(Time::ZERO, 1500);
        link.enqueued(Time::ZERO, 1500);
        link.start_window(MS * 1000);
        let standing = link.summary(MS * 3000, MS * 2000).standing_packets;
        assert_eq!((standing.mean, standing.max), (Some(2.0), Some(2.0)));
    }

    #[test]
    fn samples_cover_time_since_last() {
        let mut link = observed();
        link.enqueued(Time::ZERO, 1000);
        let first = link.sample(MS, 0, 0.25);
        assert_eq!((first.entered, first.packets, first.bytes), (1, 1, 1000));
        link.sent(MS * 2, Time::ZERO, 1000, false);
        link.refused(MS * 2, 500, false);
        let second = link.sample(MS * 3, 0, 0.0);
        assert_eq!((second.entered, second.dequeued, second.dropped), (0, 1, 1));
        assert_eq!((second.packets, first.probability), (0, 0.25));
    }
}
