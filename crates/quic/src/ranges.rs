//! Sets of numbers as ranges: packet numbers that have come, bytes of a stream that have.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Ranges `start..end` in ascending order that neither overlap nor touch. A single one, which is
/// what nearly all sets are, lies here and not on the heap. It keeps its memory when it is emptied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges {
    /// The only range, without numbers if there is none; [`SEVERAL`] if there are more. What ends
    /// before it begins is no range.
    one: (u64, u64),
    many: Option<Box<Many>>,
}

/// The ranges where there are several: two at least.
#[derive(Clone, Debug, Default)]
struct Many(Vec<(u64, u64)>);

const SEVERAL: (u64, u64) = (u64::MAX, 0);

impl Ranges {
    #[inline]
    fn are_several(&self) -> bool {
        self.one.0 > self.one.1
    }

    #[inline]
    fn all(&self) -> &[(u64, u64)] {
        if self.one.0 < self.one.1 {
            core::slice::from_ref(&self.one)
        } else if self.are_several() {
            self.many.as_ref().map_or(&[], |many| &many.0)
        } else {
            &[]
        }
    }

    /// Whether it has memory on the heap.
    pub(crate) fn has_memory(&self) -> bool {
        self.many.is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }

    pub(crate) fn clear(&mut self) {
        self.one = (0, 0);
    }

    /// The lowest range.
    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.all().first().copied()
    }

    /// The highest range.
    #[inline]
    pub(crate) fn last(&self) -> Option<(u64, u64)> {
        self.all().last().copied()
    }

    /// The same, to be extended.
    #[inline]
    pub(crate) fn last_mut(&mut self) -> Option<&mut (u64, u64)> {
        if self.one.0 < self.one.1 {
            Some(&mut self.one)
        } else if self.are_several() {
            self.many.as_mut().and_then(|many| many.0.last_mut())
        } else {
            None
        }
    }

    /// The ranges, the highest first.
    pub(crate) fn descending(&self) -> impl Iterator<Item = (u64, u64)> {
        self.all().iter().rev().copied()
    }

    pub(crate) fn contains(&self, at: u64) -> bool {
        self.all().get(place(self.all(), at + 1)).is_some_and(|&(start, _)| start <= at)
    }

    /// Adds a range; returns how many of its numbers are new.
    #[inline]
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        // Nearly always what comes, and what is acknowledged, follows what did before.
        if self.one.1 == start && self.one.0 < start && start < end {
            self.one.1 = end;
            return end - start;
        }
        self.insert_apart(start, end)
    }

    #[inline(never)]
    fn insert_apart(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        if self.is_empty() {
            self.one = (start, end);
            return end - start;
        }
        if self.are_several()
            && let Some(last) = self.many.as_mut().and_then(|many| many.0.last_mut())
            && last.1 == start
        {
            last.1 = end;
            return end - start;
        }
        self.with_many(|all| insert(all, start, end))
    }

    /// Works on several ranges, whether there are so many or not.
    #[inline(never)]
    fn with_many<T>(&mut self, work: impl FnOnce(&mut Vec<(u64, u64)>) -> T) -> T {
        let all = &mut self.many.get_or_insert_default().0;
        if self.one.0 <= self.one.1 {
            all.clear();
            all.extend(Some(self.one).filter(|one| one.0 < one.1));
        }
        let done = work(all);
        self.one = match all[..] {
            [] => (0, 0),
            [one] => one,
            _ => SEVERAL,
        };
        done
    }

    /// Takes a range out.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        if start < end && !self.is_empty() {
            self.with_many(|all| remove(all, start, end));
        }
    }

    /// Takes out everything below `at`.
    pub(crate) fn remove_below(&mut self, at: u64) {
        if self.are_several() {
            self.remove(0, at);
        } else {
            self.one.0 = self.one.0.max(at).min(self.one.1);
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
        let (all, mut at) = (self.all(), place(self.all(), from + 1));
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

/// Where the first range lies that ends at `at` or later.
fn place(all: &[(u64, u64)], at: u64) -> usize {
    // Nearly everything concerns the last range or the first.
    match all.last() {
        Some(&(_, end)) if end < at => all.len(),
        Some(&(start, _)) if start <= at => all.len() - 1,
        _ => all.partition_point(|&(_, end)| end < at),
    }
}

/// Adds a range; returns how many of its numbers are new.
fn insert(all: &mut Vec<(u64, u64)>, mut start: u64, mut end: u64) -> u64 {
    let (from, mut new) = (place(all, start), end - start);
    let mut to = from;
    while let Some(&(s, e)) = all.get(to).filter(|&&(s, _)| s <= end) {
        new -= e.min(end).saturating_sub(s.max(start));
        (start, end) = (start.min(s), end.max(e));
        to += 1;
    }
    if from == to {
        all.insert(from, (start, end));
    } else {
        all[from] = (start, end);
        all.drain(from + 1..to);
    }
    new
}

/// Takes a range out.
fn remove(all: &mut Vec<(u64, u64)>, start: u64, end: u64) {
    let mut at = place(all, start + 1);
    while let Some(&(s, e)) = all.get(at).filter(|&&(s, _)| s < end) {
        match (s < start, e > end) {
            (true, true) => {
                all[at].1 = start;
                all.insert(at + 1, (end, e));
                return;
            }
            (true, false) => {
                all[at].1 = start;
                at += 1;
            }
            (false, true) => {
                all[at].0 = end;
                return;
            }
            (false, false) => {
                all.remove(at);
            }
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
                prop_assert_eq!(set.are_several(), set.count() > 1);
            }
        }
    }
}
