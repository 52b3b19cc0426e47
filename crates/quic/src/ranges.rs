//! Sets of numbers as ranges: packet numbers that have come, bytes of a stream that have.

use alloc::vec::Vec;

/// Ranges `start..end` in ascending order that neither overlap nor touch. A single one, which is
/// what nearly all sets are, lies here and not on the heap. It keeps its memory when it is emptied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// The only range while `many` is empty; without numbers if there is none.
    one: (u64, u64),
    many: Vec<(u64, u64)>,
}

impl Ranges {
    fn all(&self) -> &[(u64, u64)] {
        if !self.many.is_empty() {
            &self.many
        } else if self.one.0 == self.one.1 {
            &[]
        } else {
            core::slice::from_ref(&self.one)
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }

    pub(crate) fn clear(&mut self) {
        self.one = (0, 0);
        self.many.clear();
    }

    /// The lowest range.
    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.all().first().copied()
    }

    /// The highest range.
    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.all().last().copied()
    }

    /// The ranges, the highest first.
    pub(crate) fn descending(&self) -> impl Iterator<Item = (u64, u64)> {
        self.all().iter().rev().copied()
    }

    /// Where the first range lies that ends at `at` or later.
    fn place(&self, at: u64) -> usize {
        let all = self.all();
        // Nearly everything concerns the last range or the first.
        match all.last() {
            Some(&(_, end)) if end < at => all.len(),
            Some(&(start, _)) if start <= at => all.len() - 1,
            _ => all.partition_point(|&(_, end)| end < at),
        }
    }

    pub(crate) fn contains(&self, at: u64) -> bool {
        self.all().get(self.place(at + 1)).is_some_and(|&(start, _)| start <= at)
    }

    /// Adds a range; returns how many of its numbers are new.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        // Nearly always what comes, and what is acknowledged, follows what did before.
        let last = self.many.last_mut().unwrap_or(&mut self.one);
        if last.1 == start && last.0 < start {
            last.1 = end;
            return end - start;
        }
        if self.is_empty() {
            self.one = (start, end);
            return end - start;
        }
        self.with_many(|set| set.insert_among(start, end))
    }

    /// Works on several ranges, whether there are so many or not.
    #[inline(never)]
    fn with_many<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        if self.many.is_empty() && self.one.0 < self.one.1 {
            self.many.push(self.one);
        }
        self.one = (0, 0);
        let done = work(self);
        if let [one] = self.many[..] {
            self.one = one;
            self.many.clear();
        }
        done
    }

    fn insert_among(&mut self, mut start: u64, mut end: u64) -> u64 {
        let (from, mut new) = (self.place(start), end - start);
        let mut to = from;
        while let Some(&(s, e)) = self.many.get(to).filter(|&&(s, _)| s <= end) {
            new -= e.min(end).saturating_sub(s.max(start));
            (start, end) = (start.min(s), end.max(e));
            to += 1;
        }
        if from == to {
            self.many.insert(from, (start, end));
        } else {
            self.many[from] = (start, end);
            self.many.drain(from + 1..to);
        }
        new
    }

    /// Takes a range out.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        if start < end && !self.is_empty() {
            self.with_many(|set| set.remove_among(start, end));
        }
    }

    fn remove_among(&mut self, start: u64, end: u64) {
        let mut at = self.place(start + 1);
        while let Some(&(s, e)) = self.many.get(at).filter(|&&(s, _)| s < end) {
            match (s < start, e > end) {
                (true, true) => {
                    self.many[at].1 = start;
                    self.many.insert(at + 1, (end, e));
                    return;
                }
                (true, false) => {
                    self.many[at].1 = start;
                    at += 1;
                }
                (false, true) => {
                    self.many[at].0 = end;
                    return;
                }
                (false, false) => {
                    self.many.remove(at);
                }
            }
        }
    }

    /// Takes out everything below `at`.
    pub(crate) fn remove_below(&mut self, at: u64) {
        if self.many.is_empty() {
            self.one.0 = self.one.0.max(at).min(self.one.1);
        } else {
            self.remove(0, at);
        }
    }

    /// Takes up to `most` numbers off the lowest range.
    pub(crate) fn take_first(&mut self, most: u64) -> Option<(u64, u64)> {
        let (start, end) = self.first()?;
        let end = end.min(start + most);
        self.remove(start, end);
        Some((start, end))
    }

    /// The first part of `from..end` that is not in it.
    pub(crate) fn gap(&self, mut from: u64, end: u64) -> Option<(u64, u64)> {
        let (all, mut at) = (self.all(), self.place(from + 1));
        if let Some(&(_, e)) = all.get(at).filter(|&&(s, _)| s <= from) {
            (from, at) = (e, at + 1);
        }
        (from < end).then(|| (from, all.get(at).map_or(end, |&(s, _)| s.min(end))))
    }

    /// Drops the lowest range.
    pub(crate) fn drop_first(&mut self) {
        if let Some((start, end)) = self.first() {
            self.remove(start, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn of(ranges: &[(u64, u64)]) -> Ranges {
        let mut set = Ranges::default();
        for &(start, end) in ranges {
            set.insert(start, end);
        }
        set
    }

    #[test]
    fn neighbours_become_one_range() {
        let set = of(&[(0, 3), (5, 8), (3, 5)]);
        assert_eq!(set.descending().collect::<Vec<_>>(), [(0, 8)]);
        assert_eq!(of(&[(5, 8), (0, 3)]).count(), 2);
    }

    #[test]
    fn gap_is_what_is_missing_first() {
        let set = of(&[(10, 20), (30, 40)]);
        assert_eq!(set.gap(0, 50), Some((0, 10)));
        assert_eq!(set.gap(12, 50), Some((20, 30)));
        assert_eq!(set.gap(20, 25), Some((20, 25)));
        assert_eq!(set.gap(30, 50), Some((40, 50)));
        assert_eq!(set.gap(32, 40), None);
    }

    #[test]
    fn take_first_takes_from_the_lowest_range() {
        let mut set = of(&[(10, 20), (30, 40)]);
        assert_eq!(set.take_first(4), Some((10, 14)));
        assert_eq!(set.take_first(100), Some((14, 20)));
        assert_eq!(set.take_first(100), Some((30, 40)));
        assert_eq!(set.take_first(100), None);
    }

    proptest! {
        #[test]
        fn ranges_are_the_set_of_their_numbers(
            calls in prop::collection::vec((0..3, 0u64..60, 0u64..20), 1..60),
        ) {
            let (mut set, mut model) = (Ranges::default(), BTreeSet::new());
            for (call, start, len) in calls {
                let end = start + len;
                if call == 0 {
                    let new = (start..end).filter(|n| model.insert(*n)).count();
                    prop_assert_eq!(set.insert(start, end), new as u64);
                } else if call == 1 {
                    model.retain(|n| !(start..end).contains(n));
                    set.remove(start, end);
                } else {
                    model.retain(|n| *n >= start);
                    set.remove_below(start);
                }
                for n in 0..90 {
                    prop_assert_eq!(set.contains(n), model.contains(&n));
                }
                let apart = set.all().windows(2).all(|pair| pair[0].1 < pair[1].0);
                prop_assert!(apart && set.all().iter().all(|&(s, e)| s < e));
                prop_assert_ne!(set.many.len(), 1);
            }
        }
    }
}
