//! FQ-CoDel: flow queueing with CoDel. A hash of its flow puts each packet into one of `flows`
//! queues; each is under CoDel (see `codel`) and they are served in turn by deficit round robin,
//! `quantum` bytes a round. A queue that was empty goes before those that are busy, once: flows
//! that send little see almost no queue, whatever the others do. When all queues together reach a
//! limit, the one with most bytes is shortened, at its head.
//!
//! Source: RFC 8290 (2018), with CoDel as in RFC 8289.
//!
//! # Differences from the source
//!
//! 1. CoDel's differences are listed with `codel`; the 64 drops in one call are those of all queues
//!    together.
//! 2. A queue that is too long loses half of its bytes, where the RFC says half of its packets; 64
//!    packets at most in both. It goes on until the limits hold again.
//! 3. Drops for a limit are added to the `count` of the queue's CoDel, as in Linux, so that its
//!    drops follow closer; the RFC is silent.
//! 4. `whole_backlog`: whose last `mtu` bytes CoDel spares. True, as RFC 8289 section 4.4 asks and
//!    as in Linux: those of all queues together, so that the one packet of a queue may be dropped
//!    while others stand. False: those of each queue.
//! 5. `memory_limit` counts bytes of packets. The RFC has a limit in packets only.
//! 6. The hash is of the packet's flow and of a key drawn for the run.
//! 7. As in Linux, a new queue that turns out to be empty is forgotten at once if no old ones wait;
//!    the RFC puts it behind the old ones in any case. Credits are used up at 0, in the RFC below.
//!
//! # Differences from Linux
//!
//! 1. Linux counts for `memory_limit` what packets occupy in memory, some 2.3 kB for one of 1500
//!    bytes, and drops one batch for it; here bytes of packets, and the limit always holds.
//! 2. Linux gives the size of a batch as `drop_batch`; here it is 64.
//! 3. In Linux an empty queue keeps the time since when its CoDel was above the target; here it
//!    forgets, as in the RFC's `dodequeue`.
//! 4. Linux can be given filters that choose the queue; here the hash always does.
//! 5. `mtu` and `quantum` are taken from the device in Linux, with the link layer's header (1514).
//!    Its packets have that header too: in both a round is one full packet. If `stab` takes the
//!    header off the packets, a flow begins with two. Linux raises a `quantum` below 256; here it
//!    is refused.
//! 6. Linux compares any bits of the traffic class with its `ce_threshold_selector`; here it is all
//!    ECN-capable packets or those that say ECT(1).
//! 7. Beside these, the differences of CoDel: see `codel`.

use crate::codel::mtu;
use crate::codel_law::{Constants, Head, MAX_DROPS, QueueHead, State};
use crate::flow_queue::{FlowQueue, Settings};
use crate::{
    Counters, DropReason, EcnMarking, Env, Invalid, Packet, Parameters, Sink, Stamped, Unstamp,
    Verdict,
};
use sojourn_base::{Size, Stream, Time};

/// Which ECN-capable packets `ce_threshold` marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "lowercase"))]
pub enum CeThresholdSelector {
    /// All.
    #[default]
    Any,
    /// Those of L4S, as Linux's `ce_threshold_selector 0x01/0x03`.
    Ect1,
}

/// FQ-CoDel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Params {
    /// Sojourn time that may stand in a queue: "1us" to "100s" (default "5ms": RFC 8290 section
    /// 5.2.2).
    pub target: Time,
    /// For how long it may be above `target`, about the longest round trip: "1us" to "100s"
    /// (default "100ms": RFC 8290 section 5.2.1).
    pub interval: Time,
    /// Mark ECN-capable packets instead of dropping them, with "ect0" only those of ECT(0) (default
    /// true: RFC 8290 section 5.2.6).
    pub ecn: EcnMarking,
    /// Mark every ECN-capable packet whose sojourn time is above this, with `ecn = false` too:
    /// "1us" to "100s"; default: never (RFC 8290 section 5.2.7).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub ce_threshold: Option<Time>,
    /// Which packets that is for: all that are ECN-capable ("any"), or those that say ECT(1)
    /// ("ect1"; default "any": RFC 8290 section 5.2.7; the other is of Linux 5.16, for L4S).
    pub ce_threshold_selector: CeThresholdSelector,
    /// CoDel drops nothing if this many bytes or fewer would be left: 40 to 65535; default: 1500,
    /// or the link's mean packet if that is larger.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub mtu: Option<u32>,
    /// Whether `mtu` is compared with what all queues hold or with the packet's own queue (default
    /// true, as in Linux).
    pub whole_backlog: bool,
    /// Number of queues: 1 to 65536 (default 1024: RFC 8290 section 5.2.5).
    pub flows: u32,
    /// Bytes a queue may send in a round: 256 to 1048576; default: 1500, or the link's mean packet
    /// if that is larger (RFC 8290 section 5.2.4: an MTU).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub quantum: Option<u32>,
    /// Most packets in all queues: 1 to 67108864 (default 10240: RFC 8290 section 5.2.3).
    pub limit: u32,
    /// Most bytes in all queues; at least one packet (default "32MiB", as in Linux).
    pub memory_limit: Size,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target: Time::from_millis(5),
            interval: Time::from_millis(100),
            ecn: EcnMarking::On,
            ce_threshold: None,
            ce_threshold_selector: CeThresholdSelector::Any,
            mtu: None,
            whole_backlog: true,
            flows: 1024,
            quantum: None,
            limit: 10_240,
            memory_limit: Size(32 << 20),
        }
    }
}

impl Params {
    fn constants(&self, env: &Env) -> Result<Constants, Invalid> {
        let mtu = mtu("mtu", self.mtu, env)?;
        let ce_threshold_ect1 = self.ce_threshold_selector == CeThresholdSelector::Ect1;
        if ce_threshold_ect1 && self.ce_threshold.is_none() {
            let remedy = "needs ce_threshold, for example \"1ms\"";
            return Err(Invalid::new("ce_threshold_selector", "\"ect1\"", remedy));
        }
        if ce_threshold_ect1 && self.ecn == EcnMarking::Ect0 {
            let remedy = "ecn = \"ect0\" takes ECT(1) for not ECN-capable: write ecn = true";
            return Err(Invalid::new("ce_threshold_selector", "\"ect1\"", remedy));
        }
        let made = Constants::new(self.target, self.interval, mtu, self.ecn, self.ce_threshold)?;
        Ok(Constants { ce_threshold_ect1, ..made })
    }

    fn settings(&self) -> Settings {
        let Self { flows, quantum, limit, memory_limit, .. } = *self;
        Settings { flows, quantum, limit, memory_limit }
    }
}

impl Parameters for Params {
    fn validate(&self, env: &Env) -> Result<(), Invalid> {
        self.constants(env)?;
        self.settings().check(env).map(|_| ())
    }
}

/// Queues under FQ-CoDel.
#[derive(Clone, Debug)]
pub struct Discipline<P: Packet> {
    queues: FlowQueue<Stamped<P>, State>,
    constants: Constants,
    whole_backlog: bool,
}

impl<P: Packet> Discipline<P> {
    /// Empty queues. `coin` gives the key of the hash.
    pub fn new(params: &Params, env: &Env, mut coin: Stream) -> Result<Self, Invalid> {
        let constants = params.constants(env)?;
        let queues = FlowQueue::new(&params.settings(), env, State::default(), &mut coin)?;
        Ok(Self { queues, constants, whole_backlog: params.whole_backlog })
    }

    /// The number of the queue that packets with this hash go to, the state of its CoDel, and how
    /// many packets stand there.
    pub fn queue(&mut self, hash: u32) -> (usize, &State, u32) {
        let at = self.queues.classify(hash);
        let packets = self.queues.standing_in(at).packets;
        (at, self.queues.state(at), packets)
    }
}

/// One queue as CoDel sees it.
struct Front<'a, P, S> {
    queues: &'a mut FlowQueue<Stamped<P>, State>,
    sink: &'a mut S,
    at: usize,
    whole_backlog: bool,
}

impl<P: Packet, S: Sink<P>> QueueHead for Front<'_, P, S> {
    #[inline]
    fn head(&self) -> Option<Head> {
        let head = self.queues.head(self.at)?;
        let standing = if self.whole_backlog {
            self.queues.standing()
        } else {
            self.queues.standing_in(self.at)
        };
        let bytes_after = standing.bytes - u64::from(head.bytes());
        Some(Head { at: head.at, bytes_after, ecn: head.ecn() })
    }
    fn drop_head(&mut self, now: Time) {
        self.queues.evict(self.at, now, DropReason::Early, &mut Unstamp(self.sink));
    }
    fn mark_head(&mut self) {
        self.queues.mark_head(self.at);
    }
}

impl<P: Packet> crate::Change<Params> for Discipline<P> {}

impl<P: Packet> crate::Discipline<P> for Discipline<P> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        let at = self.queues.classify(packet.flow_hash());
        self.queues.append(at, Stamped { packet, at: now });
        while self.queues.over() {
            let (from, drops) = self.queues.shorten(now, &mut Unstamp(sink));
            let state = self.queues.state(from);
            state.count = state.count.saturating_add(drops);
        }
        // It stands at the tail: if it was dropped, so was all before it.
        if self.queues.standing_in(at).packets == 0 {
            Verdict::Dropped(DropReason::Overflow)
        } else {
            Verdict::Queued
        }
    }

    #[inline]
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<P> {
        let mut budget = MAX_DROPS;
        while let Some(at) = self.queues.turn() {
            // Taken out and put back, since CoDel changes the queue while it changes its state.
            let mut state = self.queues.state(at).clone();
            let whole_backlog = self.whole_backlog;
            let mut front = Front { queues: &mut self.queues, sink, at, whole_backlog };
            state.dequeue(&self.constants, now, &mut front, &mut budget);
            *self.queues.state(at) = state;
            if let Some(stamped) = self.queues.take(at) {
                return Some(stamped.packet);
            }
            self.queues.pass(at);
        }
        None
    }

    #[inline]
    fn counters(&self) -> &Counters {
        self.queues.counters()
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.queues.iter().map(|stamped| &stamped.packet).for_each(tell);
    }
}
