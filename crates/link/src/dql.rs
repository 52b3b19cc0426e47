//! Byte queue limits: how many bytes a device may be given at a time.
//!
//! Source: Linux, `lib/dynamic_queue_limits.c` and `include/linux/dynamic_queue_limits.h` (Tom
//! Herbert, 2011). The limit is to be the least that keeps the device from starving between two
//! completions. It grows when the device ran out of bytes although more had been held back, by
//! what was completed; it shrinks when for a whole hold time there was slack: bytes in the device
//! that no interval between completions needed.
//!
//! Differences from Linux:
//!
//! 1. Counts are 64 bits wide and do not wrap.
//! 2. Time is in nanoseconds, not in jiffies; the hold time is the same second.
//! 3. Bytes are those of IP packets, without the header of the link layer.
//! 4. No least and no greatest limit (Linux: 0 and 2³⁰), and no detection of stalls.

/// Time over which slack must last before the limit shrinks, ns (`DQL_...slack_hold_time`, HZ).
const HOLD: u64 = 1_000_000_000;

/// The state of a limit; names as in Linux.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dql {
    limit: u64,
    /// All bytes ever queued and completed.
    num_queued: u64,
    num_completed: u64,
    /// The last object, when the last completion came, and when it was.
    last_obj_cnt: u64,
    prev_last_obj_cnt: u64,
    prev_num_queued: u64,
    /// By how much the limit was exceeded at the last completion.
    prev_ovlimit: u64,
    /// `limit` plus what was completed: how much may be queued in all.
    adj_limit: u64,
    /// The least slack since `slack_start_time`; none yet.
    lowest_slack: Option<u64>,
    slack_start_time: u64,
}

impl Dql {
    /// Whether more may be queued (`dql_avail` ≥ 0): the last packet may exceed the limit.
    #[inline]
    pub(crate) fn available(&self) -> bool {
        self.adj_limit >= self.num_queued
    }

    /// The present limit in bytes.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// A packet of so many bytes goes to the device.
    #[inline]
    pub(crate) fn queued(&mut self, bytes: u64) {
        self.last_obj_cnt = bytes;
        self.num_queued += bytes;
    }

    /// The device reports at `now` that so many bytes have been sent.
    pub(crate) fn completed(&mut self, now: u64, bytes: u64) {
        let num_queued = self.num_queued;
        let completed = self.num_completed + bytes;
        let mut limit = self.limit;
        let mut ovlimit = (num_queued - self.num_completed).saturating_sub(limit);
        let in_progress = num_queued - completed;
        let prev_in_progress = self.prev_num_queued.saturating_sub(self.num_completed);
        let all_prev_completed = completed >= self.prev_num_queued;
        if (ovlimit > 0 && in_progress == 0) || (self.prev_ovlimit > 0 && all_prev_completed) {
            // Starved: it was over its limit and has nothing left now, or may have had nothing
            // left before this completion could be answered.
            limit += completed.saturating_sub(self.prev_num_queued) + self.prev_ovlimit;
            self.slack_start_time = now;
            self.lowest_slack = None;
        } else if in_progress > 0 && prev_in_progress > 0 && !all_prev_completed {
            // Busy throughout. Slack is what was beyond twice the bytes of an interval, or the part
            // of the last packet that was within the limit, whichever is more.
            let beyond =
                (limit + self.prev_ovlimit).saturating_sub(2 * (completed - self.num_completed));
            let last = match self.prev_ovlimit {
                0 => 0,
                over => self.prev_last_obj_cnt.saturating_sub(over),
            };
            let slack = beyond.max(last);
            let lowest = self.lowest_slack.map_or(slack, |lowest| lowest.min(slack));
            self.lowest_slack = Some(lowest);
            if now > self.slack_start_time + HOLD {
                limit = limit.saturating_sub(lowest);
                self.slack_start_time = now;
                self.lowest_slack = None;
            }
        }
        if limit != self.limit {
            self.limit = limit;
            ovlimit = 0;
        }
        self.adj_limit = limit + completed;
        self.prev_ovlimit = ovlimit;
        self.prev_last_obj_cnt = self.last_obj_cnt;
        self.num_completed = completed;
        self.prev_num_queued = num_queued;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that sends a packet of 1500 bytes a tick and reports every `ticks`; an endless
    /// supply. Returns the limit after `rounds`, and in how many of the last hundred it starved.
    fn run(ticks: u64, rounds: u64) -> (u64, u32) {
        let mut dql = Dql::default();
        let (mut held, mut starved) = (0, 0);
        for round in 0..rounds {
            while dql.available() {
                dql.queued(1500);
                held += 1;
            }
            let sent = held.min(ticks);
            starved += u32::from(sent < ticks && round + 100 >= rounds);
            held -= sent;
            dql.completed(round * 1_000_000, sent * 1500);
        }
        (dql.limit(), starved)
    }

    #[test]
    fn the_limit_settles_where_the_device_does_not_starve() {
        for ticks in [2, 5, 20] {
            let (limit, starved) = run(ticks, 10_000);
            assert_eq!(starved, 0, "{ticks}");
            assert!((ticks * 1500 - 1500..=2 * ticks * 1500).contains(&limit), "{ticks}: {limit}");
        }
    }

    #[test]
    fn limit_shrinks_when_less_is_needed() {
        let mut dql = Dql::default();
        let mut now = 0;
        let mut rounds = |ticks: u64, count: u64| {
            let mut held = dql.num_queued - dql.num_completed;
            for _ in 0..count {
                while dql.available() {
                    dql.queued(1500);
                    held += 1500;
                }
                let sent = held.min(ticks * 1500);
                held -= sent;
                now += 1_000_000;
                dql.completed(now, sent);
            }
            dql.limit()
        };
        let much = rounds(20, 1000);
        let less = rounds(2, 10_000);
        assert!(less <= much / 4, "{less} of {much}");
    }

    #[test]
    fn slack_lasts_longer_than_a_second_before_the_limit_shrinks() {
        // Of a limit of ten packets two are completed at a time: there is slack.
        for (ns, shrinks) in [(HOLD, false), (HOLD + 1, true)] {
            let mut dql = Dql { limit: 15_000, ..Dql::default() };
            dql.queued(15_000);
            dql.completed(0, 3000);
            dql.queued(3000);
            dql.completed(ns, 3000);
            assert_eq!(dql.limit() < 15_000, shrinks, "{ns}");
        }
    }

    #[test]
    fn the_first_packet_passes_and_nothing_more_until_it_is_reported() {
        let mut dql = Dql::default();
        assert!(dql.available());
        dql.queued(1500);
        assert!(!dql.available());
        dql.completed(0, 1500);
        assert_eq!(dql.limit(), 1500);
        dql.queued(1000);
        assert!(dql.available());
        dql.queued(1000);
        assert!(!dql.available(), "the limit may be exceeded by one packet");
    }

    #[test]
    fn a_device_that_is_given_less_than_its_limit_keeps_it() {
        let mut dql = Dql::default();
        dql.queued(1500);
        dql.completed(0, 1500);
        for round in 1..10 {
            dql.queued(1000);
            dql.completed(round * 1_000_000, 1000);
            assert_eq!(dql.limit(), 1500);
        }
    }
}
