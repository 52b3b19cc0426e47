//! DualPI2: the coupled dual-queue AQM of RFC 9332, appendix A.
//!
//! Packets of ECT(1) and CE go to a low-latency queue L, all others to a classic queue C. One
//! linear PI controller on the queueing delay moves p'. Classic packets are dropped or marked with
//! p'², those of L are marked with `coupling`·p' or by L's own shallow threshold, whichever is
//! more: the congestion that classic flows cause is felt in L, and flows of both kinds get about
//! the same rate. L is served first, with a share kept for C.
//!
//! # Differences from the source
//!
//! 1. Integers: p' in Q.76 without any rounding, all else in Q.60.
//! 2. `tupdate`, `alpha` and `beta` are Linux's rounded values: 16 ms, 0.16 Hz, 3.2 Hz instead of
//!    15 ms, 0.15 Hz, 3 Hz. `limit` is in packets, not in bytes.
//! 3. The controller takes the older of the two heads, as in the RFC's version for overload.
//! 4. L's own threshold looks at the sojourn time of the packet that is being served, and
//!    `min_packets` counts it; read to the letter, figure 7 counts only those behind it.
//! 5. The scheduler, which the RFC leaves open, is a weighted round robin by bytes with a credit;
//!    `scheduler = "time_shifted"` is the RFC's time-shifted FIFO, by default with twice the
//!    target, where the RFC has 50 ms for the public Internet and some four targets elsewhere.
//! 6. One `dequeue` drops at most 64 packets and never the last that stands; the RFC's loop has no
//!    bound and may give nothing though packets stood.
//! 7. Updates that come due between two calls are run before the next, in at most three steps.
//!
//! # Differences from Linux
//!
//! Linux 7.3's `sch_dualpi2`, with which `marking = "step"`, `decision = "random"` and
//! `min_packets = 0` agree (docs/studies/l4s.md, beside Linux).
//!
//! 1. It marks L above a step of 1 ms; here, as in the RFC, along a ramp: `marking = "step"`. Its
//!    `min_qlen_step`, 0 unless set, is looked at on arrival; here a packet is only marked by L's
//!    threshold if more than `min_packets` stand in L with it as it leaves. It counts a mark for
//!    the step and one for the controller where both meet in a packet; here that is one mark.
//! 2. It decides by random numbers, here by accumulating probabilities as in the RFC's pseudocode:
//!    `decision = "random"`.
//! 3. While less than 2 MTU stand behind a packet it spares it, but for the step.
//! 4. Its `drop_enqueue` (deciding on arrival), memory limit, thresholds in packets, splitting of
//!    GSO packets, `any_ect` and classification by `tc` filters are not here.
//! 5. It has p' in 32 bits and rounds each update; its credit begins anew with one MTU when it is
//!    asked for a packet and has none, which HTB never does; here with one mean packet as soon as
//!    both queues are empty.

mod params;

pub use params::{Decision, Marking, Params, Scheduler};

use crate::delay_pi::{DelayPi, Settings, coupling};
use crate::env::mean_packet;
use crate::fixed::bounded;
use crate::managed::packet_limit;
use crate::ring::Ring;
use crate::{
    ClassInfo, Counters, DropReason, Ecn, Env, Invalid, Packet, Parameters, Probability, Sink,
    Stamped, Verdict,
};
use alloc::vec::Vec;
use sojourn_base::{Stream, Time};

/// Most packets dropped in one call.
const MOST_DROPS: u32 = 64;
/// Fraction bits of the weights.
const WEIGHT_BITS: u32 = 16;

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        packet_limit(self.limit)?;
        Rules::new(self, env).map(|_| ())
    }

    /// The two queues, so that each has its own row among the results.
    fn classes(&self) -> Vec<ClassInfo> {
        let lane = |name: &str| ClassInfo { name: name.into(), labels: Vec::new() };
        ["L", "C"].map(lane).into()
    }
}

/// The parameters as integers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Rules {
    controller: DelayPi,
    coupling: u64,
    /// Where L's own marking begins, ns, and by how much its probability rises each ns, Q.60.
    from: u64,
    slope: u64,
    min_packets: u32,
    /// C's weight and L's, Q.16, and the credit to begin with.
    weights: (i64, i64),
    credit: i64,
    time_shift: Option<u64>,
    random: bool,
    drops: bool,
}

impl Rules {
    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        let Params { target, tupdate, alpha, beta, .. } = *params;
        let most = |field, time: Time, least: Time| {
            if time > Time::from_secs(1000) || time < least {
                let remedy = alloc::format!("must be \"{least}\" to \"1000s\"");
                return Err(Invalid::new(field, alloc::format!("\"{time}\""), remedy));
            }
            Ok(time.0)
        };
        let mut controller = DelayPi::new(&Settings { target, tupdate, alpha, beta })?;
        let k = coupling(params.coupling)?;
        if !params.drop_on_overload {
            controller.cap(k);
        }
        let from = most("min_th", params.min_th, Time::ZERO)?;
        let to = most("max_th", params.max_th, Time(from + 1))?;
        let step = most("step_th", params.step_th, Time::ZERO)?;
        let classic = bounded("classic_weight", params.classic_weight, 0.0, 1.0, WEIGHT_BITS)?;
        let weights = (classic, (1 << WEIGHT_BITS) - classic);
        let mean = i64::from(mean_packet(params.mean_packet, env)?);
        let shift = params.time_shift.map(|shift| most("time_shift", shift, Time::ZERO));
        let shift = shift.transpose()?.unwrap_or(2 * target.0);
        Ok(Self {
            controller,
            coupling: k,
            from: if params.marking == Marking::Ramp { from } else { step },
            slope: match params.marking {
                Marking::Ramp => Probability::ONE.raw() / (to - from),
                Marking::Step => Probability::ONE.raw(),
            },
            min_packets: params.min_packets,
            weights,
            credit: mean * (weights.0 - weights.1),
            time_shift: match params.scheduler {
                Scheduler::Wrr => None,
                Scheduler::TimeShifted => Some(shift),
            },
            random: params.decision == Decision::Random,
            drops: params.drop_on_overload,
        })
    }

    /// L's own probability for a packet that leaves after `sojourn` ns.
    #[inline]
    fn native(&self, sojourn: u64, standing: u32) -> Probability {
        if sojourn <= self.from || standing <= self.min_packets {
            return Probability::ZERO;
        }
        let p = u128::from(sojourn - self.from) * u128::from(self.slope);
        Probability::clamped(p as i128)
    }
}

/// One of the two queues.
#[derive(Clone, Debug)]
struct Lane<P> {
    ring: Ring<Stamped<P>>,
    /// Probabilities that have added up since the last hit, Q.60.
    recur: u64,
}

impl<P: Packet> Lane<P> {
    fn new() -> Self {
        Self { ring: Ring::new(), recur: 0 }
    }

    fn came(&self) -> Option<Time> {
        self.ring.peek().map(|packet| packet.at)
    }

    /// RFC 9332, figure 4: whether `p` makes a hit.
    #[inline]
    fn recurs(&mut self, p: Probability) -> bool {
        self.recur += p.raw();
        let hit = self.recur > Probability::ONE.raw();
        if hit {
            self.recur -= Probability::ONE.raw();
        }
        hit
    }
}

/// A queue under DualPI2.
#[derive(Clone, Debug)]
pub struct Discipline<P: Packet> {
    rules: Rules,
    low: Lane<P>,
    classic: Lane<P>,
    coin: Stream,
    /// p', k·p' and p'² in force.
    base: Probability,
    coupled: Probability,
    squared: Probability,
    /// Above 0 it is C's turn; bytes in Q.16.
    credit: i64,
    limit: u32,
    counters: Counters,
    /// Those of L; C's are the rest.
    low_counters: Counters,
    /// Whether the packet that left last came out of L: a mark does not tell afterwards.
    last_low: bool,
}

impl<P: Packet> Discipline<P> {
    /// An empty queue.
    pub fn new(params: &Params, env: &Env, coin: Stream) -> Result<Self, Invalid> {
        let rules = Rules::new(params, env)?;
        Ok(Self {
            credit: rules.credit,
            rules,
            low: Lane::new(),
            classic: Lane::new(),
            low_counters: Counters::default(),
            last_low: false,
            coin,
            base: Probability::ZERO,
            coupled: Probability::ZERO,
            squared: Probability::ZERO,
            limit: params.limit,
            counters: Counters::default(),
        })
    }

    /// p', `coupling`·p' and p'².
    #[must_use]
    pub fn probabilities(&self) -> [Probability; 3] {
        [self.base, self.coupled, self.squared]
    }

    /// Counts something of a packet of L, or of C.
    #[inline]
    fn count(&mut self, low: bool, what: impl Fn(&mut Counters)) {
        what(&mut self.counters);
        if low {
            what(&mut self.low_counters);
        }
    }

    /// Whether L is served next, and what the credit will be after `bytes` of either.
    #[inline]
    fn serves_low(&self, now: Time) -> bool {
        let (Some(low), Some(classic)) = (self.low.came(), self.classic.came()) else {
            return self.low.ring.len() > 0;
        };
        match self.rules.time_shift {
            None => self.credit <= 0,
            Some(shift) => (now.0 - low.0).saturating_add(shift) >= now.0 - classic.0,
        }
    }

    /// Whether a packet of L is to be dropped, and whether it is to be marked.
    #[inline]
    fn judge_low(&mut self, sojourn: u64, standing: u32) -> (bool, bool) {
        let overload = self.coupled == Probability::ONE && self.rules.drops;
        if overload {
            // Both from one count, as in the RFC: what is not dropped is marked.
            return if self.rules.random {
                (self.base.toss(&mut self.coin) && self.base.toss(&mut self.coin), true)
            } else {
                (self.low.recurs(self.squared), true)
            };
        }
        let p = self.rules.native(sojourn, standing).max(self.coupled);
        let mark = if self.rules.random { p.toss(&mut self.coin) } else { self.low.recurs(p) };
        (false, mark)
    }

    /// The same for C; a packet that is not ECN-capable is never marked.
    #[inline]
    fn judge_classic(&mut self, capable: bool) -> (bool, bool) {
        let hit = if self.rules.random {
            self.base.toss(&mut self.coin) && self.base.toss(&mut self.coin)
        } else {
            self.classic.recurs(self.squared)
        };
        let overload = self.coupled == Probability::ONE && self.rules.drops;
        (hit && (!capable || overload), hit)
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        self.advance(now);
        let (low, bytes) = (matches!(packet.ecn(), Ecn::Ect1 | Ecn::Ce), packet.bytes());
        if self.packets() >= self.limit {
            self.count(low, |counters| counters.overflow.add(bytes));
            sink.dropped(now, packet, DropReason::Overflow);
            return Verdict::Dropped(DropReason::Overflow);
        }
        self.count(low, |counters| counters.enqueued.add(bytes));
        let lane = if low { &mut self.low } else { &mut self.classic };
        lane.ring.push(Stamped { packet, at: now });
        Verdict::Queued
    }

    #[inline]
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<P> {
        self.advance(now);
        let mut drops = 0;
        loop {
            let low = self.serves_low(now);
            let lane = if low { &mut self.low } else { &mut self.classic };
            let standing = lane.ring.len();
            let Stamped { mut packet, at } = lane.ring.pop()?;
            let (bytes, ecn) = (packet.bytes(), packet.ecn());
            let (drop, mark) = if low {
                self.judge_low(now.0 - at.0, standing)
            } else {
                self.judge_classic(ecn != Ecn::NotEct)
            };
            if drop && drops < MOST_DROPS && self.packets() > 0 {
                self.count(low, |counters| {
                    counters.evicted.add(bytes);
                    counters.early.add(bytes);
                });
                sink.dropped(now, packet, DropReason::Early);
                drops += 1;
                continue;
            }
            if mark && matches!(ecn, Ecn::Ect0 | Ecn::Ect1) {
                packet.set_ce();
                self.count(low, |counters| counters.marked.add(bytes));
            }
            self.count(low, |counters| counters.dequeued.add(bytes));
            self.last_low = low;
            // Only service while the other waits is a debt to it.
            if self.low.ring.len() > 0 && !low {
                self.credit -= self.rules.weights.1 * i64::from(bytes);
            } else if self.classic.ring.len() > 0 && low {
                self.credit += self.rules.weights.0 * i64::from(bytes);
            } else if self.packets() == 0 {
                self.credit = self.rules.credit;
            }
            return Some(packet);
        }
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        if !self.rules.controller.due(now) {
            return;
        }
        let head = match (self.low.came(), self.classic.came()) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.rules.controller.advance(now, head);
        self.base = self.rules.controller.base();
        self.coupled = DelayPi::times(self.base, self.rules.coupling);
        self.squared = DelayPi::squared(self.base);
    }

    #[inline]
    fn packets(&self) -> u32 {
        self.low.ring.len() + self.classic.ring.len()
    }

    #[inline]
    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        let lanes = [&self.low, &self.classic].into_iter();
        lanes.flat_map(|lane| lane.ring.iter()).map(|stamped| &stamped.packet).for_each(tell);
    }

    fn class_of(&self, _: &P) -> usize {
        usize::from(!self.last_low)
    }

    fn classes(&self, tell: &mut dyn FnMut(&Counters)) {
        tell(&self.low_counters);
        let mut classic = Counters::default();
        classic.follow(&self.low_counters, &self.counters);
        tell(&classic);
    }

    /// p'², that of C.
    fn probability(&self) -> f64 {
        self.squared.as_f64()
    }
}

#[cfg(test)]
mod tests;
