//! What a run of the router gives back, and what it shows of itself meanwhile.

use super::lateness::Lateness;
use serde::Serialize;
use sojourn_records::{LinkSummary, RouterSummary};

/// What the router counts of its packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Sent into it by hosts.
    pub received: u64,
    /// Handed to hosts.
    pub delivered: u64,
    /// No IP packet, or wrong lengths.
    pub malformed: u64,
    /// Longer than the MTU.
    pub too_long: u64,
    /// Without a path.
    pub unroutable: u64,
    /// Without a buffer.
    pub no_buffer: u64,
    /// Refused by the receiving host's kernel.
    pub undeliverable: u64,
    /// Dropped by queues.
    pub dropped: u64,
    /// Lost on wires.
    pub lost: u64,
    /// Under way.
    pub held: u64,
}

impl Counts {
    /// Packets that went no further, not by a queue's or a wire's doing.
    #[must_use]
    pub fn refused(&self) -> u64 {
        self.malformed + self.too_long + self.unroutable + self.no_buffer + self.undeliverable
    }

    /// Whether no packet appeared or vanished.
    #[must_use]
    pub fn balanced(&self) -> bool {
        self.received == self.delivered + self.refused() + self.dropped + self.lost + self.held
    }

    /// These counts and the lateness as they stand in a summary.
    #[must_use]
    pub fn summary(&self, lateness: &Lateness) -> RouterSummary {
        RouterSummary {
            received: self.received,
            delivered: self.delivered,
            merged: 0,
            refused: self.refused(),
            malformed: self.malformed,
            too_long: self.too_long,
            unroutable: self.unroutable,
            no_buffer: self.no_buffer,
            undeliverable: self.undeliverable,
            dropped: self.dropped,
            lost: self.lost,
            held: self.held,
            lateness_s: lateness.distribution(),
            lateness_limit_s: lateness.limit() as f64 / 1e9,
            late: lateness.late(),
            cpu_s: 0.0,
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Time that was reached, in seconds.
    pub end_s: f64,
    /// Events handled.
    pub events: u64,
    /// Packets that left the bottleneck's queue.
    pub bottleneck_packets: u64,
    /// Rows of the links, and of their classes; none if the window never began.
    pub links: Vec<LinkSummary>,
    /// The router itself.
    pub router: RouterSummary,
}

impl Report {
    /// So many of the packets that were counted as delivered went with the one before, and so many
    /// were refused after all.
    pub fn merged(&mut self, merged: u64, refused: u64) {
        self.router.merged = merged;
        self.router.delivered -= refused;
        self.router.undeliverable += refused;
        self.router.refused += refused;
    }
}

/// All queues at an instant, and what has happened since the last one.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// Seconds since the start.
    pub time_s: f64,
    /// Links that are not ideal, in order.
    pub links: Vec<LinkSnapshot>,
    /// Packets of the whole run.
    pub packets: Counts,
}

/// One queue.
#[derive(Clone, Debug, Serialize)]
pub struct LinkSnapshot {
    /// The link's name.
    pub name: String,
    /// Its present rate.
    pub rate_bps: u64,
    /// Packets in the queue now.
    pub queue_packets: u64,
    /// Bytes in the queue now.
    pub queue_bytes: u64,
    /// The discipline's probability now.
    pub probability: f64,
    /// Packets accepted since the last look, and so on.
    pub entered: u64,
    /// Dropped by the queue.
    pub dropped: u64,
    /// Marked by the queue.
    pub marked: u64,
    /// Lost on the wire.
    pub lost: u64,
    /// Sent.
    pub dequeued: u64,
    /// Bytes sent.
    pub dequeued_bytes: u64,
    /// Mean sojourn time of what was sent; none if nothing was.
    pub sojourn_s: Option<f64>,
}
