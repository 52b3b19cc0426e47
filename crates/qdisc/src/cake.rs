//! CAKE: a shaper, tins, queues for flows that hosts share evenly, and COBALT in each queue. The
//! shaper is a clock that each packet moves on by what it takes on the line, with the bytes that
//! the line adds. A tin is chosen by the packet's codepoint; each comes before those below it up to
//! a part of the rate. In a tin a hash of its flow puts a packet into one of 1024 queues, eight
//! places of a set being tried before two flows share one. Queues take turns by deficits as in
//! FQ-CoDel, those that have just become busy first; the quantum of a queue is divided by how many
//! busy queues its host has. When all queues together reach a limit the longest loses packets, at
//! its head.
//!
//! Source: T. Høiland-Jørgensen, D. Täht and J. Morton, "Piece of CAKE: a comprehensive queue
//! management solution for home gateways", IEEE LANMAN 2018; where that is silent Linux,
//! `sch_cake.c`.
//!
//! # Differences from the source
//!
//! 1. Integers: times in nanoseconds; the shaper carries what is less, so that its rate is exact.
//! 2. COBALT's differences are listed with `cobalt`: at most 64 packets are dropped in one call,
//!    and what BLUE drops is not marked before.
//! 3. No address translation is undone: hosts are told apart by the addresses that packets carry.
//! 4. An acknowledgement that the filter drops counts as `early`.
//! 5. No codepoint is changed (`wash`), and packets are as long as on the wire: there is nothing to
//!    split (`split-gso`).
//!
//! # Differences from Linux
//!
//! Beside those above:
//!
//! 1. `memory_limit` counts bytes of packets, in Linux what packets occupy in memory.
//! 2. IP bytes are counted where `link_layer` is "raw"; Linux counts a frame's header too (14 bytes
//!    of Ethernet), and leaves it out where an overhead is given.
//! 3. COBALT takes the square root of `count` anew each time, Linux from a table below 16 and by
//!    one Newton step above.
//! 4. The hash is of the packet's flow, its addresses and a key drawn for the run; Linux hashes
//!    without a key of its own.
//! 5. Tins and queues cannot be chosen by filters, by marks of the firewall or by a socket's
//!    priority.
//! 6. Of queues of the same length the first loses packets, in Linux one that the order of a heap
//!    decides.
//! 7. `autorate_ingress` never shapes below 1 kb/s, Linux below 512 b/s.
//! 8. Linux marks whatever it can: it has no `ecn`.

mod ack_filter;
mod autorate;
mod chains;
mod hosts;
mod overhead;
mod params;
mod sets;
mod shaper;
mod tin;
mod tins;

pub use overhead::{Framing, LinkLayer};
pub use params::{AckFilter, Isolation, Params, Tins};

use crate::codel::mtu;
use crate::codel_law::MAX_DROPS;
use crate::pool::Pool;
use crate::{Counters, DropReason, Env, Invalid, Packet, Parameters, Sink, Stamped, Verdict};
use alloc::vec::Vec;
use autorate::Autorate;
use overhead::LineLength;
use shaper::Shaper;
use sojourn_base::{NANOS_PER_BYTE, Stream, Time};
use tin::{Call, Hashes, Setting, Tin, Turn};

/// Bounds of the limit where none is given: bytes, and packets of the MTU.
const LEAST_MEMORY: u64 = 4 << 20;
const MOST_PACKETS: u64 = 10_240;

/// Queues under CAKE.
#[derive(Clone, Debug)]
pub struct Discipline<P: Packet> {
    tins: Vec<Tin>,
    /// The tin of each codepoint.
    of_codepoints: [u8; 64],
    pool: Pool<Stamped<P>>,
    shaper: Shaper,
    /// The tin whose turn it is, where there is no shaper.
    current: usize,
    autorate: Option<Autorate>,
    line: LineLength,
    setting: Setting,
    params: Params,
    memory_limit: u64,
    key: u64,
    coin: Stream,
    counters: Counters,
}

impl<P: Packet> Discipline<P> {
    /// Empty queues. `coin` gives the key of the hash, is BLUE's, and rounds quanta.
    pub fn new(params: &Params, env: &Env, mut coin: Stream) -> Result<Self, Invalid> {
        params.validate(env)?;
        let rate = params.bandwidth.map_or(0, |rate| rate.0);
        let mtu = mtu("mtu", None, env)?;
        let ecn = params.ecn;
        let setting = Setting { target: params.target().0, rtt: params.rtt.0, mtu, ecn };
        let tin = |at| Tin::new(params.tins.part(at, rate), &setting, params.isolation);
        let mut made = Self {
            tins: (0..params.tins.count()).map(tin).collect(),
            of_codepoints: params.tins.of_codepoints(),
            pool: Pool::new(),
            shaper: Shaper::default(),
            current: 0,
            autorate: params.autorate_ingress.then(|| Autorate::new(rate)),
            line: params.line_length(),
            setting,
            params: params.clone(),
            memory_limit: 0,
            key: coin.next_u64(),
            coin,
            counters: Counters::default(),
        };
        made.set_rate(rate);
        Ok(made)
    }

    fn set_rate(&mut self, rate: u64) {
        self.shaper.set_rate(rate);
        for (at, tin) in self.tins.iter_mut().enumerate() {
            tin.set_part(self.params.tins.part(at, rate), &self.setting);
        }
        let most = MOST_PACKETS * u64::from(self.setting.mtu);
        let four = u128::from(rate) * u128::from(self.setting.rtt) * 4 / u128::from(NANOS_PER_BYTE);
        let usual = match u64::try_from(four) {
            Ok(bytes) if rate > 0 => bytes.max(LEAST_MEMORY).min(most),
            _ => most,
        };
        self.memory_limit = self.params.memory_limit.map_or(usual, |size| size.0);
    }

    #[inline]
    fn tin_of(&self, packet: &P) -> usize {
        usize::from(self.of_codepoints[usize::from(packet.dscp() & 63)])
    }

    /// A call of a tin. What it counts is counted here too.
    #[inline]
    fn with_tin<T>(&mut self, tin: usize, call: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.tins[tin].counters;
        let result = call(self);
        self.counters.follow(&before, &self.tins[tin].counters);
        result
    }

    /// Drops from the head of the longest queue until the limit holds.
    #[cold]
    fn shorten(&mut self, now: Time, sink: &mut impl Sink<P>) {
        while self.counters.standing().bytes > self.memory_limit {
            let (mut tin, mut queue, mut most) = (0, 0, 0);
            for (at, other) in self.tins.iter().enumerate() {
                let (longest, bytes) = other.longest();
                if bytes > most {
                    (tin, queue, most) = (at, longest, bytes);
                }
            }
            let bytes =
                self.with_tin(tin, |cake| cake.tins[tin].shorten(queue, now, &mut cake.pool, sink));
            self.lost(now, tin, bytes);
        }
    }

    /// Drops the acknowledgement that the packet that came last makes superfluous; its bytes.
    fn filter(&mut self, now: Time, (tin, queue): (usize, usize), sink: &mut impl Sink<P>) -> u32 {
        let how = self.params.ack_filter;
        let bytes =
            self.with_tin(tin, |cake| cake.tins[tin].filter(queue, how, now, &mut cake.pool, sink));
        if let Some(bytes) = bytes {
            self.lost(now, tin, bytes);
        }
        bytes.unwrap_or(0)
    }

    /// A packet of `bytes` was dropped on the arrival of another.
    fn lost(&mut self, now: Time, tin: usize, bytes: u32) {
        if self.params.ingress {
            let length = self.line.of(bytes);
            self.tins[tin].clock.charge(now, length);
            self.shaper.charge(length, false);
        }
    }

    /// The tin to serve; one at least has queues in turns.
    #[inline]
    fn choose(&mut self, now: Time) -> usize {
        if self.tins.len() == 1 {
            return 0;
        }
        if self.shaper.rate() == 0 { self.next_in_round() } else { self.most_urgent(now) }
    }

    /// The last of those that are within their part of the line; if none is, the one that will
    /// be first.
    fn most_urgent(&self, now: Time) -> usize {
        let (mut best, mut soonest) = (0, i64::MAX);
        for (at, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.waits()) {
            let wait = tin.clock.next.0 as i64 - now.0 as i64;
            if wait <= 0 || wait <= soonest {
                (best, soonest) = (at, wait);
            }
        }
        best
    }

    /// The one whose turn it is by deficits.
    fn next_in_round(&mut self) -> usize {
        loop {
            let tin = &mut self.tins[self.current];
            if tin.waits() && tin.deficit >= 0 {
                return self.current;
            }
            if tin.deficit <= 0 {
                tin.add_part();
            }
            self.current = (self.current + 1) % self.tins.len();
        }
    }

    /// A packet of `bytes` of a queue leaves, or is dropped and counts nevertheless.
    #[inline]
    fn charge(&mut self, now: Time, (tin, queue): (usize, usize), bytes: u32, sent: bool) {
        let length = self.line.of(bytes);
        self.tins[tin].charge(queue, now, length);
        self.shaper.charge(length, sent);
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        let at = self.tin_of(&packet);
        let tin = &mut self.tins[at];
        let queue = tin.classify(Hashes::of(&packet, self.params.isolation, self.key));
        if tin.is_empty() {
            tin.clock.wake(now);
            if self.counters.standing().packets == 0 {
                self.shaper.wake(now);
            }
        }
        let bytes = packet.bytes();
        tin.append(queue, Stamped { packet, at: now }, &mut self.pool);
        self.counters.enqueued.add(bytes);
        let filtered = match self.params.ack_filter {
            AckFilter::Off => 0,
            _ => self.filter(now, (at, queue), sink),
        };
        let more = i64::from(bytes) - i64::from(filtered);
        if let Some(rate) = self.autorate.as_mut().and_then(|auto| auto.arrival(now, more)) {
            // An estimate of zero is none yet.
            self.set_rate(if rate == 0 { 0 } else { rate.max(params::SLOWEST.0) });
        }
        self.tins[at].wait(queue);
        if self.counters.standing().bytes > self.memory_limit {
            self.shorten(now, sink);
            // It stands at the tail: if it was dropped, so was all before it.
            if self.tins[at].packets_in(queue) == 0 {
                return Verdict::Dropped(DropReason::Overflow);
            }
        }
        Verdict::Queued
    }

    #[inline]
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<P> {
        if self.next_ready(now) != Some(now) {
            return None;
        }
        let mut call = Call { now, ingress: self.params.ingress, budget: MAX_DROPS };
        let mut decaying = true;
        let mut at = self.choose(now);
        loop {
            let Some(queue) = self.tins[at].turn(decaying, &mut self.coin) else {
                at = self.choose(now);
                continue;
            };
            decaying = false;
            let turn = self.with_tin(at, |cake| {
                cake.tins[at].serve(queue, &mut call, &mut cake.pool, &mut cake.coin, sink)
            });
            match turn {
                Turn::Sent(stamped) => {
                    self.charge(now, (at, queue), stamped.bytes(), true);
                    return Some(stamped.packet);
                }
                Turn::Dropped(bytes) => self.charge(now, (at, queue), bytes, false),
                Turn::Empty => at = self.choose(now),
            }
        }
    }

    #[inline]
    fn next_ready(&self, now: Time) -> Option<Time> {
        (self.counters.standing().packets > 0).then(|| self.shaper.ready_at().max(now))
    }

    #[inline]
    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.tins.iter().flat_map(|tin| tin.iter(&self.pool)).for_each(tell);
    }

    /// The largest of BLUE's.
    fn probability(&self) -> f64 {
        let all = self.tins.iter().map(Tin::probability);
        all.max().map_or(0.0, crate::Probability::as_f64)
    }

    fn class_of(&self, packet: &P) -> usize {
        self.tin_of(packet)
    }

    fn classes(&self, tell: &mut dyn FnMut(&Counters)) {
        if self.tins.len() > 1 {
            self.tins.iter().for_each(|tin| tell(&tin.counters));
        }
    }
}
