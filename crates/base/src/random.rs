//! Counter-based random streams.
//!
//! A stream is named by what it is for (seed, kind, group, index), not by when it was made: adding
//! a traffic group or changing a queue discipline shifts no other stream's draws, so two runs can
//! be compared with common random numbers.
//!
//! The generator is Widynski's *Squares* in its 64-bit form (arXiv:2004.06278): five rounds of a
//! middle-square Weyl sequence over a counter. Keys come from the SplitMix64 finaliser (Steele,
//! Lea, Flood, OOPSLA 2014) of the stream's name, which is how the paper's demand for irregular
//! digits is met here; the low bit is set, as the paper asks.

/// What a stream is for. Streams of different kinds are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A queue discipline's coin.
    Qdisc = 1,
    /// A flow's minimum delay.
    Delay = 2,
    /// Start times.
    Start = 3,
    /// Sizes of transfers.
    Size = 4,
    /// Gaps between arrivals.
    Arrival = 5,
    /// A web user's behaviour.
    User = 6,
    /// Small processing times at hosts.
    Host = 7,
    /// Losses and jitter of links.
    Link = 8,
    /// Initial sequence numbers.
    Sequence = 9,
    /// For tests.
    Test = 10,
}

/// A stream of random numbers: 16 bytes, no allocation, the same on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    key: u64,
    counter: u64,
}

const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

impl Stream {
    /// The stream of `kind` for member `index` of `group` under `seed`.
    #[must_use]
    pub const fn new(seed: u64, kind: Kind, group: u32, index: u64) -> Self {
        let mut key = mix(seed.wrapping_add(GOLDEN));
        key = mix(key ^ mix(((kind as u64) << 32 | group as u64).wrapping_mul(GOLDEN)));
        key = mix(key ^ mix(index.wrapping_add(GOLDEN).wrapping_mul(GOLDEN)));
        Self { key: key | 1, counter: 0 }
    }

    /// The generator's key, for those who want to draw the same numbers elsewhere.
    #[must_use]
    pub const fn key(&self) -> u64 {
        self.key
    }

    /// A uniform 64-bit number.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let key = self.key;
        let mut x = self.counter.wrapping_mul(key);
        self.counter = self.counter.wrapping_add(1);
        let y = x;
        let z = y.wrapping_add(key);
        x = x.wrapping_mul(x).wrapping_add(y).rotate_left(32);
        x = x.wrapping_mul(x).wrapping_add(z).rotate_left(32);
        x = x.wrapping_mul(x).wrapping_add(y).rotate_left(32);
        x = x.wrapping_mul(x).wrapping_add(z);
        let t = x;
        x = x.rotate_left(32);
        t ^ (x.wrapping_mul(x).wrapping_add(y) >> 32)
    }

    /// A uniform 32-bit number.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        (self.next_u64() >> 32) as u32
    }

    /// A uniform number strictly between 0 and 1 (52 bits, offset by half a step, so that neither
    /// end can come out), fit for the inverse of a distribution function.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        ((self.next_u64() >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
    }

    /// A uniform number in `0..bound` (Lemire's multiplication; the bias is below `bound`/2⁶⁴).
    /// Zero if `bound` is zero.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What this machine gave when the generator was written; every other must give the same.
    const KNOWN: u64 = 6_289_205_431_984_143_317;

    #[test]
    fn stream_is_determined_by_its_name() {
        let mut a = Stream::new(1, Kind::Test, 2, 3);
        let mut b = Stream::new(1, Kind::Test, 2, 3);
        let first = a.next_u64();
        assert_eq!(first, KNOWN);
        assert_eq!(first, b.next_u64());
        assert_ne!(first, a.next_u64());
    }

    #[test]
    fn stream_depends_on_every_part_of_its_name() {
        let base = Stream::new(1, Kind::Test, 2, 3).next_u64();
        assert_ne!(base, Stream::new(2, Kind::Test, 2, 3).next_u64());
        assert_ne!(base, Stream::new(1, Kind::User, 2, 3).next_u64());
        assert_ne!(base, Stream::new(1, Kind::Test, 3, 3).next_u64());
        assert_ne!(base, Stream::new(1, Kind::Test, 2, 4).next_u64());
    }

    #[test]
    fn draws_of_all_forms_are_of_the_upper_bits() {
        let mut stream = Stream::new(7, Kind::Test, 0, 1);
        for _ in 0..1000 {
            let drawn = stream.clone().next_u64();
            let (short, uniform) = (stream.clone().next_u32(), stream.uniform());
            assert_eq!(u64::from(short), drawn / (1 << 32));
            // In the middle of its step of 2⁻⁵².
            let steps = uniform * (1u64 << 52) as f64;
            assert_eq!((steps as u64, steps.fract()), (drawn / (1 << 12), 0.5));
        }
    }

    #[test]
    fn a_key_is_odd_and_another_for_each_member() {
        let key = |index| Stream::new(1, Kind::Test, 2, index).key();
        for index in 0..1000 {
            // Even ones would lose the counter's highest bit.
            assert_eq!(key(index) % 2, 1);
            assert_ne!(key(index), key(index + 1));
        }
    }

    #[test]
    fn uniform_has_the_right_moments_within_and_across_streams() {
        let n = 200_000u64;
        for across in [false, true] {
            let mut one = Stream::new(7, Kind::Test, 0, 0);
            let (mut sum, mut squares, mut lag, mut last) = (0.0, 0.0, 0.0, 0.5);
            for i in 0..n {
                let u =
                    if across { Stream::new(7, Kind::Test, 1, i).uniform() } else { one.uniform() };
                assert!(u > 0.0 && u < 1.0);
                sum += u;
                squares += u * u;
                lag += (u - 0.5) * (last - 0.5);
                last = u;
            }
            let n = n as f64;
            // Five standard deviations of each estimate.
            assert!((sum / n - 0.5).abs() < 5.0 * (1.0 / 12.0 / n).sqrt_());
            assert!((squares / n - 1.0 / 3.0).abs() < 5.0 * (4.0 / 45.0 / n).sqrt_());
            assert!((lag / n).abs() < 5.0 / 12.0 / n.sqrt_());
        }
    }

    trait Root {
        fn sqrt_(self) -> f64;
    }
    impl Root for f64 {
        fn sqrt_(self) -> f64 {
            libm::sqrt(self)
        }
    }

    #[test]
    fn below_stays_below_and_reaches_every_value() {
        let mut s = Stream::new(1, Kind::Test, 0, 0);
        let mut seen = [0u32; 7];
        for _ in 0..7000 {
            seen[s.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| n > 800 && n < 1200));
        assert_eq!(s.below(0), 0);
    }
}
