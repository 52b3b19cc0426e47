//! What is recorded while the router runs. Nothing here changes a decision.

use super::held::Held;
use super::report::{Counts, LinkSnapshot, Snapshot};
use crate::net::address::Side;
use sojourn_base::Time;
use sojourn_link::{Arrivals, Link, Samples};
use sojourn_records::pcapng::Content;
use sojourn_records::{CaptureId, Names, PacketCountRow, QueueRow, Recorder};
use sojourn_scenario::Network;

/// The probes of a run.
pub struct Probes {
    recorder: Recorder,
    interval: Option<u64>,
    samples: Samples,
    looks: Samples,
    /// Sojourn times that the last look knew of.
    seen: Vec<(u64, u128)>,
    names: Vec<String>,
    counting: Vec<Arrivals>,
    taps: Vec<(u32, CaptureId)>,
    sides: [Option<CaptureId>; 2],
}

impl Probes {
    /// Opens what the network's probes ask for.
    pub fn new(network: &Network, mut recorder: Recorder, links: usize) -> Self {
        let wanted = &network.probes;
        let finite: Vec<usize> =
            (0..network.links.len()).filter(|&l| network.links[l].rate.is_some()).collect();
        let names: Vec<String> = finite.iter().map(|&l| network.links[l].name.clone()).collect();
        recorder.begin(Names {
            links: names.clone(),
            groups: network.groups.iter().map(|g| g.name.clone()).collect(),
            flows: Vec::new(),
        });
        if wanted.queues {
            recorder.open::<QueueRow>();
        }
        let mut counting = Vec::new();
        if let Some(Time(interval)) = wanted.packet_counts {
            recorder.open::<PacketCountRow>();
            counting = (0..links as u32).map(|link| Arrivals::new(link, interval)).collect();
        }
        let mut taps = Vec::new();
        for link in &wanted.pcap {
            if let Some(place) = finite.iter().position(|l| l == link)
                && let Some(id) = recorder.open_capture(&names[place], Content::Headers)
            {
                taps.push((place as u32, id));
            }
        }
        Self {
            recorder,
            interval: wanted.queues.then_some(wanted.interval.0),
            samples: Samples::new(links),
            looks: Samples::new(links),
            seen: vec![(0, 0); links],
            names,
            counting,
            taps,
            sides: [None, None],
        }
    }

    /// Captures all that the host on `side` sends and receives, as `left` or `right`.
    pub fn capture_side(&mut self, side: Side) {
        let name = if side == Side::Left { "left" } else { "right" };
        self.sides[side as usize] = self.recorder.open_capture(name, Content::Everything);
    }

    /// Time between two samples of the queues, ns, if they are sampled.
    pub fn interval(&self) -> Option<u64> {
        self.interval
    }

    /// A packet reaches a link's queue.
    #[inline]
    pub fn arrived(&mut self, now: u64, link: u32, bytes: u32) {
        if let Some(row) = self.counting.get_mut(link as usize).and_then(|c| c.add(now, bytes)) {
            self.recorder.push(row);
        }
    }

    /// A packet has left a link's transmitter.
    #[inline]
    pub fn tap_link(&mut self, link: u32, at: u64, packet: &[u8]) {
        for &(_, id) in self.taps.iter().filter(|t| t.0 == link && packet[0] >> 4 == 4) {
            self.recorder.capture_bytes(id, Time(at), packet);
        }
    }

    /// A packet comes from or goes to a host.
    #[inline]
    pub fn tap_side(&mut self, side: Side, at: u64, packet: &[u8]) {
        // The format has one kind of packet per file.
        if let Some(id) = self.sides[side as usize]
            && packet[0] >> 4 == 4
        {
            self.recorder.capture_bytes(id, Time(at), packet);
        }
    }

    /// Samples all queues.
    pub fn sample(&mut self, now: u64, links: &mut [Link<Held>]) {
        self.samples.take(now, links, |row| self.recorder.push(row));
    }

    /// Looks at all queues for someone who watches.
    pub fn look(&mut self, now: u64, links: &mut [Link<Held>], counts: &Counts) -> Snapshot {
        let mut rows = Vec::with_capacity(links.len());
        self.looks.take(now, links, |row| rows.push(row));
        let link = |(at, row): (usize, QueueRow)| {
            let (count, sum) = links[at].sojourns();
            let (before, before_sum) = std::mem::replace(&mut self.seen[at], (count, sum));
            // They begin again with the measured window.
            let new = count.checked_sub(before).filter(|&n| n > 0);
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
            time_s: Time(now).as_secs_f64(),
            links: rows.into_iter().enumerate().map(link).collect(),
            packets: *counts,
        }
    }

    /// What is still being counted becomes rows; gives the recorder back.
    pub fn finish(mut self) -> Recorder {
        for row in self.counting.iter_mut().filter_map(Arrivals::end) {
            self.recorder.push(row);
        }
        self.recorder
    }
}
