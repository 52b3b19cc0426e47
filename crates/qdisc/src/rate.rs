//! Marking by the arrival rate alone: Kelly, "Models for a self-managed Internet", Phil. Trans. R.
//! Soc. A 358, 2000, and Vinnicombe, "On the stability of networks operating TCP-like congestion
//! control", IFAC 2002: a link charges a price that is a function of its load, whatever its queue.
//!
//! Every `period` T the load of the link is measured, smoothed with the time constant τ, and made a
//! probability that holds until the next instant:
//!
//! ```text
//! x = arrivals / (C T);   y = x + (y − x) e^(−T/τ);   p = ((y − start)/(1 − start))^exponent
//! ```
//!
//! With `start` 0 that is (y/C)^B. Below `start` p is 0, from a load of 1 on it is 1. Arrivals
//! include those that are dropped. The measuring lags behind the load by T/2 for the period, T/2
//! for holding the result, and τ.
//!
//! # Differences from the source
//!
//! 1. The rate is measured; in the papers it is known.
//! 2. Integers: loads in Q.40, up to 1024; p by repeated squaring in Q.60, each product rounded
//!    down.
//! 3. Sampling is lazy: a silence of any length costs two steps.
//!
//! # Differences from Linux
//!
//! Linux has no such discipline.

use crate::env::mean_packet;
use crate::fixed::{QUEUE_BITS, bounded, packets_in};
use crate::managed::{Common, LIMIT, Law, LawParams, Managed, Signal};
use crate::power::Decay;
use crate::{ByteMode, EcnMarking, Env, Invalid, Measure, Periodic, Probability, Standing};
use alloc::format;
use sojourn_base::{Stream, Time};

/// Fraction bits of a load.
const LOAD_BITS: u32 = 40;
/// The greatest load that is told apart.
const MOST: i64 = 1024 << LOAD_BITS;

/// Feedback on the rate.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The exponent B: 1 to 64 (default 16).
    pub exponent: u32,
    /// The load at which marking starts: 0 to 0.99 (default 0).
    pub start: f64,
    /// Time over which arrivals are counted: "1us" to "1000s" (default "10ms").
    pub period: Time,
    /// Time constant of the smoothing, "0s" (none) to "1000s" (default "0s").
    pub averaging: Time,
    /// Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0) (default
    /// false).
    pub ecn: EcnMarking,
    /// What is counted in bytes.
    #[cfg_attr(feature = "schema", serde(rename = "$byte_mode"))]
    pub byte_mode: ByteMode,
    /// Most packets in the queue: 1 to 67108864 (default 1000000).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            exponent: 16,
            start: 0.0,
            period: Time::from_millis(10),
            averaging: Time::ZERO,
            ecn: EcnMarking::Off,
            byte_mode: ByteMode::default(),
            limit: LIMIT,
        }
    }
}

impl LawParams for Params {
    type Law = RateFeedback;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.ecn }
    }
}

/// The parameters as the law works with them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Constants {
    exponent: u32,
    /// `start`, Q.40.
    start: i64,
    /// C·T in mean packets, Q.36.
    capacity: u64,
    /// Smoothing with time; none: the load of the last period alone.
    decay: Option<Decay>,
    period: Time,
}

/// What changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The smoothed load, Q.40.
    load: i64,
    probability: Probability,
    /// Arrivals since the last instant: packets, or bytes if they are measured in bytes.
    arrivals: u64,
    clock: Periodic,
}

/// The law.
#[derive(Clone, Debug)]
pub struct RateFeedback {
    measure: Measure,
    constants: Constants,
    state: State,
}

/// A queue under feedback on the rate.
pub type Discipline<P> = Managed<P, RateFeedback>;

/// x^n in Q.60 for x up to 1, by squaring.
fn power(x: u64, n: u32) -> u64 {
    let product = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> Probability::BITS) as u64;
    let (mut base, mut left, mut result) = (x, n, Probability::ONE.raw());
    while left > 0 {
        if left & 1 == 1 {
            result = product(result, base);
        }
        base = product(base, base);
        left >>= 1;
    }
    result
}

impl Constants {
    /// The probability at a load.
    fn price(&self, load: i64) -> Probability {
        let (above, room) = (load - self.start, (1 << LOAD_BITS) - self.start);
        if above <= 0 {
            return Probability::ZERO;
        }
        let share = ((above as u128) << Probability::BITS) / room as u128;
        let share = share.min(u128::from(Probability::ONE.raw())) as u64;
        Probability::clamped(i128::from(power(share, self.exponent)))
    }

    /// The smoothed load after one period with the load `x` and `silent` more with none.
    fn smoothed(&self, before: i64, x: i64, silent: u64) -> i64 {
        let Some(decay) = &self.decay else { return if silent > 0 { 0 } else { x } };
        // y + (x − y)(1 − e^(−T/τ)): rounded towards y from either side.
        let away = x - before;
        let left = decay.apply(away.abs(), self.period.0);
        let next = if away >= 0 { x - left } else { x + left };
        decay.apply(next, self.period.0.saturating_mul(silent))
    }
}

impl RateFeedback {
    /// The smoothed load, as a share of the link's rate; for probes.
    #[must_use]
    pub fn load(&self) -> f64 {
        libm::ldexp(self.state.load as f64, -(LOAD_BITS as i32))
    }

    #[cold]
    #[inline(never)]
    fn sample(&mut self, now: Time) {
        let (_, n) = self.state.clock.take(now);
        let arrived = self.measure.arrived(core::mem::take(&mut self.state.arrivals));
        let x = (u128::from(arrived) << LOAD_BITS) / u128::from(self.constants.capacity);
        let x = x.min(MOST as u128) as i64;
        self.state.load = self.constants.smoothed(self.state.load, x, n - 1);
        self.state.probability = self.constants.price(self.state.load);
    }
}

impl Law for RateFeedback {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        let measure = Measure::new(params.byte_mode, env)?;
        if !(1..=64).contains(&params.exponent) {
            return Err(Invalid::new("exponent", params.exponent, "must be 1 to 64"));
        }
        let start = bounded("start", params.start, 0.0, 0.99, LOAD_BITS)?;
        let per_second = env.packets_per_second(mean_packet(params.byte_mode.mean_packet, env)?);
        let capacity = packets_in(params.period, per_second, "10ms")?;
        if params.averaging > Time::from_secs(1000) {
            let remedy = "must be \"0s\" to \"1000s\", like \"100ms\"";
            return Err(Invalid::new("averaging", format!("\"{}\"", params.averaging), remedy));
        }
        if capacity < 1e-6 {
            let remedy = "the link sends less than 1e-6 packets in it: make it longer";
            return Err(Invalid::new("period", format!("\"{}\"", params.period), remedy));
        }
        // A share of e^(−1) in τ is one of 2^(−log2 e).
        let decay = (params.averaging > Time::ZERO)
            .then(|| Decay::new(core::f64::consts::LOG2_E / params.averaging.0 as f64));
        Ok(Self {
            measure,
            constants: Constants {
                exponent: params.exponent,
                start,
                capacity: libm::round(libm::ldexp(capacity, QUEUE_BITS as i32)) as u64,
                decay,
                period: params.period,
            },
            state: State {
                load: 0,
                probability: Probability::ZERO,
                arrivals: 0,
                clock: Periodic::new(params.period),
            },
        })
    }

    #[inline]
    fn advance(&mut self, now: Time, _: Standing) {
        if self.state.clock.due(now) {
            self.sample(now);
        }
    }

    #[inline]
    fn arrival(&mut self, _: Time, bytes: u32, _: Standing, coin: &mut Stream) -> Signal {
        self.state.arrivals += self.measure.arrival(bytes);
        Signal::notify_if(self.measure.toss(self.state.probability, bytes, coin))
    }

    fn probability(&self) -> f64 {
        self.state.probability.as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_double_precision() {
        for x in [0.0, 0.1, 0.5, 0.93, 0.999, 1.0] {
            for n in [1, 2, 7, 16, 63, 64] {
                let got = Probability::clamped(power(Probability::from_f64(x).raw(), n).into());
                let exact = libm::pow(x, f64::from(n));
                assert!((got.as_f64() - exact).abs() < 1e-15 * f64::from(n), "{x}^{n}");
            }
        }
    }
}
