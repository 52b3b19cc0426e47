//! A discipline of classes: the leaves, and whose turn it is among them.

use super::Leaves;
use crate::{Counters, Discipline, Packet, Sink, Verdict};
use sojourn_base::Time;

/// Says which leaf sends next. Sets of leaves are words with a bit for each.
pub trait Scheduler<P: Packet> {
    /// The leaf among `ready`, at least one, that sends next; none if none may yet.
    fn next(&mut self, ready: u64, leaves: &Leaves<P>, now: Time) -> Option<usize>;

    /// `leaf`, which `next` chose, has sent a packet of `bytes`.
    fn sent(&mut self, leaf: usize, bytes: u32, leaves: &Leaves<P>, now: Time);

    /// `leaf`, which `next` chose, has dropped all it had instead of sending.
    fn emptied(&mut self, leaf: usize) {
        let _ = leaf;
    }

    /// A packet was offered to `leaf`.
    #[inline]
    fn arrived(&mut self, leaf: usize, leaves: &Leaves<P>, now: Time) {
        let _ = (leaf, leaves, now);
    }

    /// When the first leaf may send, if nothing else comes.
    #[inline]
    fn next_ready(&self, leaves: &Leaves<P>, now: Time) -> Option<Time> {
        leaves.next_ready(now)
    }
}

/// Leaves that a scheduler serves.
#[derive(Clone, Debug)]
pub struct Scheduled<P: Packet, S> {
    pub(crate) leaves: Leaves<P>,
    pub(crate) scheduler: S,
}

impl<P: Packet, S: Scheduler<P>> Discipline<P> for Scheduled<P, S> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: P, sink: &mut impl Sink<P>) -> Verdict {
        let (leaf, verdict) = self.leaves.enqueue(now, packet, sink);
        self.scheduler.arrived(leaf, &self.leaves, now);
        verdict
    }

    #[inline]
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<P> {
        self.leaves.ask_emptied(now, sink);
        let mut ready = self.leaves.ready(now);
        while ready != 0 {
            let leaf = self.scheduler.next(ready, &self.leaves, now)?;
            if let Some(packet) = self.leaves.dequeue(leaf, now, sink) {
                self.scheduler.sent(leaf, packet.bytes(), &self.leaves, now);
                return Some(packet);
            }
            self.scheduler.emptied(leaf);
            ready &= !(1 << leaf);
        }
        None
    }

    #[inline]
    fn next_ready(&self, now: Time) -> Option<Time> {
        self.scheduler.next_ready(&self.leaves, now)
    }

    fn advance(&mut self, now: Time) {
        self.leaves.advance(now);
    }

    #[inline]
    fn counters(&self) -> &Counters {
        self.leaves.counters()
    }

    fn each(&self, tell: &mut dyn FnMut(&P)) {
        self.leaves.each(tell);
    }

    fn class_of(&self, packet: &P) -> usize {
        self.leaves.class_of(packet)
    }

    fn classes(&self, tell: &mut dyn FnMut(&Counters)) {
        self.leaves.classes(tell);
    }
}
