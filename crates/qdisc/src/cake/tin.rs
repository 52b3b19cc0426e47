//! One tin: queues with a COBALT each, told apart by a set-associative hash, in turns by deficits
//! (DRR++): those that have just become busy first, and a quantum divided by how busy the hosts
//! of a queue are.

use super::ack_filter;
use super::chains::{Chains, Ring};
use super::hosts::Hosts;
use super::params::{AckFilter, Isolation};
use super::sets::{QUEUES, places};
use super::shaper::Threshold;
use super::tins::Part;
use crate::cobalt_law::{Constants, Decision, State};
use crate::flow_queue::perturbed;
use crate::pool::{Line, Pool};
use crate::{Counters, DropReason, EcnMarking, Packet, Probability, Sink, Stamped, Unstamp};
use alloc::{vec, vec::Vec};
use sojourn_base::{Stream, Time};

/// Bytes of an Ethernet header, which Linux counts with the MTU.
const HEADER: u32 = 14;
/// Bounds of the quantum, and the part of a second whose bytes it is: 2⁻¹².
const LEAST_QUANTUM: u64 = 300;
const QUANTUM_SHIFT: u32 = 12;

/// What a queue counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// Nothing: it is in no ring.
    None,
    /// It has not used up a quantum.
    Sparse,
    /// It used up its quantum with its last packet: it waits among the old ones, yet counts as
    /// sparse.
    SparseWait,
    /// It has used up a quantum and has more.
    Bulk,
    /// It is empty, and its COBALT not at rest.
    Decaying,
}

#[derive(Clone, Debug)]
struct Flow {
    line: Line,
    /// Bytes on the line that it may still send in this round.
    deficit: i64,
    cobalt: State,
    /// The hash of the flow it is for.
    tag: u32,
    source: u16,
    destination: u16,
    set: Set,
}

/// The hashes by which a packet finds its queue and its hosts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hashes {
    flow: u32,
    source: u32,
    destination: u32,
}

impl Hashes {
    #[inline]
    pub(super) fn of<P: Packet>(packet: &P, isolation: Isolation, key: u64) -> Self {
        let source = perturbed(packet.source(), key);
        // Another key, or a host would cancel itself out.
        let destination = perturbed(packet.destination(), !key);
        let flow = match isolation {
            Isolation::Flowblind => 0,
            Isolation::Srchost => source,
            Isolation::Dsthost => destination,
            Isolation::Hosts => source ^ destination,
            _ => perturbed(packet.flow_hash(), key),
        };
        Self { flow, source, destination }
    }
}

/// What of a tin depends on the rate.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rules {
    law: Constants,
    /// Nanoseconds that the longest packet takes.
    mtu_time: u64,
    /// Bytes of a queue in a round.
    quantum: u32,
    /// Bytes of the tin in a round.
    part: i64,
}

/// What a tin needs to know that is not its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub target: u64,
    pub rtt: u64,
    pub mtu: u32,
    pub ecn: EcnMarking,
}

impl Rules {
    fn new(part: Part, setting: &Setting) -> Self {
        let mtu = setting.mtu + HEADER;
        let (mtu_time, quantum) = if part.rate == 0 {
            (0, u64::from(mtu))
        } else {
            let bytes = part.rate >> (3 + QUANTUM_SHIFT);
            let time = super::shaper::time_of(mtu, part.rate);
            (time, bytes.min(u64::from(mtu)).max(LEAST_QUANTUM))
        };
        let target = setting.target.max(mtu_time * 3 / 2);
        let one = Probability::ONE.raw() as i64;
        let law = Constants {
            target,
            interval: (setting.rtt + target - setting.target).max(2 * target),
            first_interval: false,
            blue_threshold: u64::MAX,
            above: target.max(4 * mtu_time),
            increment: one >> 8,
            decrement: one >> 12,
            ecn: setting.ecn,
        };
        Self { law, mtu_time, quantum: quantum as u32, part: part.quantum }
    }
}

/// A call of `dequeue`.
pub(super) struct Call {
    pub now: Time,
    /// Whether dropped packets count as sent, and the guard for slow lines grows with the number
    /// of busy queues.
    pub ingress: bool,
    /// How many packets may still be dropped.
    pub budget: u32,
}

/// What came of a turn.
pub(super) enum Turn<P> {
    /// A packet leaves.
    Sent(Stamped<P>),
    /// The queue was empty.
    Empty,
    /// A packet of so many bytes was dropped, which counts as sent; whose turn it is, is to be
    /// looked at again.
    Dropped(u32),
}

/// A tin.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    flows: Vec<Flow>,
    /// Bytes in each queue; apart, for the search for the longest.
    backlogs: Vec<u64>,
    chains: Chains,
    sources: Hosts,
    destinations: Hosts,
    rules: Rules,
    sparse: u32,
    bulk: u32,
    pub clock: Threshold,
    /// Bytes on the line that the tin may still send in this round, where there is no shaper.
    pub deficit: i64,
    pub counters: Counters,
}

impl Tin {
    pub(super) fn new(part: Part, setting: &Setting, isolation: Isolation) -> Self {
        let flow = Flow {
            line: Line::EMPTY,
            deficit: 0,
            cobalt: State::default(),
            tag: 0,
            source: 0,
            destination: 0,
            set: Set::None,
        };
        let mut tin = Self {
            flows: vec![flow; QUEUES],
            backlogs: vec![0; QUEUES],
            chains: Chains::new(),
            sources: Hosts::new(isolation.by_source()),
            destinations: Hosts::new(isolation.by_destination()),
            rules: Rules::new(part, setting),
            sparse: 0,
            bulk: 0,
            clock: Threshold::default(),
            deficit: 0,
            counters: Counters::default(),
        };
        tin.clock.rate = part.rate;
        tin
    }

    /// Goes on with another part of the line.
    pub(super) fn set_part(&mut self, part: Part, setting: &Setting) {
        self.rules = Rules::new(part, setting);
        self.clock.rate = part.rate;
    }

    /// Whether it has queues in turns. They may be empty.
    #[inline]
    pub(super) fn waits(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.counters.standing().packets == 0
    }

    /// A round for the whole tin.
    #[inline]
    pub(super) fn add_part(&mut self) {
        self.deficit += self.rules.part;
    }

    /// The queue of a packet. A queue in no ring is nobody's; where all of a set are taken, the
    /// hash's own is shared, and is the newcomer's from then on.
    #[inline]
    pub(super) fn classify(&mut self, hashes: Hashes) -> usize {
        let own = hashes.flow as usize % QUEUES;
        if self.flows[own].tag == hashes.flow && self.flows[own].set != Set::None {
            return own;
        }
        self.find(hashes)
    }

    fn find(&mut self, hashes: Hashes) -> usize {
        let known = places(hashes.flow).find(|&at| self.flows[at].tag == hashes.flow);
        let at = known
            .or_else(|| places(hashes.flow).find(|&at| self.flows[at].set == Set::None))
            .unwrap_or(hashes.flow as usize % QUEUES);
        if known.is_some() && self.flows[at].set != Set::None {
            return at;
        }
        let busy = self.flows[at].set == Set::Bulk;
        if busy {
            self.quieter(at);
        }
        let flow = &mut self.flows[at];
        flow.tag = hashes.flow;
        flow.source = self.sources.find(hashes.source);
        flow.destination = self.destinations.find(hashes.destination);
        if busy {
            self.busier(at);
        }
        at
    }

    #[inline]
    fn busier(&mut self, at: usize) {
        self.sources.busier(self.flows[at].source);
        self.destinations.busier(self.flows[at].destination);
    }

    #[inline]
    fn quieter(&mut self, at: usize) {
        self.sources.quieter(self.flows[at].source);
        self.destinations.quieter(self.flows[at].destination);
    }

    /// A queue that counted as sparse is busy.
    fn promote(&mut self, at: usize) {
        self.sparse -= 1;
        self.bulk += 1;
        self.busier(at);
        self.flows[at].set = Set::Bulk;
    }

    /// A quantum in Q.16, divided among the busy queues of whichever host has more.
    #[inline]
    fn quantum(&self, at: usize) -> u64 {
        let flow = &self.flows[at];
        let load = self.sources.load(flow.source).max(self.destinations.load(flow.destination));
        u64::from(self.rules.quantum) * (u64::from(u16::MAX) / u64::from(load.max(1)))
    }

    /// Appends a packet to its queue.
    #[inline]
    pub(super) fn append<P: Packet>(
        &mut self,
        at: usize,
        packet: Stamped<P>,
        pool: &mut Pool<Stamped<P>>,
    ) {
        let bytes = packet.bytes();
        self.counters.enqueued.add(bytes);
        self.backlogs[at] += u64::from(bytes);
        pool.push(&mut self.flows[at].line, packet);
    }

    /// Drops the acknowledgement that the packet at the tail of queue `at` makes superfluous; its
    /// bytes.
    pub(super) fn filter<P: Packet>(
        &mut self,
        at: usize,
        how: AckFilter,
        now: Time,
        pool: &mut Pool<Stamped<P>>,
        sink: &mut impl Sink<P>,
    ) -> Option<u32> {
        let ack = ack_filter::filter(&mut self.flows[at].line, pool, how, sink)?;
        self.drop_out(at, now, ack, DropReason::Early, sink);
        Some(ack.bytes())
    }

    /// The queue waits for its turn, if it did not.
    #[inline]
    pub(super) fn wait(&mut self, at: usize) {
        match self.flows[at].set {
            Set::None | Set::Decaying => {
                self.chains.join(Ring::New, at);
                self.sparse += 1;
                let quantum = self.quantum(at);
                let flow = &mut self.flows[at];
                flow.set = Set::Sparse;
                flow.deficit = (quantum >> 16) as i64;
            }
            Set::SparseWait => self.promote(at),
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Packets in a queue.
    #[inline]
    pub(super) fn packets_in(&self, at: usize) -> u32 {
        self.flows[at].line.len()
    }

    /// The longest queue and its bytes.
    pub(super) fn longest(&self) -> (usize, u64) {
        let most = self.backlogs.iter().copied().max().unwrap_or(0);
        (self.backlogs.iter().position(|&bytes| bytes == most).unwrap_or(0), most)
    }

    /// A limit is reached, and the packet at the head of queue `at` dropped for it.
    pub(super) fn shorten<P: Packet>(
        &mut self,
        at: usize,
        now: Time,
        pool: &mut Pool<Stamped<P>>,
        sink: &mut impl Sink<P>,
    ) -> u32 {
        self.flows[at].cobalt.overflowed(&self.rules.law, now);
        self.evict(at, now, DropReason::Overflow, pool, sink)
    }

    /// Drops the packet at the head of a queue; its bytes.
    fn evict<P: Packet>(
        &mut self,
        at: usize,
        now: Time,
        reason: DropReason,
        pool: &mut Pool<Stamped<P>>,
        sink: &mut impl Sink<P>,
    ) -> u32 {
        let Some(packet) = pool.pop(&mut self.flows[at].line) else { return 0 };
        self.drop_out(at, now, packet, reason, sink);
        packet.bytes()
    }

    /// A packet that has been taken out of a queue is dropped.
    fn drop_out<P: Packet>(
        &mut self,
        at: usize,
        now: Time,
        packet: Stamped<P>,
        reason: DropReason,
        sink: &mut impl Sink<P>,
    ) {
        let bytes = packet.bytes();
        self.backlogs[at] -= u64::from(bytes);
        self.counters.evicted.add(bytes);
        match reason {
            DropReason::Overflow => self.counters.overflow.add(bytes),
            DropReason::Early => self.counters.early.add(bytes),
        }
        Unstamp(sink).dropped(now, packet, reason);
    }

    /// The queue whose turn it is. Once in a call, `decaying`, an empty one that is not at rest is
    /// looked at instead.
    #[inline]
    pub(super) fn turn(&mut self, decaying: bool, coin: &mut Stream) -> Option<usize> {
        if decaying && let Some(at) = self.chains.first(Ring::Decaying) {
            return Some(at);
        }
        loop {
            let at = self.chains.first(Ring::New).or_else(|| self.chains.first(Ring::Old))?;
            if self.flows[at].deficit > 0 {
                return Some(at);
            }
            if self.flows[at].set == Set::Sparse {
                if self.flows[at].line.is_empty() {
                    self.flows[at].set = Set::SparseWait;
                } else {
                    self.promote(at);
                }
            }
            // Rounded at random, so that small quanta are right on average.
            let quantum = self.quantum(at) + u64::from(coin.next_u32() >> 16);
            self.flows[at].deficit += (quantum >> 16) as i64;
            self.chains.join(Ring::Old, at);
        }
    }

    /// COBALT decides about the packet at the head of queue `at`.
    #[inline]
    pub(super) fn serve<P: Packet>(
        &mut self,
        at: usize,
        call: &mut Call,
        pool: &mut Pool<Stamped<P>>,
        coin: &mut Stream,
        sink: &mut impl Sink<P>,
    ) -> Turn<P> {
        let now = call.now;
        let guard = if call.ingress { 2 * u64::from(self.bulk) * self.rules.mtu_time } else { 0 };
        loop {
            let flow = &mut self.flows[at];
            let Some(head) = pool.head_mut(&flow.line) else {
                self.emptied(at, now);
                return Turn::Empty;
            };
            let Decision { drop, mark } =
                flow.cobalt.decide(&self.rules.law, now, head.at, head.ecn(), guard, coin);
            // The last packet may be marked, but is not dropped.
            if drop && flow.line.len() > 1 && call.budget > 0 {
                call.budget -= 1;
                let bytes = self.evict(at, now, DropReason::Early, pool, sink);
                if call.ingress {
                    return Turn::Dropped(bytes);
                }
                continue;
            }
            if mark {
                head.set_ce();
                self.counters.marked.add(head.bytes());
            }
            let packet = *head;
            pool.pop(&mut flow.line);
            self.backlogs[at] -= u64::from(packet.bytes());
            self.counters.dequeued.add(packet.bytes());
            return Turn::Sent(packet);
        }
    }

    /// A queue had its turn and is empty.
    fn emptied(&mut self, at: usize, now: Time) {
        match self.flows[at].set {
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Bulk => {
                self.bulk -= 1;
                self.quieter(at);
            }
            Set::Decaying | Set::None => {}
        }
        let flow = &mut self.flows[at];
        flow.cobalt.emptied(&self.rules.law, now);
        if flow.cobalt.at_rest(now) {
            flow.set = Set::None;
            self.chains.leave(at);
        } else {
            flow.set = Set::Decaying;
            self.chains.join(Ring::Decaying, at);
        }
    }

    /// Bytes on the line that a queue and its tin have used.
    #[inline]
    pub(super) fn charge(&mut self, at: usize, now: Time, bytes: u32) {
        self.clock.charge(now, bytes);
        self.flows[at].deficit -= i64::from(bytes);
        self.deficit -= i64::from(bytes);
    }

    /// All packets, queue by queue.
    pub(super) fn iter<'a, P: Packet>(
        &'a self,
        pool: &'a Pool<Stamped<P>>,
    ) -> impl Iterator<Item = &'a P> {
        self.flows.iter().flat_map(|flow| pool.iter(&flow.line)).map(|stamped| &stamped.packet)
    }

    /// The largest of BLUE's probabilities.
    pub(super) fn probability(&self) -> Probability {
        self.flows.iter().map(|flow| flow.cobalt.blue).max().unwrap_or(Probability::ZERO)
    }
}

#[cfg(test)]
mod tests;
