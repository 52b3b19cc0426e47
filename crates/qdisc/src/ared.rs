//! ARED: adaptive RED, Floyd, Gummadi and Shenker, "Adaptive RED: an algorithm for increasing the
//! robustness of RED's active queue management", 2001.
//!
//! RED whose `max_p` is moved every `interval` to keep the average queue in the middle fifth
//! between the thresholds: above it `max_p` grows by min(`alpha`, `max_p`/4), below it shrinks by
//! the factor `beta`, within [`bottom`, `top`]. Thresholds and `wq` follow from the link's rate.
//!
//! # Differences from the source
//!
//! 1. All of RED's (see [`crate::red`]).
//! 2. `max_p` is clamped to its range; the paper only stops moving it once it is outside.
//! 3. It adapts at fixed instants, arrivals or not, by the average that an arrival would have
//!    found there: on an idle link that is the decayed one. Between two packets it can only fall,
//!    so a search finds how many instants lie above, within and below the target, and the steps
//!    for each end at the clamp. However long the silence, the number of steps is bounded.
//!
//! # Differences from Linux
//!
//! 1. All of RED's.
//! 2. `sch_red adaptive` derives neither thresholds nor weight from the rate: give them, and
//!    `target_delay` has no meaning there.
//! 3. Its interval (500 ms), 0.01, 0.9 and the range 0.01 to 0.5 are fixed. It does not clamp
//!    `max_p`, like the paper.
//! 4. On an idle queue its timer takes the decayed average, as here.

use crate::managed::{Common, LIMIT, Law, LawParams, Managed, Signal};
use crate::red::{self, Hits, Red};
use crate::{Env, Invalid, Periodic, Probability, Sampled, Standing};
use sojourn_base::{Stream, Time};

/// Adaptive RED. By default everything follows from the link's rate and `target_delay`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The delay that the automatic thresholds aim at (default "5ms").
    pub target_delay: Time,
    /// Average queue in packets at which marking starts, below `max_th`; default: the larger of
    /// 5 and half of what the link sends in `target_delay`.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub min_th: Option<f64>,
    /// Average queue in packets at which p reaches `max_p`; default: three times `min_th`.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub max_th: Option<f64>,
    /// Probability at `max_th` at the start: `bottom` to `top` (default 0.1).
    pub max_p: f64,
    /// Least `max_p`: 0.0001 to `top` (default 0.01).
    pub bottom: f64,
    /// Largest `max_p`: up to 1 (default 0.5).
    pub top: f64,
    /// Largest increase of `max_p` in one interval: 0.0001 to 1 (default 0.01).
    pub alpha: f64,
    /// Factor of decrease of `max_p`: 0.1 to 0.999 (default 0.9).
    pub beta: f64,
    /// Time between two adaptations: at least "1ms" (default "500ms").
    pub interval: Time,
    /// Weight of a new sample in the average: 1e-9 to 1; default: 1 − exp(−1/C) with C the
    /// link's rate in mean packets per second.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub wq: Option<f64>,
    /// From `max_th` let p rise to 1 at twice `max_th`, instead of jumping to 1 (default true).
    pub gentle: bool,
    /// Which packets are hit.
    #[cfg_attr(feature = "schema", serde(rename = "$hits"))]
    pub hits: Hits,
    /// Most packets in the queue: 1 to 67108864 (default 1000000).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target_delay: Time::from_millis(5),
            min_th: None,
            max_th: None,
            max_p: 0.1,
            bottom: 0.01,
            top: 0.5,
            alpha: 0.01,
            beta: 0.9,
            interval: Time::from_millis(500),
            wq: None,
            gentle: true,
            hits: Hits::default(),
            limit: LIMIT,
        }
    }
}

impl Params {
    /// The RED that this one starts as on a link that sends `per_second` mean packets per second.
    #[must_use]
    pub fn red_at(&self, per_second: f64) -> red::Params {
        // Section 6.1 of the paper: min_th = max(5, delay·C/2), max_th = 3 min_th.
        let half = self.target_delay.as_secs_f64() * per_second / 2.0;
        let min_th = self.min_th.unwrap_or(half.max(5.0));
        red::Params {
            min_th,
            max_th: self.max_th.unwrap_or(3.0 * min_th),
            max_p: self.max_p,
            wq: self.wq,
            gentle: self.gentle,
            hits: self.hits,
            limit: self.limit,
            ..Default::default()
        }
    }
}

impl LawParams for Params {
    type Law = Ared;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.hits.ecn }
    }
}

/// The parameters of the adaptation as integers: probabilities, and averages in Q.36.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    bottom: Probability,
    top: Probability,
    alpha: Probability,
    beta: Probability,
    /// The target's ends: `min_th` plus 0.4 and 0.6 of the distance to `max_th`.
    lower: i64,
    upper: i64,
}

/// The control law. Its state is RED's, `max_p` in it, and the clock.
#[derive(Clone, Debug)]
pub struct Ared {
    red: Red,
    constants: Constants,
    clock: Periodic,
    statistics: Sampled,
}

/// A queue under adaptive RED.
pub type Discipline<P> = Managed<P, Ared>;

/// How many of the first `n` numbers fulfil `holds`, which holds up to some number and then never.
fn leading(n: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

impl Ared {
    /// The RED below.
    #[must_use]
    pub fn red(&self) -> &Red {
        &self.red
    }

    /// The statistics.
    #[must_use]
    pub fn statistics(&self) -> &Sampled {
        &self.statistics
    }

    #[cold]
    #[inline(never)]
    fn adapt(&mut self, now: Time, queue: Standing) {
        let (first, n) = self.clock.take(now);
        let (period, red) = (self.clock.period().0, &self.red);
        let average = |i: u64| red.average_at(Time(first.0 + i * period), queue);
        let c = &self.constants;
        let above = leading(n, |i| average(i) > c.upper);
        let below = n - leading(n, |i| average(i) >= c.lower);
        let (mut max_p, mut steps) = (red.state().max_p, 0);
        for _ in 0..above {
            if max_p >= c.top {
                break;
            }
            let increase = c.alpha.raw().min(max_p.raw() / 4);
            max_p = Probability::clamped(i128::from(max_p.raw() + increase)).min(c.top);
            steps += 1;
        }
        for _ in 0..below {
            if max_p <= c.bottom {
                break;
            }
            let less = (u128::from(max_p.raw()) * u128::from(c.beta.raw())) >> Probability::BITS;
            max_p = Probability::clamped(less as i128).max(c.bottom);
            steps += 1;
        }
        self.statistics.instants += n;
        self.statistics.steps += steps;
        self.red.set_max_p(max_p);
    }
}

impl Law for Ared {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        let range = |field, x: f64, low: f64, high: f64| {
            crate::fixed::bounded(field, x, low, high, Probability::BITS)
                .map(|raw| Probability::clamped(i128::from(raw)))
        };
        let top = range("top", params.top, 1e-4, 1.0)?;
        let bottom = range("bottom", params.bottom, 1e-4, params.top)?;
        range("max_p", params.max_p, params.bottom, params.top)?;
        let alpha = range("alpha", params.alpha, 1e-4, 1.0)?;
        let beta = range("beta", params.beta, 0.1, 0.999)?;
        if params.interval < Time::from_millis(1) {
            let remedy = "must be at least \"1ms\", for example \"500ms\"";
            return Err(Invalid::new(
                "interval",
                alloc::format!("\"{}\"", params.interval),
                remedy,
            ));
        }
        let mean = crate::env::mean_packet(params.hits.byte_mode.mean_packet, env)?;
        let red = Red::new(&params.red_at(env.packets_per_second(mean)), env)?;
        let (min_th, span) = (red.constants.min_th, red.constants.max_th - red.constants.min_th);
        let part = |tenths: i64| min_th + (i128::from(span) * i128::from(tenths) / 10) as i64;
        let constants = Constants { bottom, top, alpha, beta, lower: part(4), upper: part(6) };
        Ok(Self {
            red,
            constants,
            clock: Periodic::new(params.interval),
            statistics: Sampled::default(),
        })
    }

    fn resume(self, before: &Self) -> Option<Self> {
        let mut red = self.red.resume(&before.red)?;
        let Constants { bottom, top, .. } = self.constants;
        red.set_max_p(before.red.state().max_p.max(bottom).min(top));
        let (clock, statistics) = (self.clock.after(&before.clock), before.statistics.clone());
        Some(Self { red, clock, statistics, ..self })
    }

    #[inline]
    fn advance(&mut self, now: Time, queue: Standing) {
        if self.clock.due(now) {
            self.adapt(now, queue);
        }
    }

    #[inline]
    fn arrival(&mut self, now: Time, bytes: u32, queue: Standing, coin: &mut Stream) -> Signal {
        self.red.arrival(now, bytes, queue, coin)
    }

    #[inline]
    fn overflowed(&mut self) {
        self.red.overflowed();
    }

    #[inline]
    fn departure(&mut self, now: Time, bytes: u32, queue: Standing) {
        self.red.departure(now, bytes, queue);
    }

    fn probability(&self) -> f64 {
        self.red.probability()
    }
}
