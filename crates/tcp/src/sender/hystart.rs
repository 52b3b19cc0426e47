//! HyStart++: leaving slow start when round trips grow, before the queue overflows. RFC 9406.
//!
//! # Differences from the source
//!
//! 1. In conservative slow start the bytes that an acknowledgement counts for are divided, not the
//!    growth; algorithms that grow by their own rules in slow start are slowed the same way.
//! 2. L, 8 segments an acknowledgement or no limit for paced senders (section 4.2), matters only to
//!    controls of the caller's: Reno's slow start, which the others share, takes two (RFC 3465).
//!
//! # Differences from Linux
//!
//! 1. Linux has the HyStart from which this came (`hystart_linux.rs`), which `hystart_css = false`
//!    chooses.

use crate::segment::before;
use sojourn_base::Time;

/// Samples that a round needs (`N_RTT_SAMPLE`, section 4.3).
const SAMPLES: u8 = 8;
/// Least and greatest growth of the round trip that matters (`MIN_RTT_THRESH`, `MAX_RTT_THRESH`).
const LEAST: Time = Time::from_millis(4);
const GREATEST: Time = Time::from_millis(16);
/// The growth that matters is this part of the round trip (`MIN_RTT_DIVISOR`).
const PART: u64 = 8;
/// Conservative slow start grows by this part (`CSS_GROWTH_DIVISOR`)...
const DIVISOR: u32 = 4;
/// ...for at most so many rounds (`CSS_ROUNDS`).
const ROUNDS: u8 = 5;
/// Segments that one acknowledgement counts for while bursts are possible (`L`).
const BURST: u32 = 8;

/// State of a slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    /// Least round trip of the last and the present round, and when conservative slow start began.
    last: Time,
    present: Time,
    baseline: Time,
    samples: u8,
    /// Rounds spent in conservative slow start, in it.
    conservative: Option<u8>,
    /// The round ends with the acknowledgement of this.
    ends: u32,
    /// Bytes left over by the division.
    rest: u32,
    done: bool,
}

impl HyStart {
    pub(super) fn new() -> Self {
        Self {
            last: Time::MAX,
            present: Time::MAX,
            baseline: Time::MAX,
            samples: 0,
            conservative: None,
            ends: 0,
            rest: 0,
            done: false,
        }
    }

    /// Slow start begins; the round ends when everything before `nxt` is acknowledged.
    pub(super) fn start(&mut self, nxt: u32) {
        *self = Self { ends: nxt, ..Self::new() };
    }

    /// Only the initial slow start is watched (section 4.3).
    pub(super) fn stop(&mut self) {
        self.done = true;
    }

    /// An acknowledgement up to `una` in slow start, with everything before `nxt` sent. Returns
    /// whether slow start is over.
    pub(super) fn on_ack(&mut self, una: u32, nxt: u32, rtt: Option<Time>) -> bool {
        if self.done {
            return false;
        }
        // The acknowledgement that ends a round is a sample of it, the next begins one.
        if before(self.ends, una) {
            (self.last, self.present, self.samples) = (self.present, Time::MAX, 0);
            self.ends = nxt;
            if let Some(rounds) = &mut self.conservative {
                *rounds += 1;
                if *rounds >= ROUNDS {
                    self.done = true;
                    return true;
                }
            }
        }
        let Some(rtt) = rtt else { return false };
        self.present = self.present.min(rtt);
        self.samples = self.samples.saturating_add(1);
        if self.samples < SAMPLES || self.present == Time::MAX {
            return false;
        }
        if self.conservative.is_none() {
            if self.last != Time::MAX {
                let margin = Time(self.last.0 / PART).max(LEAST).min(GREATEST);
                if self.present >= self.last + margin {
                    self.baseline = self.present;
                    self.conservative = Some(0);
                }
            }
        } else if self.present < self.baseline {
            // The round trip came down again: back to slow start.
            self.conservative = None;
            self.baseline = Time::MAX;
        }
        false
    }

    /// How many of `acked` bytes count for growth; `paced` senders make no bursts.
    pub(super) fn counts(&mut self, acked: u32, mss: u32, paced: bool) -> u32 {
        if self.done {
            return acked;
        }
        let acked = if paced { acked } else { acked.min(BURST * mss) };
        if self.conservative.is_none() {
            return acked;
        }
        self.rest += acked;
        let bytes = self.rest / DIVISOR;
        self.rest %= DIVISOR;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_millis(n)
    }

    /// Rounds of ten acknowledgements each, with these round trips; how many rounds until slow
    /// start is over, and what a segment counted for in each.
    fn rounds(rtts: &[u64]) -> (Option<usize>, std::vec::Vec<u32>) {
        let mut h = HyStart::new();
        h.start(0);
        let mut counted = std::vec::Vec::new();
        for (round, &rtt) in rtts.iter().enumerate() {
            let from = round as u32 * 10;
            for n in 1..=10 {
                // All of a round is under way when its first is acknowledged.
                if h.on_ack(from + n, from + 10, Some(ms(rtt))) {
                    return (Some(round), counted);
                }
            }
            counted.push(h.counts(1000, 1000, false));
        }
        (None, counted)
    }

    #[test]
    fn css_slows_growth_and_ends_slow_start_after_five_rounds() {
        let (over, counted) = rounds(&[100, 100, 113, 114, 115, 116, 117, 118, 119]);
        assert_eq!(counted[..5], [1000, 1000, 250, 250, 250]);
        assert_eq!(over, Some(7));
    }

    #[test]
    fn css_returns_to_slow_start_when_rtt_falls() {
        let (over, counted) = rounds(&[100, 100, 113, 90, 90, 90, 90, 90, 90]);
        assert_eq!(over, None);
        assert_eq!(counted[..5], [1000, 1000, 250, 1000, 1000]);
    }

    /// Section 4.3: clamped to 4 to 16 ms.
    #[test]
    fn rtt_threshold_is_an_eighth_between_4_and_16_ms() {
        assert_eq!(rounds(&[10, 10, 13]).1[2], 1000);
        assert_eq!(rounds(&[10, 10, 14]).1[2], 250);
        assert_eq!(rounds(&[400, 400, 415]).1[2], 1000);
        assert_eq!(rounds(&[400, 400, 416]).1[2], 250);
    }

    #[test]
    fn hystart_counts_at_most_eight_segments_unless_paced() {
        let mut h = HyStart::new();
        assert_eq!(h.counts(20_000, 1000, false), 8000);
        assert_eq!(h.counts(20_000, 1000, true), 20_000);
        h.stop();
        assert_eq!(h.counts(20_000, 1000, false), 20_000);
    }
}
