//! The shaper: a clock that says when the next packet may leave. A packet moves it on by the time
//! that the line needs for it. There are no tokens, and so no burst: what comes after an idle time
//! finds the clock at the present.

use sojourn_base::{NANOS_PER_BYTE, Time};

/// The lowest rate that a tin's part may come to.
const LEAST: u64 = 512;

/// Nanoseconds that `bytes` take at `rate`, rounded down.
#[inline]
pub(super) fn time_of(bytes: u32, rate: u64) -> u64 {
    u64::from(bytes) * NANOS_PER_BYTE / rate.max(LEAST)
}

/// The clock of the whole line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shaper {
    /// Bits per second; 0 if there is no shaper.
    rate: u64,
    /// When the next packet may leave.
    next: Time,
    /// The same if dropped packets did not count and each took half as long again, so that drops
    /// that count cannot stop the line.
    failsafe: Time,
    /// What is missing to a nanosecond, times the rate.
    carry: u64,
}

impl Shaper {
    pub(super) fn set_rate(&mut self, rate: u64) {
        (self.rate, self.carry) = (rate, 0);
    }

    #[inline]
    pub(super) fn rate(&self) -> u64 {
        self.rate
    }

    /// The first instant, from the start of the run on, at which a packet may leave.
    #[inline]
    pub(super) fn ready_at(&self) -> Time {
        self.next.min(self.failsafe)
    }

    /// A packet comes to queues that are all empty.
    #[inline]
    pub(super) fn wake(&mut self, now: Time) {
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// A packet that takes `bytes` on the line leaves, or is dropped and counts nevertheless.
    #[inline]
    pub(super) fn charge(&mut self, bytes: u32, sent: bool) {
        if self.rate == 0 {
            return;
        }
        let work = u64::from(bytes) * NANOS_PER_BYTE + self.carry;
        let time = work / self.rate;
        self.carry = work % self.rate;
        self.next = self.next.saturating_add(Time(time));
        if sent {
            self.failsafe = self.failsafe.saturating_add(Time(time + time / 2));
        }
    }
}

/// The clock of one tin: whether it is within its part of the line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Threshold {
    /// Bits per second; 0 if there is no shaper.
    pub rate: u64,
    /// Until when it has used up its part.
    pub next: Time,
}

impl Threshold {
    /// A packet comes to a tin that is empty.
    #[inline]
    pub(super) fn wake(&mut self, now: Time) {
        self.next = self.next.max(now);
    }

    /// A packet of the tin leaves.
    #[inline]
    pub(super) fn charge(&mut self, now: Time, bytes: u32) {
        if self.rate == 0 {
            return;
        }
        let time = Time(time_of(bytes, self.rate));
        self.next = if self.next < now {
            self.next.saturating_add(time)
        } else {
            self.next.max(now.saturating_add(time))
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_run_rate_is_exact() {
        // 1500 bytes at 7 Mb/s take 1714285.71… ns.
        let mut shaper = Shaper::default();
        shaper.set_rate(7_000_000);
        for _ in 0..7 {
            shaper.charge(1500, true);
        }
        assert_eq!(shaper.ready_at(), Time(12_000_000));
    }

    #[test]
    fn drops_that_count_leave_two_thirds_of_the_rate() {
        let mut shaper = Shaper::default();
        shaper.set_rate(12_000_000);
        for _ in 0..100 {
            shaper.charge(1500, false);
        }
        assert_eq!(shaper.ready_at(), Time::ZERO);
        for _ in 0..10 {
            shaper.charge(1500, true);
        }
        assert_eq!(shaper.ready_at(), Time::from_millis(15));
        // With nothing more to pay the line is at its rate again.
        shaper.wake(Time::from_secs(1));
        shaper.charge(1500, true);
        assert_eq!(shaper.ready_at(), Time(1_001_000_000));
    }

    #[test]
    fn a_line_that_is_ready_now_is_not_woken() {
        let mut shaper = Shaper::default();
        shaper.set_rate(12_000_000);
        shaper.charge(1500, false);
        // What was dropped moved the one clock and not the other.
        shaper.wake(Time::from_millis(1));
        assert_eq!(shaper.ready_at(), Time::ZERO);
        shaper.wake(Time(1_000_001));
        assert_eq!(shaper.ready_at(), Time(1_000_001));
    }

    #[test]
    fn without_a_rate_nothing_is_charged() {
        let (mut shaper, mut tin) = (Shaper::default(), Threshold::default());
        shaper.charge(1500, true);
        tin.charge(Time(7), 1500);
        assert_eq!((shaper.rate(), shaper.ready_at(), tin.next), (0, Time::ZERO, Time::ZERO));
        // The lowest rate of a tin's part: 512 b/s.
        assert_eq!([1, 512, 1024].map(|rate| time_of(64, rate)), [SECOND, SECOND, SECOND / 2]);
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_tin_ahead_of_its_part_pays_only_for_its_last_packet() {
        let mut tin = Threshold { rate: 1_000_000, next: Time::ZERO };
        tin.wake(Time::from_millis(50));
        for _ in 0..10 {
            tin.charge(Time::from_millis(50), 1250);
        }
        assert_eq!(tin.next, Time::from_millis(60));
        // Behind: it may catch up.
        tin.charge(Time::from_millis(100), 1250);
        assert_eq!(tin.next, Time::from_millis(70));
    }
}
