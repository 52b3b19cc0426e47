//! What is recorded at the links of a run, on request. Nothing here changes a decision.

use crate::arrivals::Arrivals;
use crate::link::Link;
use crate::paths::places;
use crate::sample::Samples;
use crate::waiting::Waiting;
use sojourn_base::Time;
use sojourn_records::pcapng::Content;
use sojourn_records::{CaptureId, FILES, PacketCountRow, QueueRow, Recorder};
use sojourn_scenario::Network;

/// Samples of the queues, counts of arrivals and captures. A copy counts on and
/// records where its original does in memory, else nothing.
pub struct Probes {
    /// Where rows go.
    pub recorder: Recorder,
    interval: Option<Time>,
    samples: Samples,
    counting: Vec<Arrivals>,
    captures: Vec<(u32, CaptureId)>,
}

impl Clone for Probes {
    fn clone(&self) -> Self {
        let Self { interval, samples, counting, .. } = self;
        let (samples, counting) = (samples.clone(), counting.clone());
        let (recorder, captures) = (self.recorder.for_copy(), Vec::new());
        Self { recorder, interval: *interval, samples, counting, captures }
    }
}

impl Probes {
    /// Opens what the network's probes ask for at its links. The recorder knows the names already.
    #[must_use]
    pub fn open(network: &Network, mut recorder: Recorder) -> Self {
        let wanted = &network.probes;
        let places = places(network);
        let finite = || places.iter().flatten().copied();
        if wanted.queues {
            recorder.open::<QueueRow>();
        }
        let mut counting = Vec::new();
        if let Some(interval) = wanted.packet_counts {
            recorder.open::<PacketCountRow>();
            counting = finite().map(|link| Arrivals::new(link, interval)).collect();
        }
        let mut captures = Vec::new();
        for &link in &wanted.pcap {
            if let Some(place) = places[link]
                && let Some(id) = recorder.open_capture(&network.links[link].name, Content::Headers)
            {
                captures.push((place, id));
            }
        }
        Self {
            recorder,
            interval: wanted.queues.then_some(wanted.interval),
            samples: Samples::new(finite().count()),
            counting,
            captures,
        }
    }

    /// Time between two samples of the queues, if they are sampled.
    #[must_use]
    pub fn interval(&self) -> Option<Time> {
        self.interval
    }

    /// A packet reaches a link's queue.
    #[inline]
    pub fn arrived(&mut self, now: Time, link: u32, bytes: u32) {
        if let Some(row) = self.counting.get_mut(link as usize).and_then(|c| c.add(now, bytes)) {
            self.recorder.push(row);
        }
    }

    /// Samples all queues.
    pub fn sample<S: Waiting>(&mut self, now: Time, links: &mut [Link<S>]) {
        self.samples.take(now, links, |row| self.recorder.push(row));
    }

    /// Whether any link is captured.
    #[inline]
    #[must_use]
    pub fn capturing(&self) -> bool {
        FILES && !self.captures.is_empty()
    }

    /// The captures of a link, and the recorder that takes their packets.
    #[inline]
    pub fn captures(&mut self, link: u32) -> (impl Iterator<Item = CaptureId>, &mut Recorder) {
        let of_link = self.captures.iter().filter(move |(at, _)| *at == link);
        (of_link.map(|(_, id)| *id), &mut self.recorder)
    }

    /// The run is over: what is still being counted becomes rows.
    pub fn finish(&mut self) {
        for row in self.counting.iter_mut().filter_map(Arrivals::end) {
            self.recorder.push(row);
        }
    }
}
