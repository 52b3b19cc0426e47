//! COBALT: CoDel and BLUE in one, the control law of CAKE. As CoDel it signals, at the head and at
//! closer and closer instants, while packets have waited longer than `target`; but how close, its
//! `count`, is kept when the queue becomes short and decays at the same pace at which it rose. As
//! BLUE, for flows that answer no signal, it drops with a probability that rises by `increment`
//! when the queue is full or a packet has waited longer than `blue_threshold`, and falls by
//! `decrement` when the queue is empty, either at most once in `target`. BLUE drops whatever ECN
//! says.
//!
//! Source: J. Palmei, S. Gupta, P. Imputato, J. Morton, M. P. Tahiliani, S. Avallone and D. Täht,
//! "Design and evaluation of COBALT queue discipline", IEEE LANMAN 2019; its code as part of CAKE
//! in Linux, `sch_cake.c`. CoDel: RFC 8289. BLUE: W. Feng, K. Shin, D. Kandlur and D. Saha,
//! IEEE/ACM Trans. Networking 10(4), 2002.
//!
//! # Differences from the source
//!
//! 1. Integers: the probability in Q.60, `interval`/√count to half a nanosecond.
//! 2. At most 64 packets are dropped in one call, and `count` falls by at most 256; what is still
//!    due then goes next.
//! 3. A packet that BLUE drops is not marked before.
//! 4. The paper and ns-3 have no guard for slow links; here, as in CAKE, a packet must have waited
//!    for more than four times what the link needs for `mtu` bytes.
//! 5. The paper compares with plain CoDel, of which COBALT differs in three ways: no wait of an
//!    interval before the state is entered (the first signal comes an interval later, or at once if
//!    no packet left for an interval before), no state that remembers an earlier rate (`count`
//!    itself does), and no last bytes but the last packet spared.
//!
//! # Differences from Linux
//!
//! Beside 2 and 3 above:
//!
//! 1. CAKE raises `target` to 1.5 times the time of `mtu` bytes and `interval` with it; here both
//!    are as they are given.
//! 2. CAKE knows no `blue_threshold`; it is the paper's. A long one switches it off.
//! 3. When a limit is reached CAKE drops from the head of its longest queue, here what arrives is
//!    dropped, as in ns-3. `limit` is in packets, CAKE's in bytes of memory.
//! 4. CAKE looks at an empty queue only while packets stand in others: with one queue its
//!    probability stays, where here it falls by `decrement` when the last packet leaves and then
//!    once in each `target`, worked out when the next packet comes. Its `count` falls with that
//!    packet; here by one at most when the last packet leaves, and by the rest with the next.
//! 5. CAKE marks whenever it can: there is no `ecn` there.
//! 6. CAKE takes the square root of `count` from a table below 16 and by one Newton step above.
//! 7. CAKE's first signal of all does not wait for an `interval`: `first_interval = false` here.
//! 8. In its `ingress` mode CAKE lets the guard for slow links grow with the number of flows.

use crate::cobalt_law::Decision;
use crate::codel::mtu;
use crate::codel_law::{MAX_DROPS, in_range};
use crate::fixed::bounded;
use crate::managed::packet_limit;
use crate::{
    Counters, DropReason, EcnMarking, Env, Fifo, Invalid, Packet, Parameters, Probability, Sink,
    Stamped, Unstamp, Verdict,
};
use sojourn_base::{Stream, Time};

pub use crate::cobalt_law::{Constants, State};

/// COBALT.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Sojourn time that may stand, and the least time between two changes of BLUE's probability:
    /// "1us" to "100s" (default "5ms", as CAKE and RFC 8289).
    pub target: Time,
    /// Time from the first packet above `target` to the first signal, and to the second: "1us" to
    /// "100s" (default "100ms", as CAKE and RFC 8289).
    pub interval: Time,
    /// Whether the first signal of all waits for an `interval` too, as every later one does
    /// (default true). CAKE's comes with the second packet that waited too long: before its `count`
    /// has ever changed, what it keeps of the root is zero.
    pub first_interval: bool,
    /// Sojourn time above which BLUE's probability rises though the queue is not full: "1us" to
    /// "100s" (default "400ms": the paper's, as in ns-3).
    pub blue_threshold: Time,
    /// By how much BLUE's probability rises: 0 to 1 (default 0.00390625, 1/256, as CAKE).
    pub increment: f64,
    /// By how much it falls: 0 to 1 (default 0.000244140625, 1/4096, as CAKE).
    pub decrement: f64,
    /// Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0), but for
    /// BLUE's (default true, as CAKE).
    pub ecn: EcnMarking,
    /// The guard for slow links: a packet is above the target only if it waited for longer than the
    /// link takes for four times this many bytes, 40 to 65535; default: 1500, or the link's mean
    /// packet if that is larger (CAKE: the device's MTU).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub mtu: Option<u32>,
    /// Most packets in the queue: 1 to 67108864 (default 1000, as in ns-3).
    pub limit: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Time::from_millis(5),
            interval: Time::from_millis(100),
            first_interval: true,
            blue_threshold: Time::from_millis(400),
            increment: 1.0 / 256.0,
            decrement: 1.0 / 4096.0,
            ecn: EcnMarking::On,
            mtu: None,
            limit: 1000,
        }
    }
}

impl Params {
    fn constants(&self, env: &Env) -> Result<Constants, Invalid> {
        in_range("target", self.target, "5ms")?;
        in_range("interval", self.interval, "100ms")?;
        in_range("blue_threshold", self.blue_threshold, "400ms")?;
        let four = env.rate.time_for(4 * u64::from(mtu("mtu", self.mtu, env)?));
        Ok(Constants {
            target: self.target.0,
            interval: self.interval.0,
            first_interval: self.first_interval,
            blue_threshold: self.blue_threshold.0,
            above: self.target.0.max(four.0),
            increment: bounded("increment", self.increment, 0.0, 1.0, Probability::BITS)?,
            decrement: bounded("decrement", self.decrement, 0.0, 1.0, Probability::BITS)?,
            ecn: self.ecn,
        })
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        packet_limit(self.limit)?;
        self.constants(env).map(|_| ())
    }
}

/// A queue under COBALT.
#[derive(Clone, Debug)]
pub struct Discipline<P: Packet> {
    fifo: Fifo<Stamped<P>>,
    constants: Constants,
    state: State,
    coin: Stream,
}

impl<P: Packet> Discipline<P> {
    /// An empty queue. `coin` is BLUE's.
    pub fn new(params: &Params, env: &Env, coin: Stream) -> Result<Self, Invalid> {
        params.validate(env)?;
        let constants = params.constants(env)?;
        let fifo = Fifo::new(params.limit, u64::MAX);
        Ok(Self { fifo, constants, state: State::default(), coin })
    }

    /// The state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    #[inline]
    fn catch_up(&mut self, now: Time) {
        if self.fifo.standing().packets == 0 {
            self.state.idle_until(&self.constants, now);
        }
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        self.catch_up(now);
        let packet = Stamped { packet, at: now };
        if self.fifo.fits(packet.bytes()) {
            return self.fifo.accept(packet);
        }
        self.state.overflowed(&self.constants, now);
        self.fifo.refuse(now, packet, DropReason::Overflow, &mut Unstamp(sink))
    }

    #[inline]
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<P> {
        self.catch_up(now);
        let mut drops = 0;
        while let Some(head) = self.fifo.peek() {
            let (at, ecn) = (head.at, head.ecn());
            let Decision { drop, mark } =
                self.state.decide(&self.constants, now, at, ecn, 0, &mut self.coin);
            // The last packet may be marked, but is not dropped.
            if drop && drops < MAX_DROPS && self.fifo.standing().packets > 1 {
                self.fifo.evict(now, DropReason::Early, &mut Unstamp(sink));
                drops += 1;
                continue;
            }
            if mark {
                self.fifo.mark_head();
            }
            break;
        }
        let packet = self.fifo.take()?.packet;
        if self.fifo.standing().packets == 0 {
            self.state.emptied(&self.constants, now);
        }
        Some(packet)
    }

    #[inline]
    fn advance(&mut self, now: Time) {
        self.catch_up(now);
    }

    /// As the counters have it, in fewer instructions.
    #[inline]
    fn packets(&self) -> u32 {
        self.fifo.standing().packets
    }

    #[inline]
    fn counters(&self) -> &Counters {
        self.fifo.counters()
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.fifo.iter().map(|stamped| &stamped.packet).for_each(tell);
    }

    fn probability(&self) -> f64 {
        self.state.blue.as_f64()
    }
}
