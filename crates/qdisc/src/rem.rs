//! REM: random exponential marking, Athuraliya, Li, Low and Yin, "REM: active queue management",
//! IEEE Network 15(3), 2001.
//!
//! Every `period` T the link's price moves with the excess of arrivals over capacity and of the
//! queue over its reference, and a packet is dropped or marked with a probability that is
//! exponential in the price:
//!
//! ```text
//! price = max(0, price + γ (arrivals + α (q − qref) − C T)),    p = 1 − φ^(−price)
//! ```
//!
//! Arrivals include those that are dropped. C·T counts mean packets.
//!
//! # Differences from the source
//!
//! 1. Integers. What is kept is x = price·log2 φ (Q.56), so that p = 1 − 2⁻ˣ, by a table of
//!    sixteenths and a short series; p is wrong by less than 2⁻⁵⁹ for the x it comes from.
//! 2. x is clamped to at most 64, where p is 1 to the last bit: the price cannot wind up further.
//! 3. Arrivals count as they are; ns-2 can smooth them over periods.
//! 4. C is the link's rate over the mean packet, the framing of the link not counted, as in ns-2,
//!    which has none. Where frames cost something the link sends less than C·T, so with marks the
//!    queue rests above `qref` by (C·T less what is sent in T)/α.
//! 5. Sampling is lazy. Between two packets all instants after the first move x by the same
//!    amount, and their sum is clamped once, which is the same since it only goes one way: a
//!    silence of any length costs two steps.
//!
//! # Differences from Linux
//!
//! Linux has no such discipline.

use crate::env::mean_packet;
use crate::fixed::{QUEUE_BITS, bounded, packets_in};
use crate::managed::{Common, LIMIT, Law, LawParams, Managed, Signal};
use crate::power::{EXPONENT_BITS, EXPONENT_MOST, exp2_neg};
use crate::ring::MOST;
use crate::{
    ByteMode, EcnMarking, Env, Invalid, Measure, Periodic, Probability, Sampled, Standing,
};
use sojourn_base::{Stream, Time};

/// Fraction bits of γ·log2 φ.
pub(crate) const GAIN_BITS: u32 = 62;

/// REM. The defaults are the authors' for their simulations.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Step size of the price per packet of excess: 1e-6 to 1 (default 0.001).
    pub gamma: f64,
    /// Weight of the queue's excess against that of the arrivals: 0 to 1 (default 0.1).
    pub alpha: f64,
    /// Base of the exponential: 1.000001 to 2 (default 1.001).
    pub phi: f64,
    /// The queue to hold, in packets (of mean size if `queue_in_bytes`): 0 to 67108864
    /// (default 20).
    pub qref: f64,
    /// Time between two moves of the price: "1us" to "1000s" (default "2ms").
    pub period: Time,
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
            gamma: 0.001,
            alpha: 0.1,
            phi: 1.001,
            qref: 20.0,
            period: Time::from_millis(2),
            ecn: EcnMarking::Off,
            byte_mode: ByteMode::default(),
            limit: LIMIT,
        }
    }
}

impl LawParams for Params {
    type Law = Rem;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.ecn }
    }
}

/// The parameters as the integers that the law works with.
#[derive(Clone, Debug, PartialEq)]
pub struct Constants {
    /// γ·log2 φ, Q.62.
    gain: i64,
    /// α, Q.36.
    alpha: i64,
    /// `qref`, Q.36.
    qref: i64,
    /// C·T in mean packets, Q.36, up to 2²⁶.
    capacity: i64,
    /// log2 φ, to show the price.
    log2_phi: f64,
}

/// What changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// price·log2 φ, Q.56, 0 to 64.
    pub exponent: u64,
    /// The probability in force.
    pub probability: Probability,
    /// Arrivals since the last instant: packets, or bytes if the queue is measured in bytes.
    pub arrivals: u64,
    /// When to move the price.
    pub clock: Periodic,
}

/// The control law.
#[derive(Clone, Debug)]
pub struct Rem {
    measure: Measure,
    constants: Constants,
    state: State,
    statistics: Sampled,
}

/// A queue under REM.
pub type Discipline<P> = Managed<P, Rem>;

impl Rem {
    /// γ·log2 φ, Q.62.
    #[must_use]
    pub fn gain(&self) -> i64 {
        self.constants.gain
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The statistics.
    #[must_use]
    pub fn statistics(&self) -> &Sampled {
        &self.statistics
    }

    /// The price; for probes.
    #[must_use]
    pub fn price(&self) -> f64 {
        libm::ldexp(self.state.exponent as f64, -(EXPONENT_BITS as i32)) / self.constants.log2_phi
    }

    /// Moves the exponent for `n` instants with the same arrivals (Q.36) and queue (Q.36).
    fn step(&mut self, arrivals: i64, queue: i64, n: u64) {
        let c = &self.constants;
        let half = 1i128 << (QUEUE_BITS - 1);
        let queueing = (i128::from(c.alpha) * i128::from(queue - c.qref) + half) >> QUEUE_BITS;
        let excess = i128::from(arrivals) + queueing - i128::from(c.capacity);
        const SHIFT: u32 = GAIN_BITS + QUEUE_BITS - EXPONENT_BITS;
        let change = (i128::from(c.gain) * excess + (1 << (SHIFT - 1))) >> SHIFT;
        let x =
            i128::from(self.state.exponent).saturating_add(change.saturating_mul(i128::from(n)));
        self.state.exponent = x.clamp(0, i128::from(EXPONENT_MOST)) as u64;
        self.statistics.steps += 1;
    }

    #[cold]
    #[inline(never)]
    fn sample(&mut self, now: Time, queue: Standing) {
        let (_, n) = self.state.clock.take(now);
        let queue = self.measure.queue(queue);
        let arrived = self.measure.arrived(core::mem::take(&mut self.state.arrivals));
        self.step(arrived as i64, queue, 1);
        if n > 1 {
            self.step(0, queue, n - 1);
        }
        self.statistics.instants += n;
        // 1 − 2⁻ˣ, from Q.62 to Q.60, to nearest.
        let complement = (1u64 << 62) - exp2_neg(self.state.exponent);
        self.state.probability = Probability::clamped(i128::from((complement + 2) >> 2));
    }
}

impl Law for Rem {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        let measure = Measure::new(params.byte_mode, env)?;
        let per_second = env.packets_per_second(mean_packet(params.byte_mode.mean_packet, env)?);
        bounded("gamma", params.gamma, 1e-6, 1.0, 0)?;
        bounded("phi", params.phi, 1.000_001, 2.0, 0)?;
        let capacity = packets_in(params.period, per_second, "2ms")?;
        let log2_phi = libm::log1p(params.phi - 1.0) / core::f64::consts::LN_2;
        let fixed = |x: f64, bits: u32| libm::round(libm::ldexp(x, bits as i32)) as i64;
        Ok(Self {
            measure,
            constants: Constants {
                gain: fixed(params.gamma * log2_phi, GAIN_BITS),
                alpha: bounded("alpha", params.alpha, 0.0, 1.0, QUEUE_BITS)?,
                qref: bounded("qref", params.qref, 0.0, f64::from(MOST), QUEUE_BITS)?,
                capacity: fixed(capacity, QUEUE_BITS),
                log2_phi,
            },
            state: State {
                exponent: 0,
                probability: Probability::ZERO,
                arrivals: 0,
                clock: Periodic::new(params.period),
            },
            statistics: Sampled::default(),
        })
    }

    fn resume(self, before: &Self) -> Option<Self> {
        let clock = self.state.clock.after(&before.state.clock);
        // In bytes or in packets: where that has changed, what came means nothing.
        let arrivals = if self.measure == before.measure { before.state.arrivals } else { 0 };
        let state = State { clock, arrivals, ..before.state.clone() };
        Some(Self { state, statistics: before.statistics.clone(), ..self })
    }

    #[inline]
    fn advance(&mut self, now: Time, queue: Standing) {
        if self.state.clock.due(now) {
            self.sample(now, queue);
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
