//! What disciplines with classes have in common: how a packet finds its class, the queues of the
//! classes, and counters that are the sums of theirs.
//!
//! Every class at the end of a branch, a *leaf*, has a queue of any discipline. A packet goes to
//! the leaf that names its label; else to the one that names its codepoint; else to the default
//! leaf. Leaves are numbered in the order in which they are written; one word of 64 bits says
//! which of them have packets.
//!
//! A leaf that has run empty is asked once more at the next call, as a link asks: CoDel forgets
//! then how long packets have waited, and flows leave their round (RFC 8289, RFC 8290).

mod filter;
mod scheduled;
mod turns;

pub(crate) use filter::{Filter, check, name, twice};
pub(crate) use scheduled::{Scheduled, Scheduler};
pub(crate) use turns::Turns;

use crate::{ClassInfo, Config, Counters, Discipline, Env, Invalid, Packet, Qdisc, Sink, Verdict};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use sojourn_base::{Dscp, Kind, Rate, Stream, Time};

/// Most leaves that one discipline may have: one bit each in a word.
pub const MOST_CLASSES: usize = 64;

/// How deep disciplines and classes may lie in each other.
pub const DEEPEST: u32 = 8;

/// A leaf as the parameters give it.
pub(crate) struct Leaf<'a> {
    pub name: &'a str,
    /// Names of the classes around it, each with a slash behind.
    pub outer: String,
    pub field: String,
    pub labels: &'a [String],
    pub dscp: &'a [Dscp],
    pub qdisc: &'a Config,
    /// Its part of the link's rate.
    pub share: f64,
}

impl Leaf<'_> {
    fn env(&self, env: &Env) -> Env {
        let rate = Rate(((env.rate.as_f64() * self.share) as u64).max(1));
        Env { rate, ..*env }
    }
}

/// What is wrong with a parameter inside the class called `name` that stands at `field`.
pub(crate) fn in_class(error: Invalid, name: &str, field: &str) -> Invalid {
    let mut error = error.of(field);
    if !error.remedy.contains("(class ") {
        error.remedy = format!("{} (class \"{name}\")", error.remedy);
    }
    error
}

/// The leaves as they are seen from outside, those inside their own disciplines included.
pub(crate) fn infos(leaves: &[Leaf<'_>]) -> Vec<ClassInfo> {
    let mut all = Vec::new();
    for leaf in leaves {
        let name = format!("{}{}", leaf.outer, leaf.name);
        let place =
            |(n, label): (usize, &String)| (label.clone(), format!("{}.labels[{n}]", leaf.field));
        let mut own: Vec<_> = leaf.labels.iter().enumerate().map(place).collect();
        let inner = leaf.qdisc.classes();
        if inner.is_empty() {
            all.push(ClassInfo { name, labels: own });
            continue;
        }
        for class in inner {
            let inside = class.labels.into_iter();
            own.extend(inside.map(|(label, at)| (label, format!("{}.qdisc.{at}", leaf.field))));
            let labels = core::mem::take(&mut own);
            all.push(ClassInfo { name: format!("{name}/{}", class.name), labels });
        }
    }
    all
}

/// The queues of all leaves.
#[derive(Clone, Debug)]
pub struct Leaves<P: Packet> {
    queues: Vec<Qdisc<P>>,
    filter: Filter,
    /// The number of each leaf's first class as seen from outside.
    first: Vec<usize>,
    /// Leaves that have packets.
    backlog: u64,
    /// Leaves that may have packets and give none.
    holding: u64,
    /// Leaves whose last packet has gone since they were asked last.
    emptied: u64,
    counters: Counters,
}

impl<P: Packet> Leaves<P> {
    /// Empty queues, each with its own random stream.
    pub(crate) fn new(
        leaves: &[Leaf<'_>],
        default: usize,
        env: &Env,
        mut coin: Stream,
    ) -> Result<Self, Invalid> {
        let (mut queues, mut first, mut seen, mut holding) = (Vec::new(), Vec::new(), 0, 0);
        for (at, leaf) in leaves.iter().enumerate() {
            let own = Stream::new(coin.next_u64(), Kind::Qdisc, at as u32, 0);
            let queue = Qdisc::new(leaf.qdisc, &leaf.env(env), own);
            queues
                .push(queue.map_err(|e| in_class(e, leaf.name, &format!("{}.qdisc", leaf.field)))?);
            first.push(seen);
            seen += leaf.qdisc.classes().len().max(1);
            holding |= u64::from(leaf.qdisc.holds_back()) << at;
        }
        let filter = Filter::new(leaves, default);
        let counters = Counters::default();
        Ok(Self { queues, filter, first, backlog: 0, holding, emptied: 0, counters })
    }

    /// Offers a packet to the leaf it belongs to; which that was.
    #[inline]
    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        packet: P,
        sink: &mut impl Sink<P>,
    ) -> (usize, Verdict) {
        let leaf = self.filter.leaf(&packet);
        let queue = &mut self.queues[leaf];
        let before = *queue.counters();
        let verdict = queue.enqueue(now, packet, sink);
        self.counters.follow(&before, queue.counters());
        self.note(leaf);
        (leaf, verdict)
    }

    /// Takes a packet from a leaf.
    #[inline]
    pub(crate) fn dequeue(&mut self, leaf: usize, now: Time, sink: &mut impl Sink<P>) -> Option<P> {
        let queue = &mut self.queues[leaf];
        let before = *queue.counters();
        let packet = queue.dequeue(now, sink);
        self.counters.follow(&before, queue.counters());
        self.note(leaf);
        packet
    }

    /// Asks the leaves that have run empty once more.
    #[inline]
    pub(crate) fn ask_emptied(&mut self, now: Time, sink: &mut impl Sink<P>) {
        let emptied = core::mem::take(&mut self.emptied) & !self.backlog;
        if emptied != 0 {
            self.ask(emptied, now, sink);
        }
    }

    #[inline(never)]
    fn ask(&mut self, leaves: u64, now: Time, sink: &mut impl Sink<P>) {
        for leaf in bits(leaves) {
            let none = self.dequeue(leaf, now, sink);
            debug_assert!(none.is_none());
        }
    }

    #[inline]
    fn note(&mut self, leaf: usize) {
        let before = self.backlog;
        let empty = self.queues[leaf].packets() == 0;
        self.backlog = before & !(1 << leaf) | u64::from(!empty) << leaf;
        self.emptied |= before & !self.backlog;
    }

    /// Whether a leaf has packets.
    #[inline]
    pub(crate) fn backlogged(&self, leaf: usize) -> bool {
        self.backlog >> leaf & 1 == 1
    }

    /// The leaves that have packets, as bits.
    #[inline]
    pub(crate) fn backlog(&self) -> u64 {
        self.backlog
    }

    /// The leaves that have packets ready at `now`, as bits.
    #[inline]
    pub(crate) fn ready(&self, now: Time) -> u64 {
        let unsure = self.backlog & self.holding;
        let late = bits(unsure).filter(|&leaf| self.queues[leaf].next_ready(now) != Some(now));
        self.backlog & !late.fold(0, |all, leaf| all | 1 << leaf)
    }

    /// When a leaf that has packets has one ready.
    #[inline]
    pub(crate) fn ready_at(&self, leaf: usize, now: Time) -> Time {
        self.queues[leaf].next_ready(now).unwrap_or(now)
    }

    /// When the first leaf has a packet ready.
    pub(crate) fn next_ready(&self, now: Time) -> Option<Time> {
        if self.backlog & !self.holding != 0 {
            return Some(now);
        }
        bits(self.backlog).map(|leaf| self.ready_at(leaf, now)).min()
    }

    /// The size of the packet that a leaf would give next, if it knows.
    #[inline]
    pub(crate) fn head(&self, leaf: usize) -> Option<u32> {
        self.queues[leaf].peek().map(Packet::bytes)
    }

    pub(crate) fn advance(&mut self, now: Time) {
        self.queues.iter_mut().for_each(|queue| queue.advance(now));
    }

    /// The sums of all leaves' counters.
    #[inline]
    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Tells every packet, class by class.
    pub(crate) fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.queues.iter().for_each(|queue| queue.each(tell));
    }

    /// The number of the class, as seen from outside, that a packet belongs to.
    pub(crate) fn class_of(&self, packet: &P) -> usize {
        let leaf = self.filter.leaf(packet);
        self.first[leaf] + self.queues[leaf].class_of(packet)
    }

    /// Tells the counters of each class, as seen from outside.
    pub(crate) fn classes(&self, tell: &mut dyn FnMut(&Counters)) {
        for queue in &self.queues {
            let mut told = false;
            queue.classes(&mut |counters| {
                told = true;
                tell(counters);
            });
            if !told {
                tell(queue.counters());
            }
        }
    }
}

/// The numbers of the bits that are set, from the lowest.
#[inline]
pub(crate) fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let lowest = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (lowest < 64).then_some(lowest)
    })
}
