//! Buffers for the packets that are in the router: all of one size, made once, used again.

/// Buffers by number. Memory is touched by the machine when it is first used, so that a slab which
/// never fills costs only address space.
pub(super) struct Slab {
    bytes: Vec<u8>,
    size: usize,
    /// Buffers that were given back; the last is warm.
    free: Vec<u32>,
    /// Buffers from here on have never been used.
    fresh: u32,
    count: u32,
}

impl Slab {
    /// `count` buffers of `size` bytes.
    pub(super) fn new(count: u32, size: usize) -> Self {
        let bytes = vec![0; count as usize * size];
        Self { bytes, size, free: Vec::with_capacity(count as usize), fresh: 0, count }
    }

    /// Takes a buffer and copies `packet` into it; none if all are in use, or it does not fit.
    #[inline]
    pub(super) fn keep(&mut self, packet: &[u8]) -> Option<u32> {
        if packet.len() > self.size {
            return None;
        }
        let handle = match self.free.pop() {
            Some(handle) => handle,
            None if self.fresh < self.count => {
                self.fresh += 1;
                self.fresh - 1
            }
            None => return None,
        };
        self.get(handle, packet.len()).copy_from_slice(packet);
        Some(handle)
    }

    /// The first bytes of a buffer, to be read.
    pub(super) fn read(&self, handle: u32, bytes: usize) -> &[u8] {
        let start = handle as usize * self.size;
        &self.bytes[start..start + bytes]
    }

    /// The first bytes of a buffer.
    #[inline]
    pub(super) fn get(&mut self, handle: u32, bytes: usize) -> &mut [u8] {
        let start = handle as usize * self.size;
        &mut self.bytes[start..start + bytes]
    }

    /// Gives a buffer back.
    #[inline]
    pub(super) fn release(&mut self, handle: u32) {
        debug_assert!(self.used() > 0, "more buffers come back than were taken");
        self.free.push(handle);
    }

    /// Buffers in use.
    pub(super) fn used(&self) -> u32 {
        self.fresh - self.free.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_come_back_and_run_out() {
        let mut slab = Slab::new(2, 4);
        let (a, b) = (slab.keep(b"one").unwrap(), slab.keep(b"four").unwrap());
        assert_eq!(slab.keep(b"x"), None);
        assert_eq!(slab.get(a, 3), b"one");
        slab.release(a);
        assert_eq!(slab.used(), 1);
        let c = slab.keep(b"new").unwrap();
        assert_eq!(
            (slab.get(c, 3).to_vec(), slab.get(b, 4).to_vec()),
            (b"new".into(), b"four".into())
        );
        assert_eq!(slab.keep(b"longer"), None);
    }
}
