//! The container below the algorithms: a ring of packets with its limits and its counters.

use crate::ring::{MOST, Ring};
use crate::{Counters, DropReason, Packet, Sink, Standing, Verdict};
use sojourn_base::Time;

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
