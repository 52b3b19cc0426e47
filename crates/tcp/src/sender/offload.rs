//! What a sender does with its own host in mind: it lets little of its own wait at the interface,
//! and hands segments down in bursts. Both as Linux: TCP small queues (`tcp_small_queue_check`),
//! and the waiting for larger bursts that segmentation offload is worth (`tcp_tso_should_defer`).
//!
//! # Differences from Linux
//!
//! 1. A burst is a millisecond at the pace, two segments at least (`tcp_tso_autosize`); Linux since
//!    5.18 makes it longer where the least round trip is below 16 ms.
//! 2. Of what waits the payload is counted, not the memory.

use alloc::collections::VecDeque;
use sojourn_base::Time;

/// Most bytes of a flow that may wait (`tcp_limit_output_bytes`).
const MOST: u64 = 4 << 20;

/// The window may be left unused by one part in this many for a larger burst
/// (`tcp_tso_win_divisor`).
const DIVISOR: u32 = 3;

pub(super) const MILLISECOND: Time = Time::from_millis(1);

/// What a sender has at its host's interface, and what it hands down.
#[derive(Clone, Debug, Default)]
pub(super) struct Offload {
    /// When each segment leaves the interface, and its bytes.
    waiting: VecDeque<(Time, u32)>,
    bytes: u64,
    /// Bytes that are left of the burst that is being handed down.
    burst: u32,
}

impl Offload {
    /// `bytes` were handed down and leave the interface at `leaves`.
    pub(super) fn sent(&mut self, now: Time, leaves: Time, bytes: u32) {
        if leaves > now {
            self.waiting.push_back((leaves, bytes));
            self.bytes += u64::from(bytes);
        }
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether a burst is being handed down.
    pub(super) fn in_burst(&self) -> bool {
        self.burst > 0
    }

    /// A burst begins.
    pub(super) fn begin_burst(&mut self, room: &Room) {
        self.burst = room.burst.min(room.left);
    }

    /// `bytes` of the burst were handed down.
    pub(super) fn take_from_burst(&mut self, bytes: u32) {
        self.burst = self.burst.saturating_sub(bytes);
    }

    /// When something leaves, if more than `limit` bytes are waiting.
    pub(super) fn full_until(&mut self, now: Time, limit: u64) -> Option<Time> {
        while let Some(&(leaves, bytes)) = self.waiting.front()
            && leaves <= now
        {
            self.waiting.pop_front();
            self.bytes -= u64::from(bytes);
        }
        let &(leaves, _) = self.waiting.front()?;
        (self.bytes > limit.min(MOST)).then_some(leaves)
    }
}

/// What there is of the window for new data, bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The smaller of both windows.
    pub window: u32,
    /// What is left of it.
    pub left: u32,
    /// What is handed down at once.
    pub burst: u32,
    /// Written and not sent.
    pub unsent: u64,
    /// A segment.
    pub mss: u32,
}

impl Room {
    /// Whether there is too little for a burst, so that an acknowledgement that makes room for a
    /// larger one is worth waiting for.
    pub(super) fn is_worth_waiting_for(&self) -> bool {
        // A single segment is no burst, and the rest of what is written needs none.
        let wanted = u64::from(self.burst).min(self.unsent);
        let enough = u64::from(self.left) >= wanted || self.left >= self.window / DIVISOR;
        !enough && wanted > u64::from(self.mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_queue_forgets_what_has_left() {
        let mut offload = Offload::default();
        for n in 1..=4 {
            offload.sent(Time(0), Time(100 * n), 1000);
        }
        offload.sent(Time(0), Time(0), 1000);
        assert_eq!(offload.full_until(Time(0), 3999), Some(Time(100)));
        assert_eq!(offload.full_until(Time(0), 4000), None);
        assert_eq!(offload.full_until(Time(250), 1999), Some(Time(300)));
        assert_eq!(offload.full_until(Time(400), 0), None);
        assert_eq!(offload.bytes, 0);
    }
}
