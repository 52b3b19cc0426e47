//! A bank of PI controllers whose p is a place in a table: 27 bits of state for each, as the gates
//! of `hardware/pi_table_bank.v` have it.
//!
//! | quantity | format | range |
//! | --- | --- | --- |
//! | place x | 4 bits of level, 7 fraction bits | 0 to 16 − 2⁻⁷ |
//! | queue | 16 bits | in units of the queue |
//! | ratio (a − b)/a | 17 fraction bits | 2⁻¹⁴ to below 1 |
//! | slope a/width | 17 bits, times 2⁻¹⁶, 2⁻²⁰, 2⁻²⁴ or 2⁻²⁸ | below 2 levels per unit |
//! | dither | 28 bits below x | |

use super::decide::MOST_ENTRY;
use super::{Decide, MOST_CLASSES, MOST_ENTRIES, Table};
use crate::Invalid;
use alloc::vec::Vec;

const LEVELS: usize = MOST_ENTRIES;
/// Fraction bits of a place within its level.
const FRACTION: u32 = 7;
const X_MOST: i64 = ((LEVELS as i64) << FRACTION) - 1;
const RATIO_BITS: u32 = 17;
const SLOPE_MOST: u32 = (1 << 17) - 1;
/// Bits below x that are dithered.
const DITHER: u32 = 28;
/// Fraction bits of an entry.
const ENTRY_BITS: u32 = 18;

/// What the controllers of a class have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexGains {
    pub(super) qref: u16,
    pub(super) ratio: u32,
    /// Slopes are multiples of 2^−(16 + 4·exponent).
    pub(super) exponent: u32,
    pub(super) slopes: [u32; LEVELS],
    /// Q.18; all ones is 1.
    pub(super) entries: [u32; LEVELS],
    /// Where each level begins, and the end of the last.
    edges: [f64; LEVELS + 1],
}

impl IndexGains {
    /// From gains per unit of the queue, the setpoint in such units, and a table. Where the table
    /// has fewer than 16 entries, the stretch of the last is divided among levels that have its
    /// entry too.
    pub fn new(a: f64, b: f64, qref: u16, table: &Table) -> Result<Self, Invalid> {
        if !(a > 0.0 && a <= 1.0) {
            return Err(Invalid::new(
                "a",
                a,
                "must be above 0 and at most 1 per unit of the queue",
            ));
        }
        if !(b >= 0.0 && b < a) {
            return Err(Invalid::new("b", b, "must be 0 to below a"));
        }
        let ratio = libm::round(libm::ldexp((a - b) / a, RATIO_BITS as i32)) as u32;
        if ratio < 8 {
            let remedy = "must be below a by a 16384th of it at least: sample less often";
            return Err(Invalid::new("b", b, remedy));
        }
        let n = table.entries().len();
        let begin = table.stretch(n - 1).0;
        let parts = (LEVELS + 1 - n) as f64;
        let mut edges = [1.0; LEVELS + 1];
        for (level, edge) in edges.iter_mut().enumerate().take(LEVELS) {
            let within = (level + 1).saturating_sub(n) as f64 / parts;
            *edge = if level < n { table.stretch(level).0 } else { begin + within * (1.0 - begin) };
        }
        let exact: Vec<f64> = edges.windows(2).map(|edge| a / (edge[1] - edge[0])).collect();
        let (least, most) = exact.iter().fold((f64::MAX, 0.0), |(l, m), &s| (s.min(l), s.max(m)));
        let shift = |exponent: u32| 16 + 4 * exponent as i32;
        let fits = |e: &u32| libm::round(libm::ldexp(most, shift(*e))) <= f64::from(SLOPE_MOST);
        let Some(exponent) = (0..4).rev().find(fits) else {
            let remedy = "must be less than two entries of the table per unit of the queue: count \
                          the queue in smaller units, or choose a larger least entry";
            return Err(Invalid::new("a", a, remedy));
        };
        if libm::ldexp(least, shift(exponent)) < 8.0 {
            let remedy = "must be larger, or the widest entry of the table narrower: count the \
                          queue in larger units, or choose a larger least entry";
            return Err(Invalid::new("a", a, remedy));
        }
        let mut slopes = [0; LEVELS];
        for (slope, exact) in slopes.iter_mut().zip(exact) {
            *slope = libm::round(libm::ldexp(exact, shift(exponent))) as u32;
        }
        let rounded = |level: usize| {
            let p = table.entries()[level.min(n - 1)].as_f64();
            (libm::round(libm::ldexp(p, ENTRY_BITS as i32)) as u32).min((1 << ENTRY_BITS) - 1)
        };
        let entries = core::array::from_fn(rounded);
        Ok(Self { qref, ratio: ratio.min((1 << RATIO_BITS) - 1), exponent, slopes, entries, edges })
    }

    /// The probability for which place `x` stands.
    #[must_use]
    pub fn probability(&self, x: u16) -> f64 {
        let level = usize::from(x >> FRACTION);
        let within = libm::ldexp(f64::from(x & ((1 << FRACTION) - 1)), -(FRACTION as i32));
        self.edges[level] + within * (self.edges[level + 1] - self.edges[level])
    }

    /// The entries as [`Decide`] compares them, Q.32.
    fn chances(&self) -> [u64; MOST_ENTRIES] {
        self.entries.map(|entry| {
            let certain = entry == (1 << ENTRY_BITS) - 1;
            if certain { MOST_ENTRY } else { u64::from(entry) << (32 - ENTRY_BITS) }
        })
    }

    /// Words of 18 bits as the gates hold them: 16 slopes, setpoint and exponent, ratio, and from
    /// 32 on the entries.
    #[must_use]
    pub fn words(&self) -> [u32; 64] {
        let mut words = [0; 64];
        words[..LEVELS].copy_from_slice(&self.slopes);
        words[16] = u32::from(self.qref) | self.exponent << 16;
        words[17] = self.ratio;
        words[32..32 + LEVELS].copy_from_slice(&self.entries);
        words
    }
}

/// Random bits below a step of x: linear feedback, moved once an update, 1 at first.
#[derive(Clone, Copy, Debug)]
struct Dither(u32);

impl Dither {
    #[inline]
    fn next(&mut self) -> i64 {
        let below = i64::from(self.0 & ((1 << DITHER) - 1));
        self.0 = (self.0 >> 1) ^ if self.0 & 1 == 1 { 0xa300_0000 } else { 0 };
        below
    }
}

/// PI controllers whose p is a place in a table.
///
/// At every instant, for each controller, with the slope of the level in which it stands
///
/// ```text
/// x += slope ((q − q before) + ratio (q before − qref)), clamped to the table
/// ```
///
/// Within a level x is p counted in the level's width, so that slope = a/width; the level itself is
/// the upper part of x. What an update adds below a step of x takes effect with the probability
/// that it is of a step. Differences from [`super::Bank`]: 27 bits of state in place of 64, and a
/// change that crosses levels counts with the width of the first.
#[derive(Clone, Debug)]
pub struct IndexBank {
    classes: Vec<IndexGains>,
    each: usize,
    /// Class after class.
    x: Vec<u16>,
    previous: Vec<u16>,
    dither: Dither,
    started: bool,
}

impl IndexBank {
    /// `each` controllers in every one of `classes`, all at 0.
    pub fn new(classes: &[IndexGains], each: usize) -> Result<Self, Invalid> {
        if !(1..=MOST_CLASSES).contains(&classes.len()) {
            return Err(Invalid::new("classes", classes.len(), "must be 1 to 8"));
        }
        if !(1..=1 << 24).contains(&each) {
            return Err(Invalid::new("each", each, "must be 1 to 16777216 controllers of a class"));
        }
        let all = alloc::vec![0; classes.len() * each];
        let (x, previous) = (all.clone(), all);
        Ok(Self { classes: classes.to_vec(), each, x, previous, dither: Dither(1), started: false })
    }

    /// One instant: `queues` holds the queue of each controller, class after class.
    ///
    /// # Panics
    ///
    /// If there are not as many queues as controllers.
    pub fn update(&mut self, queues: &[u16]) {
        assert_eq!(queues.len(), self.x.len(), "a queue for each controller");
        if !self.started {
            // The queue before the first instant counts as that at the first.
            self.previous.copy_from_slice(queues);
            self.started = true;
        }
        let all = self.x.chunks_exact_mut(self.each);
        let before = self.previous.chunks_exact_mut(self.each);
        let now = queues.chunks_exact(self.each);
        let mut dither = self.dither;
        for (gains, ((xs, olds), queues)) in self.classes.iter().zip(all.zip(before).zip(now)) {
            let (qref, ratio) = (i64::from(gains.qref), i64::from(gains.ratio));
            // One place to the right less than there are below: see `DITHER`.
            let right = 4 * gains.exponent;
            for ((x, old), &queue) in xs.iter_mut().zip(olds.iter_mut()).zip(queues) {
                let before = i64::from(*old);
                let change = (i64::from(queue) - before) << RATIO_BITS;
                let moved = change + ratio * (before - qref);
                let slope = i64::from(gains.slopes[usize::from(*x >> FRACTION)]);
                let step = ((slope * moved) << 2) >> right;
                let sum = (i64::from(*x) << DITHER) + dither.next() + step;
                *x = (sum >> DITHER).clamp(0, X_MOST) as u16;
                *old = queue;
            }
        }
        self.dither = dither;
    }

    /// The place of controller `at` of class `class`.
    #[must_use]
    pub fn place(&self, class: usize, at: usize) -> u16 {
        self.x[class * self.each + at]
    }

    /// The entry in force there.
    #[must_use]
    pub fn level(&self, class: usize, at: usize) -> u8 {
        (self.place(class, at) >> FRACTION) as u8
    }

    /// The decisions about packets under these entries.
    #[must_use]
    pub fn decide(&self, seed: u32) -> Decide {
        Decide::of(self.classes.iter().map(IndexGains::chances).collect(), seed)
    }
}

// Fraction bits of a product at exponent 0, but for those of x: 2 less than are dithered.
const _: () = assert!(16 + RATIO_BITS - FRACTION + 2 == DITHER);

#[cfg(test)]
mod tests {
    use super::*;

    /// What follows a state.
    fn after(state: u32) -> u32 {
        let mut dither = Dither(state);
        dither.next();
        dither.0
    }

    #[test]
    fn feedback_is_linear_and_comes_with_a_one_that_falls_out() {
        assert_eq!((after(0), after(1), after(2)), (0, 0xa300_0000, 1));
        let mut state = Dither(1);
        for _ in 0..1000 {
            let (one, other) = (state.0, state.0.rotate_left(7));
            assert_eq!(after(one ^ other), after(one) ^ after(other));
            state.next();
        }
    }
}
