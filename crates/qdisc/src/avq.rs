//! AVQ: adaptive virtual queue, Kunniyur and Srikant, "Analysis and design of an adaptive virtual
//! queue (AVQ) algorithm for active queue management", SIGCOMM 2001.
//!
//! Beside the real queue a virtual one is reckoned, with the same arrivals, a smaller capacity C̃
//! and a buffer of its own. A packet that does not fit into it is marked, or dropped. C̃ itself is
//! moved so that the arrivals come to `gamma` of the link's rate, at each arrival of b bytes after
//! t:
//!
//! ```text
//! VQ = max(VQ − C̃ t, 0);  if VQ + b > B: mark, else VQ += b
//! C̃ = max(min(C̃ + α γ C t, C) − α b, 0)
//! ```
//!
//! No random numbers: whether a packet is hit is decided by the arrivals before it.
//!
//! # Differences from the source
//!
//! 1. Integers: bytes in Q.32, capacities in bytes per nanosecond with 56 fraction bits.
//! 2. The virtual buffer is a parameter; the paper takes the real one's size, 100 packets in its
//!    experiments.
//! 3. Packets of CE are reckoned like all others and pass.
//!
//! # Differences from Linux
//!
//! Linux has no such discipline.

use crate::env::mean_packet;
use crate::fixed::bounded;
use crate::managed::{Common, LIMIT, Law, LawParams, Managed, Signal};
use crate::{EcnMarking, Env, Invalid, Standing};
use sojourn_base::{NANOS_PER_BYTE, Stream, Time};

/// Fraction bits of a capacity in bytes per nanosecond.
const RATE_BITS: u32 = 56;
/// Fraction bits of bytes in the virtual queue.
const BYTE_BITS: u32 = 32;

/// AVQ. The defaults are those of the paper's experiments.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The share of the link to be used: 0.01 to 1 (default 0.98, the paper's).
    pub gamma: f64,
    /// How fast the virtual capacity follows, per second: above 0, at most 1000 (default 0.15, the
    /// paper's; its theorem 3 bounds it by flows, round trip and rate).
    pub alpha: f64,
    /// The virtual buffer in mean packets: 1 to 67108864 (default 100, the paper's).
    pub virtual_buffer: u32,
    /// Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0) (default
    /// false).
    pub ecn: EcnMarking,
    /// Mean packet in bytes, 40 to 65535; default: the link's.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub mean_packet: Option<u32>,
    /// Most packets in the queue: 1 to 67108864 (default 1000000).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            gamma: 0.98,
            alpha: 0.15,
            virtual_buffer: 100,
            ecn: EcnMarking::Off,
            mean_packet: None,
            limit: LIMIT,
        }
    }
}

impl LawParams for Params {
    type Law = Avq;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.ecn }
    }
}

/// The control law.
#[derive(Clone, Debug)]
pub struct Avq {
    /// The link's rate in bytes per nanosecond, Q.56.
    capacity: u128,
    /// α γ C in bytes per nanosecond, each nanosecond, Q.96, and α per nanosecond, Q.64.
    rise: u128,
    alpha: u128,
    /// The virtual buffer, and what stands in it, bytes in Q.32.
    buffer: u128,
    standing: u128,
    /// C̃, bytes per nanosecond in Q.56.
    adapted: u128,
    last: Time,
    mean: u32,
}

/// A queue under AVQ.
pub type Discipline<P> = Managed<P, Avq>;

impl Avq {
    /// C̃ in bits per second; for probes.
    #[must_use]
    pub fn virtual_capacity(&self) -> f64 {
        libm::ldexp(self.adapted as f64, -(RATE_BITS as i32)) * 8e9
    }

    /// Bytes in the virtual queue as of the last arrival; for probes.
    #[must_use]
    pub fn virtual_queue(&self) -> f64 {
        libm::ldexp(self.standing as f64, -(BYTE_BITS as i32))
    }
}

impl Law for Avq {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        bounded("gamma", params.gamma, 0.01, 1.0, 0)?;
        if !(params.alpha > 0.0 && params.alpha <= 1000.0) {
            let remedy = "must be above 0 and at most 1000, for example 0.15";
            return Err(Invalid::new("alpha", params.alpha, remedy));
        }
        if params.virtual_buffer == 0 || params.virtual_buffer > crate::ring::MOST {
            let remedy = "must be 1 to 67108864 packets";
            return Err(Invalid::new("virtual_buffer", params.virtual_buffer, remedy));
        }
        let mean = mean_packet(params.mean_packet, env)?;
        let capacity = (u128::from(env.rate.0) << RATE_BITS) / u128::from(NANOS_PER_BYTE);
        let per_nano = env.rate.as_f64() / 8e9;
        let rise = params.alpha * 1e-9 * params.gamma * per_nano;
        Ok(Self {
            capacity,
            rise: libm::ldexp(rise, 96) as u128,
            alpha: libm::ldexp(params.alpha * 1e-9, 64) as u128,
            buffer: (u128::from(params.virtual_buffer) * u128::from(mean)) << BYTE_BITS,
            standing: 0,
            // The paper's figure 1 leaves the start open: the whole link, so that nothing is
            // hit before it has been seen to be busy.
            adapted: capacity,
            last: Time::ZERO,
            mean,
        })
    }

    #[inline]
    fn arrival(&mut self, now: Time, bytes: u32, _: Standing, _: &mut Stream) -> Signal {
        let nanos = u128::from(now.0 - self.last.0);
        self.last = now;
        let served = self.adapted.saturating_mul(nanos) >> (RATE_BITS - BYTE_BITS);
        let left = self.standing.saturating_sub(served);
        let bigger = left + (u128::from(bytes) << BYTE_BITS);
        let hit = bigger > self.buffer;
        self.standing = if hit { left } else { bigger };
        let risen = self.adapted.saturating_add(self.rise.saturating_mul(nanos) >> 40);
        let used = (self.alpha * u128::from(bytes)) >> (64 - RATE_BITS);
        self.adapted = risen.min(self.capacity).saturating_sub(used);
        if hit { Signal::Notify } else { Signal::Pass }
    }

    /// 1 if a mean packet that came together with the last would have been hit, else 0.
    fn probability(&self) -> f64 {
        let bigger = self.standing + (u128::from(self.mean) << BYTE_BITS);
        if bigger > self.buffer { 1.0 } else { 0.0 }
    }
}
