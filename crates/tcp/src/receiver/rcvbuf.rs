//! Receive buffer autotuning: the window grows with what the application takes (dynamic
//! right-sizing, `tcp_rcv_space_adjust` of Linux). A sender that is to double its rate in the next
//! round trip needs a window of twice what was taken in this one, and some more. The window grows
//! to that by two segments for each that arrives (`tcp_grow_window`), and meanwhile each is
//! acknowledged at once, which is the case in most of a sender's slow start.
//!
//! # Differences from Linux
//!
//! 1. The window counts payload; Linux counts the memory that packets take.
//! 2. Without timestamps the round trip is that of the handshake.

use crate::call::Call;
use crate::params::Params;
use crate::segment::Segment;
use sojourn_base::Time;

/// The window at the start, in bytes: the largest that a SYN can carry.
const FIRST: u32 = 65535;

/// Segments in a window's beginning (`TCP_INIT_CWND`), and those allowed for beside twice what was
/// taken.
const INITIAL: u32 = 10;
const SPARE: u64 = 16;

/// State of a receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct RcvBuf {
    /// The window that is advertised.
    window: u32,
    /// What it grows to.
    fitting: u32,
    /// The most that the application took in a round trip.
    taken: u32,
    /// When the present round trip began, and what had been taken by then.
    since: Time,
    from: u64,
    /// The round trip as the receiver sees it; zero without timestamps.
    rtt: Time,
    /// The echo that it was last measured by: another segment with the same one may be of a later
    /// flight (`rcv_rtt_last_tsecr` of Linux).
    echoed: Option<u32>,
}

impl RcvBuf {
    pub(super) fn new(c: &Call<'_>) -> Self {
        let window = c.params.rcv_window.min(FIRST);
        let taken = (INITIAL * c.params.payload).min(window);
        Self {
            window,
            fitting: window,
            taken,
            since: c.now,
            from: 0,
            rtt: Time::ZERO,
            echoed: None,
        }
    }

    /// The window that is advertised, in bytes.
    #[inline]
    pub(super) fn window(&self) -> u32 {
        self.window
    }

    /// The round trip as the receiver sees it; zero if it is not known.
    pub(super) fn round_trip(&self) -> Time {
        self.rtt
    }

    /// A segment has come. Returns whether the window was yet to grow, and by that has done so.
    pub(super) fn grow(&mut self, params: &Params) -> bool {
        let grows = self.window < self.fitting;
        self.window = self.fitting.min(self.window + 2 * params.payload);
        grows
    }

    /// The application has taken what a segment brought, `delivered` bytes by now: once in a round
    /// trip the window is made to fit. Until the receiver sees a round trip, `handshake` is taken
    /// for it. Returns whether the segment is to be acknowledged at once, as the window grows.
    pub(super) fn adjust(
        &mut self,
        c: &Call<'_>,
        segment: &Segment,
        handshake: Time,
        delivered: u64,
    ) -> bool {
        let grows = self.grow(c.params);
        let fresh = self.echoed != Some(segment.tsecr);
        if c.params.timestamps && fresh && u32::from(segment.len) == c.params.payload {
            self.echoed = Some(segment.tsecr);
            let us = ((c.now.0 / 1000) as u32).wrapping_sub(segment.tsecr);
            let sample = Time::from_micros(u64::from(us));
            let old = if self.rtt == Time::ZERO { sample } else { self.rtt };
            self.rtt = Time(old.0 - old.0 / 8 + sample.0 / 8).max(Time(1));
        }
        let rtt = if self.rtt == Time::ZERO { handshake } else { self.rtt };
        if c.now - self.since < rtt {
            return grows;
        }
        let taken = u32::try_from(delivered - self.from).unwrap_or(u32::MAX);
        if taken > self.taken {
            let mut wanted = 2 * u64::from(taken) + SPARE * u64::from(c.params.payload);
            // As much more as it grew, twice: slow start goes on meanwhile.
            let grown = u64::from(taken - self.taken);
            wanted += 2 * (wanted * grown / u64::from(self.taken));
            let most = u64::from(c.params.rcv_window);
            self.fitting = self.fitting.max(wanted.min(most) as u32);
            self.taken = taken;
        }
        (self.since, self.from) = (c.now, delivered);
        grows
    }
}
