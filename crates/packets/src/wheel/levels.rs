//! The wheel's two levels: which slots lie in which bucket, and which buckets are not empty.

use super::slot::NONE;

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

    /// Takes out the first bucket that is not empty, where all those before `from` are.
    #[inline(always)]
    pub(super) fn take_first(&mut self, from: u64) -> Option<u64> {
        let mut word = (from / 64) as usize;
        loop {
            let bits = self.0.get_mut(word)?;
            if *bits != 0 {
                let first = u64::from(bits.trailing_zeros());
                *bits &= *bits - 1;
                return Some(word as u64 * 64 + first);
            }
            word += 1;
        }
    }

    /// The first two buckets that are not empty, where all those before `from` are.
    #[inline(always)]
    fn first_two(&self, from: u64) -> Option<(u64, Option<u64>)> {
        let mut word = (from / 64) as usize;
        let mut bits = *self.0.get(word)?;
        while bits == 0 {
            word += 1;
            bits = *self.0.get(word)?;
        }
        let one = word as u64 * 64 + u64::from(bits.trailing_zeros());
        bits &= bits - 1;
        while bits == 0 {
            word += 1;
            match self.0.get(word) {
                Some(&more) => bits = more,
                None => return Some((one, None)),
            }
        }
        Some((one, Some(word as u64 * 64 + u64::from(bits.trailing_zeros()))))
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

    /// The heads of the lists of the first two buckets that are not empty, where all those before
    /// `from` are; [`NONE`] if there is none.
    #[inline(always)]
    pub(super) fn first_two(&self, from: u64) -> [u32; 2] {
        let head = |bucket: u64| self.heads[(bucket & MASK) as usize];
        match self.occupied.first_two(from) {
            Some((one, two)) => [head(one), two.map_or(NONE, head)],
            None => [NONE; 2],
        }
    }

    /// The head of the list of the next bucket that is not empty, if that is near; else [`NONE`].
    #[inline(always)]
    pub(super) fn soon(&self, from: u64) -> u32 {
        match self.occupied.0.get((from / 64) as usize) {
            Some(&bits) if bits != 0 => {
                self.heads[((from & !63 | u64::from(bits.trailing_zeros())) & MASK) as usize]
            }
            _ => NONE,
        }
    }

    /// Empties the first bucket that is not empty, where all those before `from` are: its number
    /// and the head of its list.
    #[inline(always)]
    pub(super) fn take_first(&mut self, from: u64) -> Option<(u64, u32)> {
        let bucket = self.occupied.take_first(from)?;
        Some((bucket, std::mem::replace(&mut self.heads[(bucket & MASK) as usize], NONE)))
    }
}

/// Entries in a chunk, which then takes 512 bytes. The last tells what lies behind the chunk.
const CHUNK: u32 = 64;
const LINK: u32 = CHUNK - 1;

/// The turns to come: for each a list of chunks, in which slots lie with the near bucket that each
/// goes to.
#[derive(Clone)]
pub(super) struct Far {
    /// Where the next slot of each turn goes: an entry of its first chunk, the link of that chunk
    /// if it is full, or [`NONE`], which looks like a link.
    places: Box<[u32; BUCKETS as usize]>,
    pub occupied: Occupied,
    entries: Vec<(u32, u32)>,
    /// The first entry of a chunk that is empty, or [`NONE`]; links lead to others.
    free: u32,
}

impl Far {
    /// No events.
    pub(super) fn new() -> Self {
        Self {
            places: Box::new([NONE; BUCKETS as usize]),
            occupied: Occupied([0; WORDS]),
            entries: Vec::new(),
            free: NONE,
        }
    }

    /// Puts a slot into the turn of its bucket.
    #[inline(always)]
    pub(super) fn add(&mut self, slot: u32, bucket: u64) {
        let at = ((bucket >> BITS) & MASK) as usize;
        let mut place = self.places[at];
        if place % CHUNK == LINK {
            place = self.extend(at);
        }
        self.entries[place as usize] = (slot, (bucket & MASK) as u32);
        self.places[at] = place + 1;
    }

    /// Puts an empty chunk before the others of turn `at`; its first entry.
    #[cold]
    #[inline(never)]
    fn extend(&mut self, at: usize) -> u32 {
        let mut fresh = self.free;
        if fresh == NONE {
            fresh = self.entries.len() as u32;
            self.entries.resize(self.entries.len() + CHUNK as usize, (NONE, 0));
        }
        let link = &mut self.entries[(fresh + LINK) as usize].0;
        (self.free, *link) = (*link, self.places[at]);
        self.occupied.set(at);
        fresh
    }

    /// Empties a turn: hands each of its slots with its bucket to `deal`.
    pub(super) fn empty(&mut self, turn: u64, mut deal: impl FnMut(u32, u64)) {
        let at = (turn & MASK) as usize;
        self.occupied.clear(at);
        let mut end = std::mem::replace(&mut self.places[at], NONE);
        while end != NONE {
            let first = end - end % CHUNK;
            for &(slot, bucket) in &self.entries[first as usize..end as usize] {
                deal(slot, u64::from(bucket));
            }
            let link = &mut self.entries[(first + LINK) as usize].0;
            end = std::mem::replace(link, self.free);
            self.free = first;
        }
    }
}
