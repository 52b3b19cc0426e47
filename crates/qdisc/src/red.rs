//! RED: random early detection, Floyd and Jacobson, "Random early detection gateways for
//! congestion avoidance", IEEE/ACM Transactions on Networking 1(4), 1993; *gentle* after Floyd's
//! note of 2000.
//!
//! Every arrival moves an average of the queue by the fraction `wq` towards the queue it finds.
//! Below `min_th` nothing happens; from `min_th` to `max_th` the probability p_b rises from 0 to
//! `max_p`; above, everything is dropped, or, if gentle, p_b rises from `max_p` to 1 at twice
//! `max_th` first. The probability of an arrival is p_b/(1 − count·p_b) with `count` the packets
//! that passed since the last one hit, so that gaps between hits are uniform on 1..1/p_b. As in the
//! paper's efficient version one random number R is drawn for a gap, not for a packet, and the
//! first packet with (count + 1)·p_b > R is hit: the same while p_b stays, and no division.
//!
//! # Differences from the source
//!
//! 1. Integers: the average in Q.36, `wq` in Q.63, probabilities in Q.60.
//! 2. `count` is 0 for the first packet after a hit, as the paper's text has it; its pseudo-code,
//!    and ns-2, start at 1 and never hit two packets in a row.
//! 3. The exponent of the idle decay is real, not a whole number of packets: 2^(−k·idle), with k
//!    from `wq` and the time of one mean packet. The arrival that ends the idle time then takes
//!    its own sample of 0, as in ns-2; in the paper it takes none.
//! 4. The packet in service is not in the queue, so the link is idle only once the packet that
//!    left the queue empty has also been sent: its size at the link's rate (framing not counted)
//!    is waited for.
//! 5. With `scale_by_size`, `count` counts mean packets' worth of bytes, so the gaps are uniform
//!    in bytes. (The paper counts packets; ns-2 as here.)
//! 6. Two ways to space hits that the paper has not: `spacing` is "wait" in ns-2, gaps of 1/p_b to
//!    2/p_b, and "altq" in ALTQ, gaps of 1 to 2/p_b. Both draw a number for each packet and hit it
//!    with probability p_b/(2 − count·p_b), count beginning at 1; the first packet that finds the
//!    average at `min_th` or above begins the count and passes. Byte mode is as for uniform gaps;
//!    ALTQ has none.
//! 7. Both hit nothing while fewer than two packets wait, however high the average:
//!    `min_queue = 2`.
//! 8. `preset` gives the settings of the paper, ns-2, ALTQ or Linux. What they do not give: ns-2's
//!    thresholds and weight derived from the rate (`ared` has those), and its packets of 500 bytes;
//!    ALTQ's averages and probabilities have 12 bits, it weighs by 1/128 or 1/64 on slow links, and
//!    at its limit as above `max_th` it drops the last packet in the queue, not the one that comes.
//! 9. A drop by the hard limit starts `count` anew, like any other hit.
//!
//! # Differences from Linux
//!
//! 1. `sch_red` measures bytes only and thresholds are bytes; here packets, or with
//!    `queue_in_bytes` bytes over `mean_packet`.
//! 2. It has no gentle region: above `max` all packets are hit (`gentle = false`).
//! 3. Above `max` it marks ECN-capable packets unless `harddrop` is set; here they are dropped
//!    unless `ecn_drop_above_max = false`. There is no `nodrop` here.
//! 4. Its weight is a power of two, found by `tc` from `burst`, `min` and `avpkt`; the decay over
//!    an idle time goes by a table of 256 steps of `avpkt` at `bandwidth`, and the average stays
//!    as it was when the queue empties, not when the last packet has been sent. Below HTB or
//!    another shaper, which ask an empty queue for nothing, it never learns that it is idle:
//!    `idle_decay = false`. A burst that takes the average above `max` can then stop all there is.
//! 5. Its random number is drawn anew after each hit and compared with count times p as here
//!    (`spacing = "uniform"`), but the first packet that finds the average above `min` always
//!    passes, it has fewer bits, and `max_p` over the range is rounded to a power of two.
//! 6. A byte limit, not a limit in packets; the early-drop qevents are not here.

mod hits;
mod preset;

pub use hits::Hits;
pub use preset::Preset;

use crate::env::mean_packet;
use crate::fixed::{ByteTime, QUEUE_BITS, bounded};
use crate::managed::{Common, LIMIT, Law, LawParams, Managed, Signal};
use crate::power::Decay;
use crate::spacing::{Spacing, hits_late};
use crate::{Env, Invalid, Measure, Probability, Standing};
use alloc::format;
use sojourn_base::{Stream, Time};

/// Fraction bits of `wq`.
pub(crate) const WEIGHT_BITS: u32 = 63;

/// Largest threshold, in packets: twice it is the longest queue that is told apart.
const THRESHOLD_MOST: f64 = 33_554_432.0;

/// RED. The thresholds are the customary ones for a small link; set them for yours.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Whose RED this is, so that what is not given is theirs: "floyd", the paper's; "ns2"; "altq",
    /// the BSDs'; "linux" (default: none, and the defaults below).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub preset: Option<Preset>,
    /// Average queue in packets (of mean size if `queue_in_bytes`) at which marking starts:
    /// 0 to below `max_th` (default 5).
    pub min_th: f64,
    /// Average queue in packets at which p reaches `max_p`: up to 33554432 (default 15).
    pub max_th: f64,
    /// Probability at `max_th`: above 0, at most 1 (default 0.1).
    pub max_p: f64,
    /// Weight of a new sample in the average: 1e-9 to 1; default: 1 − exp(−1/C) with C the
    /// link's rate in mean packets per second, an average over about one second.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub wq: Option<f64>,
    /// From `max_th` let p rise to 1 at twice `max_th`, instead of jumping to 1 (default true).
    pub gentle: bool,
    /// Let the average fall over times in which the link is idle, as the paper; Linux does not
    /// below a shaper, where it falls with arriving packets only (default true).
    pub idle_decay: bool,
    /// Which packets are hit.
    #[cfg_attr(feature = "schema", serde(rename = "$hits"))]
    pub hits: Hits,
    /// Most packets in the queue: 1 to 67108864 (default 1000000).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            preset: None,
            min_th: 5.0,
            max_th: 15.0,
            max_p: 0.1,
            wq: None,
            gentle: true,
            idle_decay: true,
            hits: Hits::default(),
            limit: LIMIT,
        }
    }
}

impl Params {
    /// The weight on a link that sends `per_second` mean packets per second.
    #[must_use]
    pub fn weight(&self, per_second: f64) -> f64 {
        self.wq.unwrap_or_else(|| -libm::expm1(-1.0 / per_second))
    }
}

impl LawParams for Params {
    type Law = Red;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.hits.ecn }
    }
}

/// The parameters as the integers that the law works with.
#[derive(Clone, Debug)]
pub struct Constants {
    /// `wq`, Q.63, and 1 − `wq`, Q.64.
    weight: u64,
    keep: u64,
    spacing: Spacing,
    min_queue: u32,
    /// Thresholds, Q.36. `top` is where everything is hit: `max_th`, or twice that if gentle.
    pub(crate) min_th: i64,
    pub(crate) max_th: i64,
    top: i64,
    /// 1/(max_th − min_th) and 1/max_th, Q.60, rounded down.
    rise: u64,
    gentle_rise: u64,
    drop_above_max: bool,
    /// Over idle times; none if the average stays.
    decay: Option<Decay>,
    byte_time: ByteTime,
}

/// What changes from packet to packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The average queue, Q.36, as of the last arrival.
    pub average: i64,
    /// What has passed since the last hit, in packets or mean packets' worth of bytes, Q.36.
    pub count: u64,
    /// How far count·p_b goes before the next hit: uniform, 0 to 1, Q.60; drawn when `count` is 0.
    pub reach: u64,
    /// Whether the next packet that could be hit passes and is the first to count, as in ns-2 and
    /// ALTQ when the average has come up to `min_th`; unused if hits are uniform.
    pub spares: bool,
    /// If the queue is empty: when the link fell idle, or will.
    pub idle_since: Time,
    /// `max_p` in force; only ARED changes it.
    pub max_p: Probability,
    /// Slopes of p_b between the thresholds and above `max_th`, per packet, Q.60.
    slope: u64,
    gentle_slope: u64,
}

/// What the law has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Arrivals hit at random.
    pub random: u64,
    /// Arrivals hit because the average was at the top.
    pub forced: u64,
    /// Idle times that the average decayed over.
    pub idle_periods: u64,
}

/// The control law.
#[derive(Clone, Debug)]
pub struct Red {
    measure: Measure,
    pub(crate) constants: Constants,
    state: State,
    statistics: Statistics,
}

/// A queue under RED.
pub type Discipline<P> = Managed<P, Red>;

impl Red {
    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The statistics.
    #[must_use]
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// `wq`, Q.63.
    #[must_use]
    pub fn weight(&self) -> u64 {
        self.constants.weight
    }

    /// The average at `now` (Q.36), were a packet to arrive then, before its own sample.
    #[inline]
    #[must_use]
    pub fn average_at(&self, now: Time, queue: Standing) -> i64 {
        match &self.constants.decay {
            Some(decay) if queue.packets == 0 && now > self.state.idle_since => {
                decay.apply(self.state.average, now.0 - self.state.idle_since.0)
            }
            _ => self.state.average,
        }
    }

    pub(crate) fn set_max_p(&mut self, max_p: Probability) {
        let per = |p: u64, rise: u64| ((u128::from(p) * u128::from(rise)) >> 60) as u64;
        self.state.max_p = max_p;
        self.state.slope = per(max_p.raw(), self.constants.rise);
        self.state.gentle_slope =
            per(Probability::ONE.raw() - max_p.raw(), self.constants.gentle_rise);
    }

    /// p_b at the present average, for a mean packet.
    #[inline]
    fn base(&self) -> Probability {
        let (c, s) = (&self.constants, &self.state);
        // Slopes are rounded down, so nothing exceeds 1.
        let along = |from: i64, slope: u64| {
            ((u128::from((s.average - from) as u64) * u128::from(slope)) >> QUEUE_BITS) as u64
        };
        if s.average < c.min_th {
            Probability::ZERO
        } else if s.average < c.max_th {
            Probability::of(along(c.min_th, s.slope))
        } else if s.average < c.top {
            Probability::of(s.max_p.raw() + along(c.max_th, s.gentle_slope))
        } else {
            Probability::ONE
        }
    }

    /// The first half of an arrival at `now`, which finds `queue`: moves the average, and gives it.
    #[inline(always)]
    pub(crate) fn observe(&mut self, now: Time, queue: Standing) -> i64 {
        if queue.packets == 0 && now > self.state.idle_since {
            // If this packet is dropped the link stays idle, and has been accounted for until now.
            let idle = now.0 - self.state.idle_since.0;
            self.state.average = after_idle(self.constants.decay.clone(), self.state.average, idle);
            self.state.idle_since = now;
            self.statistics.idle_periods += 1;
        }
        let average = self.constants.moved(self.state.average, self.measure.queue(queue));
        self.state.average = average;
        average
    }

    /// The second half: what to do with the packet.
    #[inline(always)]
    pub(crate) fn decide(&mut self, bytes: u32, queue: Standing, coin: &mut Stream) -> Signal {
        let (c, average) = (&self.constants, self.state.average);
        if average < c.min_th || queue.packets < c.min_queue {
            self.state.count = 0;
            self.state.spares = true;
            return Signal::Pass;
        }
        let above = average >= c.max_th;
        if average >= c.top {
            self.state.count = 0;
            self.statistics.forced += 1;
        } else {
            let base = self.base();
            let hit = self.spaced(base, bytes, coin);
            self.statistics.random += u64::from(hit);
            if !hit {
                return Signal::Pass;
            }
        }
        if above && self.constants.drop_above_max { Signal::Drop } else { Signal::Notify }
    }

    /// The queue was emptied at `now` by other means than departures.
    pub(crate) fn emptied(&mut self, now: Time) {
        self.state.idle_since = self.state.idle_since.max(now);
    }

    /// Whether this packet is hit.
    #[inline]
    fn spaced(&mut self, base: Probability, bytes: u32, coin: &mut Stream) -> bool {
        let own = self.measure.scaled(base, bytes);
        let worth = if self.measure.by_size() {
            self.measure.packets(u64::from(bytes))
        } else {
            1 << QUEUE_BITS
        };
        if self.constants.spacing != Spacing::Uniform {
            return self.spaced_late(base, own, worth, coin);
        }
        // count·p_b and its own p reach beyond R.
        if self.state.count == 0 {
            self.state.reach = coin.next_u64() >> (64 - Probability::BITS);
        }
        let used = (u128::from(self.state.count) * u128::from(base.raw())) >> QUEUE_BITS;
        let hit = used + u128::from(own.raw()) > u128::from(self.state.reach);
        self.state.count = if hit { 0 } else { self.state.count.saturating_add(worth) };
        hit
    }

    /// The same where a packet counts before its own turn.
    fn spaced_late(
        &mut self,
        base: Probability,
        own: Probability,
        worth: u64,
        coin: &mut Stream,
    ) -> bool {
        let count = self.state.count.saturating_add(worth);
        let spared = core::mem::take(&mut self.state.spares);
        let hit = !spared && hits_late(self.constants.spacing, base, own, count, coin);
        self.state.count = if hit { 0 } else { count };
        hit
    }
}

/// By value, so that the state can stay in registers around the call.
#[cold]
#[inline(never)]
fn after_idle(decay: Option<Decay>, average: i64, nanos: u64) -> i64 {
    decay.map_or(average, |decay| decay.apply(average, nanos))
}

impl Constants {
    /// The average moved towards `queue`, both Q.36: within 2⁻³⁶ of (1 − wq)·average + wq·queue.
    /// The old average goes through one multiplication, since the next packet waits for it.
    #[inline]
    fn moved(&self, average: i64, queue: i64) -> i64 {
        let kept = (u128::from(average as u64) * u128::from(self.keep)) >> 64;
        // Rounded up, the other down: a steady queue is kept exactly.
        let up = (1u128 << WEIGHT_BITS) - 1;
        let sample = (u128::from(queue as u64) * u128::from(self.weight) + up) >> WEIGHT_BITS;
        kept as i64 + sample as i64
    }
}

impl Law for Red {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        let measure = Measure::new(params.hits.byte_mode, env)?;
        let per_second =
            env.packets_per_second(mean_packet(params.hits.byte_mode.mean_packet, env)?);
        let threshold = |field, x| bounded(field, x, 0.0, THRESHOLD_MOST, QUEUE_BITS);
        let (min_th, max_th) =
            (threshold("min_th", params.min_th)?, threshold("max_th", params.max_th)?);
        if min_th >= max_th {
            let remedy =
                format!("must be below max_th = {}, for example a third of it", params.max_th);
            return Err(Invalid::new("min_th", params.min_th, remedy));
        }
        if !(params.max_p > 0.0 && params.max_p <= 1.0) {
            let remedy = "must be above 0 and at most 1, for example 0.1";
            return Err(Invalid::new("max_p", params.max_p, remedy));
        }
        let wq = params.weight(per_second);
        if !(1e-9..=1.0).contains(&wq) {
            let remedy = match params.wq {
                Some(_) => "must be 1e-9 to 1, or left out for 1 - exp(-1/C)",
                None => "1 - exp(-1/C) is out of range on so fast a link: give 1e-9 to 1",
            };
            return Err(Invalid::new("wq", wq, remedy));
        }
        let weight = libm::ldexp(wq, WEIGHT_BITS as i32) as u64;
        // (1 − wq) per mean packet, as halvings per nanosecond.
        let halvings = -libm::log1p(-wq.min(1.0 - 1e-15)) / core::f64::consts::LN_2;
        let inverse =
            |x: i64| ((1u128 << (60 + QUEUE_BITS)) / x as u128).min(u128::from(u64::MAX)) as u64;
        let constants = Constants {
            weight,
            keep: (weight << 1).wrapping_neg(),
            spacing: params.hits.spacing,
            min_queue: params.hits.min_queue,
            min_th,
            max_th,
            top: if params.gentle { 2 * max_th } else { max_th },
            rise: inverse(max_th - min_th),
            gentle_rise: inverse(max_th),
            drop_above_max: params.hits.ecn_drop_above_max,
            decay: params.idle_decay.then(|| Decay::new(halvings * per_second * 1e-9)),
            byte_time: ByteTime::new(env),
        };
        let mut law = Self {
            measure,
            constants,
            state: State {
                average: 0,
                count: 0,
                reach: 0,
                spares: true,
                idle_since: Time::ZERO,
                max_p: Probability::ZERO,
                slope: 0,
                gentle_slope: 0,
            },
            statistics: Statistics::default(),
        };
        law.set_max_p(Probability::from_f64(params.max_p));
        Ok(law)
    }

    fn resume(self, before: &Self) -> Option<Self> {
        let State { average, count, reach, spares, idle_since, .. } = before.state;
        let state = State { average, count, reach, spares, idle_since, ..self.state };
        Some(Self { state, statistics: before.statistics.clone(), ..self })
    }

    #[inline(always)]
    fn arrival(&mut self, now: Time, bytes: u32, queue: Standing, coin: &mut Stream) -> Signal {
        self.observe(now, queue);
        self.decide(bytes, queue, coin)
    }

    #[inline]
    fn overflowed(&mut self) {
        self.state.count = 0;
    }

    #[inline]
    fn departure(&mut self, now: Time, bytes: u32, queue: Standing) {
        if queue.packets == 0 {
            self.state.idle_since = self.constants.byte_time.end(now, bytes);
        }
    }

    fn probability(&self) -> f64 {
        self.base().as_f64()
    }
}
