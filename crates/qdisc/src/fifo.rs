//! The container below the algorithms: a ring of packets with its limits and its counters.

use crate::ring::{MOST, Ring};
use crate::{DropReason, Packet, Sink, Verdict};
use sojourn_base::Time;

/// A number of packets and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes of those packets (IP length).
    pub bytes: u64,
}

impl Count {
    /// Counts one packet.
    #[inline]
    pub fn add(&mut self, bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
    }

    /// The sum of both.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }

    /// The difference; `other` must be part of `self`, or both must be counters of which `self`
    /// is the later reading.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self { packets: self.packets - other.packets, bytes: self.bytes - other.bytes }
    }
}

/// What has passed through a queue since the start. At any instant
/// `arrived() = dequeued + dropped() + standing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Accepted into the queue, marked or not.
    pub enqueued: Count,
    /// Given out for transmission.
    pub dequeued: Count,
    /// Dropped because a limit was reached.
    pub overflow: Count,
    /// Dropped by the discipline's decision.
    pub early: Count,
    /// Those of `overflow` and `early` that had been accepted before.
    pub evicted: Count,
    /// Set to CE by this queue.
    pub marked: Count,
}

impl Counters {
    /// Offered to the queue.
    #[must_use]
    pub const fn arrived(&self) -> Count {
        self.enqueued.plus(self.overflow).plus(self.early).minus(self.evicted)
    }

    /// Dropped, for whatever reason.
    #[must_use]
    pub const fn dropped(&self) -> Count {
        self.overflow.plus(self.early)
    }

    /// Adds what another queue's counters have gone up by, from `before` to `after`.
    #[inline]
    pub(crate) fn follow(&mut self, before: &Self, after: &Self) {
        let add = |sum: &mut Count, before: Count, after: Count| {
            *sum = sum.plus(after.minus(before));
        };
        add(&mut self.enqueued, before.enqueued, after.enqueued);
        add(&mut self.dequeued, before.dequeued, after.dequeued);
        add(&mut self.overflow, before.overflow, after.overflow);
        add(&mut self.early, before.early, after.early);
        add(&mut self.evicted, before.evicted, after.evicted);
        add(&mut self.marked, before.marked, after.marked);
    }

    /// In the queue now.
    #[must_use]
    pub const fn standing(&self) -> Count {
        self.enqueued.minus(self.dequeued).minus(self.evicted)
    }
}

/// How long a queue is, without the packet in service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Packets, at most 2²⁶.
    pub packets: u32,
    /// Bytes.
    pub bytes: u64,
}

/// First in, first out, with limits and counters and no opinion.
#[derive(Clone, Debug)]
pub struct Fifo<P> {
    ring: Ring<P>,
    limit_packets: u32,
    limit_bytes: u64,
    counters: Counters,
}

impl<P: Packet> Fifo<P> {
    /// An empty queue that holds at most `packets` packets (never more than 2²⁶) of together at
    /// most `bytes` bytes.
    #[must_use]
    pub fn new(packets: u32, bytes: u64) -> Self {
        Self {
            ring: Ring::new(),
            limit_packets: packets.min(MOST),
            limit_bytes: bytes,
            counters: Counters::default(),
        }
    }

    /// Sets other limits. What stands stays, even if it is more.
    pub fn set_limits(&mut self, packets: u32, bytes: u64) {
        (self.limit_packets, self.limit_bytes) = (packets.min(MOST), bytes);
    }

    /// Worked out from the counters: one number fewer to keep in step, and no slower.
    #[inline]
    fn bytes(&self) -> u64 {
        self.counters.standing().bytes
    }

    /// How long the queue is.
    #[inline]
    #[must_use]
    pub fn standing(&self) -> Standing {
        Standing { packets: self.ring.len(), bytes: self.bytes() }
    }

    /// Whether a packet of `bytes` fits.
    #[inline]
    #[must_use]
    pub fn fits(&self, bytes: u32) -> bool {
        self.ring.len() < self.limit_packets && self.bytes() + u64::from(bytes) <= self.limit_bytes
    }

    /// Appends a packet that [fits](Self::fits).
    #[inline]
    pub fn accept(&mut self, packet: P) -> Verdict {
        self.counters.enqueued.add(packet.bytes());
        self.ring.push(packet);
        Verdict::Queued
    }

    /// Sets a packet that fits and is ECT to CE and appends it.
    #[inline]
    pub fn accept_marked(&mut self, mut packet: P) -> Verdict {
        packet.set_ce();
        self.counters.marked.add(packet.bytes());
        self.accept(packet);
        Verdict::Marked
    }

    /// Drops the packet that was offered.
    #[inline]
    pub fn refuse(
        &mut self,
        now: Time,
        packet: P,
        reason: DropReason,
        sink: &mut impl Sink<P>,
    ) -> Verdict {
        let count = match reason {
            DropReason::Overflow => &mut self.counters.overflow,
            DropReason::Early => &mut self.counters.early,
        };
        count.add(packet.bytes());
        sink.dropped(now, packet, reason);
        Verdict::Dropped(reason)
    }

    /// Takes the packet at the head for transmission.
    #[inline]
    pub fn take(&mut self) -> Option<P> {
        let packet = *self.ring.peek()?;
        self.ring.skip();
        self.counters.dequeued.add(packet.bytes());
        Some(packet)
    }

    /// Drops the packet at the head, if there is one; it had been accepted.
    pub fn evict(&mut self, now: Time, reason: DropReason, sink: &mut impl Sink<P>) {
        if let Some(packet) = self.ring.pop() {
            self.counters.evicted.add(packet.bytes());
            let _ = self.refuse(now, packet, reason, sink);
        }
    }

    /// Sets the packet at the head, which is ECT, to CE.
    pub fn mark_head(&mut self) {
        if let Some(packet) = self.ring.peek_mut() {
            packet.set_ce();
            self.counters.marked.add(packet.bytes());
        }
    }

    /// The packet at the head.
    #[inline]
    #[must_use]
    pub fn peek(&self) -> Option<&P> {
        self.ring.peek()
    }

    /// All packets, from the head on.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        self.ring.iter()
    }

    /// What has passed.
    #[inline]
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}
