//! The continuous extension of a step, in the form of Hairer, Nørsett and Wanner (*Solving Ordinary
//! Differential Equations I*, II.6): both ends, both slopes there, and one sum more.

use super::super::history::{COEFFICIENTS, Polynomial, horner};
use super::super::tableau::{Pair, STAGES};
use super::chunk::{Block, Chunk, WIDTH, weighted};

/// Where between its ends a step is looked at.
const QUARTERS: [f64; 3] = [0.25, 0.5, 0.75];

/// The extension between its ends.
pub(super) struct Inside {
    /// The states at a quarter, a half and three quarters.
    middles: [Vec<Chunk>; 3],
    /// How far from the step's beginning the states can be in it.
    reach: Vec<Chunk>,
}

impl Inside {
    pub(super) fn new(chunks: usize) -> Self {
        let row = || vec![[0.0; WIDTH]; chunks];
        Self { middles: std::array::from_fn(|_| row()), reach: row() }
    }

    /// The polynomials of the states over a step by `pair` whose stages are `blocks`, and `ends`
    /// the states at its end.
    pub(super) fn extend(
        &mut self,
        step: f64,
        pair: &Pair,
        (blocks, ends): (&[Block], &[Chunk]),
        dense: &mut [Polynomial],
    ) {
        let ends = blocks.iter().zip(ends);
        for (number, (dense, (block, end))) in dense.chunks_mut(WIDTH).zip(ends).enumerate() {
            let sum = weighted(&pair.highest, &block.slopes);
            let mut parts = [[0.0; WIDTH]; COEFFICIENTS];
            let mut reach = [0.0; WIDTH];
            for i in 0..WIDTH {
                let last = step * sum[i];
                let rise = end[i] - block.begin[i];
                let first = step * block.slopes[0][i];
                let bend = first - rise;
                let turn = rise - step * block.slopes[STAGES - 1][i] - bend;
                parts[0][i] = block.begin[i];
                parts[1][i] = first;
                parts[2][i] = turn + last - bend;
                parts[3][i] = -turn - 2.0 * last;
                parts[4][i] = last;
                reach[i] = parts[1][i].abs() + parts[2][i].abs();
                reach[i] += parts[3][i].abs() + parts[4][i].abs();
            }
            self.reach[number] = reach;
            for (middle, theta) in self.middles.iter_mut().zip(QUARTERS) {
                let mut y = parts[COEFFICIENTS - 1];
                for part in parts[..COEFFICIENTS - 1].iter().rev() {
                    for i in 0..WIDTH {
                        y[i] = y[i] * theta + part[i];
                    }
                }
                middle[number] = y;
            }
            for (i, row) in dense.iter_mut().enumerate() {
                *row = parts.map(|coefficient| coefficient[i]);
            }
        }
    }

    /// The polynomials have become others: computes the states between their ends again.
    pub(super) fn reread(&mut self, dense: &[Polynomial]) {
        for (middle, theta) in self.middles.iter_mut().zip(QUARTERS) {
            for (y, row) in middle.as_flattened_mut().iter_mut().zip(dense) {
                *y = horner(row, theta);
            }
        }
    }

    /// The states after 1 to 3 quarters of the step, and what fills the last chunk up.
    pub(super) fn middle(&self, quarters: usize) -> &[f64] {
        self.middles[quarters - 1].as_flattened()
    }

    /// How far from their beginning the states can be anywhere in the step, and what fills the last
    /// chunk up.
    pub(super) fn reach(&self) -> &[f64] {
        self.reach.as_flattened()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::tableau::{EXACT, STEADY};

    #[test]
    fn the_extension_is_exact_for_polynomials_of_fourth_degree() {
        // More states than fit in a chunk; in each the slope at the nodes is that of its
        // polynomial.
        let exact: [Polynomial; 10] = std::array::from_fn(|i| {
            std::array::from_fn(|k| libm::sin(1.7 * i as f64 + 0.3 + k as f64))
        });
        let slope = |c: &Polynomial, theta: f64| {
            ((4.0 * c[4] * theta + 3.0 * c[3]) * theta + 2.0 * c[2]) * theta + c[1]
        };
        let step = 0.37;
        for pair in [&EXACT, &STEADY] {
            let mut blocks = vec![Block::new([1.0; WIDTH]); 2];
            for (i, c) in exact.iter().enumerate() {
                let block = &mut blocks[i / WIDTH];
                block.begin[i % WIDTH] = c[0];
                for (stage, node) in pair.nodes.iter().enumerate() {
                    block.slopes[stage][i % WIDTH] = slope(c, *node) / step;
                }
            }
            let by: [f64; STAGES - 1] = std::array::from_fn(|m| step * pair.stages[STAGES - 1][m]);
            let ends: Vec<Chunk> = blocks.iter().map(|block| block.by(&by)).collect();
            let mut inside = Inside::new(2);
            let mut dense = [[0.0; COEFFICIENTS]; 10];
            inside.extend(step, pair, (&blocks, &ends), &mut dense);
            for (i, (row, c)) in dense.iter().zip(&exact).enumerate() {
                for theta in [0.0, 0.25, 0.5, 0.75, 0.9, 1.0] {
                    let y = horner(row, theta);
                    assert!((y - horner(c, theta)).abs() < 1e-13, "{theta}");
                    assert!((y - row[0]).abs() <= inside.reach()[i]);
                }
                for quarters in 1..4 {
                    let y = horner(row, 0.25 * quarters as f64);
                    assert_eq!(inside.middle(quarters)[i], y);
                }
            }
        }
    }
}
