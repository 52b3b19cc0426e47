//! CHOKe: Pan, Prabhakar and Psounis, "CHOKe: a stateless active queue management scheme for
//! approximating fair bandwidth allocation", INFOCOM 2000.
//!
//! RED with one more step: while the average is at or above `min_th`, each arriving packet is first
//! compared with one drawn at random from the queue. If both are of the same flow, both are
//! dropped. A flow that fills the queue is found there often, one that sends little hardly ever; no
//! flow has any state.
//!
//! # Differences from the source
//!
//! 1. All of RED's (see `red`), with `gentle = false`.
//! 2. Flows are told apart by a hash of 32 bits.
//! 3. A dropped packet leaves a hole in the queue until the head has passed it; up to eight draws
//!    look for a packet, then the one at the head is taken. Holes are closed when they are more
//!    than half, so a packet is found with 255 draws in 256 at worst.
//! 4. The variants with several draws (M-CHOKe and its self-adjusting form) are left out.
//!
//! # Differences from Linux
//!
//! 1. All of RED's but one: `sch_choke` counts packets as here.
//! 2. `sch_choke` tries three draws before it takes the head; with one packet in the queue it
//!    compares nothing.
//! 3. It compares addresses, protocol and ports (or the hash of a filter); here a hash of the flow.

use crate::managed::{Common, LIMIT, Law, Signal, packet_limit};
use crate::red::{self, Hits, Red};
use crate::ring::Ring;
use crate::{Counters, DropReason, Ecn, Env, Invalid, Packet, Parameters, Sink, Standing, Verdict};
use sojourn_base::{Stream, Time};

/// Draws before the packet at the head is taken.
const DRAWS: u32 = 8;

/// CHOKe: RED's parameters. Packets of the same flow as the one drawn are dropped whatever `ecn`
/// says.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Average queue in packets (of mean size if `queue_in_bytes`) at which comparing and marking
    /// start: 0 to below `max_th` (default 5, RED's).
    pub min_th: f64,
    /// Average queue in packets above which all are dropped: up to 33554432 (default 15, RED's).
    pub max_th: f64,
    /// Probability at `max_th`: above 0, at most 1 (default 0.1, RED's).
    pub max_p: f64,
    /// Weight of a new sample in the average: 1e-9 to 1; default: 1 − exp(−1/C) with C the
    /// link's rate in mean packets per second.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub wq: Option<f64>,
    /// Which packets are hit.
    #[cfg_attr(feature = "schema", serde(rename = "$hits"))]
    pub hits: Hits,
    /// Most packets in the queue: 1 to 33554432 (default 1000000).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            min_th: 5.0,
            max_th: 15.0,
            max_p: 0.1,
            wq: None,
            hits: Hits::default(),
            limit: LIMIT,
        }
    }
}

impl Params {
    fn red(&self) -> red::Params {
        red::Params {
            min_th: self.min_th,
            max_th: self.max_th,
            max_p: self.max_p,
            wq: self.wq,
            gentle: false,
            hits: self.hits,
            limit: self.limit,
            ..Default::default()
        }
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        packet_limit(self.limit)?;
        // Holes take places too, at most as many as there are packets.
        if self.limit > crate::ring::MOST / 2 {
            let remedy = "must be 1 to 33554432 packets";
            return Err(Invalid::new("limit", self.limit, remedy));
        }
        Red::new(&self.red(), env).map(|_| ())
    }
}

/// A queue under CHOKe.
#[derive(Clone, Debug)]
pub struct Discipline<P: Packet> {
    red: Red,
    coin: Stream,
    common: Common,
    /// None is a hole. The place at the head never is one.
    places: Ring<Option<P>>,
    holes: u32,
    counters: Counters,
    matched: u64,
}

impl<P: Packet> Discipline<P> {
    /// An empty queue.
    pub fn new(params: &Params, env: &Env, coin: Stream) -> Result<Self, Invalid> {
        Ok(Self {
            red: Red::new(&params.red(), env)?,
            coin,
            common: Common { limit: params.limit, ecn: params.hits.ecn },
            places: Ring::new(),
            holes: 0,
            counters: Counters::default(),
            matched: 0,
        })
    }

    /// The RED below.
    #[must_use]
    pub fn red(&self) -> &Red {
        &self.red
    }

    /// Arrivals that were of the same flow as the packet drawn.
    #[must_use]
    pub fn matched(&self) -> u64 {
        self.matched
    }

    #[inline]
    fn standing(&self) -> Standing {
        Standing { packets: self.places.len() - self.holes, bytes: self.counters.standing().bytes }
    }

    /// The place of a packet drawn at random; the queue is not empty.
    #[inline]
    fn draw(&mut self) -> u32 {
        for _ in 0..DRAWS {
            let at = self.coin.below(self.places.len().into()) as u32;
            if self.places.get(at).is_some_and(Option::is_some) {
                return at;
            }
        }
        0
    }

    fn drop(&mut self, now: Time, packet: P, reason: DropReason, sink: &mut impl Sink<P>) {
        match reason {
            DropReason::Early => self.counters.early.add(packet.bytes()),
            DropReason::Overflow => self.counters.overflow.add(packet.bytes()),
        }
        sink.dropped(now, packet, reason);
    }

    /// Takes the packet at `at` out, which is there, and drops it.
    fn evict(&mut self, now: Time, at: u32, sink: &mut impl Sink<P>) {
        let Some(packet) = self.places.get_mut(at).and_then(Option::take) else { return };
        self.holes += 1;
        self.counters.evicted.add(packet.bytes());
        self.drop(now, packet, DropReason::Early, sink);
        self.uncover();
        if self.holes > self.places.len() / 2 {
            for _ in 0..self.places.len() {
                if let Some(Some(packet)) = self.places.pop() {
                    self.places.push(Some(packet));
                }
            }
            self.holes = 0;
        }
    }

    /// Removes holes at the head.
    fn uncover(&mut self) {
        while let Some(None) = self.places.peek() {
            self.places.pop();
            self.holes -= 1;
        }
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, mut packet: P, sink: &mut impl Sink<P>) -> Verdict {
        let queue = self.standing();
        let average = self.red.observe(now, queue);
        if average >= self.red.constants.min_th && queue.packets > 0 {
            let at = self.draw();
            let other = self.places.get(at).copied().flatten();
            if other.is_some_and(|other| other.flow_hash() == packet.flow_hash()) {
                self.matched += 1;
                self.evict(now, at, sink);
                if self.places.len() == 0 {
                    // What is on the wire takes a little longer; the average decays from here.
                    self.red.emptied(now);
                }
                self.drop(now, packet, DropReason::Early, sink);
                return Verdict::Dropped(DropReason::Early);
            }
        }
        let mark = match self.red.decide(packet.bytes(), queue, &mut self.coin) {
            Signal::Pass => false,
            Signal::Notify if self.common.ecn.applies(packet.ecn()) => packet.ecn() != Ecn::Ce,
            Signal::Notify | Signal::Drop => {
                self.drop(now, packet, DropReason::Early, sink);
                return Verdict::Dropped(DropReason::Early);
            }
        };
        if queue.packets >= self.common.limit {
            self.red.overflowed();
            self.drop(now, packet, DropReason::Overflow, sink);
            return Verdict::Dropped(DropReason::Overflow);
        }
        if mark {
            packet.set_ce();
            self.counters.marked.add(packet.bytes());
        }
        self.counters.enqueued.add(packet.bytes());
        self.places.push(Some(packet));
        if mark { Verdict::Marked } else { Verdict::Queued }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _: &mut impl Sink<P>) -> Option<P> {
        let packet = self.places.pop()??;
        self.uncover();
        self.counters.dequeued.add(packet.bytes());
        self.red.departure(now, packet.bytes(), self.standing());
        Some(packet)
    }

    #[inline]
    fn advance(&mut self, _: Time) {}

    #[inline]
    fn peek(&self) -> Option<&P> {
        self.places.peek().and_then(Option::as_ref)
    }

    #[inline]
    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.places.iter().flatten().for_each(tell);
    }

    /// RED's p_b; the chance of a match depends on the flow.
    fn probability(&self) -> f64 {
        self.red.probability()
    }
}
