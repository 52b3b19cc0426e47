//! Many queues of packets in one pool of places: memory for what stands in all of them together,
//! at its most, and nothing for queues that are empty.

use crate::ring::MOST;
use alloc::vec::Vec;

/// No place.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Place<P> {
    packet: P,
    /// Towards the tail; of a free place, the next free one.
    next: u32,
    /// Towards the head.
    prev: u32,
}

/// The places, used and free.
#[derive(Clone, Debug)]
pub(crate) struct Pool<P> {
    places: Vec<Place<P>>,
    free: u32,
}

/// One queue in a pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    head: u32,
    tail: u32,
    len: u32,
}

impl Line {
    pub(crate) const EMPTY: Self = Self { head: NONE, tail: NONE, len: 0 };

    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<P: Copy> Pool<P> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: NONE }
    }

    /// Appends to `line`. The caller keeps the number of packets in all lines at most [`MOST`].
    #[inline]
    pub(crate) fn push(&mut self, line: &mut Line, packet: P) {
        let place = Place { packet, next: NONE, prev: line.tail };
        let at = if self.free == NONE {
            self.grow(place)
        } else {
            let at = self.free;
            let slot = &mut self.places[at as usize];
            self.free = slot.next;
            *slot = place;
            at
        };
        if line.tail == NONE {
            line.head = at;
        } else {
            self.places[line.tail as usize].next = at;
        }
        line.tail = at;
        line.len += 1;
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self, place: Place<P>) -> u32 {
        debug_assert!(self.places.len() <= MOST as usize);
        self.places.push(place);
        (self.places.len() - 1) as u32
    }

    /// Takes the packet at the head.
    #[inline]
    pub(crate) fn pop(&mut self, line: &mut Line) -> Option<P> {
        let at = line.head;
        let place = self.places.get_mut(at as usize)?;
        let packet = place.packet;
        line.head = place.next;
        place.next = self.free;
        self.free = at;
        line.len -= 1;
        match self.places.get_mut(line.head as usize) {
            Some(head) => head.prev = NONE,
            None => line.tail = NONE,
        }
        Some(packet)
    }

    /// Takes the packet at the tail.
    #[inline]
    pub(crate) fn pop_tail(&mut self, line: &mut Line) -> Option<P> {
        let at = line.tail;
        let place = self.places.get_mut(at as usize)?;
        let packet = place.packet;
        line.tail = place.prev;
        place.next = self.free;
        self.free = at;
        line.len -= 1;
        match self.places.get_mut(line.tail as usize) {
            Some(tail) => tail.next = NONE,
            None => line.head = NONE,
        }
        Some(packet)
    }

    /// Appends all of `from`, which is empty then, to `onto`.
    pub(crate) fn splice(&mut self, onto: &mut Line, from: &mut Line) {
        if from.len == 0 {
            return;
        }
        if onto.len == 0 {
            *onto = *from;
        } else {
            self.places[onto.tail as usize].next = from.head;
            self.places[from.head as usize].prev = onto.tail;
            onto.tail = from.tail;
            onto.len += from.len;
        }
        *from = Line::EMPTY;
    }

    /// The packet at the head.
    #[inline]
    pub(crate) fn head(&self, line: &Line) -> Option<&P> {
        self.places.get(line.head as usize).map(|place| &place.packet)
    }

    /// The packet at the tail.
    #[inline]
    pub(crate) fn tail(&self, line: &Line) -> Option<&P> {
        self.places.get(line.tail as usize).map(|place| &place.packet)
    }

    /// All packets of a queue, from the head on.
    pub(crate) fn iter(&self, line: &Line) -> impl Iterator<Item = &P> {
        self.placed(line).map(|(_, packet)| packet)
    }

    /// All packets of a queue with their places, from the head on.
    pub(crate) fn placed(&self, line: &Line) -> impl Iterator<Item = (u32, &P)> {
        let mut at = line.head;
        core::iter::from_fn(move || {
            let here = at;
            let place = self.places.get(here as usize)?;
            at = place.next;
            Some((here, &place.packet))
        })
    }

    /// Takes out the packet at place `at`, wherever it stands in its queue.
    pub(crate) fn take_out(&mut self, line: &mut Line, at: u32) -> P {
        let Place { packet, next, prev } = self.places[at as usize].clone();
        match self.places.get_mut(prev as usize) {
            Some(before) => before.next = next,
            None => line.head = next,
        }
        match self.places.get_mut(next as usize) {
            Some(behind) => behind.prev = prev,
            None => line.tail = prev,
        }
        self.places[at as usize].next = self.free;
        self.free = at;
        line.len -= 1;
        packet
    }

    /// The packet at the head, to be changed.
    #[inline]
    pub(crate) fn head_mut(&mut self, line: &Line) -> Option<&mut P> {
        self.places.get_mut(line.head as usize).map(|place| &mut place.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use alloc::vec;

    #[test]
    fn pool_queues_keep_order_and_share_places() {
        let mut pool = Pool::new();
        let mut lines = [Line::EMPTY; 5];
        let mut models = vec![VecDeque::new(); 5];
        let mut standing = 0;
        let mut most = 0;
        for n in 0..200_000u64 {
            // Some arithmetic for a coin.
            let z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d);
            let i = (z >> 7) as usize % 5;
            match (z >> 40) % 7 {
                0..=2 => {
                    if standing < 40 {
                        pool.push(&mut lines[i], n);
                        models[i].push_back(n);
                        standing += 1;
                    }
                }
                3 => {
                    let got = pool.pop(&mut lines[i]);
                    assert_eq!(got, models[i].pop_front());
                    standing -= usize::from(got.is_some());
                }
                5 => {
                    let at = (z >> 17) as usize % 4;
                    let place = pool.placed(&lines[i]).nth(at).map(|(place, _)| place);
                    let got = place.map(|place| pool.take_out(&mut lines[i], place));
                    assert_eq!(got, models[i].remove(at));
                    standing -= usize::from(got.is_some());
                }
                4 => {
                    let got = pool.pop_tail(&mut lines[i]);
                    assert_eq!(got, models[i].pop_back());
                    standing -= usize::from(got.is_some());
                }
                _ => {
                    let j = (i + 1) % 5;
                    let mut from = lines[j];
                    pool.splice(&mut lines[i], &mut from);
                    lines[j] = from;
                    let moved = core::mem::take(&mut models[j]);
                    models[i].extend(moved);
                }
            }
            most = most.max(standing);
            assert_eq!(lines[i].len() as usize, models[i].len());
            assert_eq!(pool.head(&lines[i]), models[i].front());
            assert!(pool.iter(&lines[i]).eq(&models[i]));
            assert_eq!(pool.tail(&lines[i]), models[i].back());
            if let Some(head) = pool.head_mut(&lines[i]) {
                assert_eq!(models[i].front(), Some(&*head));
            }
        }
        assert!(most > 20);
        assert_eq!(pool.places.len(), most, "no more places than were ever used at once");
    }
}
