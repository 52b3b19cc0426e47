//! PI2: De Schepper, Bondarenko, Tsang and Briscoe, "PI²: a linearized AQM for both classic and
//! scalable TCP", CoNEXT 2016.
//!
//! A linear PI controller on the queueing delay moves p', and a packet is hit if the larger of two
//! random numbers is below p', that is with p'². The window of a classic TCP goes with 1/√p, so it
//! goes with 1/p': the loop has about the same gain at any load and PIE's table of scales is not
//! needed. With `scalable` packets of ECT(1), whose senders' windows go with 1/p, are marked with
//! `coupling`·p' from one random number.
//!
//! # Differences from the source
//!
//! 1. Integers: p' in Q.76 without any rounding, gains per nanosecond in the same format.
//! 2. The delay is the age of the packet at the head at the instant of the update (RFC 9332's way);
//!    the paper's code derives it from the queue's length and a measured rate, as PIE did.
//! 3. Nothing is hit while less than two mean packets stand, as in the paper's code.
//! 4. The paper couples by p = (p_s/k)²; here p' is p_s/k, so that `coupling` is its k.
//! 5. The paper's way to handle overload by unresponsive traffic (no more than 25 %) is left out:
//!    p' goes up to 1.
//! 6. Updates that come due between two packets are run before the next; the head's age then grows
//!    by the same from one to the next, so p' falls, then rises: a silence costs three steps.
//!
//! # Differences from Linux
//!
//! Linux has no such discipline. Its `sch_dualpi2` treats its classic queue in this way: see
//! `dualpi2`.

use crate::delay_pi::{DelayPi, Settings, coupling};
use crate::env::mean_packet;
use crate::managed::{Common, LIMIT, Law, LawParams, Managed, Signal};
use crate::{Ecn, EcnMarking, Env, Invalid, Probability, Stamped, Standing};
use sojourn_base::{Stream, Time};

/// PI2. The defaults are the paper's (section 5).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// The delay to hold: "1us" to "1000s" (default "20ms", the paper's).
    pub target: Time,
    /// Time between two updates: "1us" to "1000s" (default "32ms", the paper's).
    pub tupdate: Time,
    /// Gain on the delay's distance from the target, in hertz: 0 to 32 (default 0.3125, the
    /// paper's).
    pub alpha: f64,
    /// Gain on the delay's change since the last update, in hertz: 0 to 32 (default 3.125, the
    /// paper's).
    pub beta: f64,
    /// Mark packets of ECT(1) with `coupling`·p' instead of p'²; needs `ecn` (default false).
    pub scalable: bool,
    /// The paper's k, by how much scalable traffic is marked more: 1 to 16 (default 2, the
    /// paper's).
    pub coupling: f64,
    /// Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0) (default
    /// false).
    pub ecn: EcnMarking,
    /// Mean packet in bytes, 40 to 65535; less than two of them always pass. Default: the link's.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub mean_packet: Option<u32>,
    /// Most packets in the queue: 1 to 67108864 (default 1000000).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Time::from_millis(20),
            tupdate: Time::from_millis(32),
            alpha: 0.3125,
            beta: 3.125,
            scalable: false,
            coupling: 2.0,
            ecn: EcnMarking::Off,
            mean_packet: None,
            limit: LIMIT,
        }
    }
}

impl LawParams for Params {
    type Law = Pi2;

    fn common(&self) -> Common {
        Common { limit: self.limit, ecn: self.ecn }
    }
}

/// The control law.
#[derive(Clone, Debug)]
pub struct Pi2 {
    controller: DelayPi,
    /// p', and what scalable packets are marked with.
    base: Probability,
    scalable: Option<(u64, Probability)>,
    spared: u64,
}

/// A queue under PI2.
pub type Discipline<P> = Managed<P, Pi2, Stamped<P>>;

impl Pi2 {
    /// The controller.
    #[must_use]
    pub fn controller(&self) -> &DelayPi {
        &self.controller
    }
}

impl Law for Pi2 {
    type Params = Params;

    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        if params.scalable && params.ecn != EcnMarking::On {
            return Err(Invalid::new("scalable", true, "ECT(1) is only marked with ecn = true"));
        }
        let Params { target, tupdate, alpha, beta, .. } = *params;
        let k = coupling(params.coupling)?;
        Ok(Self {
            controller: DelayPi::new(&Settings { target, tupdate, alpha, beta })?,
            base: Probability::ZERO,
            scalable: params.scalable.then_some((k, Probability::ZERO)),
            spared: 2 * u64::from(mean_packet(params.mean_packet, env)?),
        })
    }

    #[inline]
    fn advance_with(&mut self, now: Time, _: Standing, head: Option<Time>) {
        if self.controller.due(now) {
            self.controller.advance(now, head);
            self.base = self.controller.base();
            if let Some((k, p)) = &mut self.scalable {
                *p = DelayPi::times(self.base, *k);
            }
        }
    }

    #[inline]
    fn arrival(&mut self, _: Time, _: u32, queue: Standing, coin: &mut Stream) -> Signal {
        // The larger of two numbers is below p' if both are; the second is only drawn if needed.
        let hit = queue.bytes >= self.spared && self.base.toss(coin) && self.base.toss(coin);
        if hit { Signal::Notify } else { Signal::Pass }
    }

    #[inline]
    fn arrival_of(
        &mut self,
        now: Time,
        ecn: Ecn,
        bytes: u32,
        queue: Standing,
        coin: &mut Stream,
    ) -> Signal {
        match self.scalable {
            // What is CE already may have been ECT(1), and passes in any case.
            Some((_, p)) if ecn == Ecn::Ect1 => {
                let hit = queue.bytes >= self.spared && p.toss(coin);
                if hit { Signal::Notify } else { Signal::Pass }
            }
            _ => self.arrival(now, bytes, queue, coin),
        }
    }

    /// p'².
    fn probability(&self) -> f64 {
        DelayPi::squared(self.base).as_f64()
    }
}
