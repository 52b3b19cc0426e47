//! A table of probabilities, and the thresholds between its entries.

use super::MOST_ENTRIES;
use crate::{Invalid, Probability};
use alloc::vec::Vec;

/// Fraction bits of a threshold: what is compared is the upper half of a controller's p.
pub(super) const THRESHOLD_BITS: u32 = 15;

/// Up to 16 probabilities in ascending order. The entry for p is the last whose threshold p
/// reaches; thresholds are multiples of 2⁻¹⁵, so that they can be compared in 16 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    entries: Vec<Probability>,
    /// For each entry but the first; Q.15, the rest is out of reach.
    thresholds: [i16; MOST_ENTRIES - 1],
}

impl Table {
    /// From entries and the thresholds between them; for set-up. Both must ascend, and a threshold
    /// lie between its neighbours, also when rounded.
    pub fn new(entries: &[f64], thresholds: &[f64]) -> Result<Self, Invalid> {
        let n = entries.len();
        if !(2..=MOST_ENTRIES).contains(&n) || thresholds.len() != n - 1 {
            return Err(Invalid::new(
                "entries",
                n,
                "must be 2 to 16, with a threshold between each two",
            ));
        }
        let mut rounded = [i16::MAX; MOST_ENTRIES - 1];
        for (i, &t) in thresholds.iter().enumerate() {
            let ordered = entries[i] >= 0.0 && entries[i] < t && t < entries[i + 1];
            if !ordered || entries[i + 1] > 1.0 {
                let remedy = "entries and thresholds must ascend in turn, from 0 to 1 at most";
                return Err(Invalid::new("entries", entries[i + 1], remedy));
            }
            let scaled = libm::round(libm::ldexp(t, THRESHOLD_BITS as i32)).max(1.0);
            // 1 itself is kept as the largest number there is.
            rounded[i] = scaled.min(f64::from(i16::MAX)) as i16;
            if i > 0 && rounded[i] <= rounded[i - 1] {
                let remedy = "lie too close together for thresholds that are multiples of 2^-15: \
                              take fewer entries or a larger least one";
                return Err(Invalid::new("entries", entries[i + 1], remedy));
            }
        }
        let entries = entries.iter().map(|&p| Probability::from_f64(p)).collect();
        Ok(Self { entries, thresholds: rounded })
    }

    /// The probabilities.
    #[must_use]
    pub fn entries(&self) -> &[Probability] {
        &self.entries
    }

    /// The thresholds in Q.15, those out of reach included.
    #[inline]
    #[must_use]
    pub fn thresholds(&self) -> &[i16; MOST_ENTRIES - 1] {
        &self.thresholds
    }

    /// Which entry stands for `p`, given in Q.15. A sum of comparisons: no branch.
    #[inline]
    #[must_use]
    pub fn level(&self, p: i16) -> u8 {
        let reached = |n: u8, &t: &i16| n + u8::from(p >= t);
        // What is out of reach is so for 1 as well, which is `i16::MAX` here.
        self.thresholds.iter().take(self.entries.len() - 1).fold(0, reached)
    }

    /// The entry for `p`.
    #[inline]
    #[must_use]
    pub fn quantised(&self, p: Probability) -> Probability {
        let upper = (p.raw() >> (Probability::BITS - THRESHOLD_BITS)).min(i16::MAX as u64);
        self.entries[usize::from(self.level(upper as i16))]
    }

    /// The stretch of p for which entry `level` stands: from, and up to but not including.
    #[must_use]
    pub fn stretch(&self, level: usize) -> (f64, f64) {
        let at = |i: usize| libm::ldexp(f64::from(self.thresholds[i]), -(THRESHOLD_BITS as i32));
        let last = level + 1 == self.entries.len();
        (if level == 0 { 0.0 } else { at(level - 1) }, if last { 1.0 } else { at(level) })
    }
}
