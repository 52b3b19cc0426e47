//! How fast the path delivers, from the log of segments: which of those that an acknowledgement
//! delivers was sent last. What follows from that is in `congestion/delivery.rs`.

use super::log::{Record, state};
use crate::congestion::{Delivered, Stamp};
use sojourn_base::Time;

/// The state bit of segments sent while the application sets the pace.
#[inline]
pub(super) fn app_limited(delivered: &Delivered) -> u8 {
    if delivered.is_app_limited() { state::APP_LIMITED } else { 0 }
}

/// What one acknowledgement adds: the newest segment that it delivers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Newest(Option<(Stamp, u32, bool)>);

impl Newest {
    /// A segment has arrived.
    #[inline]
    pub(super) fn see(&mut self, record: &Record) {
        let newer = self.0.is_none_or(|(stamp, end, _)| {
            sent_after(record.stamp.sent, record.end, stamp.sent, end)
        });
        if newer {
            self.0 = Some((record.stamp, record.end, record.is(state::APP_LIMITED)));
        }
    }

    /// Its stamp, and whether the application set the pace then.
    #[inline]
    pub(super) fn get(self) -> Option<(Stamp, bool)> {
        self.0.map(|(stamp, _, app_limited)| (stamp, app_limited))
    }
}

/// Whether a segment was sent after another; of those sent at once, the higher sequence number
/// (RFC 8985 section 6.2, `RACK_sent_after`).
#[inline]
pub(super) fn sent_after(sent: Time, end: u32, other: Time, other_end: u32) -> bool {
    sent > other || sent == other && crate::segment::before(other_end, end)
}

#[cfg(test)]
mod tests {
    use super::super::log::Log;
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_millis(n)
    }

    /// Ten segments sent at once; acknowledgements return at 1 segment a millisecond.
    #[test]
    fn delivery_rate_is_ack_rate_when_sending_is_faster() {
        let (mut c, mut log) = (Delivered::default(), Log::new());
        for n in 0..20 {
            let stamp = c.stamp(ms(if n < 10 { 0 } else { 100 }), 1000, n == 0);
            log.sent(n * 1000, (n + 1) * 1000, stamp, app_limited(&c));
        }
        let mut rates = std::vec::Vec::new();
        let mut rounds = 0;
        for n in 1..=10u32 {
            let mut newest = Newest::default();
            log.acknowledge(n * 1000, |r| newest.see(r));
            let (round, rate) = c.arrived(ms(100 + u64::from(n)), 1000, newest.get(), ms(100));
            rounds += u32::from(round);
            rates.push(rate.unwrap());
        }
        assert_eq!(rounds, 1);
        // All that was delivered since the first was sent.
        assert_eq!((rates[9].delivered, rates[9].interval), (10_000, ms(110)));
        assert!(!rates[9].app_limited);
    }

    #[test]
    fn delivery_rate_is_marked_app_limited() {
        let mut c = Delivered::default();
        c.limit(0);
        assert_eq!(app_limited(&c), state::APP_LIMITED);
        let mut log = Log::new();
        log.sent(0, 1000, c.stamp(ms(5), 1000, true), app_limited(&c));
        let mut newest = Newest::default();
        log.acknowledge(1000, |r| newest.see(r));
        let (_, rate) = c.arrived(ms(25), 1000, newest.get(), ms(20));
        assert!(rate.unwrap().app_limited);
        assert_eq!(app_limited(&c), 0); // that was all
    }

    #[test]
    fn delivery_rate_needs_interval_of_min_rtt() {
        let mut c = Delivered::default();
        let mut log = Log::new();
        log.sent(0, 1000, c.stamp(ms(5), 1000, true), 0);
        let mut newest = Newest::default();
        log.acknowledge(1000, |r| newest.see(r));
        assert_eq!(c.arrived(ms(15), 1000, newest.get(), ms(20)).1, None);
    }
}
