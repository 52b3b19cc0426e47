//! What is sent: bytes that tell their place in the stream, so that the receiver sees whether they
//! came intact and in order.

use bytes::Bytes;

/// The pattern's period: a prime, so that no multiple of a segment or a buffer fits it.
const PERIOD: usize = 65_521;

/// Longest run of bytes that can be had at once.
const LONGEST: usize = 1 << 18;

/// The bytes of every stream.
pub struct Pattern(Bytes);

impl Pattern {
    /// Makes it.
    pub fn new() -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let period: Vec<u8> = (0..PERIOD)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        Self(period.iter().copied().cycle().take(PERIOD + LONGEST).collect::<Vec<u8>>().into())
    }

    /// Up to `most` bytes of a stream from `offset` on.
    pub fn at(&self, offset: u64, most: u64) -> &[u8] {
        let start = (offset % PERIOD as u64) as usize;
        &self.0[start..start + most.min(LONGEST as u64) as usize]
    }

    /// The same, shared and not copied.
    pub fn share(&self, offset: u64, most: u64) -> Bytes {
        self.0.slice_ref(self.at(offset, most))
    }

    /// Whether `bytes` are those of a stream from `offset` on.
    pub fn matches(&self, mut offset: u64, bytes: &[u8]) -> bool {
        bytes.chunks(LONGEST).all(|chunk| {
            let same = self.at(offset, chunk.len() as u64) == chunk;
            offset += chunk.len() as u64;
            same
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_in_pieces_is_the_stream_and_anything_else_is_not() {
        let pattern = Pattern::new();
        let mut stream = Vec::new();
        while stream.len() < 300_000 {
            let at = stream.len() as u64;
            stream.extend_from_slice(pattern.at(at, 1 + at % 1449));
        }
        assert!(pattern.matches(0, &stream));
        assert!(pattern.matches(70_001, &stream[70_001..]));
        assert!(!pattern.matches(1, &stream), "shifted by one");
        let mut broken = stream.clone();
        broken[123_456] ^= 1;
        assert!(!pattern.matches(0, &broken));
        broken.clone_from(&stream);
        broken.swap(1448, 2896);
        assert!(!pattern.matches(0, &broken), "out of order");
    }
}
