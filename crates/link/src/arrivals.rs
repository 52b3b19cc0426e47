//! Arrivals at a link, counted in spans of equal length.

use sojourn_base::Time;
use sojourn_records::{LinkId, PacketCountRow};

/// Counts the packets that reach one link; a span without any gives no row.
#[derive(Clone)]
pub struct Arrivals {
    link: u32,
    interval: Time,
    start: Time,
    packets: u64,
    bytes: u64,
}

impl Arrivals {
    /// For the link with this number, in spans of `interval` from zero on.
    #[must_use]
    pub fn new(link: u32, interval: Time) -> Self {
        Self { link, interval, start: Time::ZERO, packets: 0, bytes: 0 }
    }

    /// A packet comes; gives the row of the last span with packets if it is over.
    #[inline]
    pub fn add(&mut self, now: Time, bytes: u32) -> Option<PacketCountRow> {
        let mut row = None;
        if now >= self.start + self.interval {
            row = self.end();
            self.start = Time(now.0 - now.0 % self.interval.0);
        }
        self.packets += 1;
        self.bytes += u64::from(bytes);
        row
    }

    /// The row of the present span, if there were packets.
    pub fn end(&mut self) -> Option<PacketCountRow> {
        let Self { link, start, packets, bytes, .. } = *self;
        (self.packets, self.bytes) = (0, 0);
        (packets > 0).then_some(PacketCountRow {
            time_s: start,
            link: LinkId(link),
            packets,
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_counted_and_empty_ones_left_out() {
        let mut arrivals = Arrivals::new(3, Time(10));
        assert_eq!(arrivals.add(Time(4), 100), None);
        assert_eq!(arrivals.add(Time(9), 50), None);
        let row = arrivals.add(Time(37), 1).unwrap();
        assert_eq!((row.time_s, row.packets, row.bytes), (Time(0), 2, 150));
        let row = arrivals.end().unwrap();
        assert_eq!((row.time_s, row.link, row.packets), (Time(30), LinkId(3), 1));
        assert_eq!(arrivals.end(), None);
    }
}
