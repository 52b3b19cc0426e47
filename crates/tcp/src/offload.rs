//! What a sender does with its own host in mind: it lets little of its own wait at the interface, and
//! hands segments down in bursts. Both as Linux: TCP small queues (`tcp_small_queue_check`), and
//! the waiting for larger bursts that segmentation offload is worth (`tcp_tso_should_defer`).
//!
//! # Differences from Linux
//!
//! 1. A burst is a millisecond at the pace, two segments at least (`tcp_tso_autosize`); Linux since
//!    5.18 makes it longer where the least round trip is below 16 ms.
//! 2. Of what waits the payload is counted, not the memory.

use crate::Params;
use crate::endpoint::{Endpoint, Phase};
use crate::pace::BURSTS_A_SECOND;
use crate::segment::Output;
use alloc::collections::VecDeque;
use sojourn_base::Time;

/// Most bytes of a flow that may wait (`tcp_limit_output_bytes`).
const MOST: u64 = 4 << 20;

/// The window may be left unused by one part in this many for a larger burst
/// (`tcp_tso_win_divisor`).
const DIVISOR: u32 = 3;

const MILLISECOND: Time = Time::from_millis(1);

/// What a sender has at its host's interface, and what it hands down.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offload {
    /// When each segment leaves the interface, and its bytes.
    waiting: VecDeque<(Time, u32)>,
    bytes: u64,
    /// Bytes that are left of the burst that is being handed down.
    burst: u32,
}

impl Offload {
    /// `bytes` were handed down and leave the interface at `leaves`.
    pub fn sent(&mut self, now: Time, leaves: Time, bytes: u32) {
        if leaves > now {
            self.waiting.push_back((leaves, bytes));
            self.bytes += u64::from(bytes);
        }
    }

    /// When something leaves, if more than `limit` bytes are waiting.
    fn full(&mut self, now: Time, limit: u64) -> Option<Time> {
        while let Some(&(leaves, bytes)) = self.waiting.front()
            && leaves <= now
        {
            self.waiting.pop_front();
            self.bytes -= u64::from(bytes);
        }
        let &(leaves, _) = self.waiting.front()?;
        (self.bytes > limit).then_some(leaves)
    }
}

impl Endpoint {
    /// What is handed down at once: a millisecond at the pace.
    fn burst_bytes(&self, params: &Params) -> u32 {
        let most = u64::from(params.burst_segments.max(2)) * u64::from(params.payload);
        let least = u64::from(2 * params.payload);
        (self.pace(params) / BURSTS_A_SECOND).clamp(least, most) as u32
    }

    /// Whether so much of this flow waits at the interface that it sends no more, and until when.
    /// What is sent alone is always sent (`tcp_rtx_queue_empty_or_single_skb`).
    pub(crate) fn queue_is_full(&mut self, params: &Params, now: Time) -> Option<Time> {
        let outstanding = self.in_flight();
        if !params.small_queues || outstanding <= params.payload {
            return None;
        }
        if self.tracked().offload.waiting.is_empty() {
            return None;
        }
        let packet = if params.tso { self.burst_bytes(params) } else { params.payload };
        let limit = (self.pace(params) / BURSTS_A_SECOND).max(2 * u64::from(packet)).min(MOST);
        self.tracked().offload.full(now, limit)
    }

    /// Whether new data wait for an acknowledgement that makes room for a larger burst. `pipe` bytes
    /// are in the network.
    pub(crate) fn defers(&mut self, params: &Params, now: Time, pipe: u32) -> bool {
        if !params.tso || self.phase >= Phase::Recovery || self.tracked().offload.burst > 0 {
            return false;
        }
        let window = self.window.cwnd.min(self.peer_window);
        let room = self.window.cwnd.saturating_sub(pipe);
        let room = room.min(self.peer_window.saturating_sub(self.in_flight()));
        let burst = self.burst_bytes(params);
        // A single segment is no burst, and the rest of what is written needs none.
        let wanted = u64::from(burst).min(self.unsent);
        let enough = u64::from(room) >= wanted || room >= window / DIVISOR;
        if !enough && wanted > u64::from(params.payload) && self.ack_is_near(now) {
            return true;
        }
        self.tracked().offload.burst = burst.min(room);
        false
    }

    /// Whether an acknowledgement may be expected soon: within a millisecond, or half a round trip.
    fn ack_is_near(&mut self, now: Time) -> bool {
        let (srtt, last) = (self.estimator.smoothed(), self.sent_at);
        let log = &self.tracked().log;
        let Some(oldest) = log.oldest() else { return false };
        let expected = log.get(oldest).stamp.sent + srtt;
        now.saturating_sub(last) <= MILLISECOND
            && expected.saturating_sub(now) <= MILLISECOND.min(Time(srtt.0 / 2))
    }

    /// `bytes` of data were handed down.
    pub(crate) fn of_burst(
        &mut self,
        params: &Params,
        now: Time,
        bytes: u32,
        out: &mut impl Output,
    ) {
        if params.small_queues {
            let leaves = out.leaves();
            self.tracked().offload.sent(now, leaves, bytes);
        }
        if params.tso {
            let offload = &mut self.tracked().offload;
            offload.burst = offload.burst.saturating_sub(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_left_waits_no_more() {
        let mut offload = Offload::default();
        for n in 1..=4 {
            offload.sent(Time(0), Time(100 * n), 1000);
        }
        offload.sent(Time(0), Time(0), 1000);
        assert_eq!(offload.full(Time(0), 3999), Some(Time(100)));
        assert_eq!(offload.full(Time(0), 4000), None);
        assert_eq!(offload.full(Time(250), 1999), Some(Time(300)));
        assert_eq!(offload.full(Time(400), 0), None);
        assert_eq!(offload.bytes, 0);
    }
}
