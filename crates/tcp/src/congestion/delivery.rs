//! How fast the path delivers: draft-ietf-ccwg-bbr section 4.1. Each packet remembers how much had
//! been delivered when it was sent; when it is acknowledged, what came since then, over the longer
//! of the time it took to send and the time it took to be acknowledged, is the rate.
//!
//! # Differences from the source
//!
//! 1. Which of the packets that an acknowledgement delivers was sent last, the caller says: what
//!    the order of sending is depends on the protocol.

use super::Rate;
use sojourn_base::Time;

/// How the connection stood when a packet was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// When it was sent.
    pub sent: Time,
    /// Bytes delivered by then.
    pub delivered: u64,
    /// When the last of them were.
    pub delivered_at: Time,
    /// When the packet was sent whose delivery was the last before.
    pub first_sent: Time,
    /// Bytes in flight, itself included.
    pub flight: u32,
    /// Bytes lost by then, modulo 2³².
    pub lost: u32,
}

/// What the connection has delivered (`C` in the draft).
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivered {
    /// Bytes delivered since the connection began.
    pub bytes: u64,
    /// When the last of them were.
    at: Time,
    /// When the packet was sent that was delivered last.
    first_sent: Time,
    /// Bytes lost, modulo 2³².
    lost: u32,
    /// Until this many bytes are delivered the application sets the pace; 0 if it does not.
    app_limited: u64,
    /// The round trip ends when something is delivered that was sent after this many bytes were.
    round_ends: u64,
}

impl Delivered {
    /// What is to be remembered of a packet sent now, `flight` bytes being in flight with it and
    /// nothing before it if `idle` (section 4.1.2.2).
    #[inline]
    #[must_use]
    pub fn stamp(&mut self, now: Time, flight: u32, idle: bool) -> Stamp {
        if idle {
            (self.first_sent, self.at) = (now, now);
        }
        let Self { bytes: delivered, at: delivered_at, first_sent, lost, .. } = *self;
        Stamp { sent: now, delivered, delivered_at, first_sent, flight, lost }
    }

    /// Whether the application sets the pace of what is sent now.
    #[inline]
    #[must_use]
    pub fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// The application has nothing more to send although `flight` bytes leave room
    /// (section 4.1.2.4).
    pub fn limit(&mut self, flight: u32) {
        self.app_limited = (self.bytes + u64::from(flight)).max(1);
    }

    /// A packet of so many bytes that was sent with this stamp is lost. Returns the bytes lost
    /// since it was sent, its own included.
    pub fn lose(&mut self, bytes: u32, stamp: &Stamp) -> u32 {
        self.lost = self.lost.wrapping_add(bytes);
        self.lost.wrapping_sub(stamp.lost)
    }

    /// `bytes` have arrived; `newest` is the stamp of the last of them that was sent, and whether
    /// the application set the pace then. Returns whether a round trip begins, and the rate
    /// (section 4.1.2.3): none if the interval is shorter than the least round trip, since then
    /// something was acknowledged that was sent again needlessly.
    pub fn arrived(
        &mut self,
        now: Time,
        bytes: u32,
        newest: Option<(Stamp, bool)>,
        min_rtt: Time,
    ) -> (bool, Option<Rate>) {
        let Some((stamp, app_limited)) = newest else {
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
    use super::*;

    /// Section 4.1.2.4: the bubble has left when more is delivered than was in flight then.
    #[test]
    fn application_sets_the_pace_until_what_was_in_flight_is_delivered() {
        let mut d = Delivered { bytes: 10_000, ..Delivered::default() };
        assert!(!d.is_app_limited());
        d.limit(3000);
        let stamp = d.stamp(Time(1), 3000, false);
        d.arrived(Time(2), 3000, Some((stamp, false)), Time::ZERO);
        assert!(d.is_app_limited());
        d.arrived(Time(3), 1, Some((stamp, false)), Time::ZERO);
        assert!(!d.is_app_limited());
        // Also before anything was delivered.
        let mut d = Delivered::default();
        d.limit(0);
        assert!(d.is_app_limited());
    }

    /// Section 4.1.2.3: over the longer of the time to send and the time to be acknowledged; none
    /// over less than a round trip.
    #[test]
    fn delivery_rate_is_over_the_longer_interval() {
        let at = Time::from_millis;
        let rate = |gap: u64, acked: u64, least: u64| {
            let mut d = Delivered::default();
            let first = d.stamp(at(0), 1000, true);
            let second = d.stamp(at(gap), 2000, false);
            d.arrived(at(20), 1000, Some((first, false)), at(least));
            let (_, rate) = d.arrived(at(acked), 1000, Some((second, true)), at(least));
            rate.map(|r| (r.delivered, r.interval, r.app_limited, r.flight_then))
        };
        assert_eq!(rate(30, 25, 10), Some((2000, at(30), true, 2000)));
        assert_eq!(rate(10, 25, 10), Some((2000, at(25), true, 2000)));
        assert_eq!(rate(10, 25, 25), Some((2000, at(25), true, 2000)));
        assert_eq!(rate(10, 25, 26), None);
    }
}
