//! SFQ: stochastic fairness queueing. A hash of its flow puts each packet into one of `divisor`
//! queues; those that hold packets are served in turn, `quantum` bytes a round. When all are full
//! the longest loses a packet. With `perturb` the hash changes from time to time, so that flows
//! that share a queue do not share it for long.
//!
//! Source: P. E. McKenney, "Stochastic fairness queueing", IEEE INFOCOM 1990; as in Linux,
//! `sch_sfq`.
//!
//! # Differences from the source
//!
//! 1. Rounds are of bytes, by deficits (M. Shreedhar and G. Varghese, SIGCOMM 1995), where the
//!    paper sends a packet of each queue in turn.
//! 2. When the hash changes, what stands is put into new queues, so that a flow's packets stay in
//!    order; the paper leaves it where it is.
//! 3. The hash is of the packet's flow and a key drawn for the run, not of addresses and protocol.
//! 4. `depth`, the most packets in one queue, and `flows`, the most queues in use at once, are
//!    Linux's; the paper has neither.
//!
//! # Differences from Linux
//!
//! 1. The hash changes with the first packet that comes or leaves after the period has passed, not
//!    by a timer; a silence of several periods is one change.
//! 2. When it changes, queues are emptied into the new ones in the order in which they would have
//!    been served, in Linux in the order of their numbers.
//! 3. Linux counts what a queue may still send in units of 8 bytes; here in bytes.
//! 4. Linux can run RED in each queue (`redflowlimit`) and mark with it; not here: SFQ knows no
//!    ECN.
//! 5. `divisor` need not be a power of two; `depth` may be above 127.
//! 6. Linux can be given filters that choose the queue; here the hash always does.
//! 7. `quantum` is the device's MTU in Linux, with the link layer's header (1514).

use crate::fixed::Periodic;
use crate::flow_queue::{perturbed, quantum, scale};
use crate::managed::packet_limit;
use crate::pool::{Line, Pool};
use crate::{Counters, DropReason, Env, Invalid, Packet, Parameters, Sink, Verdict};
use alloc::{format, vec, vec::Vec};
use sojourn_base::{Stream, Time};

/// SFQ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Number of values of the hash: 1 to 65536 (default 1024, as in Linux).
    pub divisor: u32,
    /// Most queues in use at once: 1 to 65536 (default 128, as in Linux).
    pub flows: u32,
    /// Most packets in one queue: 1 to 65536 (default 127, as in Linux).
    pub depth: u32,
    /// Bytes a queue may send in a round: 256 to 1048576; default: 1500, or the link's mean packet
    /// if that is larger (Linux: an MTU).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub quantum: Option<u32>,
    /// How often the hash changes: "1ms" to "1000000s", in Linux customarily "10s"; default: never.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub perturb: Option<Time>,
    /// Drop at the head of a queue instead of at its tail (default false, as in Linux).
    pub head_drop: bool,
    /// Most packets in all queues: 1 to 67108864 (default 127, as in Linux).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            divisor: 1024,
            flows: 128,
            depth: 127,
            quantum: None,
            perturb: None,
            head_drop: false,
            limit: 127,
        }
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        packet_limit(self.limit)?;
        for (field, value, usual) in [
            ("divisor", self.divisor, 1024),
            ("flows", self.flows, 128),
            ("depth", self.depth, 127),
        ] {
            if !(1..=65_536).contains(&value) {
                let remedy = format!("must be 1 to 65536, for example {usual}");
                return Err(Invalid::new(field, value, remedy));
            }
        }
        if let Some(period) = self.perturb
            && !(Time::from_millis(1)..=Time::from_secs(1_000_000)).contains(&period)
        {
            let remedy = "must be \"1ms\" to \"1000000s\", for example \"10s\"";
            return Err(Invalid::new("perturb", format!("\"{period}\""), remedy));
        }
        quantum(self.quantum, env).map(|_| ())
    }
}

/// No queue.
const NONE: u32 = u32::MAX;

/// One queue.
#[derive(Clone, Copy, Debug)]
struct Slot {
    line: Line,
    /// Bytes it may still send in this round.
    deficit: i64,
    /// The queue after this one in the round.
    next: u32,
    /// The queues beside this one among those of the same length.
    longer: [u32; 2],
}

/// Queues under SFQ.
#[derive(Clone, Debug)]
pub struct Discipline<P: Packet> {
    pool: Pool<P>,
    slots: Vec<Slot>,
    /// The first and the last of the round, and how many they are.
    round: (u32, u32, u32),
    /// For each length the first of the queues that have it.
    of_length: Vec<u32>,
    longest: u32,
    key: u64,
    quantum: u32,
    params: Params,
    clock: Option<Periodic>,
    counters: Counters,
    coin: Stream,
}

impl<P: Packet> Discipline<P> {
    /// Empty queues. `coin` gives the keys of the hash.
    pub fn new(params: &Params, env: &Env, mut coin: Stream) -> Result<Self, Invalid> {
        params.validate(env)?;
        let slot = Slot { line: Line::EMPTY, deficit: 0, next: NONE, longer: [NONE; 2] };
        let longest = params.depth.min(params.limit) as usize + 2;
        Ok(Self {
            pool: Pool::new(),
            slots: vec![slot; params.divisor as usize],
            round: (NONE, NONE, 0),
            of_length: vec![NONE; longest],
            longest: 0,
            key: coin.next_u64(),
            quantum: quantum(params.quantum, env)?,
            params: params.clone(),
            clock: params.perturb.map(Periodic::new),
            counters: Counters::default(),
            coin,
        })
    }

    #[inline]
    fn classify(&self, packet: &P) -> usize {
        scale(perturbed(packet.flow_hash(), self.key), self.slots.len() as u32)
    }

    /// How many packets stand in the queue for packets with this hash.
    #[must_use]
    pub fn length(&self, hash: u32) -> u32 {
        self.slots[scale(perturbed(hash, self.key), self.slots.len() as u32)].line.len()
    }

    /// Puts a queue among those of its length.
    #[inline]
    fn link(&mut self, at: usize) {
        let length = self.slots[at].line.len();
        if length > 0 {
            let after = self.of_length[length as usize];
            self.slots[at].longer = [NONE, after];
            if after != NONE {
                self.slots[after as usize].longer[0] = at as u32;
            }
            self.of_length[length as usize] = at as u32;
        }
        self.longest = self.longest.max(length);
    }

    /// Takes a queue from among those of its length, which is about to change.
    #[inline]
    fn unlink(&mut self, at: usize) {
        let length = self.slots[at].line.len();
        if length == 0 {
            return;
        }
        let [before, after] = self.slots[at].longer;
        if after != NONE {
            self.slots[after as usize].longer[0] = before;
        }
        if before == NONE {
            self.of_length[length as usize] = after;
        } else {
            self.slots[before as usize].longer[1] = after;
        }
        if length == self.longest && self.of_length[length as usize] == NONE {
            // What is unlinked comes back one longer or one shorter, or leaves nothing behind.
            self.longest -= 1;
        }
    }

    /// Lets a queue wait at the end of the round.
    #[inline]
    fn wait(&mut self, at: usize) {
        let (first, last, n) = &mut self.round;
        if *n == 0 {
            *first = at as u32;
        } else {
            self.slots[*last as usize].next = at as u32;
        }
        *last = at as u32;
        *n += 1;
    }

    /// The first queue of the round leaves it.
    #[inline]
    fn leave(&mut self) -> usize {
        let at = self.round.0 as usize;
        self.round.0 = self.slots[at].next;
        self.round.2 -= 1;
        at
    }

    /// Appends to a queue that has room for it.
    #[inline]
    fn append(&mut self, at: usize, packet: P) {
        self.unlink(at);
        self.pool.push(&mut self.slots[at].line, packet);
        self.link(at);
        if self.slots[at].line.len() == 1 {
            self.slots[at].deficit = i64::from(self.quantum);
            self.wait(at);
        }
    }

    /// Whether a packet can be appended there.
    #[inline]
    fn room(&self, at: usize) -> bool {
        let length = self.slots[at].line.len();
        length < self.params.depth && (length > 0 || self.round.2 < self.params.flows)
    }

    /// Takes a packet from a queue's head or tail; if that was the last one, the queue must be the
    /// first of the round.
    #[inline]
    fn remove(&mut self, at: usize, tail: bool) -> Option<P> {
        self.unlink(at);
        let line = &mut self.slots[at].line;
        let packet = if tail { self.pool.pop_tail(line) } else { self.pool.pop(line) };
        self.link(at);
        if self.slots[at].line.is_empty() {
            let first = self.leave();
            debug_assert_eq!(first, at);
        }
        packet
    }

    fn dropped(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        self.counters.overflow.add(packet.bytes());
        sink.dropped(now, packet, DropReason::Overflow);
        Verdict::Dropped(DropReason::Overflow)
    }

    fn evicted(&mut self, now: Time, packet: Option<P>, sink: &mut impl Sink<P>) {
        if let Some(packet) = packet {
            self.counters.evicted.add(packet.bytes());
            let _ = self.dropped(now, packet, sink);
        }
    }

    /// Too much stands: drops one packet of the longest queue, and says which queue that was.
    #[cold]
    fn shorten(&mut self, now: Time, sink: &mut impl Sink<P>) -> usize {
        // If no queue holds more than one packet, the one that is served next.
        let alone = self.longest <= 1;
        let at = if alone { self.round.0 } else { self.of_length[self.longest as usize] } as usize;
        let packet = self.remove(at, !self.params.head_drop);
        self.evicted(now, packet, sink);
        at
    }

    /// Changes the hash if it is time to, and puts what stands into new queues.
    #[inline]
    fn perturb(&mut self, now: Time, sink: &mut impl Sink<P>) {
        if let Some(clock) = &mut self.clock
            && clock.due(now)
        {
            clock.take(now);
            self.key = self.coin.next_u64();
            self.rehash(now, sink);
        }
    }

    #[cold]
    fn rehash(&mut self, now: Time, sink: &mut impl Sink<P>) {
        let mut all = Line::EMPTY;
        while self.round.2 > 0 {
            let at = self.leave();
            let length = self.slots[at].line.len();
            self.of_length[length as usize] = NONE;
            self.pool.splice(&mut all, &mut self.slots[at].line);
        }
        self.longest = 0;
        while let Some(packet) = self.pool.pop(&mut all) {
            let at = self.classify(&packet);
            if self.room(at) {
                self.append(at, packet);
            } else {
                self.evicted(now, Some(packet), sink);
            }
        }
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        self.perturb(now, sink);
        let at = self.classify(&packet);
        if !self.room(at) {
            if !self.params.head_drop || self.slots[at].line.is_empty() {
                return self.dropped(now, packet, sink);
            }
            // A queue of one packet that is exchanged stays in its place.
            let head = if self.slots[at].line.len() == 1 {
                self.unlink(at);
                let head = self.pool.pop(&mut self.slots[at].line);
                self.pool.push(&mut self.slots[at].line, packet);
                self.link(at);
                head
            } else {
                let head = self.remove(at, false);
                self.append(at, packet);
                head
            };
            self.counters.enqueued.add(packet.bytes());
            self.evicted(now, head, sink);
            return Verdict::Queued;
        }
        self.counters.enqueued.add(packet.bytes());
        self.append(at, packet);
        if self.packets() > self.params.limit {
            let from = self.shorten(now, sink);
            if from == at && !self.params.head_drop {
                return Verdict::Dropped(DropReason::Overflow);
            }
        }
        Verdict::Queued
    }

    #[inline]
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<P> {
        self.perturb(now, sink);
        while self.round.2 > 0 {
            let at = self.round.0 as usize;
            if self.slots[at].deficit <= 0 {
                self.slots[at].deficit += i64::from(self.quantum);
                self.leave();
                self.wait(at);
                continue;
            }
            let packet = self.remove(at, false)?;
            self.counters.dequeued.add(packet.bytes());
            self.slots[at].deficit -= i64::from(packet.bytes());
            return Some(packet);
        }
        None
    }

    #[inline]
    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.slots.iter().flat_map(|slot| self.pool.iter(&slot.line)).for_each(tell);
    }
}
