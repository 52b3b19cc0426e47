//! CoDel: controlled delay. Each packet is stamped when it arrives; when it is about to leave, the
//! time it has spent in the queue (its sojourn time) is looked at. Once that has been `target` or
//! more for an `interval`, CoDel drops packets at the head, each drop sooner after the one before
//! (`interval`/√n after the n-th), until the sojourn time of a packet is below `target`. The queue
//! may stand long for less than an `interval`: a burst passes. The rate of the link plays no part.
//!
//! Source: RFC 8289 (2018); K. Nichols and V. Jacobson, "Controlling queue delay", ACM Queue
//! 10(5), 2012.
//!
//! # Differences from the source
//!
//! 1. Integers: times in nanoseconds; `interval`/√n to half a nanosecond, worked out anew for each
//!    drop.
//! 2. At most 64 packets are dropped in one call; a packet is then delivered, and what is still due
//!    goes next. The RFC's loop ends only with the queue.
//! 3. With `ecn` the packet that would be dropped is marked and delivered, as in FQ-CoDel (RFC
//!    8290 section 5.2.6); the pseudocode of RFC 8289 knows no ECN. A packet that is CE already is
//!    delivered and counts as signalled. Only one packet is marked in a call.
//! 4. `maxpacket`, below which nothing is dropped, is the parameter `mtu` and does not follow the
//!    packets seen.
//! 5. `limit` is in packets; what finds the queue full is dropped at the tail and does not touch
//!    CoDel's state.
//!
//! Dropping that begins soon after it ended resumes from the rate that was reached: as in the RFC,
//! from `count − last_count` if that is above 1 and less than 16 intervals have passed since the
//! drop that was due. Linux does the same; FreeBSD resumes from `count − 2` within 8 intervals;
//! CAKE (see `cobalt`) keeps `count` and lets it decay while the queue is short. Nothing of these
//! two is mixed in here.
//!
//! # Differences from Linux
//!
//! Beside 2 and 4 above:
//!
//! 1. Linux keeps times in units of 1.024 µs and 1/√n in 16 bits, improved by one Newton step a
//!    drop, so that its second spacing is half an interval where the law says 0.707.
//! 2. Linux begins to drop strictly after `interval` has passed, this at that instant, as the RFC.
//! 3. Linux counts a packet that is CE already as marked; here only packets that were changed
//!    count.
//! 4. Linux takes `mtu` from the device, with the header of the link layer (1514 bytes).
//! 5. Linux may see a bundle of segments (GSO) as one packet.

use crate::codel_law::{Constants, Head, MAX_DROPS, QueueHead, State};
use crate::managed::packet_limit;
use crate::{
    Counters, DropReason, EcnMarking, Env, Fifo, Invalid, Packet, Parameters, Sink, Stamped,
    Unstamp, Verdict,
};
use sojourn_base::{Stream, Time};

/// An Ethernet frame's payload.
pub(crate) const MTU: u32 = 1500;

/// CoDel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Sojourn time that may stand: "1us" to "100s" (default "5ms": RFC 8289 section 4.3,
    /// 5 to 10 % of `interval`).
    pub target: Time,
    /// For how long it may be above `target`, and the time to the second drop; about the longest
    /// round trip: "1us" to "100s" (default "100ms": RFC 8289 section 4.2).
    pub interval: Time,
    /// Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0) (default
    /// false, as in Linux).
    pub ecn: EcnMarking,
    /// Mark every ECN-capable packet whose sojourn time is above this, with `ecn = false` too and
    /// beside what `target` does: "1us" to "100s"; default: never. As in Linux, for data centres.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub ce_threshold: Option<Time>,
    /// Drop nothing if this many bytes or fewer would be left: 40 to 65535; default: 1500, or the
    /// link's mean packet if that is larger (RFC 8289 section 4.1: an MTU).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub mtu: Option<u32>,
    /// Most packets in the queue: 1 to 67108864 (default 1000, as in Linux).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Time::from_millis(5),
            interval: Time::from_millis(100),
            ecn: EcnMarking::Off,
            ce_threshold: None,
            mtu: None,
            limit: 1000,
        }
    }
}

/// The parameter `mtu`, or what stands for it.
pub(crate) fn mtu(field: &'static str, given: Option<u32>, env: &Env) -> Result<u32, Invalid> {
    match given {
        None => Ok(MTU.max(env.mean_packet)),
        Some(bytes @ 40..=65_535) => Ok(bytes),
        Some(bytes) => {
            Err(Invalid::new(field, bytes, "must be 40 to 65535 bytes, for example 1500"))
        }
    }
}

impl Params {
    /// The integers that the state machine works with, on a link like `env`.
    pub fn constants(&self, env: &Env) -> Result<Constants, Invalid> {
        let mtu = mtu("mtu", self.mtu, env)?;
        Constants::new(self.target, self.interval, mtu, self.ecn, self.ce_threshold)
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        packet_limit(self.limit)?;
        self.constants(env).map(|_| ())
    }
}

/// A queue under CoDel.
#[derive(Clone, Debug)]
pub struct Discipline<P: Packet> {
    fifo: Fifo<Stamped<P>>,
    constants: Constants,
    state: State,
}

impl<P: Packet> Discipline<P> {
    /// An empty queue; it draws no random numbers.
    pub fn new(params: &Params, env: &Env, _: Stream) -> Result<Self, Invalid> {
        params.validate(env)?;
        Ok(Self {
            fifo: Fifo::new(params.limit, u64::MAX),
            constants: params.constants(env)?,
            state: State::default(),
        })
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }
}

/// The FIFO as the state machine sees it.
struct Front<'a, P, S> {
    fifo: &'a mut Fifo<Stamped<P>>,
    sink: &'a mut S,
}

impl<P: Packet, S: Sink<P>> QueueHead for Front<'_, P, S> {
    #[inline]
    fn head(&self) -> Option<Head> {
        let head = self.fifo.peek()?;
        let bytes_after = self.fifo.standing().bytes - u64::from(head.bytes());
        Some(Head { at: head.at, bytes_after, ecn: head.ecn() })
    }
    fn drop_head(&mut self, now: Time) {
        self.fifo.evict(now, DropReason::Early, &mut Unstamp(self.sink));
    }
    fn mark_head(&mut self) {
        self.fifo.mark_head();
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {
    fn change(&mut self, params: &Params, env: &Env) -> Result<bool, Invalid> {
        self.constants = params.constants(env)?;
        self.fifo.set_limits(params.limit, u64::MAX);
        Ok(true)
    }
}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        let packet = Stamped { packet, at: now };
        if self.fifo.fits(packet.bytes()) {
            self.fifo.accept(packet)
        } else {
            self.fifo.refuse(now, packet, DropReason::Overflow, &mut Unstamp(sink))
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<P> {
        let mut front = Front { fifo: &mut self.fifo, sink };
        self.state.dequeue(&self.constants, now, &mut front, &mut { MAX_DROPS });
        self.fifo.take().map(|stamped| stamped.packet)
    }

    #[inline]
    fn counters(&self) -> &Counters {
        self.fifo.counters()
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.fifo.iter().map(|stamped| &stamped.packet).for_each(tell);
    }
}
