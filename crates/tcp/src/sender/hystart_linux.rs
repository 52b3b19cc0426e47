//! HyStart, hybrid slow start: leaving slow start when acknowledgements come as a long train, or
//! when round trips grow. S. Ha and I. Rhee, "Taming the elephants: New TCP slow start", Computer
//! Networks 55 (2011), as in Linux (`hystart_update`, `tcp_cubic.c`); HyStart++ (`hystart.rs`)
//! came of it.
//!
//! # Differences from Linux
//!
//! 1. Whether the sender paces is its own setting, not the device's.

use crate::segment::before;
use sojourn_base::Time;

/// Segments from which on slow start is watched (`hystart_low_window`).
const LEAST_WINDOW: u32 = 16;
/// Samples of a round before its least counts (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u8 = 8;
/// Least and greatest growth of the round trip that matters, which is an eighth of it
/// (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const LEAST: Time = Time::from_millis(4);
const GREATEST: Time = Time::from_millis(16);
/// Acknowledgements of a train are no farther apart (`hystart_ack_delta_us`).
const APART: Time = Time::from_millis(2);
/// A train may be longer by the time that four of the largest bursts take to be sent, and by this
/// at most (`hystart_ack_delay`).
const SLACK: Time = Time::from_millis(1);
const BURSTS: u64 = 4 * 65_536;

/// State of a slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStartLinux {
    /// The round ends when something after this is acknowledged.
    ends: u32,
    /// When it began, and when the last acknowledgement of its train came.
    began: Time,
    last: Time,
    /// Least round trip of all, and of this round.
    least: Time,
    present: Time,
    samples: u8,
    /// Slow start was left.
    found: bool,
}

/// An acknowledgement in slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub now: Time,
    /// What is acknowledged and what was sent.
    pub una: u32,
    pub nxt: u32,
    pub rtt: Time,
    pub srtt: Time,
    /// The window, bytes, and the size of a segment.
    pub cwnd: u32,
    pub mss: u32,
    /// The sender paces.
    pub paced: bool,
}

impl HyStartLinux {
    /// Slow start begins at `now`, with everything before `nxt` sent.
    pub(super) fn new(now: Time, nxt: u32) -> Self {
        let (least, present) = (Time::MAX, Time::MAX);
        Self { ends: nxt, began: now, last: now, least, present, samples: 0, found: false }
    }

    /// Whether slow start is to end.
    pub(super) fn on_ack(&mut self, seen: &Seen) -> bool {
        let &Seen { now, una, nxt, rtt, srtt, cwnd, mss, paced } = seen;
        self.least = self.least.min(rtt);
        if self.found {
            return false;
        }
        // Rounds are told apart from the beginning, or that of the first window that is watched
        // would begin in the middle.
        if before(self.ends, una) {
            *self = Self { least: self.least, ..Self::new(now, nxt) };
        }
        if cwnd < LEAST_WINDOW * mss {
            return false;
        }
        if now - self.last <= APART {
            self.last = now;
            let slack = BURSTS * srtt.0 / (2 * u64::from(cwnd));
            let most = self.least + Time(slack).min(SLACK);
            let most = if paced { most } else { Time(most.0 / 2) };
            self.found = now - self.began > most;
        }
        self.present = self.present.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let margin = Time(self.least.0 / 8).clamp(LEAST, GREATEST);
            self.found |= self.present > self.least + margin;
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    /// Rounds of so many acknowledgements, a segment each, `apart` one from the other; in which
    /// slow start ends, and at which of its acknowledgements.
    fn rounds(rtts: &[Time], acks: u32, apart: Time, cwnd: u32) -> Option<(usize, u32)> {
        let mut h = HyStartLinux::new(Time::ZERO, 0);
        for (round, &rtt) in rtts.iter().enumerate() {
            let begins = Time::from_secs(round as u64 + 1);
            for n in 1..=acks {
                let una = (round as u32 * acks + n) * MSS;
                // All of the next round is under way when the first of this one is acknowledged.
                let nxt = (round as u32 + 1) * acks * MSS;
                let now = begins + apart * u64::from(n);
                let seen = Seen { now, una, nxt, rtt, srtt: rtt, cwnd, mss: MSS, paced: false };
                if h.on_ack(&seen) {
                    return Some((round, n));
                }
            }
        }
        None
    }

    fn ms(n: u64) -> Time {
        Time::from_millis(n)
    }

    #[test]
    fn delay_increase_ends_slow_start_at_ninth_sample() {
        let at = |least, grown| rounds(&[ms(least), ms(grown)], 20, ms(3), 20 * MSS);
        assert_eq!(at(10, 14), None);
        assert_eq!(at(10, 15), Some((1, 9)));
        assert_eq!(at(80, 90), None);
        assert_eq!(at(80, 91), Some((1, 9)));
        assert_eq!(at(400, 416), None);
        assert_eq!(at(400, 417), Some((1, 9)));
    }

    #[test]
    fn delay_increase_is_measured_from_least_rtt() {
        let slow = [ms(100), ms(106), ms(112), ms(118)];
        assert_eq!(rounds(&slow, 20, ms(3), 20 * MSS), Some((3, 9)));
    }

    #[test]
    fn hystart_ignores_small_windows_and_few_samples() {
        assert_eq!(rounds(&[ms(10), ms(100)], 20, ms(3), 16 * MSS - 1), None);
        assert_eq!(rounds(&[ms(10), ms(100)], 8, ms(3), 20 * MSS), None);
    }

    /// A window of 10 that doubles: the first round ends where it had been sent to, though the
    /// window was watched from its second half on only, and the second round ends slow start.
    #[test]
    fn hystart_counts_rounds_below_low_window() {
        let mut h = HyStartLinux::new(Time::ZERO, 0);
        let mut ack = |n: u32, now: Time, rtt: Time| {
            let (una, nxt, cwnd) = (n * MSS, (9 + 2 * n) * MSS, (9 + n) * MSS);
            h.on_ack(&Seen { now, una, nxt, rtt, srtt: rtt, cwnd, mss: MSS, paced: false })
        };
        for n in 1..=10 {
            assert!(!ack(n, ms(100 + 3 * u64::from(n)), ms(100)));
        }
        let found = (11..=30).find(|&n| ack(n, ms(200 + 3 * u64::from(n)), ms(120)));
        // Nine samples of the round that begins with 12, the first beyond what had been sent when
        // the first acknowledgement came.
        assert_eq!(found, Some(20));
    }

    #[test]
    fn ack_train_of_half_rtt_ends_slow_start() {
        // The train may last (40 + 1)/2 ms from its round's first acknowledgement on.
        assert_eq!(rounds(&[ms(40)], 60, ms(1), 60 * MSS), Some((0, 22)));
        assert_eq!(rounds(&[ms(41)], 60, ms(1), 60 * MSS), Some((0, 23)));
        // Acknowledgements farther apart than 2 ms are none.
        assert_eq!(rounds(&[ms(40)], 60, Time::from_micros(2001), 60 * MSS), None);
    }

    #[test]
    fn hystart_ends_slow_start_once() {
        let mut h = HyStartLinux::new(Time::ZERO, 0);
        let seen = Seen {
            now: ms(1000),
            una: 1000,
            nxt: 100_000,
            rtt: ms(10),
            srtt: ms(10),
            cwnd: 100_000,
            mss: MSS,
            paced: false,
        };
        let grown = |n: u64| Seen { now: ms(1000 + 3 * n), rtt: ms(10 + n), ..seen };
        assert!(!h.on_ack(&seen));
        let later = Seen { una: 100_001, nxt: 200_000, ..grown(10) };
        assert_eq!(
            (0..20).filter(|n| h.on_ack(&Seen { now: ms(1100 + 3 * n), ..later })).count(),
            1
        );
    }
}
