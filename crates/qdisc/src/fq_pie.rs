//! FQ-PIE: flow queueing with PIE. A hash of its flow puts each packet into one of `flows` queues,
//! which are served in turn by deficit round robin as in FQ-CoDel (see `fq_codel`), and each queue
//! is under PIE (see `pie`), which drops or marks what arrives there.
//!
//! Source: Linux, `sch_fq_pie`; M. Tahiliani and others, "Linux implementation of FQ-PIE", 2019.
//! PIE: RFC 8033. Flow queueing: RFC 8290 section 4.
//!
//! # Differences from the source
//!
//! 1. PIE is the RFC's, with its defaults: its differences are listed with `pie`.
//! 2. Updates of a queue are worked out when a packet next comes to it or leaves it, with the queue
//!    as it stood: a queue that nobody uses costs nothing, and the outcome is the same.
//! 3. What a probe shows is the largest probability of all queues, each as it was when the queue
//!    was used last.
//!
//! # Differences from Linux
//!
//! 1. PIE's own differences from Linux: see `pie`.
//! 2. Linux counts for `memory_limit` what packets occupy in memory and only reports it; here bytes
//!    of packets, and what does not fit is dropped.
//! 3. Linux updates 2048 queues at a time, so that with more the period is longer.
//! 4. Linux gives `ecn_prob` in percent; here `mark_ecn_th` is a probability.
//! 5. Linux can be given filters that choose the queue; here the hash always does, with a key drawn
//!    for the run.

use crate::flow_queue::{FlowQueue, Settings};
use crate::managed::Signal;
use crate::pie::{self, Core};
use crate::{
    Counters, DropReason, Ecn, EcnMarking, Env, Invalid, Packet, Parameters, Periodic, Sink,
    Stamped, Unstamp, Verdict,
};
use sojourn_base::{Size, Stream, Time};

/// FQ-PIE.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The controller of each queue.
    #[cfg_attr(feature = "schema", serde(rename = "$control"))]
    pub control: pie::Control,
    /// Number of queues: 1 to 65536 (default 1024, as in Linux).
    pub flows: u32,
    /// Bytes a queue may send in a round: 256 to 1048576; default: 1500, or the link's mean packet
    /// if that is larger (Linux: an MTU).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub quantum: Option<u32>,
    /// Most packets in all queues: 1 to 67108864 (default 10240, as in Linux).
    pub limit: u32,
    /// Most bytes in all queues; at least one packet (default "32MiB", as in Linux).
    pub memory_limit: Size,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            control: pie::Control::default(),
            flows: 1024,
            quantum: None,
            limit: 10_240,
            memory_limit: Size(32 << 20),
        }
    }
}

impl Params {
    fn settings(&self) -> Settings {
        let Self { flows, quantum, limit, memory_limit, .. } = *self;
        Settings { flows, quantum, limit, memory_limit }
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        Core::new(&self.control, env)?;
        self.settings().check(env).map(|_| ())
    }
}

/// The state of PIE in one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Controlled {
    pie: pie::State,
    /// Updates that have been worked out.
    updated: u64,
}

/// Queues under FQ-PIE.
#[derive(Clone, Debug)]
pub struct Discipline<P: Packet> {
    queues: FlowQueue<Stamped<P>, Controlled>,
    core: Core,
    clock: Periodic,
    /// Updates that have come due.
    updates: u64,
    ecn: EcnMarking,
    coin: Stream,
}

impl<P: Packet> Discipline<P> {
    /// Empty queues. `coin` gives the key of the hash, and is PIE's then.
    pub fn new(params: &Params, env: &Env, mut coin: Stream) -> Result<Self, Invalid> {
        let core = Core::new(&params.control, env)?;
        let state = Controlled { pie: core.start(), updated: 0 };
        let queues = FlowQueue::new(&params.settings(), env, state, &mut coin)?;
        let clock = core.clock();
        Ok(Self { queues, core, clock, updates: 0, ecn: params.control.ecn, coin })
    }

    /// The state of PIE for packets with this hash, and how many packets stand there.
    pub fn queue(&mut self, hash: u32) -> (&pie::State, u32) {
        let at = self.queues.classify(hash);
        self.update(at);
        let packets = self.queues.standing_in(at).packets;
        (&self.queues.state(at).pie, packets)
    }

    #[inline]
    fn catch_up(&mut self, now: Time) {
        if self.clock.due(now) {
            self.updates += self.clock.take(now).1;
        }
    }

    /// Works out the updates of a queue that have come due. It has not changed since those before.
    #[inline]
    fn update(&mut self, at: usize) {
        let queue = self.queues.standing_in(at);
        let state = self.queues.state(at);
        if state.updated != self.updates {
            self.core.update(&mut state.pie, queue, self.updates - state.updated);
            state.updated = self.updates;
        }
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        self.catch_up(now);
        let at = self.queues.classify(packet.flow_hash());
        self.update(at);
        let bytes = packet.bytes();
        let mut packet = Stamped { packet, at: now };
        let queue = self.queues.standing_in(at);
        let reason = if self.queues.fits(bytes) {
            let state = &mut self.queues.state(at).pie;
            match self.core.arrival(state, bytes, queue, &mut self.coin) {
                Signal::Pass => {
                    self.queues.append(at, packet);
                    return Verdict::Queued;
                }
                Signal::Notify if self.ecn.applies(packet.ecn()) => {
                    let marks = packet.ecn() != Ecn::Ce;
                    if marks {
                        packet.set_ce();
                        self.queues.marked(bytes);
                    }
                    self.queues.append(at, packet);
                    return if marks { Verdict::Marked } else { Verdict::Queued };
                }
                Signal::Notify | Signal::Drop => DropReason::Early,
            }
        } else {
            self.queues.state(at).pie.accumulated = 0;
            DropReason::Overflow
        };
        self.queues.refuse(packet, now, reason, &mut Unstamp(sink));
        Verdict::Dropped(reason)
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut impl Sink<P>) -> Option<P> {
        self.catch_up(now);
        while let Some(at) = self.queues.turn() {
            self.update(at);
            let Some(packet) = self.queues.take(at) else {
                self.queues.pass(at);
                continue;
            };
            let left = self.queues.standing_in(at);
            let state = &mut self.queues.state(at).pie;
            self.core.departure(state, now, packet.at, packet.bytes(), left);
            return Some(packet.packet);
        }
        None
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        self.catch_up(now);
    }

    #[inline]
    fn counters(&self) -> &Counters {
        self.queues.counters()
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.queues.iter().map(|stamped| &stamped.packet).for_each(tell);
    }

    fn probability(&self) -> f64 {
        let largest = self.queues.states().map(|state| state.pie.probability).max();
        largest.map_or(0.0, |p| p.as_f64())
    }
}
