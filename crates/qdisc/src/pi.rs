//! PI: the proportional-integral controller of Hollot, Misra, Towsley and Gong, "On designing
//! improved controllers for AQM routers supporting TCP flows", INFOCOM 2001, section V.
//!
//! At every sampling instant
//!
//! ```text
//! p(k) = a (q(k) − qref) − b (q(k−1) − qref) + p(k−1), clamped to 0..1
//! ```
//!
//! and every packet is dropped or marked with that probability until the next instant. `a` and
//! `b` differ by a few millionths of themselves at high rates, and that difference is all that
//! pulls the queue to `qref`: so it is formed once, from both gains in Q.60, and the step is
//! taken as `p += a (q(k) − q(k−1)) + (a − b)(q(k−1) − qref)`, which is the same sum.
//!
//! # Differences from the source
//!
//! 1. Integers: gains and `p` in Q.60, the queue in Q.36. With the queue in packets the state is
//!    exact for the gains as rounded.
//! 2. The *state* is clamped at every instant, so it cannot wind up.
//! 3. The queue before the first instant counts as that at the first instant: no step from zero.
//! 4. Sampling is lazy. Between two packets the queue stands still, so all instants after the
//!    first add the same amount; their sum is clamped once, which is the same since it only goes
//!    one way. However long the silence, it costs two steps.
//! 5. The sampling period is rounded to whole nanoseconds.
//!
//! # Differences from Linux
//!
//! Linux has no such discipline. `sch_pie` is its descendant on delays: see `pie`.

use crate::fixed::{QUEUE_BITS, bounded, period};
use crate::managed::{Common, LIMIT, Law, LawParams, Managed, Signal};
use crate::ring::MOST;
use crate::{
    ByteMode, EcnMarking, Env, Invalid, Measure, Periodic, Probability, Sampled, Standing,
};
use alloc::format;
use sojourn_base::{Stream, Time};

/// The PI controller. The defaults are the gains of the paper's example (15 Mb/s, 500-byte
/// packets, 60 flows, 0.246 s).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Gain on the present queue, per packet: above 0, at most 2 (default 1.822e-5).
    pub a: f64,
    /// Gain on the queue one sample ago, per packet: 0 to below `a` (default 1.816e-5).
    pub b: f64,
    /// Sampling frequency in hertz: 0.001 to 1000000 (default 170).
    pub frequency: f64,
    /// The queue to hold, in packets (of mean size if `queue_in_bytes`): 0 to 67108864
    /// (default 50).
    pub qref: f64,
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
            a: 1.822e-5,
            b: 1.816e-5,
            frequency: 170.0,
            qref: 50.0,
            ecn: EcnMarking::Off,
            byte_mode: ByteMode::default(),
            limit: LIMIT,
        }
    }
}

impl LawParams for Params {
    type Law = Pi;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.ecn }
    }
}

/// The parameters as the integers that the controller works with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    /// `a` in Q.60.
    pub a: i64,
    /// `a − b` in Q.60: the exact difference of the two rounded gains.
    pub difference: i64,
    /// `qref` in Q.36.
    pub qref: i64,
}

impl Constants {
    /// The integers for `params`.
    pub fn new(params: &Params) -> Result<Self, Invalid> {
        let a = bounded("a", params.a, 0.0, 2.0, Probability::BITS)?;
        let b = bounded("b", params.b, 0.0, 2.0, Probability::BITS)?;
        if a <= 0 {
            return Err(Invalid::new("a", params.a, "must be above 0, for example 1.822e-5"));
        }
        if b >= a {
            let remedy = format!(
                "must be below a = {}, or nothing pulls the queue to qref; for example 1.816e-5 \
                 with a = 1.822e-5",
                params.a
            );
            return Err(Invalid::new("b", params.b, remedy));
        }
        let qref = bounded("qref", params.qref, 0.0, f64::from(MOST), QUEUE_BITS)?;
        Ok(Self { a, difference: a - b, qref })
    }

    /// How far the integers are from `params`: absolute errors of `a`, of `a − b` (against the
    /// difference in double precision) and of `qref`.
    #[must_use]
    pub fn error(&self, params: &Params) -> [f64; 3] {
        let gain = |n: i64| libm::ldexp(n as f64, -(Probability::BITS as i32));
        [
            gain(self.a) - params.a,
            gain(self.difference) - (params.a - params.b),
            libm::ldexp(self.qref as f64, -(QUEUE_BITS as i32)) - params.qref,
        ]
    }

    /// The probability after one instant: before it `p`, the queue now and one instant ago in
    /// mean packets (Q.36).
    #[inline]
    #[must_use]
    pub fn step(&self, p: Probability, queue: i64, previous: i64) -> Probability {
        self.steps(p, queue, previous, 1)
    }

    /// The same for `n` further instants, at all of which `queue` is the same as `previous` if
    /// `n` is not 1.
    #[inline]
    fn steps(&self, p: Probability, queue: i64, previous: i64, n: u64) -> Probability {
        let proportional = i128::from(self.a) * i128::from(queue - previous);
        let integral = i128::from(self.difference) * i128::from(previous - self.qref);
        // Rounded to nearest: one step of 2⁻⁶⁰ at most, and exact with whole packets.
        let half = 1i128 << (QUEUE_BITS - 1);
        let change = (proportional + integral + half) >> QUEUE_BITS;
        Probability::clamped(i128::from(p.raw()) + change.saturating_mul(i128::from(n)))
    }
}

/// What changes from instant to instant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The probability in force.
    pub probability: Probability,
    /// The queue at the last instant, Q.36; none before the first.
    pub previous: Option<i64>,
    /// When to sample.
    pub clock: Periodic,
}

/// The control law.
#[derive(Clone, Debug)]
pub struct Pi {
    measure: Measure,
    constants: Constants,
    state: State,
    statistics: Sampled,
}

/// A queue under PI.
pub type Discipline<P> = Managed<P, Pi>;

impl Pi {
    /// The integers in use.
    #[must_use]
    pub fn constants(&self) -> &Constants {
        &self.constants
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

    /// What to do with a packet of `bytes` when `p` is the probability for a mean one.
    #[inline]
    pub(crate) fn tossed(&self, p: Probability, bytes: u32, coin: &mut Stream) -> Signal {
        Signal::notify_if(self.measure.toss(p, bytes, coin))
    }

    #[cold]
    #[inline(never)]
    fn sample(&mut self, now: Time, queue: Standing) {
        let (_, n) = self.state.clock.take(now);
        let queue = self.measure.queue(queue);
        let previous = self.state.previous.unwrap_or(queue);
        let mut p = self.constants.step(self.state.probability, queue, previous);
        self.statistics.steps += 1;
        if n > 1 {
            p = self.constants.steps(p, queue, queue, n - 1);
            self.statistics.steps += 1;
        }
        self.statistics.instants += n;
        self.state.probability = p;
        self.state.previous = Some(queue);
    }
}

impl Law for Pi {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        Ok(Self {
            measure: Measure::new(params.byte_mode, env)?,
            constants: Constants::new(params)?,
            state: State {
                probability: Probability::ZERO,
                previous: None,
                clock: Periodic::new(period("frequency", params.frequency)?),
            },
            statistics: Sampled::default(),
        })
    }

    fn resume(self, before: &Self) -> Option<Self> {
        let State { probability, previous, clock } = &before.state;
        // In bytes or in packets: where that has changed, the previous length means nothing.
        let previous = previous.filter(|_| self.measure == before.measure);
        let state =
            State { probability: *probability, previous, clock: self.state.clock.after(clock) };
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
        self.tossed(self.state.probability, bytes, coin)
    }

    fn probability(&self) -> f64 {
        self.state.probability.as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_rounded_to_the_nearest() {
        let (a, b, qref) = (1.822e-5, 1.816e-5, 50.0);
        let c = Constants::new(&Params { a, b, qref, ..Default::default() }).expect("valid");
        let mut draws = Stream::new(1, sojourn_base::Kind::Test, 0, 0);
        let mut both = [0; 2];
        for _ in 0..10_000 {
            let mut queue = || draws.below(100 << QUEUE_BITS) as i64;
            let (queue, previous) = (queue(), queue());
            let before = Probability::from_f64(0.5);
            let step = i128::from(c.step(before, queue, previous).raw()) - i128::from(before.raw());
            let exact = i128::from(c.a) * i128::from(queue - previous)
                + i128::from(c.difference) * i128::from(previous - c.qref);
            let off = (step << QUEUE_BITS) - exact;
            assert!(off.abs() <= 1 << (QUEUE_BITS - 1), "{off}");
            both[usize::from(off > 0)] += 1;
        }
        assert!(both.iter().all(|&count| count > 4000), "as often up as down: {both:?}");
    }
}
