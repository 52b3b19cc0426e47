//! Flow queueing after RFC 8290 section 4: packets are put into one of many queues by a hash of
//! their flow, and the queues are served in turn by deficit round robin, those that have just
//! become busy before the others. What a queue does with its packets is for the disciplines
//! (`fq_codel`, `fq_pie`) to say: each queue carries a state of theirs.

use crate::managed::packet_limit;
use crate::pool::{Line, Pool};
use crate::{Count, Counters, DropReason, Env, Invalid, Packet, Sink, Standing, codel::mtu};
use alloc::{format, vec, vec::Vec};
use sojourn_base::{Size, Stream, Time};

/// Most packets dropped at once of a queue that is too long: RFC 8290 section 4.1.
pub(crate) const DROP_BATCH: u32 = 64;

/// The parameters that such disciplines share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Number of queues.
    pub flows: u32,
    /// Bytes a queue may send in a round; the link's MTU if not given.
    pub quantum: Option<u32>,
    /// Most packets in all queues.
    pub limit: u32,
    /// Most bytes in all queues.
    pub memory_limit: Size,
}

impl Settings {
    /// The quantum in bytes.
    pub(crate) fn check(&self, env: &Env) -> Result<u32, Invalid> {
        packet_limit(self.limit)?;
        if !(1..=65_536).contains(&self.flows) {
            let remedy = "must be 1 to 65536, for example 1024";
            return Err(Invalid::new("flows", self.flows, remedy));
        }
        let least = mtu("mtu", None, env)?;
        if self.memory_limit.0 < u64::from(least) {
            let remedy = format!("must hold one packet: at least \"{least}B\"");
            return Err(Invalid::new(
                "memory_limit",
                format!("\"{}B\"", self.memory_limit.0),
                remedy,
            ));
        }
        quantum(self.quantum, env)
    }
}

/// The parameter `quantum`, or what stands for it.
pub(crate) fn quantum(given: Option<u32>, env: &Env) -> Result<u32, Invalid> {
    match given {
        None => mtu("mtu", None, env),
        Some(bytes @ 256..=1_048_576) => Ok(bytes),
        Some(bytes) => Err(Invalid::new("quantum", bytes, "must be 256 to 1048576 bytes")),
    }
}

/// Which round a queue waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Round {
    None,
    New,
    Old,
}

#[derive(Clone, Debug)]
struct Flow<S> {
    line: Line,
    /// The queue after this one in the same round.
    next: u32,
    round: Round,
    /// Bytes that may still be sent in this round.
    deficit: i64,
    state: S,
}

/// Queues that wait their turn.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    first: u32,
    last: u32,
    len: u32,
}

/// The queues. `P` must tell of its time of arrival itself where that is needed.
#[derive(Clone, Debug)]
pub(crate) struct FlowQueue<P, S> {
    pool: Pool<P>,
    flows: Vec<Flow<S>>,
    /// Bytes in each queue; apart, for the search for the longest.
    backlogs: Vec<u64>,
    new: Waiting,
    old: Waiting,
    key: u64,
    quantum: u32,
    limit_packets: u32,
    limit_bytes: u64,
    counters: Counters,
}

impl<P: Packet, S: Clone> FlowQueue<P, S> {
    /// Empty queues, each with `state`. The key of the hash is drawn from `coin`: which flows
    /// share a queue differs from run to run.
    pub(crate) fn new(
        settings: &Settings,
        env: &Env,
        state: S,
        coin: &mut Stream,
    ) -> Result<Self, Invalid> {
        let quantum = settings.check(env)?;
        let n = settings.flows as usize;
        let flow = Flow { line: Line::EMPTY, next: 0, round: Round::None, deficit: 0, state };
        Ok(Self {
            pool: Pool::new(),
            flows: vec![flow; n],
            backlogs: vec![0; n],
            new: Waiting::default(),
            old: Waiting::default(),
            key: coin.next_u64(),
            quantum,
            limit_packets: settings.limit,
            limit_bytes: settings.memory_limit.0,
            counters: Counters::default(),
        })
    }

    /// The queue for packets with this hash.
    #[inline]
    pub(crate) fn classify(&self, hash: u32) -> usize {
        scale(perturbed(hash, self.key), self.flows.len() as u32)
    }

    /// The states of all queues.
    pub(crate) fn states(&self) -> impl Iterator<Item = &S> {
        self.flows.iter().map(|flow| &flow.state)
    }

    /// The state of a queue.
    #[inline]
    pub(crate) fn state(&mut self, flow: usize) -> &mut S {
        &mut self.flows[flow].state
    }

    /// How much stands in all queues.
    #[inline]
    pub(crate) fn standing(&self) -> Standing {
        let Count { packets, bytes } = self.counters.standing();
        Standing { packets: packets as u32, bytes }
    }

    /// How much stands in one.
    #[inline]
    pub(crate) fn standing_in(&self, flow: usize) -> Standing {
        Standing { packets: self.flows[flow].line.len(), bytes: self.backlogs[flow] }
    }

    /// Appends a packet to its queue, which waits among the new ones if it was not waiting (RFC
    /// 8290 section 4.1). Limits are looked at by [`Self::over`].
    #[inline]
    pub(crate) fn append(&mut self, at: usize, packet: P) {
        let bytes = packet.bytes();
        self.counters.enqueued.add(bytes);
        self.backlogs[at] += u64::from(bytes);
        let flow = &mut self.flows[at];
        self.pool.push(&mut flow.line, packet);
        if flow.round == Round::None {
            flow.deficit = i64::from(self.quantum);
            self.wait(at, Round::New);
        }
    }

    #[inline]
    fn wait(&mut self, at: usize, round: Round) {
        let list = if round == Round::New { &mut self.new } else { &mut self.old };
        if list.len == 0 {
            list.first = at as u32;
        } else {
            self.flows[list.last as usize].next = at as u32;
        }
        list.last = at as u32;
        list.len += 1;
        self.flows[at].round = round;
    }

    /// Whether more stands than may.
    #[inline]
    pub(crate) fn over(&self) -> bool {
        let standing = self.standing();
        standing.packets > self.limit_packets || standing.bytes > self.limit_bytes
    }

    /// Whether a packet of `bytes` fits.
    #[inline]
    pub(crate) fn fits(&self, bytes: u32) -> bool {
        let standing = self.standing();
        standing.packets < self.limit_packets
            && standing.bytes + u64::from(bytes) <= self.limit_bytes
    }

    /// Drops from the head of the queue with most bytes: half of them, at most a batch (RFC 8290
    /// section 4.1). Gives that queue and how many packets it lost. Something must stand.
    #[cold]
    pub(crate) fn shorten(&mut self, now: Time, sink: &mut impl Sink<P>) -> (usize, u32) {
        let most = *self.backlogs.iter().max().unwrap_or(&0);
        let at = self.backlogs.iter().position(|&bytes| bytes == most).unwrap_or(0);
        let mut drops = 0;
        while drops < DROP_BATCH && self.backlogs[at] > most / 2 {
            self.evict(at, now, DropReason::Overflow, sink);
            drops += 1;
        }
        (at, drops)
    }

    /// Drops the packet at the head of a queue; it had been accepted.
    pub(crate) fn evict(
        &mut self,
        at: usize,
        now: Time,
        reason: DropReason,
        sink: &mut impl Sink<P>,
    ) {
        if let Some(packet) = self.pool.pop(&mut self.flows[at].line) {
            self.backlogs[at] -= u64::from(packet.bytes());
            self.counters.evicted.add(packet.bytes());
            self.refuse(packet, now, reason, sink);
        }
    }

    /// Drops a packet that was offered.
    pub(crate) fn refuse(
        &mut self,
        packet: P,
        now: Time,
        reason: DropReason,
        sink: &mut impl Sink<P>,
    ) {
        let count = match reason {
            DropReason::Overflow => &mut self.counters.overflow,
            DropReason::Early => &mut self.counters.early,
        };
        count.add(packet.bytes());
        sink.dropped(now, packet, reason);
    }

    /// Counts a packet as marked.
    pub(crate) fn marked(&mut self, bytes: u32) {
        self.counters.marked.add(bytes);
    }

    /// The packet at the head of a queue.
    #[inline]
    pub(crate) fn head(&self, at: usize) -> Option<&P> {
        self.pool.head(&self.flows[at].line)
    }

    /// All packets, queue by queue.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &P> {
        self.flows.iter().flat_map(|flow| self.pool.iter(&flow.line))
    }

    /// Sets the packet at the head of a queue, which is ECT, to CE.
    pub(crate) fn mark_head(&mut self, at: usize) {
        if let Some(packet) = self.pool.head_mut(&self.flows[at].line) {
            packet.set_ce();
            self.counters.marked.add(packet.bytes());
        }
    }

    /// The queue whose turn it is; it may be empty. RFC 8290 section 4.2: new ones first; one
    /// whose deficit is used up gets another quantum and waits at the end of the old ones.
    ///
    /// Passes over a queue once for each quantum that its last packet took beyond what it had.
    #[inline]
    pub(crate) fn turn(&mut self) -> Option<usize> {
        loop {
            let list = if self.new.len > 0 { &self.new } else { &self.old };
            if list.len == 0 {
                return None;
            }
            let at = list.first as usize;
            if self.flows[at].deficit > 0 {
                return Some(at);
            }
            self.flows[at].deficit += i64::from(self.quantum);
            self.leave(at);
            self.wait(at, Round::Old);
        }
    }

    /// The first queue of its round waits no longer.
    #[inline]
    fn leave(&mut self, at: usize) {
        let next = self.flows[at].next;
        let list = if self.flows[at].round == Round::New { &mut self.new } else { &mut self.old };
        debug_assert!(list.len > 0 && list.first as usize == at);
        list.first = next;
        list.len -= 1;
        self.flows[at].round = Round::None;
    }

    /// The queue whose turn it is has nothing to send. A new one waits once more among the old
    /// ones, or a flow that pauses and comes back would always be first (RFC 8290 section 4.2).
    #[inline]
    pub(crate) fn pass(&mut self, at: usize) {
        let again = self.flows[at].round == Round::New && self.old.len > 0;
        self.leave(at);
        if again {
            self.wait(at, Round::Old);
        }
    }

    /// Takes the packet at the head of the queue whose turn it is.
    #[inline]
    pub(crate) fn take(&mut self, at: usize) -> Option<P> {
        let flow = &mut self.flows[at];
        let packet = self.pool.pop(&mut flow.line)?;
        let bytes = packet.bytes();
        flow.deficit -= i64::from(bytes);
        self.backlogs[at] -= u64::from(bytes);
        self.counters.dequeued.add(bytes);
        Some(packet)
    }

    /// What has passed.
    #[inline]
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }
}

/// Spreads a hash over all bits, differently for each key.
#[inline]
pub(crate) fn perturbed(hash: u32, key: u64) -> u32 {
    let mut z = (u64::from(hash) ^ key).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 32) as u32
}

/// A number below `n`.
#[inline]
pub(crate) fn scale(hash: u32, n: u32) -> usize {
    ((u64::from(hash) * u64::from(n)) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bit_of_a_flow_turns_half_of_the_bits_of_its_hash() {
        let n = 2000u32;
        for bit in 0..32 {
            let mut turned = [0u32; 32];
            for flow in 0..n {
                let (flow, key) = (flow.wrapping_mul(0x9e37_79b9), u64::from(flow) << 20 | 5);
                let change = perturbed(flow, key) ^ perturbed(flow ^ 1 << bit, key);
                (0..32).for_each(|at| turned[at] += change >> at & 1);
            }
            // A standard deviation is 22.
            assert!(turned.iter().all(|&t| t.abs_diff(n / 2) < 130), "{bit}: {turned:?}");
        }
    }

    #[test]
    fn flows_spread_evenly_over_the_queues_and_otherwise_with_another_key() {
        let n = 64;
        for key in [1u64, 0xdead_beef_0123_4567, u64::MAX] {
            let mut counts = vec![0u32; n];
            for flow in 0..64_000u32 {
                counts[scale(perturbed(flow, key), n as u32)] += 1;
            }
            // 1000 each; a standard deviation is 31.
            assert!(counts.iter().all(|&c| (850..1150).contains(&c)), "{counts:?}");
        }
        let same = (0..1000).filter(|&f| scale(perturbed(f, 1), 64) == scale(perturbed(f, 2), 64));
        assert!((2..40).contains(&same.count()));
    }
}
