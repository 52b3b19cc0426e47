//! The order in which the queues of a tin take turns: three rings of numbers.

use super::sets::QUEUES;
use alloc::vec::Vec;

/// A ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(super) enum Ring {
    /// Queues that have just become busy.
    New = QUEUES as u16,
    /// Queues that have used up a quantum.
    Old,
    /// Empty queues whose COBALT is not at rest.
    Decaying,
}

/// Each number's neighbours; the last three are the rings themselves.
#[derive(Clone, Debug)]
pub(super) struct Chains {
    next: Vec<u16>,
    prev: Vec<u16>,
}

impl Chains {
    pub(super) fn new() -> Self {
        let own: Vec<u16> = (0..QUEUES as u16 + 3).collect();
        Self { next: own.clone(), prev: own }
    }

    /// The first of a ring.
    #[inline]
    pub(super) fn first(&self, ring: Ring) -> Option<usize> {
        let at = usize::from(self.next[ring as usize]);
        (at < QUEUES).then_some(at)
    }

    /// Takes a queue out of its ring; no harm if it is in none.
    #[inline]
    pub(super) fn leave(&mut self, at: usize) {
        let (next, prev) = (self.next[at], self.prev[at]);
        self.next[usize::from(prev)] = next;
        self.prev[usize::from(next)] = prev;
        (self.next[at], self.prev[at]) = (at as u16, at as u16);
    }

    /// Puts a queue at the end of a ring, out of the one it was in.
    #[inline]
    pub(super) fn join(&mut self, ring: Ring, at: usize) {
        self.leave(at);
        let ring = ring as usize;
        let last = self.prev[ring];
        (self.next[at], self.prev[at]) = (ring as u16, last);
        self.next[usize::from(last)] = at as u16;
        self.prev[ring] = at as u16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_move_between_rings_in_order() {
        let mut chains = Chains::new();
        for at in [3, 1, 2] {
            chains.join(Ring::New, at);
        }
        chains.join(Ring::Old, 3);
        chains.join(Ring::Old, 2);
        assert_eq!([Ring::New, Ring::Old].map(|ring| chains.first(ring)), [Some(1), Some(3)]);
        chains.leave(3);
        chains.leave(3);
        chains.join(Ring::New, 2);
        assert_eq!(chains.first(Ring::Old), None);
        chains.leave(1);
        assert_eq!([Ring::New, Ring::Decaying].map(|ring| chains.first(ring)), [Some(2), None]);
    }
}
