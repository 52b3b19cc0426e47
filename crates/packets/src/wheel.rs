//! The event queue: a two-level timing wheel with exact order.
//!
//! Events are totally ordered by (time, order, counter). The order follows from what the event is
//! and whom it concerns ([`Ordered`]), so that simultaneous events of different flows come in a
//! sequence that does not depend on when they were scheduled; the counter keeps first-in first-out
//! order among events that agree in both.
//!
//! An event lies in a slot of one cache line. A near bucket is a singly linked list of slots, whose
//! links lie apart so that a list can be walked without touching its events; it is sorted when the
//! clock reaches it. A far bucket is a list of arrays, read from end to end when its turn comes.
//! The near level holds buckets of `1 << shift` nanoseconds, the far level holds whole turns of the
//! near one, and what lies beyond both waits in a heap, without a slot if it says little. After the
//! high-water mark nothing is allocated.

mod levels;
mod overflow;
mod slot;
mod spill;
#[cfg(test)]
mod tests;

use self::levels::{BITS, BUCKETS, Far, MASK, Near};
use self::overflow::{Overflow, Stored};
use self::slot::{Key, NONE, Slot};
use self::spill::Spill;
use crate::prefetch;
use sojourn_base::Time;

/// What has a place among the events of its instant.
pub(crate) trait Ordered: Copy {
    /// Smaller ones come first at the same instant.
    fn order(&self) -> u32;

    /// All that it says, in 31 bits, if it fits there.
    fn brief(&self) -> Option<u32>;

    /// The event that says this.
    fn of_brief(brief: u32) -> Self;
}

/// Where an event that was popped lies.
#[derive(Clone, Copy)]
pub(crate) struct Place(u32);

/// The queue of events to come.
#[derive(Clone)]
pub(crate) struct Wheel<E> {
    shift: u32,
    slots: Vec<Slot<E>>,
    /// The slot behind each slot in its list.
    next: Vec<u32>,
    free: u32,
    counter: u32,
    /// The bucket whose events are in `open`, as time >> shift.
    current: u64,
    /// Events of the current bucket and any scheduled into it since, ascending from `position`.
    open: Vec<Key>,
    position: usize,
    /// Events of the current bucket behind those, if there are very many.
    spill: Spill,
    /// So many in `open` are few: [`FEW`], or none while others are spilled.
    few: usize,
    near: Near,
    far: Far,
    overflow: Overflow,
    /// The slot of an event in the bucket after the current one.
    after: u32,
}

/// Slots from which on looking ahead pays: fewer stay in the caches by themselves, and so does what
/// they concern.
const MANY: usize = 1 << 13;
/// Events of the open bucket among which one is put into its place by moving those behind it.
const FEW: usize = if cfg!(test) { 8 } else { 512 };

impl<E: Ordered> Wheel<E> {
    /// A wheel whose near buckets span about `width` nanoseconds (rounded down to a power of two);
    /// best near the mean gap between events.
    pub(crate) fn new(width: u64) -> Self {
        Self {
            shift: width.max(1).ilog2(),
            slots: Vec::new(),
            next: Vec::new(),
            free: NONE,
            counter: 0,
            current: 0,
            open: Vec::with_capacity(64),
            position: 0,
            spill: Spill::default(),
            few: FEW,
            near: Near::new(),
            far: Far::new(),
            overflow: Overflow::default(),
            after: NONE,
        }
    }

    /// Makes room for so many events, if there is memory for them.
    pub(crate) fn reserve(&mut self, events: usize) {
        let slots = self.slots.try_reserve_exact(events);
        // Without room they grow as they fill.
        let _ = slots.and_then(|()| self.next.try_reserve_exact(events));
    }

    /// Schedules an event; its time must not lie before that of the last event popped.
    #[inline(always)]
    pub(crate) fn push(&mut self, time: Time, event: E) {
        let counter = self.counter;
        self.counter = counter.wrapping_add(1);
        let slot = self.fill(time, counter, event);
        self.place(slot, time);
    }

    /// Puts an event into a slot. It is put together there and nowhere else: the processor would
    /// wait for its pieces before it could copy them.
    #[inline(always)]
    fn fill(&mut self, time: Time, counter: u32, event: E) -> u32 {
        let mut slot = self.free;
        match self.next.get(slot as usize) {
            Some(&next) => self.free = next,
            None => slot = self.grow(),
        }
        self.slots[slot as usize] = Slot { time, order: event.order(), counter, event };
        slot
    }

    /// Gives a slot back; what lies there stays until the next event comes.
    #[inline(always)]
    fn empty(&mut self, slot: u32) {
        self.next[slot as usize] = self.free;
        self.free = slot;
    }

    /// One more slot, in which no event lies yet.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> u32 {
        let slot = u32::try_from(self.slots.len()).expect("fewer than 2^32 events");
        self.slots.push(Slot { time: Time::ZERO, order: 0, counter: 0, event: E::of_brief(0) });
        self.next.push(NONE);
        slot
    }

    #[inline(always)]
    fn place(&mut self, slot: u32, time: Time) {
        let bucket = time.0 >> self.shift;
        if bucket <= self.current {
            self.insert_open(slot);
        } else if bucket >> BITS == self.current >> BITS {
            self.near.link(&mut self.next, slot, bucket);
        } else if (bucket >> BITS) - (self.current >> BITS) < BUCKETS {
            self.far.add(slot, bucket);
        } else {
            self.put_in_overflow(slot);
        }
    }

    /// Puts an event among those that are far away, where it needs no slot if it says little.
    #[cold]
    #[inline(never)]
    fn put_in_overflow(&mut self, slot: u32) {
        let Slot { time, counter, event, .. } = self.slots[slot as usize];
        let stored = match event.brief() {
            Some(brief) => {
                self.empty(slot);
                Stored::Inline { brief, counter }
            }
            None => Stored::InSlot(slot),
        };
        self.overflow.add(time, stored);
    }

    #[inline]
    fn key(&self, slot: u32) -> Key {
        let s = &self.slots[slot as usize];
        // Relative to the next counter value every pending counter lies in the past, so adding
        // half the range to the difference keeps their order across a wrap.
        let age = s.counter.wrapping_sub(self.counter);
        Key { time: s.time, order: u64::from(s.order) << 32 | u64::from(age), slot }
    }

    /// Puts an event into the bucket that is open, at its place in the order.
    #[inline(never)]
    fn insert_open(&mut self, slot: u32) {
        let key = self.key(slot);
        if self.open.len() > self.few && self.spills(key) {
            return;
        }
        if self.open.len() == self.open.capacity() && self.position > self.open.len() / 2 {
            // Where each event of an instant makes the next, those before are not kept.
            self.open.drain(..self.position);
            self.position = 0;
        }
        // Ages in `open` were taken against an older counter, so compare by place and put
        // the newcomer behind its equals, which is where the newest counter belongs.
        let place = key.place();
        let mut at = self.open.len();
        self.open.push(key);
        while at > self.position {
            let before = self.open[at - 1];
            if before.place() <= place {
                break;
            }
            self.open[at] = before;
            at -= 1;
        }
        self.open[at] = key;
    }

    /// Has all but the first events of the open bucket wait apart if they are very many; whether
    /// one more waits there too.
    #[cold]
    #[inline(never)]
    fn spills(&mut self, key: Key) -> bool {
        if self.open.len() > self.position + FEW {
            self.spill.add_before(self.open.drain(self.position + FEW / 2..));
            self.few = 0;
        }
        let spills = !self.spill.is_behind(&key);
        if spills {
            self.spill.add(key);
        }
        spills
    }

    /// Has the first of those spilled come back into the open bucket; whether there were any.
    #[cold]
    #[inline(never)]
    fn refill(&mut self) -> bool {
        self.open.extend(std::iter::from_fn(|| self.spill.pop()).take(FEW / 2));
        if self.open.is_empty() {
            self.few = FEW;
        }
        !self.open.is_empty()
    }

    /// Takes the first event and its time, unless it lies after `until`: where it lies until the
    /// next is pushed.
    #[inline(always)]
    pub(crate) fn pop(&mut self, until: Time) -> Option<(Time, Place)> {
        loop {
            if let Some(&Key { time, slot, .. }) = self.open.get(self.position) {
                if time > until {
                    return None;
                }
                self.position += 1;
                self.empty(slot);
                return Some((time, Place(slot)));
            }
            if self.position > 0 {
                self.open.clear();
                self.position = 0;
                if self.few == 0 && self.refill() {
                    continue;
                }
            }
            let (bucket, head) = match self.near.take_first(self.current & MASK) {
                Some(first) => first,
                None if self.turn() => continue,
                None => return None,
            };
            self.current = (self.current & !MASK) | bucket;
            // Most buckets hold one event, which need not be opened.
            let time = self.slots[head as usize].time;
            let alone = self.next[head as usize] == NONE && time <= until;
            if alone {
                self.empty(head);
            } else {
                self.open_bucket(head);
            }
            if self.slots.len() >= MANY {
                self.look_ahead();
            } else if let Some(soon) = self.slots.get(self.near.soon(bucket) as usize) {
                prefetch::lines(soon, 1);
            }
            if alone {
                return Some((time, Place(head)));
            }
        }
    }

    /// An event that was popped.
    #[inline]
    pub(crate) fn event(&self, place: Place) -> &E {
        &self.slots[place.0 as usize].event
    }

    /// An event that will come soon, for whoever wants to ask for the memory it needs; none while
    /// there are so few events that it is not worth while.
    #[inline]
    pub(crate) fn hint(&self) -> Option<&E> {
        if self.slots.len() < MANY {
            return None;
        }
        let slot = self.open.get(self.position).map_or(self.after, |key| key.slot);
        self.slots.get(slot as usize).map(|slot| &slot.event)
    }

    /// Asks for the events of the next bucket but one, and notes one of the next, which was asked
    /// for when that was next but one.
    #[inline(never)]
    fn look_ahead(&mut self) {
        let [after, slot] = self.near.first_two(self.current & MASK);
        self.after = after;
        let Some(first) = self.slots.get(slot as usize) else { return };
        prefetch::lines(first, size_of::<Slot<E>>());
        // Two at most, without a branch, which would often be foreseen wrongly: any slot does for
        // one that is not there.
        let second = (self.next[slot as usize] as usize).min(self.slots.len() - 1);
        prefetch::lines(&self.slots[second], size_of::<Slot<E>>());
    }

    /// Puts the events of a list, of which `slot` is the head, in order.
    #[inline]
    fn open_bucket(&mut self, mut slot: u32) {
        while slot != NONE {
            let key = self.key(slot);
            slot = self.next[slot as usize];
            // The list is newest first, and most buckets hold very few: insertion sort.
            let mut at = self.open.len();
            self.open.push(key);
            if at < 24 {
                while at > 0 && self.open[at - 1] > key {
                    self.open[at] = self.open[at - 1];
                    at -= 1;
                }
                self.open[at] = key;
            }
        }
        if self.open.len() > 24 {
            self.open.sort_unstable();
        }
    }

    /// Moves to the next turn of the near level that has events, and deals them out.
    #[cold]
    fn turn(&mut self) -> bool {
        let now = self.current >> BITS;
        let in_far = {
            let at = now & MASK;
            match self.far.occupied.next(at + 1) {
                Some(bucket) => Some((now & !MASK) | bucket),
                None => self.far.occupied.next(0).map(|bucket| (now & !MASK) + BUCKETS + bucket),
            }
        };
        let in_overflow = self.overflow.first().map(|time| (time.0 >> self.shift) >> BITS);
        let turn = match (in_far, in_overflow) {
            (None, None) => return false,
            (Some(a), None) => a,
            (None, Some(b)) => b,
            (Some(a), Some(b)) => a.min(b),
        };
        self.current = turn << BITS;
        if in_far == Some(turn) {
            let Self { near, far, next, .. } = self;
            far.empty(turn, |slot, bucket| near.link(next, slot, bucket));
        }
        while self.overflow.first().is_some_and(|time| (time.0 >> self.shift) >> BITS == turn) {
            let Some((time, stored)) = self.overflow.pop() else { break };
            let slot = match stored {
                Stored::InSlot(slot) => slot,
                Stored::Inline { brief, counter } => self.fill(time, counter, E::of_brief(brief)),
            };
            self.near.link(&mut self.next, slot, time.0 >> self.shift);
        }
        true
    }
}
