//! BLUE: Feng, Shin, Kandlur and Saha, "The BLUE active queue management algorithms", IEEE/ACM
//! Transactions on Networking 10(4), 2002 (first as a report of 1999).
//!
//! One probability that knows nothing of the queue's length: it grows by `increment` when the queue
//! overflows and shrinks by `decrement` when the link falls idle, at most once each `freeze_time`,
//! so that a change can take effect before the next. So it settles where packets are neither lost
//! at the limit nor wanting.
//!
//! # Differences from the source
//!
//! 1. Integers: p in Q.60.
//! 2. While the link stays idle p shrinks again after each `freeze_time`; the paper speaks of the
//!    event of falling idle only, and says nothing of a long silence.
//! 3. The link is idle once the packet that left the queue empty has been sent: its size at the
//!    link's rate, framing not counted.
//! 4. `freeze_time` has passed when as much time has gone by, not more.
//! 5. `high_water` is the paper's variant that also grows p when the queue exceeds a length L.
//!
//! # Differences from Linux
//!
//! Linux has no such discipline. Its `sch_sfb` (stochastic fair BLUE) keeps one such probability in
//! each of its bins, moved by the bin's length.

use crate::fixed::{ByteTime, bounded};
use crate::managed::{Common, Law, LawParams, Managed, Signal};
use crate::pie::sensible;
use crate::{EcnMarking, Env, Invalid, Probability, Standing};
use sojourn_base::{Stream, Time};

/// BLUE. The defaults are one of the four settings of the paper's experiments.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// By how much p grows when the queue overflows: above 0, at most 1 (default 0.02, the
    /// paper's d1).
    pub increment: f64,
    /// By how much p shrinks when the link falls idle: above 0, at most 1 (default 0.002, the
    /// paper's d2).
    pub decrement: f64,
    /// Least time between two changes: "1us" to "1000s" (default "100ms", the paper's).
    pub freeze_time: Time,
    /// Let p grow also when a packet finds more than so many in the queue: 1 to `limit`; default:
    /// when the queue overflows only.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub high_water: Option<u32>,
    /// Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0) (default
    /// false).
    pub ecn: EcnMarking,
    /// Most packets in the queue, which is what BLUE steers by: 1 to 67108864 (default 1000, as
    /// drop-tail's).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            increment: 0.02,
            decrement: 0.002,
            freeze_time: Time::from_millis(100),
            high_water: None,
            ecn: EcnMarking::Off,
            limit: 1000,
        }
    }
}

impl LawParams for Params {
    type Law = Blue;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.ecn }
    }
}

/// The control law.
#[derive(Clone, Debug)]
pub struct Blue {
    increment: u64,
    decrement: u64,
    freeze: u64,
    high_water: u32,
    byte_time: ByteTime,
    probability: Probability,
    /// When p may change again.
    thaws: Time,
    /// If the queue is empty: when the link fell idle, or will.
    idle_since: Time,
    now: Time,
}

/// A queue under BLUE.
pub type Discipline<P> = Managed<P, Blue>;

impl Blue {
    fn grow(&mut self, now: Time) {
        if now >= self.thaws {
            let p = i128::from(self.probability.raw()) + i128::from(self.increment);
            self.probability = Probability::clamped(p);
            self.thaws = now.saturating_add(Time(self.freeze));
        }
    }

    /// The link is idle at `now`: p shrinks when it may, and again each `freeze_time`.
    #[cold]
    fn shrink(&mut self, now: Time, first: Time) {
        let n = (now.0 - first.0) / self.freeze + 1;
        let less = u128::from(n) * u128::from(self.decrement);
        self.probability = Probability::clamped(
            i128::from(self.probability.raw()).saturating_sub(less.min(1 << 100) as i128),
        );
        self.thaws = Time(first.0.saturating_add(n.saturating_mul(self.freeze)));
    }
}

impl Law for Blue {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        let part = |field, x: f64| {
            let raw = bounded(field, x, 0.0, 1.0, Probability::BITS)?;
            if raw == 0 {
                return Err(Invalid::new(field, x, "must be above 0, for example 0.02"));
            }
            Ok(raw as u64)
        };
        if let Some(n) = params.high_water
            && (n == 0 || n > params.limit)
        {
            let remedy = alloc::format!("must be 1 to the limit, {}", params.limit);
            return Err(Invalid::new("high_water", n, remedy));
        }
        Ok(Self {
            increment: part("increment", params.increment)?,
            decrement: part("decrement", params.decrement)?,
            freeze: sensible("freeze_time", params.freeze_time, "100ms")?,
            high_water: params.high_water.unwrap_or(u32::MAX),
            byte_time: ByteTime::new(env),
            probability: Probability::ZERO,
            thaws: Time::ZERO,
            idle_since: Time::ZERO,
            now: Time::ZERO,
        })
    }

    #[inline]
    fn advance(&mut self, now: Time, queue: Standing) {
        if queue.packets == 0 {
            let first = self.idle_since.max(self.thaws);
            if now >= first {
                self.shrink(now, first);
            }
        }
    }

    #[inline]
    fn arrival(&mut self, now: Time, _: u32, queue: Standing, coin: &mut Stream) -> Signal {
        self.now = now;
        if queue.packets > self.high_water {
            self.grow(now);
        }
        Signal::notify_if(self.probability.toss(coin))
    }

    #[inline]
    fn overflowed(&mut self) {
        self.grow(self.now);
    }

    #[inline]
    fn departure(&mut self, now: Time, bytes: u32, queue: Standing) {
        if queue.packets == 0 {
            self.idle_since = self.byte_time.end(now, bytes);
        }
    }

    fn probability(&self) -> f64 {
        self.probability.as_f64()
    }
}
