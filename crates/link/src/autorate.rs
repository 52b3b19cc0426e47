//! The control loop of cake-autorate: a shaper's rate from delay and load.
//!
//! Source: cake-autorate 3.5.0 (`cake-autorate.sh`, `defaults.sh`), with its defaults, for one
//! direction. Its decisions, at every answer of a ping:
//!
//! - Half of the round trip is the delay. Each pinger has a **baseline**, which falls quickly (0.9
//!   of the difference) and rises slowly (0.001 of it). What a delay is above it goes into a window
//!   of six.
//! - If three of the six are **late**, the rate is multiplied by a factor from 0.99 to 0.75, the
//!   smaller the larger the mean of the six: once in 300 ms.
//! - Otherwise, if the **load** was above 75 % when it was last measured, every 200 ms, the rate is
//!   multiplied by a factor from 1.04 to 1, the smaller the larger the mean; once a measurement,
//!   and not within 300 ms of a fall.
//! - Otherwise it goes towards its base by 1 %, once a second.
//!
//! Thresholds are longer by the time that a packet of 1500 bytes takes at the rate, and the load is
//! measured over ten such times both ways, if that is longer than 200 ms.
//!
//! # Differences from the source
//!
//! 1. One direction is one link; the other's rate is taken to be the same for how long the load is
//!    measured. There is one kind of delay, half of the round trip, as with `fping`.
//! 2. The load is measured at the first answer after its interval is over, from what has left the
//!    queue of the link, in bytes of IP packets, not by a process of its own. There it is what an
//!    interface counts, 14 bytes a packet more.
//! 3. Pingers answer as long as the network does: reflectors are not judged or replaced, and a
//!    stalled connection or a long pause change nothing.
//! 4. A new rate acts with the next packet: no script has to run first.

use sojourn_base::{Rate, Time};
use sojourn_scenario::RateControl;

/// Delays in the window, and how many late ones are too many.
const WINDOW: usize = 6;
const TOO_MANY: usize = 3;
/// A baseline before the first answer, µs, and the weights of a delay below and above it, 10⁻⁶.
const FIRST_BASELINE: i64 = 100_000;
const FALL: i64 = 900_000;
const RISE: i64 = 1000;
/// Factors of the rate, 10⁻⁶: full and least speed down and up, and towards the base.
const DOWN: (u64, u64) = (750_000, 990_000);
const UP: (u64, u64) = (1_040_000, 1_000_000);
const TOWARDS_BASE: (u64, u64) = (990_000, 1_010_000);
/// The load above which the rate is raised, per cent.
const HIGH: u128 = 75;
/// Between falls; between steps towards the base; between measurements of the load.
const PAUSE: Time = Time::from_millis(300);
const DECAY: Time = Time::from_secs(1);
const MEASURE: Time = Time::from_millis(200);
/// The longest packet on the wire, bits.
const PACKET: u64 = 12_000;

/// The state of one shaper.
#[derive(Clone, Debug)]
pub(crate) struct Autorate {
    params: RateControl,
    rate: u64,
    /// Of each pinger, µs.
    baselines: Vec<i64>,
    /// The last delays above the baseline, µs, whether each was late, and which is next.
    window: [(i64, bool); WINDOW],
    next: usize,
    /// When the load was last measured, and when it will be; what had been sent; what was found.
    measured: Time,
    measure_at: Time,
    sent: u64,
    high: bool,
    fresh: bool,
    /// When the rate last fell, and last changed.
    fell: Time,
    changed: Time,
}

impl Autorate {
    pub(crate) fn new(params: RateControl) -> Self {
        Self {
            rate: params.base.0,
            baselines: vec![FIRST_BASELINE; params.pingers as usize],
            params,
            window: [(0, false); WINDOW],
            next: 0,
            measured: Time::ZERO,
            measure_at: MEASURE,
            sent: 0,
            high: false,
            fresh: false,
            fell: Time::ZERO,
            changed: Time::ZERO,
        }
    }

    /// An answer has come to `pinger` after `round_trip`; so many bytes have left the link's queue
    /// since the start. The link's rate, if it is another now.
    pub(crate) fn heard(
        &mut self,
        now: Time,
        pinger: u32,
        round_trip: Time,
        sent: u64,
    ) -> Option<Rate> {
        self.measure(now, sent);
        let packet = (PACKET * 1_000_000 / self.rate) as i64;
        let threshold = |time: Time| (time.0 / 1000) as i64 + packet;
        let late = threshold(self.params.late);
        let above = self.above(pinger, (round_trip.0 / 2000) as i64);
        self.window[self.next] = (above, above > late);
        self.next = (self.next + 1) % WINDOW;
        let mean = self.window.iter().map(|(above, _)| above).sum::<i64>() / WINDOW as i64;
        let bloated = self.window.iter().filter(|(_, late)| *late).count() >= TOO_MANY;
        let before = self.rate;
        if bloated {
            if now > self.fell + PAUSE {
                let full = threshold(self.params.bloated);
                self.multiply(between(mean, late, full, DOWN));
                (self.fell, self.changed) = (now, now);
            }
        } else if self.high {
            if std::mem::take(&mut self.fresh) {
                if now > self.fell + PAUSE {
                    self.multiply(between(mean, late, threshold(self.params.calm), UP));
                    self.changed = now;
                } else {
                    self.fresh = true;
                }
            }
        } else if now > self.changed + DECAY {
            self.towards_base();
            self.changed = now;
        }
        self.rate = self.rate.clamp(self.params.min.0, self.params.max.0);
        (self.rate != before).then_some(Rate(self.rate))
    }

    /// What a delay is above its pinger's baseline, which learns from it.
    fn above(&mut self, pinger: u32, delay: i64) -> i64 {
        let baseline = &mut self.baselines[pinger as usize];
        let weight = if delay >= *baseline { RISE } else { FALL };
        *baseline = (weight * delay + (1_000_000 - weight) * *baseline) / 1_000_000;
        delay - *baseline
    }

    /// Measures the load, if that is due.
    fn measure(&mut self, now: Time, sent: u64) {
        if now < self.measure_at {
            return;
        }
        let bits = u128::from(sent - self.sent) * 8 * 1_000_000_000;
        let could = u128::from(self.rate) * u128::from((now - self.measured).0);
        self.high = bits * 100 > could * HIGH;
        self.fresh = true;
        let ten = Time(20 * PACKET * 1_000_000_000 / self.rate);
        (self.measured, self.sent) = (now, sent);
        self.measure_at = now + MEASURE.max(ten);
    }

    fn multiply(&mut self, factor: u64) {
        self.rate = (u128::from(self.rate) * u128::from(factor) / 1_000_000) as u64;
    }

    fn towards_base(&mut self) {
        let base = self.params.base.0;
        if self.rate > base {
            self.multiply(TOWARDS_BASE.0);
            self.rate = self.rate.max(base);
        } else if self.rate < base {
            self.multiply(TOWARDS_BASE.1);
            self.rate = self.rate.min(base);
        }
    }
}

/// The second factor where `mean` is `late`, the first where it is `full` or beyond, and linear
/// between, in thousandths of the way.
fn between(mean: i64, late: i64, full: i64, (at_full, at_late): (u64, u64)) -> u64 {
    let way = (1000 * (mean - late) / (full - late)).clamp(0, 1000) as u64;
    (1000 * at_late + way * at_full - way * at_late) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: u64 = 1_000_000;

    fn control() -> Autorate {
        let (late, calm, bloated) =
            (Time::from_millis(30), Time::from_millis(10), Time::from_millis(60));
        Autorate::new(RateControl {
            pings: 0,
            pingers: 1,
            base: Rate(20 * MBIT),
            min: Rate(5 * MBIT),
            max: Rate(80 * MBIT),
            late,
            calm,
            bloated,
        })
    }

    /// Answers every 50 ms from `from` to `to`, in s, after a round trip of so many ms, at a load
    /// of so many per cent: each change of the rate.
    fn answers(
        control: &mut Autorate,
        (from, to): (u64, u64),
        round_trip: u64,
        load: u64,
    ) -> Vec<(u64, u64)> {
        let mut changes = Vec::new();
        let mut sent = control.sent;
        for ms in (from * 1000..to * 1000).step_by(50) {
            sent += control.rate * load / 100 / 8 / 20;
            let heard =
                control.heard(Time::from_millis(ms), 0, Time::from_millis(round_trip), sent);
            changes.extend(heard.map(|rate| (ms, rate.0)));
        }
        changes
    }

    #[test]
    fn late_answers_lower_the_rate_by_a_quarter_every_350_ms() {
        let mut control = control();
        answers(&mut control, (0, 10), 40, 50);
        assert_eq!(control.rate, 20 * MBIT);
        // 130 ms above the baseline each: full speed once the window is full of them.
        let changes = answers(&mut control, (10, 14), 300, 95);
        let (first, last) = (changes[0], changes[changes.len() - 1]);
        // The third late answer of six.
        assert_eq!(first.0, 10_100);
        for pair in changes.windows(2) {
            assert_eq!(pair[1].0 - pair[0].0, 350);
            assert_eq!(pair[1].1, (pair[0].1 * 3 / 4).max(5 * MBIT));
        }
        assert_eq!(last.1, 5 * MBIT, "and no further");
    }

    #[test]
    fn a_rate_that_has_fallen_does_not_rise_within_300_ms() {
        let mut control = control();
        answers(&mut control, (0, 10), 40, 50);
        let fell = Time::from_secs(10);
        (control.fell, control.high, control.fresh) = (fell, true, true);
        control.measure_at = Time::MAX;
        let (at, sent) = (Time::from_millis(40), control.sent);
        assert_eq!(control.heard(fell + PAUSE, 0, at, sent), None);
        assert_eq!(control.heard(fell + PAUSE + Time(1), 0, at, sent), Some(Rate(20_800_000)));
    }

    #[test]
    fn a_loaded_shaper_without_delay_grows_by_four_per_cent_every_200_ms() {
        let mut control = control();
        answers(&mut control, (0, 10), 40, 50);
        let changes = answers(&mut control, (10, 30), 40, 95);
        for pair in changes.windows(2) {
            assert_eq!(pair[1].0 - pair[0].0, 200);
            assert_eq!(pair[1].1, (pair[0].1 * 104 / 100).min(80 * MBIT));
        }
        // 1.04³⁵ is 3.95: the 36th reaches four times the base.
        assert_eq!((changes.len(), changes[35].1), (36, 80 * MBIT));
        // Without load it goes back, by 1 % in a little more than a second.
        let back = answers(&mut control, (30, 40), 40, 10);
        assert_eq!(back[0].1, 80 * MBIT * 99 / 100);
        assert!(back.windows(2).all(|pair| pair[1].0 - pair[0].0 == 1050));
        // From below, as well.
        let mut low = self::control();
        low.rate = 10 * MBIT;
        let back = answers(&mut low, (0, 10), 40, 10);
        assert_eq!(back[0].1, 10_100_000);
    }

    #[test]
    fn a_slow_shaper_allows_for_the_time_of_its_packets() {
        let mut control = control();
        (control.params.base, control.rate) = (Rate(6 * MBIT), 6 * MBIT);
        answers(&mut control, (0, 10), 40, 50);
        // A packet takes 2 ms: 31 ms above the baseline are not late, 34 ms are.
        assert_eq!(answers(&mut control, (10, 11), 102, 50), []);
        assert!(answers(&mut control, (11, 12), 110, 50).iter().all(|change| change.1 < 6 * MBIT));
        assert!(control.rate < 6 * MBIT);
        // Ten packets both ways.
        control.rate = 500_000;
        control.measure(Time::from_secs(20), control.sent);
        assert_eq!(control.measure_at, Time::from_millis(20_480));
    }

    #[test]
    fn between_thresholds_speed_is_linear() {
        // Half way to the full fall, and half way to the full rise.
        assert_eq!(between(45_000, 30_000, 60_000, DOWN), 870_000);
        assert_eq!(between(20_000, 30_000, 10_000, UP), 1_020_000);
        for (mean, down, up) in [(-5000, 990_000, 1_040_000), (30_000, 990_000, 1_000_000)] {
            assert_eq!(between(mean, 30_000, 60_000, DOWN), down);
            assert_eq!(between(mean, 30_000, 10_000, UP), up);
        }
        assert_eq!(between(1_000_000, 30_000, 60_000, DOWN), 750_000);
    }

    #[test]
    fn a_baseline_falls_at_once_and_rises_slowly() {
        let mut control = control();
        // From 100 ms to 20 ms: what is left is a tenth each time.
        assert_eq!(control.above(0, 20_000), 20_000 - 28_000);
        assert_eq!(control.above(0, 20_000), 20_000 - 20_800);
        for _ in 0..20 {
            control.above(0, 20_000);
        }
        for _ in 0..100 {
            control.above(0, 60_000);
        }
        // 1 − 0.999¹⁰⁰ = 9.5 % of 40 ms, rounded down every time.
        let risen = control.baselines[0] - 20_000;
        assert!((3700..=3810).contains(&risen), "{risen}");
    }
}
