//! A medium that several links share by Wi-Fi: contention, aggregates, block acknowledgements.
//!
//! Sources: IEEE 802.11-2020, 10.3 (DCF) and 10.22 (EDCA), with the times of 5 GHz; Bianchi:
//! Performance Analysis of the IEEE 802.11 Distributed Coordination Function (IEEE JSAC 18, 2000),
//! whose saturation throughput the tests compare; for aggregates and what waits below the
//! disciplines, Linux's mac80211 and ath9k as Høiland-Jørgensen et al. describe them (Ending the
//! Anomaly, USENIX ATC 2017).
//!
//! Links that come from the same node are one **transmitter**. It takes packets from the
//! disciplines of its links, one link at a time ([`turns`]), into aggregates, and holds at most two
//! of them, the one on air counted: what is there the disciplines do not see. The summary shows it
//! as the links' `device`.
//!
//! A transmitter with an aggregate waits until the medium has been idle for AIFS and then for as
//! many slots as it has drawn. While the medium is busy the count stands still. The one whose count
//! runs out sends: preamble, the aggregate at the rate of the link, SIFS, and the acknowledgement.
//! If several do so in the same slot they collide: the medium is busy for the longest of them, all
//! is sent again, and each doubles the window that it draws from. After every transmission the
//! count is drawn anew, whether there is more to send or not; and where the first packet comes
//! while the medium is busy, if the last count has run out.
//!
//! # Where the defaults come from
//!
//! SIFS of 16 µs and slots of 9 µs are those of OFDM in 20 MHz at 5 GHz; AIFS is SIFS and three
//! slots, the contention window 15 to 1023, as for best effort (the default EDCA parameters). A
//! preamble of 40 µs is HT's mixed format with two streams (8 + 8 + 4 + 8 + 4 + 2·4). A block
//! acknowledgement has 32 bytes: at 24 Mb/s twelve µs, after a preamble of 20. 64 packets are the
//! window of block acknowledgements, 65 535 bytes HT's longest aggregate. 4 ms for one, two below
//! the disciplines and turns of 300 µs are those of ath9k (`ath_update_max_aggr_framelen`,
//! `ATH_AGGR_MIN_QDEPTH`, `ATH_AIRTIME_QUANTUM`).
//!
//! # Differences from the sources
//!
//! 1. Everyone hears everyone, and frames are lost in collisions only: no hidden nodes, no fading,
//!    no capture. So a block acknowledgement acknowledges all of an aggregate or is not sent.
//! 2. Nobody gives up: there is no retry limit.
//! 3. One access category, no RTS/CTS, no beacons; a transmission opportunity is one aggregate.
//! 4. Whoever begins on an idle medium begins with a slot, counted from AIFS after the last frame.
//! 5. An aggregate is closed when a packet of 1500 bytes would no longer fit; its bytes are not
//!    rounded up to symbols.
//! 6. Bianchi lets a count go down by one for a busy period too; here, as in the standard, it only
//!    does so for idle slots.

mod turns;

use self::turns::Turns;
use crate::link::{Dropped, Link, Sent};
use crate::waiting::Waiting;
use sojourn_base::{Kind, NANOS_PER_BYTE, Stream, Time};
use sojourn_scenario::{Network, Wifi};
use std::collections::VecDeque;

/// Of a link's random numbers, those of backoffs: of the first link of a transmitter.
const BACKOFF_STREAM: u64 = 4;

/// The packet that must fit for an aggregate to go on.
const FULL: u32 = 1500;

/// Packets of one link that go on air together.
#[derive(Clone, Copy, Debug)]
struct Aggregate {
    /// Which of the transmitter's links.
    link: usize,
    packets: u32,
    /// What it takes on air, preamble included.
    takes: Time,
}

/// What contends as one.
#[derive(Clone, Debug)]
struct Transmitter {
    links: Vec<u32>,
    turns: Turns,
    /// Aggregates that wait for the medium, and whether another is on air.
    ready: VecDeque<Aggregate>,
    on_air: bool,
    /// Slots to go, as of when the medium became idle, and the window it was drawn from.
    count: u64,
    window: u32,
    /// Since when there is an aggregate.
    since: Time,
    stream: Stream,
}

/// A shared medium.
#[derive(Clone, Debug)]
pub struct Medium {
    params: Wifi,
    transmitters: Vec<Transmitter>,
    /// Since when the medium is idle, or until when it is busy.
    idle_since: Time,
    busy_until: Option<Time>,
    /// When an event comes.
    event_at: Time,
    winners: Vec<usize>,
}

/// What a transmission gives its owner: packets with the link that each has crossed.
pub type Aired<S> = Vec<(u32, Sent<S>)>;

impl Medium {
    /// The media of a network, whose links have these places among those with a rate.
    #[must_use]
    pub fn all(network: &Network, places: &[Option<u32>]) -> Vec<Self> {
        let media = network.media.iter().enumerate();
        media.map(|(number, params)| Self::new(network, places, number as u32, params)).collect()
    }

    fn new(network: &Network, places: &[Option<u32>], number: u32, params: &Wifi) -> Self {
        let mut nodes: Vec<(usize, Vec<u32>)> = Vec::new();
        for (link, place) in network.links.iter().zip(places) {
            if link.wifi != Some(number) {
                continue;
            }
            let place = place.unwrap_or_default();
            match nodes.iter_mut().find(|(node, _)| *node == link.from) {
                Some((_, links)) => links.push(place),
                None => nodes.push((link.from, vec![place])),
            }
        }
        let transmitter = |(_, links): (usize, Vec<u32>)| {
            let mut stream = Stream::new(network.seed, Kind::Link, links[0], BACKOFF_STREAM);
            Transmitter {
                turns: Turns::new(params.turns, params.quantum, links.len()),
                links,
                ready: VecDeque::with_capacity(params.hardware as usize),
                on_air: false,
                count: stream.below(u64::from(params.cw_min) + 1),
                window: params.cw_min,
                since: Time::ZERO,
                stream,
            }
        };
        let transmitters: Vec<_> = nodes.into_iter().map(transmitter).collect();
        Self {
            params: params.clone(),
            winners: Vec::with_capacity(transmitters.len()),
            transmitters,
            idle_since: Time::ZERO,
            busy_until: None,
            event_at: Time::MAX,
        }
    }

    /// The link that its events are said to be of.
    #[must_use]
    pub fn speaker(&self) -> u32 {
        self.transmitters[0].links[0]
    }

    /// Does what can be done at `now`, when an event has come or a link has packets: what goes on
    /// air is added to `aired`. Returns when the medium is to be looked at again, if no event for
    /// that is on its way.
    pub fn serve<S: Waiting>(
        &mut self,
        now: Time,
        links: &mut [Link<S>],
        dropped: &mut Dropped<S>,
        aired: &mut Aired<S>,
    ) -> Option<Time> {
        if self.event_at <= now {
            self.event_at = Time::MAX;
        }
        if let Some(until) = self.busy_until.filter(|&until| until <= now) {
            self.busy_until = None;
            self.idle_since = until;
            self.transmitters.iter_mut().for_each(|one| one.on_air = false);
        }
        let mut again = self.fill(now, links, dropped);
        if self.busy_until.is_none()
            && let Some(slot) = self.next_slot()
        {
            let at = self.idle_since + self.params.aifs + Time(slot * self.params.slot.0);
            again = again.min(if at <= now {
                self.transmit(now, slot, links, aired).min(self.fill(now, links, dropped))
            } else {
                at
            });
        }
        let again = again.min(self.busy_until.unwrap_or(Time::MAX));
        (again < self.event_at).then(|| {
            self.event_at = again;
            again
        })
    }

    /// Makes aggregates where there is room for them; when a packet that a discipline holds back
    /// will be ready.
    fn fill<S: Waiting>(
        &mut self,
        now: Time,
        links: &mut [Link<S>],
        dropped: &mut Dropped<S>,
    ) -> Time {
        let (mut ready, busy) = (Time::MAX, self.busy_until.is_some());
        for one in &mut self.transmitters {
            ready = ready.min(one.fill(now, &self.params, busy, links, dropped));
        }
        ready
    }

    /// The slot, counted from AIFS after the medium became idle, in which someone begins.
    fn next_slot(&self) -> Option<u64> {
        let begins = self.idle_since + self.params.aifs;
        self.transmitters.iter().filter_map(|one| one.slot(begins, self.params.slot)).min()
    }

    /// Those whose slot this is send; when the medium is idle again.
    fn transmit<S: Waiting>(
        &mut self,
        now: Time,
        slot: u64,
        links: &mut [Link<S>],
        aired: &mut Aired<S>,
    ) -> Time {
        let Self { params, transmitters, winners, .. } = self;
        let begins = self.idle_since + params.aifs;
        winners.clear();
        let mut longest = Time::ZERO;
        for (number, one) in transmitters.iter_mut().enumerate() {
            if one.slot(begins, params.slot) == Some(slot) {
                winners.push(number);
                longest = longest.max(one.ready[0].takes);
            } else {
                one.count = one.count.saturating_sub(slot);
            }
        }
        let collide = winners.len() > 1;
        let after = if collide { params.after_collision() } else { params.sifs + params.ack };
        for &number in winners.iter() {
            let one = &mut transmitters[number];
            let aggregate = one.ready[0];
            one.turns.charge(aggregate.link, aggregate.takes + after);
            if collide {
                one.window = (2 * one.window + 1).min(params.cw_max);
            } else {
                one.window = params.cw_min;
                one.on_air = true;
                one.ready.pop_front();
                let link = one.links[aggregate.link];
                let through = now + aggregate.takes;
                for _ in 0..aggregate.packets {
                    let sent = links[link as usize].lift(now, through);
                    aired.extend(sent.map(|sent| (link, sent)));
                }
            }
            one.draw();
        }
        let until = now + longest + after;
        self.busy_until = Some(until);
        until
    }
}

impl Transmitter {
    /// Draws a count of slots.
    fn draw(&mut self) {
        self.count = self.stream.below(u64::from(self.window) + 1);
    }

    /// The slot in which it begins, if it has an aggregate; slots begin at `begins`.
    fn slot(&self, begins: Time, slot: Time) -> Option<u64> {
        let passed = self.since.saturating_sub(begins).0.div_ceil(slot.0);
        (!self.ready.is_empty()).then(|| self.count.max(passed))
    }

    fn fill<S: Waiting>(
        &mut self,
        now: Time,
        params: &Wifi,
        busy: bool,
        links: &mut [Link<S>],
        dropped: &mut Dropped<S>,
    ) -> Time {
        let mut later = Time::MAX;
        for (number, &link) in self.links.iter().enumerate() {
            if links[link as usize].standing().packets > 0 {
                self.turns.busy(number);
            }
        }
        let most = params.hardware as usize;
        while self.ready.len() + usize::from(self.on_air) < most {
            let Some(number) = self.turns.next() else { break };
            let link = &mut links[self.links[number] as usize];
            match aggregate(now, number, params, link, dropped) {
                Some(made) => {
                    if self.ready.is_empty() {
                        self.since = now;
                        // A first packet on a busy medium backs off, if nothing does so already.
                        if busy && !self.on_air && self.count == 0 {
                            self.draw();
                        }
                    }
                    self.ready.push_back(made);
                    self.turns.made();
                }
                None => {
                    later = later.min(link.next_ready(now).unwrap_or(Time::MAX));
                    self.turns.empty();
                }
            }
        }
        let full = self.ready.len() + usize::from(self.on_air) == most;
        self.links.iter().for_each(|&link| links[link as usize].set_full(full));
        later
    }
}

/// What the discipline of a link gives for one transmission.
fn aggregate<S: Waiting>(
    now: Time,
    number: usize,
    params: &Wifi,
    link: &mut Link<S>,
    dropped: &mut Dropped<S>,
) -> Option<Aggregate> {
    let alone = params.aggregate_packets == 1;
    // In an aggregate frames begin at multiples of four bytes.
    let frame = |wire: u32| {
        let bytes = u64::from(wire + params.mpdu_overhead);
        if alone { bytes } else { bytes.next_multiple_of(4) }
    };
    let rate = u128::from(link.rate());
    let takes = |bytes: u64| Time((u128::from(bytes) * u128::from(NANOS_PER_BYTE) / rate) as u64);
    let full = frame(link.wire_bytes(FULL));
    let (mut packets, mut bytes) = (0, 0);
    while packets == 0
        || packets < params.aggregate_packets
            && bytes + full <= params.aggregate_bytes.0
            && takes(bytes + full) <= params.aggregate_time
    {
        let Some(wire) = link.hand_down(now, dropped) else { break };
        bytes += frame(wire);
        packets += 1;
    }
    (packets > 0).then(|| Aggregate {
        link: number,
        packets,
        takes: params.preamble + takes(bytes),
    })
}
