//! The wheel's two levels: which slots lie in which bucket, and which buckets are not empty.

use super::NONE;

/// Buckets in each level; a power of two.
pub(super) const BUCKETS: u64 = 8192;
pub(super) const MASK: u64 = BUCKETS - 1;
pub(super) const BITS: u32 = BUCKETS.trailing_zeros();
const WORDS: usize = (BUCKETS / 64) as usize;

/// Which buckets of a level are not empty.
#[derive(Clone)]
pub(super) struct Occupied([u64; WORDS]);

impl Occupied {
    #[inline]
    fn set(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }

    #[inline]
    fn clear(&mut self, at: usize) {
        self.0[at / 64] &= !(1 << (at % 64));
    }

    /// First bucket at or after `from` that is not empty.
    #[inline]
    pub(super) fn next(&self, from: u64) -> Option<u64> {
        if from >= BUCKETS {
            return None;
        }
        let mut word = (from / 64) as usize;
        let mut bits = self.0[word] & (!0 << (from % 64));
        loop {
            if bits != 0 {
                return Some(word as u64 * 64 + u64::from(bits.trailing_zeros()));
            }
            word += 1;
            if word == WORDS {
                return None;
            }
            bits = self.0[word];
        }
    }
}

/// The buckets of the present turn: the head of each one's list.
#[derive(Clone)]
pub(super) struct Near {
    pub heads: Box<[u32; BUCKETS as usize]>,
    pub occupied: Occupied,
}

impl Near {
    /// No events.
    pub(super) fn new() -> Self {
        Self { heads: Box::new([NONE; BUCKETS as usize]), occupied: Occupied([0; WORDS]) }
    }

    /// Puts a slot before the others of its bucket.
    #[inline]
    pub(super) fn link(&mut self, next: &mut [u32], slot: u32, bucket: u64) {
        let at = (bucket & MASK) as usize;
        next[slot as usize] = self.heads[at];
        self.heads[at] = slot;
        self.occupied.set(at);
    }

    /// Empties a bucket and returns the head of its list.
    #[inline]
    pub(super) fn take(&mut self, bucket: u64) -> u32 {
        let at = (bucket & MASK) as usize;
        self.occupied.clear(at);
        std::mem::replace(&mut self.heads[at], NONE)
    }
}

/// Slots in a [`Chunk`], which then takes 512 bytes.
const ROOM: usize = 63;

/// Part of a far turn: slots, with the near bucket that each goes to.
#[derive(Clone, Copy)]
struct Chunk {
    slots: [(u32, u32); ROOM],
    len: u32,
    /// The chunk behind it, of the same turn or of those that are empty.
    next: u32,
}

/// The turns to come: a list of chunks each.
#[derive(Clone)]
pub(super) struct Far {
    heads: Box<[u32; BUCKETS as usize]>,
    pub occupied: Occupied,
    chunks: Vec<Chunk>,
    free: u32,
}

impl Far {
    /// No events.
    pub(super) fn new() -> Self {
        Self {
            heads: Box::new([NONE; BUCKETS as usize]),
            occupied: Occupied([0; WORDS]),
            chunks: Vec::new(),
            free: NONE,
        }
    }

    /// Puts a slot into the turn of its bucket.
    #[inline]
    pub(super) fn add(&mut self, slot: u32, bucket: u64) {
        let at = ((bucket >> BITS) & MASK) as usize;
        let mut head = self.heads[at];
        if head == NONE || self.chunks[head as usize].len as usize == ROOM {
            head = self.extend(at);
        }
        let chunk = &mut self.chunks[head as usize];
        chunk.slots[chunk.len as usize] = (slot, (bucket & MASK) as u32);
        chunk.len += 1;
    }

    /// Puts an empty chunk before the others of turn `at`.
    #[cold]
    fn extend(&mut self, at: usize) -> u32 {
        let mut fresh = self.free;
        if fresh == NONE {
            fresh = self.chunks.len() as u32;
            self.chunks.push(Chunk { slots: [(0, 0); ROOM], len: 0, next: NONE });
        } else {
            self.free = self.chunks[fresh as usize].next;
        }
        let chunk = &mut self.chunks[fresh as usize];
        (chunk.len, chunk.next) = (0, self.heads[at]);
        self.heads[at] = fresh;
        self.occupied.set(at);
        fresh
    }

    /// Empties a turn: hands each of its slots with its bucket to `deal`.
    pub(super) fn empty(&mut self, turn: u64, mut deal: impl FnMut(u32, u64)) {
        let at = (turn & MASK) as usize;
        self.occupied.clear(at);
        let mut head = std::mem::replace(&mut self.heads[at], NONE);
        while head != NONE {
            let chunk = &mut self.chunks[head as usize];
            for &(slot, bucket) in &chunk.slots[..chunk.len as usize] {
                deal(slot, u64::from(bucket));
            }
            let next = std::mem::replace(&mut chunk.next, self.free);
            self.free = std::mem::replace(&mut head, next);
        }
    }
}
