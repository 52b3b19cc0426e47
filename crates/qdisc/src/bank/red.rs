//! RED for the queues of a bank: averages in place of controllers, and the same path of decisions.
//!
//! Source: Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993; see [`crate::red`].
//!
//! | quantity | format | range |
//! | --- | --- | --- |
//! | queue | 15 bits | longer ones count as 32767 |
//! | average | 15 bits, 16 fraction bits | in units of the queue |
//! | weight | a power of two | 1 to 2⁻¹⁵ |
//!
//! # Differences from the source, and from [`crate::red`]
//!
//! 1. The average is moved at the instants of a pass, not by each arrival: no update waits for the
//!    one before it, and an idle queue needs no power of the weight. `wq` is that of an instant.
//! 2. p_b rises from `min_th` to `max_th` in 14 steps. Not gentle: 1 from `max_th` on.
//! 3. Hits are not spaced: each packet is hit with p_b, so that gaps between hits are geometric.
//! 4. An average below a queue that stands comes to less than 2⁻¹⁶/`wq` units of it.

use super::decide::MOST_ENTRY;
use super::pass::short;
use super::{Decide, MOST_CLASSES, MOST_ENTRIES};
use crate::Invalid;
use alloc::vec::Vec;

/// Fraction bits of an average.
const FRACTION: u32 = 16;
/// Steps of p_b between the thresholds.
const STEPS: usize = MOST_ENTRIES - 2;

/// What the queues of a class have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The weight is 2^−`shift`.
    shift: u32,
    /// Averages at which the next entry begins, in units of the queue.
    thresholds: [u16; MOST_ENTRIES - 1],
    /// Q.32.
    entries: [u64; MOST_ENTRIES],
}

impl Profile {
    /// Thresholds in units of the queue, `max_th` at most 32767 and 14 above `min_th` at least;
    /// `max_p` above 0 and at most 1; the weight 2^−`shift` of an instant, 0 to 15.
    pub fn new(min_th: u16, max_th: u16, max_p: f64, shift: u32) -> Result<Self, Invalid> {
        if max_th > i16::MAX as u16 || usize::from(max_th.saturating_sub(min_th)) < STEPS {
            let remedy = "must be min_th + 14 to 32767: count the queue in other units";
            return Err(Invalid::new("max_th", max_th, remedy));
        }
        if !(max_p > 0.0 && max_p <= 1.0) {
            return Err(Invalid::new("max_p", max_p, "must be above 0 and at most 1"));
        }
        if shift > 15 {
            return Err(Invalid::new("shift", shift, "must be at most 15, a weight of 2^-15"));
        }
        let thresholds = core::array::from_fn(|i| {
            let range = usize::from(max_th - min_th);
            min_th + ((range * i + STEPS / 2) / STEPS) as u16
        });
        let entries = core::array::from_fn(|level| match level {
            0 => 0,
            _ if level > STEPS => MOST_ENTRY,
            // p_b in the middle of the step.
            _ => {
                let p = max_p * (level as f64 - 0.5) / STEPS as f64;
                libm::round(libm::ldexp(p, 32)) as u64
            }
        });
        Ok(Self { shift, thresholds, entries })
    }

    /// A class as gates are given it: the shift, 15 thresholds, 16 entries (Q.32).
    #[must_use]
    pub fn numbers(&self) -> [u64; 32] {
        let mut numbers = [0; 32];
        numbers[0] = self.shift.into();
        for (place, &threshold) in numbers[1..16].iter_mut().zip(&self.thresholds) {
            *place = threshold.into();
        }
        numbers[16..].copy_from_slice(&self.entries);
        numbers
    }
}

/// Averages of queues, in up to eight classes, and the entry in force for each.
///
/// At every instant, for each queue, `average += wq (q − average)`, rounded down; the level is how
/// many thresholds the whole part of the average reaches.
#[derive(Clone, Debug)]
pub struct RedBank {
    classes: Vec<Profile>,
    each: usize,
    /// Class after class.
    average: Vec<u32>,
    level: Vec<u8>,
}

impl RedBank {
    /// `each` queues in every one of `classes`, all averages 0.
    pub fn new(classes: &[Profile], each: usize) -> Result<Self, Invalid> {
        if !(1..=MOST_CLASSES).contains(&classes.len()) {
            return Err(Invalid::new("classes", classes.len(), "must be 1 to 8"));
        }
        if !(1..=1 << 24).contains(&each) {
            return Err(Invalid::new("each", each, "must be 1 to 16777216 queues of a class"));
        }
        let all = classes.len() * each;
        let (average, level) = (alloc::vec![0; all], alloc::vec![0; all]);
        Ok(Self { classes: classes.to_vec(), each, average, level })
    }

    /// One instant: `queues` holds each queue, class after class. Longer ones count as 32767.
    ///
    /// # Panics
    ///
    /// If there are not as many queues as averages.
    pub fn update(&mut self, queues: &[u16]) {
        assert_eq!(queues.len(), self.average.len(), "a queue for each average");
        let averages = self.average.chunks_exact_mut(self.each);
        let levels = self.level.chunks_exact_mut(self.each);
        let now = queues.chunks_exact(self.each);
        for (profile, ((averages, levels), queues)) in
            self.classes.iter().zip(averages.zip(levels).zip(now))
        {
            for ((average, level), &queue) in averages.iter_mut().zip(levels).zip(queues) {
                let target = i32::from(short(queue)) << FRACTION;
                let before = *average as i32;
                *average = (before + ((target - before) >> profile.shift)) as u32;
                let whole = (*average >> FRACTION) as u16;
                let reached = |n: u8, &t: &u16| n + u8::from(whole >= t);
                *level = profile.thresholds.iter().fold(0, reached);
            }
        }
    }

    /// The average of queue `at` of class `class`, in 65536ths of a unit.
    #[must_use]
    pub fn average(&self, class: usize, at: usize) -> u32 {
        self.average[class * self.each + at]
    }

    /// The entry in force there.
    #[must_use]
    pub fn level(&self, class: usize, at: usize) -> u8 {
        self.level[class * self.each + at]
    }

    /// The decisions about packets under these entries.
    #[must_use]
    pub fn decide(&self, seed: u32) -> Decide {
        Decide::of(self.classes.iter().map(|profile| profile.entries).collect(), seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;
    use crate::bank::Decision;
    use sojourn_base::{Kind, Stream};

    #[test]
    fn averages_follow_the_formula_within_their_rounding() {
        for shift in [0, 4, 9, 15] {
            let profile = Profile::new(100, 1000, 0.1, shift).expect("valid");
            let mut bank = RedBank::new(&[profile], 1).expect("valid");
            let mut draws = Stream::new(1, Kind::Test, 0, 0);
            let weight = libm::ldexp(1.0, -(shift as i32));
            let (mut exact, mut worst) = (0.0, 0.0f64);
            for _ in 0..20_000 {
                let queue = draws.below(3000) as u16;
                bank.update(&[queue]);
                exact += weight * (f64::from(queue) - exact);
                worst = worst.max(exact - f64::from(bank.average(0, 0)) / 65_536.0);
                assert!(f64::from(bank.average(0, 0)) / 65_536.0 <= exact + 1e-9);
            }
            // Each step is rounded down by less than 2⁻¹⁶, which is forgotten with the weight.
            assert!(worst <= libm::ldexp(1.0, shift as i32 - 16), "{shift}: {worst}");
        }
    }

    #[test]
    fn queues_lie_class_after_class() {
        let profile = || Profile::new(100, 1000, 0.1, 0).expect("valid");
        let mut bank = RedBank::new(&[profile(), profile(), profile()], 4).expect("valid");
        let queues: alloc::vec::Vec<u16> = (0..12).map(|n| 90 * n).collect();
        bank.update(&queues);
        for class in 0..3 {
            for at in 0..4 {
                let queue = queues[4 * class + at];
                assert_eq!(bank.average(class, at), u32::from(queue) << FRACTION);
                assert_eq!(bank.level(class, at) > 0, queue >= 100, "{class} {at}");
            }
        }
    }

    #[test]
    fn the_chance_of_a_hit_is_that_of_the_profile() {
        let profile = Profile::new(100, 1000, 0.2, 0).expect("valid");
        let mut bank = RedBank::new(&[profile], 1).expect("valid");
        let mut path = bank.decide(5);
        for (queue, p) in [(0, 0.0), (99, 0.0), (300, 0.0444), (550, 0.1), (999, 0.2), (1000, 1.0)]
        {
            bank.update(&[queue]);
            let n = 100_000;
            let hits = (0..n)
                .filter(|_| path.decide(0, bank.level(0, 0), Ecn::NotEct) == Decision::Drop)
                .count();
            // Half a step of p_b, and what chance does.
            let share = hits as f64 / f64::from(n);
            let within = if p == 0.0 || p == 1.0 { 0.0 } else { 0.2 / 28.0 + 0.005 };
            assert!((share - p).abs() <= within, "{queue}: {share} for {p}");
        }
    }

    #[test]
    fn what_has_no_profile_is_refused() {
        let field = |min_th, max_th, max_p, shift| {
            Profile::new(min_th, max_th, max_p, shift).unwrap_err().field
        };
        assert_eq!(field(100, 113, 0.1, 9), "max_th");
        assert_eq!(field(100, 32_768, 0.1, 9), "max_th");
        assert_eq!(field(200, 100, 0.1, 9), "max_th");
        assert_eq!(field(100, 300, 0.0, 9), "max_p");
        assert_eq!(field(100, 300, 0.1, 16), "shift");
        assert!(Profile::new(100, 114, 1.0, 15).is_ok());
    }
}
