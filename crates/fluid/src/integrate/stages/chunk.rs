//! States that are computed together.

use super::super::tableau::STAGES;

/// States that are computed together: eight, so that a small model has one chunk.
pub(super) type Chunk = [f64; WIDTH];
pub(super) const WIDTH: usize = 8;

/// What is known of a chunk of states in the step that is tried.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The states at the step's beginning.
    pub begin: Chunk,
    /// Their slopes in all stages.
    pub slopes: [Chunk; STAGES],
    /// The states of the last stage but one, which lies at the same time as the last.
    pub before: Chunk,
    /// From which value on a state's relative error counts.
    pub scales: Chunk,
    /// One over what each state's error is relative to: the larger of its two ends and its scale.
    pub weights: Chunk,
    /// The estimates of the errors, relative to that, of a step of length 1.
    pub errors: Chunk,
}

impl Block {
    pub(super) fn new(scales: Chunk) -> Self {
        let none = [0.0; WIDTH];
        Self {
            begin: none,
            slopes: [none; STAGES],
            before: none,
            scales,
            weights: none,
            errors: none,
        }
    }

    /// The states from the step's beginning on by slopes with weights.
    #[inline]
    pub(super) fn by<const M: usize>(&self, weights: &[f64; M]) -> Chunk {
        let mut y = weighted::<M>(weights, &self.slopes);
        for (y, begin) in y.iter_mut().zip(&self.begin) {
            *y += begin;
        }
        y
    }
}

/// Slopes with weights.
#[inline]
pub(super) fn weighted<const M: usize>(weights: &[f64; M], slopes: &[Chunk; STAGES]) -> Chunk {
    let mut sum = slopes[0].map(|slope| weights[0] * slope);
    for m in 1..M {
        for i in 0..WIDTH {
            sum[i] += weights[m] * slopes[m][i];
        }
    }
    sum
}

/// The greater of two that are numbers; `f64::max` asks whether they are.
#[inline]
pub(super) fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The sum of a chunk.
#[inline]
pub(super) fn total(sums: Chunk) -> f64 {
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_every_state_and_every_slope_once() {
        let powers: Chunk = std::array::from_fn(|i| f64::from(1 << i));
        assert_eq!(total(powers), 255.0);
        let slopes: [Chunk; STAGES] =
            std::array::from_fn(|m| powers.map(|p| p + 1000.0 * m as f64));
        let by = |weights: &[f64; 3], i: usize| {
            let stages = weights.iter().enumerate();
            stages.map(|(m, weight)| weight * (powers[i] + 1000.0 * m as f64)).sum::<f64>()
        };
        let weights = [0.5, -2.0, 3.0];
        let mut block = Block::new(powers);
        (block.slopes, block.begin) = (slopes, [7.0; WIDTH]);
        for i in 0..WIDTH {
            assert_eq!(weighted(&weights, &slopes)[i], by(&weights, i));
            assert_eq!(block.by(&weights)[i], 7.0 + by(&weights, i));
        }
        assert_eq!((larger(1.0, 2.0), larger(2.0, 1.0)), (2.0, 2.0));
    }
}
