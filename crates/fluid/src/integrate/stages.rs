//! One step of the pair over flat arrays: its stages, the estimate of its error, and its continuous
//! extension.

use super::history::COEFFICIENTS;
use super::past::Past;
use super::system::System;
use super::tableau::{DENSE, ERROR_WEIGHTS, NODES, STAGE_WEIGHTS, STAGES};

/// Relative differences of states below this may be rounding.
const ROUNDING: f64 = 1e-12;

/// States that are computed together: eight, so that a small model has one chunk.
type Chunk = [f64; WIDTH];
const WIDTH: usize = 8;

/// The stages of a step that is being tried, by chunks of states; the last is filled up with zeros.
pub struct Stages {
    states: usize,
    /// The state at the step's beginning.
    begin: Vec<Chunk>,
    /// For each chunk its slopes in all stages.
    slopes: Vec<[Chunk; STAGES]>,
    /// The state of the last stage; after all of them, the end of the step.
    end: Vec<Chunk>,
    /// Where a model writes slopes.
    slope: Vec<Chunk>,
    /// From which value on a state's relative error counts.
    scales: Vec<Chunk>,
    /// One over what each state's error is relative to: the larger of its two ends and its scale.
    weights: Vec<Chunk>,
    /// Whether the first stage has the slopes at the step's beginning.
    fresh: bool,
}

/// The greater of two that are numbers; `f64::max` asks whether they are.
#[inline]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The sum of a chunk.
#[inline]
fn total(sums: Chunk) -> f64 {
    sums.iter().sum()
}

/// Slopes with weights.
#[inline]
fn weighted<const M: usize>(weights: &[f64], slopes: &[Chunk; STAGES]) -> Chunk {
    let mut sum = slopes[0].map(|slope| weights[0] * slope);
    for m in 1..M {
        for i in 0..WIDTH {
            sum[i] += weights[m] * slopes[m][i];
        }
    }
    sum
}

impl Stages {
    pub fn new(scales: &[f64]) -> Self {
        let states = scales.len();
        let row = || vec![[0.0; WIDTH]; states.div_ceil(WIDTH)];
        // What fills the last chunk up has no errors, relative to 1.
        let mut padded = vec![[1.0; WIDTH]; states.div_ceil(WIDTH)];
        padded.as_flattened_mut()[..states].copy_from_slice(scales);
        Self {
            states,
            begin: row(),
            slopes: vec![[[0.0; WIDTH]; STAGES]; states.div_ceil(WIDTH)],
            end: row(),
            slope: row(),
            scales: padded,
            weights: row(),
            fresh: false,
        }
    }

    /// The state at the end of the step that was tried.
    pub fn end(&self) -> &[f64] {
        &self.end.as_flattened()[..self.states]
    }

    /// The slope at the step's beginning is no longer what it was.
    pub fn spoil(&mut self) {
        self.fresh = false;
    }

    /// The step counts: its last stage is the next one's first.
    pub fn move_on(&mut self) {
        for slopes in &mut self.slopes {
            slopes[0] = slopes[STAGES - 1];
        }
    }

    /// Computes all stages of a step from `state` on; tells how many evaluations it took.
    pub fn run<S: System>(
        &mut self,
        system: &S,
        time: f64,
        state: &[f64],
        step: f64,
        past: &Past<'_>,
    ) -> u64 {
        let first = usize::from(self.fresh);
        if self.fresh {
            for (slope, slopes) in self.slope.iter_mut().zip(&self.slopes) {
                *slope = slopes[0];
            }
        } else {
            let slope = &mut self.slope.as_flattened_mut()[..self.states];
            system.slope(time, state, past, slope);
            self.fresh = true;
        }
        self.begin.as_flattened_mut()[..state.len()].copy_from_slice(state);
        for (stage, node) in NODES.iter().enumerate().skip(1) {
            match stage {
                1 => self.combine::<1>(step),
                2 => self.combine::<2>(step),
                3 => self.combine::<3>(step),
                4 => self.combine::<4>(step),
                5 => self.combine::<5>(step),
                _ => self.combine::<6>(step),
            }
            self.evaluate(system, time + node * step, past);
        }
        self.keep(STAGES - 1);
        for (i, weights) in self.weights.iter_mut().enumerate() {
            let (begin, end, scales) = (&self.begin[i], &self.end[i], &self.scales[i]);
            for i in 0..WIDTH {
                weights[i] = 1.0 / larger(larger(begin[i].abs(), end[i].abs()), scales[i]);
            }
        }
        (STAGES - first) as u64
    }

    /// The state of stage `M` from the slopes of the stages before it, of which the last is kept here.
    #[inline]
    fn combine<const M: usize>(&mut self, step: f64) {
        let by: [f64; M] = std::array::from_fn(|m| step * STAGE_WEIGHTS[M][m]);
        let states = self.end.iter_mut().zip(&self.begin);
        for ((y, from), (slopes, slope)) in states.zip(self.slopes.iter_mut().zip(&self.slope)) {
            slopes[M - 1] = *slope;
            let sum = weighted::<M>(&by, slopes);
            for i in 0..WIDTH {
                y[i] = from[i] + sum[i];
            }
        }
    }

    /// The slope in the state of the last stage.
    fn evaluate<S: System>(&mut self, system: &S, time: f64, past: &Past<'_>) {
        let slope = &mut self.slope.as_flattened_mut()[..self.states];
        system.slope(time, &self.end.as_flattened()[..self.states], past, slope);
    }

    /// Keeps the slope as that of a stage.
    fn keep(&mut self, stage: usize) {
        for (slopes, slope) in self.slopes.iter_mut().zip(&self.slope) {
            slopes[stage] = *slope;
        }
    }

    /// Computes the slope at the step's end again, by another past. Returns by how much a state
    /// would move in the step if all its slopes changed so, as [`Self::error`] measures it.
    pub fn again<S: System>(
        &mut self,
        system: &S,
        (time, step): (f64, f64),
        past: &Past<'_>,
    ) -> f64 {
        self.evaluate(system, time + step, past);
        let mut sum = [0.0; WIDTH];
        for ((now, slopes), weights) in self.slope.iter().zip(&self.slopes).zip(&self.weights) {
            for i in 0..WIDTH {
                let relative = (now[i] - slopes[STAGES - 1][i]) * weights[i];
                sum[i] += relative * relative;
            }
        }
        self.keep(STAGES - 1);
        step * step * total(sum)
    }

    /// How fast a small difference of states dies, per second: by how much the slopes of the last two
    /// stages, which lie at the same time, differ for how much their states do (Hairer and Wanner,
    /// *Solving Ordinary Differential Equations II*, IV.2). None if rounding is all the difference.
    pub fn rate(&self, step: f64) -> Option<f64> {
        let [before, last] = [STAGES - 2, STAGES - 1];
        let by: [f64; STAGES - 1] =
            std::array::from_fn(|m| STAGE_WEIGHTS[last][m] - STAGE_WEIGHTS[before][m]);
        let (mut apart, mut steeper) = ([0.0; WIDTH], [0.0; WIDTH]);
        for (slopes, weights) in self.slopes.iter().zip(&self.weights) {
            let states = weighted::<{ STAGES - 1 }>(&by, slopes);
            for i in 0..WIDTH {
                let slope = (slopes[last][i] - slopes[before][i]) * weights[i];
                let state = states[i] * weights[i];
                steeper[i] += slope * slope;
                apart[i] += state * state;
            }
        }
        let apart = step * step * total(apart);
        let rounding = self.states as f64 * ROUNDING * ROUNDING;
        (apart > rounding).then(|| libm::sqrt(total(steeper) / apart))
    }

    /// The sum of the squares of the states' errors, relative to the larger of a state and its
    /// scale.
    pub fn error(&self, step: f64) -> f64 {
        let mut sum = [0.0; WIDTH];
        for (slopes, weights) in self.slopes.iter().zip(&self.weights) {
            let error = weighted::<STAGES>(&ERROR_WEIGHTS, slopes);
            for i in 0..WIDTH {
                let relative = error[i] * weights[i];
                sum[i] += relative * relative;
            }
        }
        step * step * total(sum)
    }

    /// The continuous extension, in the form of Hairer, Nørsett and Wanner (*Solving Ordinary
    /// Differential Equations I*, II.6): both ends, both slopes there, and one sum more.
    pub fn extend(&self, step: f64, dense: &mut [[f64; COEFFICIENTS]]) {
        let highest: [f64; STAGES] = std::array::from_fn(|stage| DENSE[stage][3]);
        let chunks = self.begin.iter().zip(&self.end).zip(&self.slopes);
        for (dense, ((begin, end), slopes)) in dense.chunks_mut(WIDTH).zip(chunks) {
            let sum = weighted::<STAGES>(&highest, slopes);
            let mut parts = [[0.0; WIDTH]; COEFFICIENTS];
            for i in 0..WIDTH {
                let last = step * sum[i];
                let rise = end[i] - begin[i];
                let bend = step * slopes[0][i] - rise;
                let turn = rise - step * slopes[STAGES - 1][i] - bend;
                parts[0][i] = begin[i];
                parts[1][i] = rise + bend;
                parts[2][i] = turn + last - bend;
                parts[3][i] = -turn - 2.0 * last;
                parts[4][i] = last;
            }
            for (i, row) in dense.iter_mut().enumerate() {
                *row = parts.map(|coefficient| coefficient[i]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::history::horner;

    #[test]
    fn the_extension_is_that_of_the_tableau() {
        // More states than fit in a chunk.
        let mut stages = Stages::new(&[1.0; 6]);
        for stage in 0..STAGES {
            for (number, slope) in stages.slope.as_flattened_mut()[..6].iter_mut().enumerate() {
                *slope = libm::sin(1.7 * number as f64 + 0.3 + stage as f64);
            }
            stages.keep(stage);
        }
        let (state, step) = ([0.4, -3.0, 1.0, 0.0, 7.0, -0.1], 0.37);
        stages.begin.as_flattened_mut()[..6].copy_from_slice(&state);
        stages.slope[0] = stages.slopes[0][5];
        stages.combine::<6>(step);
        let mut dense = [[0.0; COEFFICIENTS]; 6];
        stages.extend(step, &mut dense);
        for (i, row) in dense.iter().enumerate() {
            for theta in [0.0, 0.2, 0.5, 0.9, 1.0] {
                let mut exact = state[i];
                for (stage, weights) in DENSE.iter().enumerate() {
                    let weight = (0..4).rev().fold(0.0, |w, j| (w + weights[j]) * theta);
                    exact += step * weight * stages.slopes[i / WIDTH][stage][i % WIDTH];
                }
                assert!((horner(row, theta) - exact).abs() < 1e-14, "{theta}");
            }
        }
    }
}
