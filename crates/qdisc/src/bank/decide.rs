//! The decision about a packet as hardware takes it: an entry of its class's table against 32 bits
//! of a generator that is a few gates.

use super::{MOST_ENTRIES, Table};
use crate::Ecn;
use alloc::vec::Vec;

/// An entry that every number is at most.
pub(super) const MOST_ENTRY: u64 = 1 << 32;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It passes.
    Pass = 0,
    /// It passes with CE set.
    Mark = 1,
    /// It is dropped.
    Drop = 2,
}

/// Decides about packets of up to eight classes, one number drawn for each.
///
/// The generator is Marsaglia's xorshift with 32 bits of state (J. Statistical Software 8(14),
/// 2003): linear feedback, each of its 2³² − 1 states once. Differences from
/// [`crate::Probability::toss`]: entries have 32 fraction bits, and a number is drawn for p = 0 and
/// 1 too, so that a decision takes the same time for all.
#[derive(Clone, Debug)]
pub struct Decide {
    entries: Vec<[u64; MOST_ENTRIES]>,
    coin: u32,
}

impl Decide {
    /// With the tables of the classes. A `seed` of 0, which the generator would never leave, counts
    /// as 1.
    #[must_use]
    pub fn new<'a>(tables: impl IntoIterator<Item = &'a Table>, seed: u32) -> Self {
        Self::of(tables.into_iter().map(rounded).collect(), seed)
    }

    /// With the entries themselves, Q.32.
    pub(super) fn of(entries: Vec<[u64; MOST_ENTRIES]>, seed: u32) -> Self {
        Self { entries, coin: seed.max(1) }
    }

    /// The entries of a class, Q.32; those that a table does not have are 0.
    #[must_use]
    pub fn entries(&self, class: usize) -> &[u64; MOST_ENTRIES] {
        &self.entries[class]
    }

    /// About a packet whose controller is at `level`.
    pub fn decide(&mut self, class: usize, level: u8, ecn: Ecn) -> Decision {
        // Of 1 to 2³² − 1: never at p = 0, always at 1.
        let hit = u64::from(self.coin) <= self.entries[class][usize::from(level)];
        self.coin ^= self.coin << 13;
        self.coin ^= self.coin >> 17;
        self.coin ^= self.coin << 5;
        match (hit, ecn) {
            (false, _) => Decision::Pass,
            (true, Ecn::NotEct) => Decision::Drop,
            (true, _) => Decision::Mark,
        }
    }
}

/// The entries of a table, Q.32; those that it does not have are 0.
pub(super) fn rounded(table: &Table) -> [u64; MOST_ENTRIES] {
    let mut entries = [0; MOST_ENTRIES];
    for (rounded, p) in entries.iter_mut().zip(table.entries()) {
        *rounded = (p.raw() + (1 << 27)) >> 28;
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_hit_as_often_as_the_table_says() {
        let table = Table::new(&[0.0, 0.01, 0.3, 1.0], &[0.005, 0.1, 0.6]).unwrap();
        let mut path = Decide::new([&table], 7);
        for (level, p) in [(0, 0.0), (1, 0.01), (2, 0.3), (3, 1.0)] {
            let n = 200_000;
            let mut hits = 0;
            for _ in 0..n {
                hits += u32::from(path.decide(0, level, Ecn::NotEct) == Decision::Drop);
            }
            let deviation = libm::sqrt(p * (1.0 - p) / f64::from(n));
            assert!((f64::from(hits) / f64::from(n) - p).abs() <= 5.0 * deviation, "{p}: {hits}");
        }
        assert_eq!(path.decide(0, 3, Ecn::Ect0), Decision::Mark);
        assert_eq!(path.decide(0, 3, Ecn::Ce), Decision::Mark);
        assert_eq!(path.decide(0, 0, Ecn::NotEct), Decision::Pass);
    }

    #[test]
    fn numbers_are_those_of_marsaglias_generator() {
        let table = Table::new(&[0.0, 0.5], &[0.2]).unwrap();
        let mut path = Decide::new([&table], 1);
        // y ^= y << 13, y ^= y >> 17, y ^= y << 5 from 1 on.
        for wanted in [270_369, 67_634_689, 2_647_435_461, 307_599_695] {
            path.decide(0, 1, Ecn::NotEct);
            assert_eq!(path.coin, wanted);
        }
    }

    #[test]
    fn a_number_hits_up_to_its_entry() {
        let table = Table::new(&[0.0, 0.25, 1.0], &[0.2, 0.6]).unwrap();
        assert_eq!(rounded(&table)[..4], [0, 1 << 30, MOST_ENTRY, 0]);
        let decided =
            |coin, level| Decide { coin, ..Decide::new([&table], 1) }.decide(0, level, Ecn::NotEct);
        assert_eq!(decided(1 << 30, 1), Decision::Drop);
        assert_eq!(decided((1 << 30) + 1, 1), Decision::Pass);
        assert_eq!((decided(1, 0), decided(u32::MAX, 2)), (Decision::Pass, Decision::Drop));
    }

    #[test]
    fn a_seed_of_nothing_counts_as_one() {
        let table = Table::new(&[0.0, 0.5], &[0.2]).unwrap();
        let (mut zero, mut one) = (Decide::new([&table], 0), Decide::new([&table], 1));
        for _ in 0..1000 {
            assert_eq!(zero.decide(0, 1, Ecn::NotEct), one.decide(0, 1, Ecn::NotEct));
        }
        assert_ne!(zero.coin, 0);
    }
}
