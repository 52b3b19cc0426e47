//! Runs of sequence numbers in order: what a sender knows to have arrived, and what a receiver
//! holds, beyond a hole. Changes at either end cost the same however many runs there are; a
//! change in the middle moves the shorter side.

use crate::segment::{SackBlock, before, later};
use alloc::collections::VecDeque;

/// Runs at the end that are looked at one by one.
const NEAR: usize = 4;

/// Runs that neither overlap nor touch, in sequence order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs(VecDeque<SackBlock>);

impl Runs {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The run at place `at`.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<SackBlock> {
        self.0.get(at).copied()
    }

    /// The runs, highest first.
    #[inline]
    pub(crate) fn descending(&self) -> impl Iterator<Item = SackBlock> {
        self.0.iter().rev().copied()
    }

    /// The place behind all runs for which `holds`; that falls once from the first run to the last.
    /// What is looked for is mostly near the last: there runs are looked at one by one.
    #[inline(always)]
    fn behind(&self, holds: impl Fn(&SackBlock) -> bool) -> usize {
        let runs = self.0.len();
        for at in (runs.saturating_sub(NEAR)..runs).rev() {
            if holds(&self.0[at]) {
                return at + 1;
            }
        }
        if runs <= NEAR { 0 } else { self.0.partition_point(holds) }
    }

    /// The place of the first run that ends after `seq`.
    #[inline]
    pub(crate) fn after(&self, seq: u32) -> usize {
        self.behind(|run| !before(seq, run.end))
    }

    /// Whether all from `start` to `end` is in one run.
    pub(crate) fn hold(&self, start: u32, end: u32) -> bool {
        let run = self.get(self.after(start));
        run.is_some_and(|run| !before(start, run.start) && !before(run.end, end))
    }

    /// How many bytes from `start` to `end` are in runs.
    pub(crate) fn covered(&self, start: u32, end: u32) -> u32 {
        let mut bytes = 0;
        for run in self.0.range(self.after(start)..) {
            if !before(run.start, end) {
                break;
            }
            let upper = if before(end, run.end) { end } else { run.end };
            bytes += upper.wrapping_sub(later(start, run.start));
        }
        bytes
    }

    /// Adds a run and gives the one it has become part of.
    pub(crate) fn insert(&mut self, start: u32, end: u32) -> SackBlock {
        // The runs that it touches: those that end at or after `start` and begin by `end`.
        let low = self.behind(|run| before(run.end, start));
        let mut high = low;
        let mut run = SackBlock { start, end };
        while high < self.0.len() && !before(end, self.0[high].start) {
            let old = self.0[high];
            if before(old.start, run.start) {
                run.start = old.start;
            }
            run.end = later(run.end, old.end);
            high += 1;
        }
        if high == low {
            self.0.insert(low, run);
        } else {
            self.0[low] = run;
            if high > low + 1 {
                self.0.drain(low + 1..high);
            }
        }
        run
    }

    /// Everything before `next` has arrived: takes out what is before it, and gives how many
    /// bytes that were.
    pub(crate) fn remove_before(&mut self, next: u32) -> u32 {
        let mut bytes = 0;
        while let Some(run) = self.0.front_mut() {
            if !before(run.start, next) {
                break;
            }
            if before(next, run.end) {
                bytes += next.wrapping_sub(run.start);
                run.start = next;
                break;
            }
            bytes += run.end.wrapping_sub(run.start);
            self.0.pop_front();
        }
        bytes
    }

    /// Takes out the first run if it begins at or before `next`.
    pub(crate) fn pop_reached(&mut self, next: u32) -> Option<SackBlock> {
        let first = self.0.front()?;
        if before(next, first.start) { None } else { self.0.pop_front() }
    }

    /// Forgets all runs and keeps the space.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_a_set_of_bytes(
            base in prop_oneof![Just(0u32), Just(u32::MAX - 60)],
            ops in prop::collection::vec((0u32..100, 1u32..20, 0u32..4), 1..60),
        ) {
            let mut runs = Runs::default();
            let mut set = [false; 128];
            for (start, len, what) in ops {
                let at = |n: u32| base.wrapping_add(n);
                if what == 0 {
                    let had = set[..start as usize].iter().filter(|&&b| b).count() as u32;
                    prop_assert_eq!(runs.remove_before(at(start)), had);
                    set[..start as usize].fill(false);
                } else {
                    let run = runs.insert(at(start), at(start + len));
                    set[start as usize..(start + len) as usize].fill(true);
                    prop_assert_eq!(runs.get(runs.after(run.start)), Some(run));
                }
                for (a, b) in [(0, 128), (start, start + len), (50, 60)] {
                    let had = set[a as usize..b as usize].iter().filter(|&&b| b).count() as u32;
                    prop_assert_eq!(runs.covered(at(a), at(b)), had);
                    prop_assert_eq!(runs.hold(at(a), at(b)), had == b - a);
                }
                let edges = set.windows(2).filter(|w| w[0] != w[1]).count() + usize::from(set[0]);
                prop_assert_eq!(runs.descending().count() * 2, edges);
            }
        }
    }
}
