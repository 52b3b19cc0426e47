//! The proportional controller of Hollot, Misra, Towsley and Gong, "On designing improved
//! controllers for AQM routers supporting TCP flows", INFOCOM 2001, section III: RED without its
//! average, the step from RED to PI. An arrival that finds the queue q is dropped or marked with
//!
//! ```text
//! p = slope (q − offset), clamped to 0..1
//! ```
//!
//! Nothing is averaged, so it answers as fast as the queue moves. But every load has a queue of its
//! own, `offset + p/slope`: 144 packets for the paper's example with the default slope. A steeper
//! slope shortens it and takes from the margins of the loop. PI's integral removes the error.
//!
//! # Differences from the source
//!
//! 1. The paper has the controller about an operating point, δp = K δq. Here it is a whole profile:
//!    `offset` says where p leaves 0, and p ends at 1.
//! 2. Integers: `slope` and p in Q.60, the queue in Q.36. With the queue and `offset` in whole
//!    packets p is exact for the slope as rounded.
//!
//! # Differences from Linux
//!
//! Linux has no such discipline. RED with `wq = 1` is close, but spaces its drops.

use crate::fixed::{QUEUE_BITS, bounded};
use crate::managed::{Common, LIMIT, Law, LawParams, Managed, Signal};
use crate::ring::MOST;
use crate::{ByteMode, EcnMarking, Env, Invalid, Measure, Probability, Standing};
use sojourn_base::{Stream, Time};

/// The proportional controller. The default slope is for the paper's example (15 Mb/s, 500-byte
/// packets, 60 flows, 0.246 s): the loop has gain 1 at 1.5 rad/s, near the mean of its two poles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Gain K, probability per packet: above 0, at most 2 (default 5.88e-5).
    pub slope: f64,
    /// The queue at which the probability leaves 0, in packets (of mean size if `queue_in_bytes`):
    /// 0 to 67108864 (default 0).
    pub offset: f64,
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
            slope: 5.88e-5,
            offset: 0.0,
            ecn: EcnMarking::Off,
            byte_mode: ByteMode::default(),
            limit: LIMIT,
        }
    }
}

impl LawParams for Params {
    type Law = Proportional;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.ecn }
    }
}

/// The control law.
#[derive(Clone, Debug)]
pub struct Proportional {
    measure: Measure,
    /// Q.60.
    slope: i64,
    /// Q.36.
    offset: i64,
    /// The queue as it was last seen.
    queue: Standing,
}

/// A queue under the proportional controller.
pub type Discipline<P> = Managed<P, Proportional>;

impl Proportional {
    /// The probability with `queue` standing.
    #[inline]
    fn at(&self, queue: Standing) -> Probability {
        let excess = i128::from(self.measure.queue(queue) - self.offset);
        // Rounded to nearest: half of 2⁻⁶⁰ at most.
        let half = 1i128 << (QUEUE_BITS - 1);
        Probability::clamped((i128::from(self.slope) * excess + half) >> QUEUE_BITS)
    }
}

impl Law for Proportional {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        let slope = bounded("slope", params.slope, 0.0, 2.0, Probability::BITS)?;
        if slope <= 0 {
            return Err(Invalid::new("slope", params.slope, "must be above 0, such as 5.88e-5"));
        }
        Ok(Self {
            measure: Measure::new(params.byte_mode, env)?,
            slope,
            offset: bounded("offset", params.offset, 0.0, f64::from(MOST), QUEUE_BITS)?,
            queue: Standing::default(),
        })
    }

    #[inline]
    fn advance(&mut self, _: Time, queue: Standing) {
        self.queue = queue;
    }

    #[inline]
    fn arrival(&mut self, _: Time, bytes: u32, queue: Standing, coin: &mut Stream) -> Signal {
        Signal::notify_if(self.measure.toss(self.at(queue), bytes, coin))
    }

    fn probability(&self) -> f64 {
        self.at(self.queue).as_f64()
    }
}
