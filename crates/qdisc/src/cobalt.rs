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
//! 4. While its queue is empty CAKE looks at it once each `target`, as a timer has it, and its
//!    probability falls by `decrement` each time; here it is worked out when the next packet comes.
//!    `count` then catches up with the first packet instead.
//! 5. CAKE marks whenever it can: there is no `ecn` there.
//! 6. CAKE takes the square root of `count` from a table below 16 and by one Newton step above.
//! 7. CAKE's first signal of all does not wait for an `interval`: `first_interval = false` here.
//! 8. In its `ingress` mode CAKE lets the guard for slow links grow with the number of flows.

use crate::codel::mtu;
use crate::codel_law::{MAX_DROPS, in_range, interval_over_sqrt};
use crate::fixed::bounded;
use crate::managed::packet_limit;
use crate::{
    Counters, DropReason, Ecn, Env, Fifo, Invalid, Packet, Parameters, Probability, Sink, Stamped,
    Unstamp, Verdict,
};
use sojourn_base::{Stream, Time};

/// Most steps of decay in one call.
const DECAY_BATCH: u32 = 256;

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
    /// Mark ECN-capable packets instead of dropping them, but for BLUE's (default true, as CAKE).
    pub ecn: bool,
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
            ecn: true,
            mtu: None,
            limit: 1000,
        }
    }
}

/// The parameters as the integers in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    target: u64,
    interval: u64,
    first_interval: bool,
    blue_threshold: u64,
    /// Sojourn time that must be exceeded: `target`, or the guard for slow links.
    above: u64,
    /// Q.60.
    increment: i64,
    decrement: i64,
    ecn: bool,
}

impl Constants {
    fn new(params: &Params, env: &Env) -> Result<Self, Invalid> {
        in_range("target", params.target, "5ms")?;
        in_range("interval", params.interval, "100ms")?;
        in_range("blue_threshold", params.blue_threshold, "400ms")?;
        let four = env.rate.time_for(4 * u64::from(mtu("mtu", params.mtu, env)?));
        Ok(Self {
            target: params.target.0,
            interval: params.interval.0,
            first_interval: params.first_interval,
            blue_threshold: params.blue_threshold.0,
            above: params.target.0.max(four.0),
            increment: bounded("increment", params.increment, 0.0, 1.0, Probability::BITS)?,
            decrement: bounded("decrement", params.decrement, 0.0, 1.0, Probability::BITS)?,
            ecn: params.ecn,
        })
    }

    fn next(&self, from: Time, count: u32) -> Time {
        from.saturating_add(Time(interval_over_sqrt(self.interval, count)))
    }
}

impl Parameters for Params {
    const DECIDES_AT_ENQUEUE: bool = false;

    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        packet_limit(self.limit)?;
        Constants::new(self, env).map(|_| ())
    }
}

/// What changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Signals, less those that have decayed since.
    pub count: u32,
    /// When to signal next, or when to take one off `count`; while `count` is 0, when the queue
    /// will have been quiet for an interval.
    pub drop_next: Time,
    /// Whether `count` was ever changed by the clock, so that a wait has been worked out.
    pub begun: bool,
    /// Whether the last packet had waited for too long.
    pub dropping: bool,
    /// BLUE's probability.
    pub blue: Probability,
    /// When that changed last.
    pub blue_changed: Time,
    /// Since when the queue has been empty; later, when that was last looked at.
    pub idle: Time,
}

impl State {
    /// The queue is full, or a packet has waited too long for anything but BLUE.
    fn blue_up(&mut self, law: &Constants, now: Time) {
        if now.saturating_sub(self.blue_changed).0 > law.target {
            let raw = i128::from(self.blue.raw()) + i128::from(law.increment);
            self.blue = Probability::clamped(raw);
            self.blue_changed = now;
        }
    }

    fn overflowed(&mut self, law: &Constants, now: Time) {
        self.blue_up(law, now);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    fn blue_down(&mut self, law: &Constants, times: u64) {
        let off = i128::from(law.decrement) * i128::from(times);
        self.blue = Probability::clamped(i128::from(self.blue.raw()) - off);
    }

    /// The last packet has left.
    fn emptied(&mut self, law: &Constants, now: Time) {
        if self.blue != Probability::ZERO && now.saturating_sub(self.blue_changed).0 > law.target {
            self.blue_down(law, 1);
            self.blue_changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.schedule(law);
        }
        self.idle = now;
    }

    /// The queue is empty still: one look for each `target`.
    fn idle_until(&mut self, law: &Constants, now: Time) {
        // No more than it takes to reach zero: it then changes no more.
        let enough = self.blue.raw().div_ceil((law.decrement as u64).max(1));
        let looks = (now.saturating_sub(self.idle).0 / law.target).min(enough);
        if looks == 0 {
            return;
        }
        self.blue_down(law, looks);
        self.idle = Time(self.idle.0 + looks * law.target);
        self.blue_changed = self.idle;
    }

    /// When to signal first, of packets that begin to wait too long.
    fn first_due(&self, law: &Constants, now: Time) -> Time {
        if self.begun || law.first_interval { law.next(now, self.count) } else { now }
    }

    /// `count` has changed: when the next change is due.
    fn schedule(&mut self, law: &Constants) {
        self.drop_next = law.next(self.drop_next, self.count);
        self.begun = true;
    }

    /// Whether a signal is due with a packet that came at `at`.
    #[inline]
    fn signal(&mut self, law: &Constants, now: Time, at: Time) -> Schedule {
        let sojourn = now.saturating_sub(at).0;
        let due = self.count > 0 && now >= self.drop_next;
        let mut late = now > self.drop_next;
        if sojourn > law.above {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.first_due(law, now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let signal = due && self.dropping;
        if signal {
            self.count = self.count.saturating_add(1);
            self.schedule(law);
            late = now > self.drop_next;
        } else if due {
            late = self.decay(law, now);
        }
        if sojourn > law.blue_threshold {
            self.blue_up(law, now);
        }
        Schedule { signal, late }
    }

    /// Takes off `count` what is due; whether the time for the next has passed, though it has not
    /// been taken off.
    #[cold]
    fn decay(&mut self, law: &Constants, now: Time) -> bool {
        for _ in 0..DECAY_BATCH {
            self.count -= 1;
            self.schedule(law);
            if self.count == 0 || now < self.drop_next {
                break;
            }
        }
        // If there is more to come it comes with the next packet.
        false
    }

    /// `drop_next` also tells for how long nothing has happened.
    #[inline]
    fn after(&mut self, law: &Constants, now: Time, late: bool, dropped: bool) {
        if self.count == 0 {
            self.drop_next = now.saturating_add(Time(law.interval));
        } else if late && !dropped {
            self.drop_next = now;
        }
    }
}

#[derive(Clone)]
struct Schedule {
    signal: bool,
    late: bool,
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
        let constants = Constants::new(params, env)?;
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
            let schedule = self.state.signal(&self.constants, now, at);
            let blue = self.state.blue.toss(&mut self.coin);
            let marks = schedule.signal && self.constants.ecn && ecn.capable();
            let drop = blue || (schedule.signal && !marks);
            self.state.after(&self.constants, now, schedule.late, drop);
            // The last packet may be marked, but is not dropped.
            if drop && drops < MAX_DROPS && self.fifo.standing().packets > 1 {
                self.fifo.evict(now, DropReason::Early, &mut Unstamp(sink));
                drops += 1;
                continue;
            }
            if marks && ecn != Ecn::Ce {
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

    #[inline]
    fn packets(&self) -> u32 {
        self.fifo.standing().packets
    }

    #[inline]
    fn bytes(&self) -> u64 {
        self.fifo.standing().bytes
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
