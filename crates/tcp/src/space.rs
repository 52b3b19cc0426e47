//! The receive window that grows with what the application takes: dynamic right-sizing, as Linux
//! does it (`tcp_rcv_space_adjust`). A sender that is to double its rate in the next round trip
//! needs a window of twice what was taken in this one, and some more. The window comes there by two
//! segments for each that arrives (`tcp_grow_window`), and meanwhile each is acknowledged at once: so
//! it is in most of a sender's slow start.
//!
//! # Differences from Linux
//!
//! 1. The window counts payload; Linux counts the memory that packets take.
//! 2. Without timestamps the round trip is that of the handshake.

use crate::Params;
use crate::endpoint::Endpoint;
use crate::segment::Segment;
use crate::tracked::Tracked;
use sojourn_base::Time;

/// The window at the start, in bytes: what a SYN can tell.
const FIRST: u32 = 65535;

/// Segments in a window's beginning (`TCP_INIT_CWND`), and those allowed for beside twice what was
/// taken.
const INITIAL: u32 = 10;
const SPARE: u64 = 16;

/// State of a receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    /// The window that is told.
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
}

impl Space {
    pub fn new(params: &Params, now: Time) -> Self {
        let window = params.receive_window.min(FIRST);
        let taken = (INITIAL * params.payload).min(window);
        Self { window, fitting: window, taken, since: now, from: 0, rtt: Time::ZERO }
    }

    /// The round trip as the receiver sees it; zero if it is not known.
    pub fn round_trip(&self) -> Time {
        self.rtt
    }

    /// Whether the window was yet to grow when a segment came, and by that has done so.
    fn grow(&mut self, params: &Params) -> bool {
        let grows = self.window < self.fitting;
        self.window = self.fitting.min(self.window + 2 * params.payload);
        grows
    }
}

impl Endpoint {
    /// The window as a segment tells it.
    #[inline]
    pub(crate) fn window_field(&self, params: &Params) -> u16 {
        if !params.autotune {
            return params.window_field;
        }
        let told = |t: &Tracked| (t.space.window >> params.window_scale) as u16;
        self.tracked.as_deref().map_or(params.window_field, told)
    }

    /// A bare acknowledgement brings its time to be echoed too (RFC 7323 section 4.3), or a receiver
    /// to which data alone come would see no round trip.
    pub(crate) fn echo_time(&mut self, params: &Params, segment: &Segment) {
        let (next, told) = (self.rcv_nxt, self.ack_sent);
        if params.timestamps && segment.seq == next && told == next {
            self.ts_recent = segment.tsval;
        }
    }

    /// Data have come that have to wait for others. Whether the window grows.
    pub(crate) fn grow_window(&mut self, params: &Params) -> bool {
        self.tracked.as_mut().is_some_and(|t| t.space.grow(params))
    }

    /// The application has taken what a segment brought: once in a round trip the window is made
    /// to fit. Whether the segment is to be acknowledged at once, as the window grows.
    pub(crate) fn fit_window(&mut self, params: &Params, now: Time, segment: &Segment) -> bool {
        let (delivered, handshake) = (self.delivered, self.estimator.smoothed());
        let Some(t) = &mut self.tracked else { return false };
        let space = &mut t.space;
        let grows = space.grow(params);
        if params.timestamps && u32::from(segment.len) == params.payload {
            let us = ((now.0 / 1000) as u32).wrapping_sub(segment.tsecr);
            let sample = Time::from_micros(u64::from(us));
            let old = if space.rtt == Time::ZERO { sample } else { space.rtt };
            space.rtt = Time(old.0 - old.0 / 8 + sample.0 / 8).max(Time(1));
        }
        let rtt = if space.rtt == Time::ZERO { handshake } else { space.rtt };
        if now - space.since < rtt {
            return grows;
        }
        let taken = u32::try_from(delivered - space.from).unwrap_or(u32::MAX);
        if taken > space.taken {
            let mut wanted = 2 * u64::from(taken) + SPARE * u64::from(params.payload);
            // As much more as it grew, twice: slow start goes on meanwhile.
            let grown = u64::from(taken - space.taken);
            wanted += 2 * (wanted * grown / u64::from(space.taken));
            let most = u64::from(params.receive_window);
            space.fitting = space.fitting.max(wanted.min(most) as u32);
            space.taken = taken;
        }
        (space.since, space.from) = (now, delivered);
        grows
    }
}
