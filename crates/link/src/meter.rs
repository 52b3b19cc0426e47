//! What a link measures of itself within the measured window.

use crate::standing::Running;
use sojourn_base::{Time, product};
use sojourn_records::Histogram;

/// Lengths up to here have a counter of their own; longer queues go to the histogram.
const SHORT: usize = 4096;

/// Sojourn times, how long the queue was how long, and what of it stood all the time.
///
/// The owner tells of every change in time order; but for the running minima, nothing is recorded
/// before `start`.
#[derive(Clone)]
pub(crate) struct Meter {
    measuring: bool,
    /// When the queue's length last changed, or measuring began.
    since: Time,
    pub standing: Running,
    /// Nanoseconds at each length.
    short: Vec<u64>,
    long: Histogram,
    byte_time: u128,
    max_bytes: u64,
    /// Wire bytes whose transmission started in the window.
    pub wire_bytes: u64,
    pub sojourn: Histogram,
}

impl Meter {
    /// A meter whose running minima are over `window`.
    pub(crate) fn new(window: Time) -> Self {
        Self {
            measuring: false,
            since: Time::ZERO,
            standing: Running::new(window.0),
            short: vec![0; SHORT],
            long: Histogram::new(),
            byte_time: 0,
            max_bytes: 0,
            wire_bytes: 0,
            sojourn: Histogram::new(),
        }
    }

    /// The window begins at `now`.
    pub(crate) fn start(&mut self, now: Time) {
        self.measuring = true;
        self.since = now;
        self.standing.start();
    }

    /// The queue held `packets` and `bytes` until `now`, when it changes.
    #[inline(always)]
    pub(crate) fn until(&mut self, now: Time, packets: u32, bytes: u64) {
        let span = self.span(now, packets);
        if self.measuring {
            self.lasted(span, packets, bytes);
        }
    }

    /// Nanoseconds since the queue's length last changed, up to `now`, when it changes again; it
    /// held `packets`.
    #[inline(always)]
    fn span(&mut self, now: Time, packets: u32) -> u64 {
        let span = (now - self.since).0;
        self.since = now;
        if span > 0 {
            self.standing.until(now.0, u64::from(packets));
        }
        span
    }

    /// The queue held `packets` and `bytes` for `span` nanoseconds of the window.
    #[inline(always)]
    fn lasted(&mut self, span: u64, packets: u32, bytes: u64) {
        if let Some(time) = self.short.get_mut(packets as usize) {
            *time += span;
        } else {
            self.long.record_n(u64::from(packets), span);
        }
        self.byte_time += product(bytes, span);
        // What is gone at the instant at which it came was no queue.
        if span > 0 && bytes > self.max_bytes {
            self.max_bytes = bytes;
        }
    }

    /// A packet that came at `enqueued` starts its transmission at `now`, until when the queue held
    /// `packets` and `bytes`.
    #[inline(always)]
    pub(crate) fn departs(
        &mut self,
        now: Time,
        (packets, bytes): (u32, u64),
        enqueued: Time,
        wire_bytes: u32,
    ) {
        let span = self.span(now, packets);
        let sojourn = (now - enqueued).0;
        self.standing.left(sojourn);
        if self.measuring {
            self.lasted(span, packets, bytes);
            self.sojourn.record(sojourn);
            self.wire_bytes += u64::from(wire_bytes);
        }
    }

    /// A packet that came at `enqueued` leaves the queue at `now`.
    #[inline]
    pub(crate) fn left(&mut self, now: Time, enqueued: Time) {
        let sojourn = (now - enqueued).0;
        self.standing.left(sojourn);
        if self.measuring {
            self.sojourn.record(sojourn);
        }
    }

    /// The transmitter starts to send a packet.
    #[inline]
    pub(crate) fn transmits(&mut self, wire_bytes: u32) {
        if self.measuring {
            self.wire_bytes += u64::from(wire_bytes);
        }
    }

    /// The time-weighted distribution of the queue's length in packets.
    pub(crate) fn lengths(&self) -> Histogram {
        let mut all = self.long.clone();
        for (length, &time) in self.short.iter().enumerate() {
            all.record_n(length as u64, time);
        }
        all
    }

    /// Time-weighted mean and largest length in bytes over `span`.
    pub(crate) fn bytes(&self, span: Time) -> (f64, u64) {
        (self.byte_time as f64 / span.0.max(1) as f64, self.max_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_weighted_by_the_time_they_lasted() {
        let mut meter = Meter::new(Time::from_millis(1));
        meter.until(Time(50), 9, 9000);
        meter.start(Time(100));
        meter.until(Time(130), 1, 1000);
        meter.until(Time(140), 10_000, 5);
        // Gone as soon as it came.
        meter.until(Time(140), 10_001, 1505);
        meter.until(Time(200), 0, 0);
        let lengths = meter.lengths();
        assert_eq!(lengths.count(), 100);
        assert_eq!(lengths.sum(), 30 + 10 * 10_000);
        assert_eq!(meter.bytes(Time(100)), (300.5, 1000));
    }

    #[test]
    fn meter_ignores_time_before_window() {
        let mut meter = Meter::new(Time::from_millis(1));
        meter.departs(Time(10), (1, 1500), Time(5), 1500);
        assert!(meter.sojourn.is_empty());
        meter.start(Time(20));
        meter.departs(Time(30), (1, 1500), Time(5), 1538);
        assert_eq!((meter.sojourn.count(), meter.sojourn.max()), (1, Some(25)));
        assert_eq!(meter.wire_bytes, 1538);
    }
}
