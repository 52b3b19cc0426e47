//! What is recorded while the router runs. Nothing here changes a decision.

use super::held::Held;
use super::report::{Counts, LinkSnapshot, Snapshot};
use crate::net::address::Side;
use sojourn_base::Time;
use sojourn_link::{Link, Samples};
use sojourn_records::pcapng::Content;
use sojourn_records::{CaptureId, Names, QueueRow, Recorder};
use sojourn_scenario::Network;

/// The probes of a run.
pub(super) struct Probes {
    links: sojourn_link::Probes,
    looks: Samples,
    /// Sojourn times that the last look knew of.
    seen: Vec<(u64, u128)>,
    names: Vec<String>,
    sides: [Option<CaptureId>; 2],
}

impl Probes {
    /// Opens what the network's probes ask for.
    pub(super) fn new(network: &Network, mut recorder: Recorder, links: usize) -> Self {
        let known = Names::of(network);
        let names = known.links.clone();
        recorder.begin(known);
        Self {
            links: sojourn_link::Probes::open(network, recorder),
            looks: Samples::new(links),
            seen: vec![(0, 0); links],
            names,
            sides: [None, None],
        }
    }

    /// Captures all that the host on `side` sends and receives, as `left` or `right`.
    pub(super) fn capture_side(&mut self, side: Side) {
        let name = if side == Side::Left { "left" } else { "right" };
        self.sides[side as usize] = self.links.recorder.open_capture(name, Content::Everything);
    }

    /// Time between two samples of the queues, if they are sampled.
    pub(super) fn interval(&self) -> Option<Time> {
        self.links.interval()
    }

    /// A packet reaches a link's queue.
    #[inline]
    pub(super) fn arrived(&mut self, now: Time, link: u32, bytes: u32) {
        self.links.arrived(now, link, bytes);
    }

    /// Whether any link is captured.
    #[inline]
    pub(super) fn capturing(&self) -> bool {
        self.links.capturing()
    }

    /// A packet goes to a link's transmitter.
    #[inline]
    pub(super) fn tap_link(&mut self, link: u32, at: Time, packet: &[u8]) {
        let (captures, recorder) = self.links.captures(link);
        for id in captures.filter(|_| packet[0] >> 4 == 4) {
            recorder.capture_bytes(id, at, packet);
        }
    }

    /// A packet comes from or goes to a host.
    #[inline]
    pub(super) fn tap_side(&mut self, side: Side, at: Time, packet: &[u8]) {
        // The format has one kind of packet per file.
        if let Some(id) = self.sides[side as usize]
            && packet[0] >> 4 == 4
        {
            self.links.recorder.capture_bytes(id, at, packet);
        }
    }

    /// Samples all queues.
    pub(super) fn sample(&mut self, now: Time, links: &mut [Link<Held>]) {
        self.links.sample(now, links);
    }

    /// The measured window begins, and the links' sojourn times with it.
    pub(super) fn start_window(&mut self) {
        self.seen.fill((0, 0));
    }

    /// Looks at all queues for someone who watches.
    pub(super) fn look(
        &mut self,
        now: Time,
        links: &mut [Link<Held>],
        counts: &Counts,
    ) -> Snapshot {
        let mut rows = Vec::with_capacity(links.len());
        self.looks.take(now, links, |row| rows.push(row));
        let link = |(at, row): (usize, QueueRow)| {
            let (count, sum) = links[at].sojourns();
            let (before, before_sum) = std::mem::replace(&mut self.seen[at], (count, sum));
            let new = (count > before).then(|| count - before);
            LinkSnapshot {
                name: self.names[at].clone(),
                rate_bps: row.rate_bps,
                queue_packets: row.packets,
                queue_bytes: row.bytes,
                probability: row.probability,
                entered: row.entered,
                dropped: row.dropped,
                marked: row.marked,
                lost: row.lost,
                dequeued: row.dequeued,
                dequeued_bytes: row.dequeued_bytes,
                sojourn_s: new.map(|n| (sum - before_sum) as f64 / n as f64 / 1e9),
            }
        };
        Snapshot {
            time_s: now.as_secs_f64(),
            links: rows.into_iter().enumerate().map(link).collect(),
            packets: *counts,
        }
    }

    /// What is still being counted becomes rows; gives the recorder back.
    pub(super) fn finish(mut self) -> Recorder {
        self.links.finish();
        self.links.recorder
    }
}
