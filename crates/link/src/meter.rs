//! What a link measures of itself within the measured window.

use crate::standing::Running;
use sojourn_records::Histogram;

/// Lengths up to here have a counter of their own; longer queues go to the histogram.
const SHORT: usize = 4096;

/// Sojourn times, how long the queue was how long, and what of it stood all the time.
///
/// The owner tells of every change in time order; but for the running minima, nothing is recorded
/// before `start`.
pub struct Meter {
    measuring: bool,
    /// When the queue's length last changed, or measuring began.
    since: u64,
    pub standing: Running,
    /// Nanoseconds at each length.
    short: Vec<u64>,
    long: Histogram,
    byte_time: u128,
    max_bytes: u64,
    /// Packets and wire bytes whose transmission started in the window.
    pub sent: u64,
    pub wire_bytes: u64,
    pub sojourn: Histogram,
}

impl Meter {
    /// A meter whose running minima are over `window` nanoseconds.
    pub fn new(window: u64) -> Self {
        Self {
            measuring: false,
            since: 0,
            standing: Running::new(window),
            short: vec![0; SHORT],
            long: Histogram::new(),
            byte_time: 0,
            max_bytes: 0,
            sent: 0,
            wire_bytes: 0,
            sojourn: Histogram::new(),
        }
    }

    /// The window begins at `now`.
    pub fn start(&mut self, now: u64) {
        self.measuring = true;
        self.since = now;
        self.standing.start();
    }

    /// The queue held `packets` and `bytes` until `now`, when it changes.
    #[inline(always)]
    pub fn until(&mut self, now: u64, packets: u32, bytes: u64) {
        let span = now - self.since;
        self.since = now;
        if span > 0 {
            self.standing.until(now, u64::from(packets));
        }
        if !self.measuring {
            return;
        }
        if let Some(time) = self.short.get_mut(packets as usize) {
            *time += span;
        } else {
            self.long.record_n(u64::from(packets), span);
        }
        self.byte_time += u128::from(bytes) * u128::from(span);
        self.max_bytes = self.max_bytes.max(bytes);
    }

    /// A packet that came at `enqueued` starts its transmission at `now`.
    #[inline]
    pub fn sent(&mut self, now: u64, enqueued: u64, wire_bytes: u32) {
        self.left(now, enqueued);
        self.transmits(wire_bytes);
    }

    /// A packet that came at `enqueued` leaves the queue at `now`.
    #[inline]
    pub fn left(&mut self, now: u64, enqueued: u64) {
        self.standing.left(now - enqueued);
        if self.measuring {
            self.sojourn.record(now - enqueued);
        }
    }

    /// The transmitter starts to send a packet.
    #[inline]
    pub fn transmits(&mut self, wire_bytes: u32) {
        if self.measuring {
            self.sent += 1;
            self.wire_bytes += u64::from(wire_bytes);
        }
    }

    /// The time-weighted distribution of the queue's length in packets.
    pub fn lengths(&self) -> Histogram {
        let mut all = self.long.clone();
        for (length, &time) in self.short.iter().enumerate() {
            all.record_n(length as u64, time);
        }
        all
    }

    /// Time-weighted mean and largest length in bytes over `span` nanoseconds.
    pub fn bytes(&self, span: u64) -> (f64, u64) {
        (self.byte_time as f64 / span.max(1) as f64, self.max_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_weighted_by_the_time_they_lasted() {
        let mut meter = Meter::new(1_000_000);
        meter.until(50, 9, 9000);
        meter.start(100);
        meter.until(130, 1, 1000);
        meter.until(140, 10_000, 5);
        meter.until(200, 0, 0);
        let lengths = meter.lengths();
        assert_eq!(lengths.count(), 100);
        assert_eq!(lengths.sum(), 30 + 10 * 10_000);
        assert_eq!(meter.bytes(100), (300.5, 1000));
    }

    #[test]
    fn nothing_counts_before_the_window() {
        let mut meter = Meter::new(1_000_000);
        meter.sent(10, 5, 1500);
        assert!(meter.sojourn.is_empty());
        meter.start(20);
        meter.sent(30, 5, 1538);
        assert_eq!((meter.sent, meter.wire_bytes, meter.sojourn.max()), (1, 1538, Some(25)));
    }
}
