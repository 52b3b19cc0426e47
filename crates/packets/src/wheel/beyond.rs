//! Events beyond both levels of the wheel: users that think for minutes, mostly.
//!
//! An event here takes 16 bytes if it says so little that it fits into 31 bits, and a slot beside
//! that otherwise. The heap knows its turn alone; its place among others of its instant it gets
//! when the turn begins.

use super::NONE;
use sojourn_base::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Marks what is said in full; the other numbers are slots.
const BRIEF: u32 = 1 << 31;

/// Where an event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// In a slot.
    InSlot(u32),
    /// Nowhere but here: what it says, and its counter.
    Here { brief: u32, counter: u32 },
}

/// An event that is far away, in the order of time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Distant {
    time: Time,
    /// [`NONE`] for one that has a slot.
    counter: u32,
    /// A slot, or [`BRIEF`] and what it says.
    what: u32,
}

/// The events that are far away.
#[derive(Clone, Default)]
pub(super) struct Beyond(BinaryHeap<Reverse<Distant>>);

impl Beyond {
    pub(super) fn add(&mut self, time: Time, event: Lies) {
        let (counter, what) = match event {
            Lies::InSlot(slot) => (NONE, slot),
            Lies::Here { brief, counter } => (counter, BRIEF | brief),
        };
        debug_assert!(matches!(event, Lies::InSlot(_)) == (what & BRIEF == 0));
        self.0.push(Reverse(Distant { time, counter, what }));
    }

    /// How many have no slot.
    #[cfg(test)]
    pub(super) fn brief(&self) -> usize {
        self.0.iter().filter(|Reverse(event)| event.what & BRIEF != 0).count()
    }

    /// When the first of them is due.
    pub(super) fn first(&self) -> Option<Time> {
        self.0.peek().map(|Reverse(first)| first.time)
    }

    /// Takes out the first.
    pub(super) fn pop(&mut self) -> Option<(Time, Lies)> {
        let Reverse(Distant { time, counter, what }) = self.0.pop()?;
        let event = match what & BRIEF {
            0 => Lies::InSlot(what),
            _ => Lies::Here { brief: what & !BRIEF, counter },
        };
        Some((time, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_takes_sixteen_bytes() {
        assert_eq!(size_of::<Distant>(), 16);
    }

    #[test]
    fn events_come_back_as_they_were() {
        let mut beyond = Beyond::default();
        let events = [
            (Time(9), Lies::Here { brief: BRIEF - 1, counter: u32::MAX }),
            (Time(3), Lies::InSlot(BRIEF - 1)),
            (Time(7), Lies::Here { brief: 0, counter: 0 }),
            (Time(1), Lies::InSlot(0)),
        ];
        for (time, event) in events {
            beyond.add(time, event);
        }
        for at in [3, 1, 2, 0] {
            assert_eq!(beyond.first(), Some(events[at].0));
            assert_eq!(beyond.pop(), Some(events[at]));
        }
        assert_eq!((beyond.first(), beyond.pop()), (None, None));
    }
}
