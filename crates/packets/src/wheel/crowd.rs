//! The events of a crowded bucket: thousands of flows that begin at one instant, say.
//!
//! In the bucket that is open an event is put into its place by moving those behind it. Where very
//! many stand there, all but the first ones wait in this heap, and come back as those are done.

use super::Key;
use sojourn_base::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An event's place: its time, its order, and behind its equals in the order in which they came.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    time: Time,
    order: u64,
    number: i64,
    key: Key,
}

/// The heap.
#[derive(Clone, Default)]
pub(super) struct Crowd {
    heap: BinaryHeap<Reverse<Waiting>>,
    /// Numbers of those that came to the front and to the back.
    front: i64,
    back: i64,
}

impl Crowd {
    /// Whether an event comes before all that wait here.
    pub(super) fn is_behind(&self, key: &Key) -> bool {
        let first = self.heap.peek().map(|Reverse(first)| (first.time, first.order));
        first.is_none_or(|first| key.place() < first)
    }

    /// Takes one, behind its equals.
    pub(super) fn add(&mut self, key: Key) {
        self.back += 1;
        self.push(key, self.back);
    }

    /// Takes some, ascending, none of which comes after those that wait here.
    pub(super) fn add_before(&mut self, keys: impl ExactSizeIterator<Item = Key>) {
        self.front -= keys.len() as i64;
        for (number, key) in (self.front..).zip(keys) {
            self.push(key, number);
        }
    }

    fn push(&mut self, key: Key, number: i64) {
        let (time, order) = key.place();
        self.heap.push(Reverse(Waiting { time, order, number, key }));
    }

    /// Hands on the first one.
    pub(super) fn pop(&mut self) -> Option<Key> {
        self.heap.pop().map(|Reverse(first)| first.key)
    }
}
