//! What an acknowledgement says, and what follows from it: passed from step to step.

use super::delivery_rate::Newest;
use super::log::{Record, state};
use crate::segment::{SackBlock, Segment, before};
use sojourn_base::Time;

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub segment: Segment,
    /// Bytes that were outstanding before it, and how many of them it acknowledges.
    pub flight: u32,
    pub acked: u32,
    /// Data that the peer got twice (RFC 2883).
    pub duplicate: Option<SackBlock>,
    /// AccECN's option.
    pub option: Option<SackBlock>,
    pub arrived: Arrived,
}

/// What has newly arrived.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrived {
    /// Bytes newly known to have arrived; without a log, of those above the acknowledged edge.
    pub bytes: u32,
    /// The last of them that was sent.
    pub newest: Newest,
    /// The round trip of the last of them that was sent only once.
    pub rtt: Option<Time>,
    /// Whether something arrived that was sent before the timeout, and only then.
    pub original: bool,
}

/// What is found to be lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    /// Without a log: whether something is, so that recovery begins.
    pub found: bool,
    /// With a log: its bytes.
    pub bytes: u32,
    /// Whether any of it had been sent again.
    pub again: bool,
}

impl Ack {
    /// A duplicate without a log: RFC 5681 section 2, with SACK only if it brings news (RFC 6675
    /// section 2).
    pub(crate) fn is_duplicate(&self) -> bool {
        self.acked == 0 && self.flight > 0 && self.segment.span() == 0
    }
}

impl Arrived {
    /// Takes note of a segment; `recover` is where sending had got to at the last timeout.
    pub(crate) fn see(&mut self, now: Time, record: &Record, recover: u32) {
        self.bytes += record.len();
        self.newest.see(record);
        if !record.is(state::EVER) {
            let rtt = now - record.stamp.sent;
            self.rtt = Some(self.rtt.map_or(rtt, |known| known.min(rtt)));
            self.original |= !before(recover, record.end);
        }
    }
}
