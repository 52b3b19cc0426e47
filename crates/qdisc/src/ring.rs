//! A ring of packets that doubles when full and otherwise never allocates.

use alloc::vec::Vec;

/// Most packets a ring holds: 2²⁶, an absurd queue (2 GB of 40-byte handles) that still keeps
/// every index and every fixed-point queue length far from overflow.
pub(crate) const MOST: u32 = 1 << 26;

/// First in, first out. `head` and `tail` run freely and wrap at 2³²; the number of slots is zero
/// or a power of two, so a slot is found by masking.
#[derive(Clone, Debug)]
pub(crate) struct Ring<P> {
    slots: Vec<P>,
    head: u32,
    tail: u32,
}

impl<P: Copy> Ring<P> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), head: 0, tail: 0 }
    }

    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.tail.wrapping_sub(self.head)
    }

    /// Appends. The caller keeps the length below [`MOST`].
    #[inline]
    pub(crate) fn push(&mut self, packet: P) {
        if self.len() as usize == self.slots.len() {
            // Of a copy: what is handed on by its address has to lie in memory.
            self.grow(&{ packet });
        }
        let slots = &mut self.slots[..];
        let at = self.tail as usize & (slots.len() - 1);
        slots[at] = packet;
        self.tail = self.tail.wrapping_add(1);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<P> {
        let packet = *self.peek()?;
        self.skip();
        Some(packet)
    }

    /// Forgets the packet at the head, which there is.
    #[inline]
    pub(crate) fn skip(&mut self) {
        debug_assert!(self.head != self.tail);
        self.head = self.head.wrapping_add(1);
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<&P> {
        if self.head == self.tail {
            return None;
        }
        let slots = &self.slots[..];
        Some(&slots[self.head as usize & (slots.len() - 1)])
    }

    #[inline]
    pub(crate) fn peek_mut(&mut self) -> Option<&mut P> {
        if self.head == self.tail {
            return None;
        }
        let slots = &mut self.slots[..];
        let at = self.head as usize & (slots.len() - 1);
        Some(&mut slots[at])
    }

    /// The packet `at` places behind the head.
    #[inline]
    pub(crate) fn get(&self, at: u32) -> Option<&P> {
        if at >= self.len() {
            return None;
        }
        Some(&self.slots[self.head.wrapping_add(at) as usize & (self.slots.len() - 1)])
    }

    /// All packets, from the head on.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &P> {
        (0..self.len()).filter_map(|at| self.get(at))
    }

    /// The same as [`get`](Self::get), to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, at: u32) -> Option<&mut P> {
        if at >= self.len() {
            return None;
        }
        let mask = self.slots.len() - 1;
        Some(&mut self.slots[self.head.wrapping_add(at) as usize & mask])
    }

    /// Doubles the slots; those not yet used are filled with `filler`, which is never read.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: &P) {
        let old = self.slots.len();
        let new = if old == 0 { 16 } else { old * 2 };
        let mut slots = Vec::with_capacity(new);
        if old > 0 {
            let head = self.head as usize & (old - 1);
            slots.extend_from_slice(&self.slots[head..]);
            slots.extend_from_slice(&self.slots[..head]);
        }
        slots.resize(new, *filler);
        self.slots = slots;
        self.head = 0;
        self.tail = old as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;

    #[test]
    fn keeps_order_through_growth_and_wrapping_indices() {
        let mut ring = Ring::new();
        let mut model = VecDeque::new();
        let mut next = 0u64;
        for round in 0..2000u32 {
            for _ in 0..(round * 7919) % 97 {
                ring.push(next);
                model.push_back(next);
                next += 1;
            }
            for _ in 0..(round * 104_729) % 96 {
                assert_eq!(ring.peek(), model.front());
                assert_eq!(ring.pop(), model.pop_front());
            }
            assert_eq!(ring.len() as usize, model.len());
            assert!(ring.iter().eq(&model));
        }
        // The same just before the indices wrap.
        ring.head = u32::MAX - 3;
        ring.tail = ring.head;
        for n in 0..40 {
            ring.push(n);
        }
        for n in 0..40 {
            assert_eq!(ring.pop(), Some(n));
        }
        assert_eq!(ring.pop(), None);
    }
}
