//! How fast the path delivers: draft-ietf-ccwg-bbr section 4.1. Each segment remembers how much had
//! been delivered when it was sent; when it is acknowledged, what came since then, over the longer
//! of the time it took to send and the time it took to be acknowledged, is the rate.

use super::recovery::log::{Record, Stamp, state};
use crate::congestion::Rate;
use sojourn_base::Time;

/// What the connection has delivered (`C` in the draft).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivered {
    /// Bytes delivered since the connection began.
    pub bytes: u64,
    /// When the last of them were.
    at: Time,
    /// When the segment was sent that was delivered last.
    first_sent: Time,
    /// Bytes lost, modulo 2³².
    pub lost: u32,
    /// Until this many bytes are delivered the application sets the pace; 0 if it does not.
    app_limited: u64,
    /// The round trip ends when something is delivered that was sent after this many bytes were.
    round_ends: u64,
}

/// What one acknowledgement adds: the newest segment that it delivers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Newest(Option<(Stamp, u32, bool)>);

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
}

/// Whether a segment was sent after another; of those sent at once, the higher sequence number
/// (RFC 8985 section 6.2, `RACK_sent_after`).
#[inline]
pub(super) fn sent_after(sent: Time, end: u32, other: Time, other_end: u32) -> bool {
    sent > other || sent == other && crate::segment::before(other_end, end)
}

impl Delivered {
    /// What is to be remembered of a segment sent now, `flight` bytes being in flight with it and
    /// nothing before it if `idle` (section 4.1.2.2).
    #[inline]
    pub(super) fn stamp(&mut self, now: Time, flight: u32, idle: bool) -> Stamp {
        if idle {
            (self.first_sent, self.at) = (now, now);
        }
        let Self { bytes: delivered, at: delivered_at, first_sent, lost, .. } = *self;
        Stamp { sent: now, delivered, delivered_at, first_sent, flight, lost }
    }

    /// The state bit of segments sent while the application sets the pace.
    #[inline]
    pub(super) fn app_limited(&self) -> u8 {
        if self.app_limited > 0 { state::APP_LIMITED } else { 0 }
    }

    /// The application has nothing more to send although `flight` bytes leave room
    /// (section 4.1.2.4).
    pub(super) fn limit(&mut self, flight: u32) {
        self.app_limited = (self.bytes + u64::from(flight)).max(1);
    }

    /// `bytes` have arrived, `newest` the last of them that was sent. Returns whether a round trip
    /// begins, and the rate (section 4.1.2.3): none if the interval is shorter than the least round
    /// trip, since then something was acknowledged that was sent again needlessly.
    pub(super) fn arrived(
        &mut self,
        now: Time,
        bytes: u32,
        newest: Newest,
        min_rtt: Time,
    ) -> (bool, Option<Rate>) {
        let Some((stamp, _, app_limited)) = newest.0 else {
            return (false, None);
        };
        self.bytes += u64::from(bytes);
        self.at = now;
        self.first_sent = stamp.sent;
        if self.bytes > self.app_limited {
            self.app_limited = 0;
        }
        let round = stamp.delivered >= self.round_ends;
        if round {
            self.round_ends = self.bytes;
        }
        let interval = (stamp.sent - stamp.first_sent).max(now - stamp.delivered_at);
        let rate = (interval > Time::ZERO && interval >= min_rtt).then(|| Rate {
            delivered: (self.bytes - stamp.delivered) as u32,
            interval,
            app_limited,
            flight_then: stamp.flight,
            lost_since: self.lost.wrapping_sub(stamp.lost),
        });
        (round, rate)
    }
}

#[cfg(test)]
mod tests {
    use super::super::recovery::log::Log;
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
            log.sent(n * 1000, (n + 1) * 1000, stamp, c.app_limited());
        }
        let mut rates = std::vec::Vec::new();
        let mut rounds = 0;
        for n in 1..=10u32 {
            let mut newest = Newest::default();
            log.acknowledge(n * 1000, |r| newest.see(r));
            let (round, rate) = c.arrived(ms(100 + u64::from(n)), 1000, newest, ms(100));
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
        assert_eq!(c.app_limited(), state::APP_LIMITED);
        let mut log = Log::new();
        log.sent(0, 1000, c.stamp(ms(5), 1000, true), c.app_limited());
        let mut newest = Newest::default();
        log.acknowledge(1000, |r| newest.see(r));
        let (_, rate) = c.arrived(ms(25), 1000, newest, ms(20));
        assert!(rate.unwrap().app_limited);
        assert_eq!(c.app_limited(), 0); // that was all
    }

    #[test]
    fn delivery_rate_needs_interval_of_min_rtt() {
        let mut c = Delivered::default();
        let mut log = Log::new();
        log.sent(0, 1000, c.stamp(ms(5), 1000, true), 0);
        let mut newest = Newest::default();
        log.acknowledge(1000, |r| newest.see(r));
        assert_eq!(c.arrived(ms(15), 1000, newest, ms(20)).1, None);
    }
}
