//! What a queue counts: packets and bytes that have passed, and that stand.

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
