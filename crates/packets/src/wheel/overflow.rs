//! The overflow of the wheel: events beyond both levels, mostly of users that think for minutes.
//!
//! An event here takes 16 bytes if it says so little that it fits into 31 bits, and a slot beside
//! that otherwise. The heap knows its turn alone; its place among others of its instant it gets
//! when the turn begins.

use super::slot::NONE;
use sojourn_base::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Marks what is said in full; the other numbers are slots.
const BRIEF: u32 = 1 << 31;

/// How an event is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// In a slot.
    InSlot(u32),
    /// Without one: what it says, and its counter.
    Inline { brief: u32, counter: u32 },
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
pub(super) struct Overflow(BinaryHeap<Reverse<Distant>>);

impl Overflow {
    pub(super) fn add(&mut self, time: Time, event: Stored) {
        let (counter, what) = match event {
            Stored::InSlot(slot) => (NONE, slot),
            Stored::Inline { brief, counter } => (counter, BRIEF | brief),
        };
        debug_assert!(matches!(event, Stored::InSlot(_)) == (what & BRIEF == 0));
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
    pub(super) fn pop(&mut self) -> Option<(Time, Stored)> {
        let Reverse(Distant { time, counter, what }) = self.0.pop()?;
        let event = match what & BRIEF {
            0 => Stored::InSlot(what),
            _ => Stored::Inline { brief: what & !BRIEF, counter },
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
        let mut overflow = Overflow::default();
        let events = [
            (Time(9), Stored::Inline { brief: BRIEF - 1, counter: u32::MAX }),
            (Time(3), Stored::InSlot(BRIEF - 1)),
            (Time(7), Stored::Inline { brief: 0, counter: 0 }),
            (Time(1), Stored::InSlot(0)),
        ];
        for (time, event) in events {
            overflow.add(time, event);
        }
        for at in [3, 1, 2, 0] {
            assert_eq!(overflow.first(), Some(events[at].0));
            assert_eq!(overflow.pop(), Some(events[at]));
        }
        assert_eq!((overflow.first(), overflow.pop()), (None, None));
    }
}
