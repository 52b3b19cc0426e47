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
