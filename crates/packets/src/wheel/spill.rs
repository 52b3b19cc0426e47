//! What a crowded bucket spills: thousands of flows that begin at one instant, say.
//!
//! In the bucket that is open an event is put into its place by moving those behind it. Where very
//! many stand there, all but the first ones wait here, and come back as those are done.

use super::slot::Key;
use sojourn_base::Time;
use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

/// An event that waits: behind its equals in the order in which they came.
#[derive(Clone, Copy)]
struct Waiting {
    key: Key,
    number: i64,
}

impl Waiting {
    fn rank(&self) -> ((Time, u64), i64) {
        (self.key.place(), self.number)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

/// Those that wait.
#[derive(Clone, Default)]
pub(super) struct Spill {
    /// What came in order, as most do: ascending.
    row: VecDeque<Waiting>,
    /// The others.
    heap: BinaryHeap<Reverse<Waiting>>,
    /// Numbers of those that came to the front and to the back.
    front: i64,
    back: i64,
}

impl Spill {
    /// Whether an event comes before all that wait here.
    pub(super) fn is_behind(&self, key: &Key) -> bool {
        let heads = [self.row.front(), self.heap.peek().map(|Reverse(first)| first)];
        heads.into_iter().flatten().all(|first| key.place() < first.key.place())
    }

    /// Takes one, behind its equals.
    pub(super) fn add(&mut self, key: Key) {
        self.back += 1;
        let new = Waiting { key, number: self.back };
        if self.row.back().is_none_or(|last| *last < new) {
            self.row.push_back(new);
        } else {
            self.heap.push(Reverse(new));
        }
    }

    /// Takes some, ascending, none of which comes after those that wait here.
    pub(super) fn add_before(&mut self, keys: impl DoubleEndedIterator<Item = Key>) {
        for key in keys.rev() {
            self.front -= 1;
            self.row.push_front(Waiting { key, number: self.front });
        }
    }

    /// Hands on the first one.
    pub(super) fn pop(&mut self) -> Option<Key> {
        let first = match (self.row.front(), self.heap.peek()) {
            (Some(row), Some(Reverse(heap))) if heap < row => None,
            (None, _) => None,
            _ => self.row.pop_front(),
        };
        first.or_else(|| self.heap.pop().map(|Reverse(first)| first)).map(|first| first.key)
    }
}
