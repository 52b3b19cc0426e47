//! One step of the pair over flat arrays: its stages, the estimate of its error, and its continuous
//! extension.

use super::history::{COEFFICIENTS, Past};
use super::system::System;
use super::tableau::{DENSE, ERROR_WEIGHTS, NODES, STAGE_WEIGHTS, STAGES};

/// Relative differences of states below this may be rounding.
const ROUNDING: f64 = 1e-12;

/// The stages of a step that is being tried.
pub struct Stages {
    states: usize,
    /// Slopes: a row of all states for each stage.
    slopes: Vec<f64>,
    /// The state of the last stage; after all of them, the end of the step.
    end: Vec<f64>,
    /// The slope at the end by another past.
    replaced: Vec<f64>,
    /// Whether the first row is the slope at the step's beginning.
    fresh: bool,
}

impl Stages {
    pub fn new(states: usize) -> Self {
        let slopes = vec![0.0; states * STAGES];
        let (end, replaced) = (vec![0.0; states], vec![0.0; states]);
        Self { states, slopes, end, replaced, fresh: false }
    }

    /// The state at the end of the step that was tried.
    pub fn end(&self) -> &[f64] {
        &self.end
    }

    /// The slope at the step's beginning is no longer what it was.
    pub fn spoil(&mut self) {
        self.fresh = false;
    }

    /// The step counts: its last stage is the next one's first.
    pub fn move_on(&mut self) {
        let (first, rest) = self.slopes.split_at_mut(self.states);
        first.copy_from_slice(&rest[(STAGES - 2) * self.states..]);
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
        let n = self.states;
        let first = usize::from(self.fresh);
        if !self.fresh {
            system.slope(time, state, past, &mut self.slopes[..n]);
            self.fresh = true;
        }
        for (stage, node) in NODES.iter().enumerate().skip(1) {
            match stage {
                1 => self.combine::<1>(stage, state, step),
                2 => self.combine::<2>(stage, state, step),
                3 => self.combine::<3>(stage, state, step),
                4 => self.combine::<4>(stage, state, step),
                5 => self.combine::<5>(stage, state, step),
                _ => self.combine::<6>(stage, state, step),
            }
            let slope = &mut self.slopes[stage * n..(stage + 1) * n];
            system.slope(time + node * step, &self.end, past, slope);
        }
        (STAGES - first) as u64
    }

    /// Computes the slope at the step's end again, by another past. Returns by how much a state
    /// would move in the step if all its slopes changed so, as [`Self::error`] measures it.
    pub fn again<S: System>(
        &mut self,
        system: &S,
        state: &[f64],
        scales: &[f64],
        (time, step): (f64, f64),
        past: &Past<'_>,
    ) -> f64 {
        let n = self.states;
        let last = &mut self.slopes[(STAGES - 1) * n..];
        let before = &mut self.replaced;
        before.copy_from_slice(last);
        system.slope(time + step, &self.end, past, last);
        let mut sum = 0.0;
        for i in 0..n {
            let size = state[i].abs().max(self.end[i].abs()).max(scales[i]);
            let relative = step * (last[i] - before[i]) / size;
            sum += relative * relative;
        }
        sum
    }

    /// How fast a small difference of states dies, per second: by how much the slopes of the last two
    /// stages, which lie at the same time, differ for how much their states do (Hairer and Wanner,
    /// *Solving Ordinary Differential Equations II*, IV.2). None if rounding is all the difference.
    pub fn rate(&self, state: &[f64], scales: &[f64], step: f64) -> Option<f64> {
        let n = self.states;
        let [before, last] = [&STAGE_WEIGHTS[STAGES - 2], &STAGE_WEIGHTS[STAGES - 1]];
        let rows: [&[f64]; STAGES] = std::array::from_fn(|m| &self.slopes[m * n..(m + 1) * n]);
        let (mut slopes, mut states) = (0.0, 0.0);
        for i in 0..n {
            let size = state[i].abs().max(self.end[i].abs()).max(scales[i]);
            let mut apart = 0.0;
            for m in 0..STAGES - 1 {
                apart += (last[m] - before[m]) * rows[m][i];
            }
            let (slope, apart) = ((rows[STAGES - 1][i] - rows[STAGES - 2][i]) / size, apart / size);
            slopes += slope * slope;
            states += step * step * apart * apart;
        }
        (states > n as f64 * ROUNDING * ROUNDING).then(|| libm::sqrt(slopes / states))
    }

    /// The state of a stage from the `M` slopes before it.
    #[inline]
    fn combine<const M: usize>(&mut self, stage: usize, state: &[f64], step: f64) {
        let n = self.states;
        let by: [f64; M] = std::array::from_fn(|m| step * STAGE_WEIGHTS[stage][m]);
        let rows: [&[f64]; M] = std::array::from_fn(|m| &self.slopes[m * n..(m + 1) * n]);
        for (i, (y, from)) in self.end.iter_mut().zip(state).enumerate() {
            let mut sum = 0.0;
            for (by, row) in by.iter().zip(&rows) {
                sum += by * row[i];
            }
            *y = from + sum;
        }
    }

    /// The sum of the squares of the states' errors, relative to the larger of a state and its
    /// scale.
    pub fn error(&self, state: &[f64], scales: &[f64], step: f64) -> f64 {
        let n = self.states;
        let rows: [&[f64]; STAGES] = std::array::from_fn(|m| &self.slopes[m * n..(m + 1) * n]);
        let mut sum = 0.0;
        for i in 0..n {
            let mut error = 0.0;
            for stage in [0, 2, 3, 4, 5, 6] {
                error += ERROR_WEIGHTS[stage] * rows[stage][i];
            }
            let size = state[i].abs().max(self.end[i].abs()).max(scales[i]);
            let relative = step * error / size;
            sum += relative * relative;
        }
        sum
    }

    /// The continuous extension, in the form of Hairer, Nørsett and Wanner (*Solving Ordinary
    /// Differential Equations I*, II.6): both ends, both slopes there, and one sum more.
    pub fn extend(&self, state: &[f64], step: f64, dense: &mut [[f64; COEFFICIENTS]]) {
        let n = self.states;
        let rows: [&[f64]; STAGES] = std::array::from_fn(|m| &self.slopes[m * n..(m + 1) * n]);
        for (i, row) in dense.iter_mut().enumerate() {
            let mut sum = 0.0;
            for stage in [0, 2, 3, 4, 5, 6] {
                sum += DENSE[stage][3] * rows[stage][i];
            }
            let last = step * sum;
            let rise = self.end[i] - state[i];
            let bend = step * rows[0][i] - rise;
            let turn = rise - step * rows[STAGES - 1][i] - bend;
            *row = [state[i], rise + bend, turn + last - bend, -turn - 2.0 * last, last];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::integrate::history::horner;

    #[test]
    fn the_extension_is_that_of_the_tableau() {
        let mut stages = Stages::new(2);
        for (number, slope) in stages.slopes.iter_mut().enumerate() {
            *slope = libm::sin(1.7 * number as f64 + 0.3);
        }
        let (state, step) = ([0.4, -3.0], 0.37);
        stages.combine::<6>(6, &state, step);
        let mut dense = [[0.0; COEFFICIENTS]; 2];
        stages.extend(&state, step, &mut dense);
        for (i, row) in dense.iter().enumerate() {
            for theta in [0.0, 0.2, 0.5, 0.9, 1.0] {
                let mut exact = state[i];
                for (stage, weights) in DENSE.iter().enumerate() {
                    let weight = (0..4).rev().fold(0.0, |w, j| (w + weights[j]) * theta);
                    exact += step * weight * stages.slopes[2 * stage + i];
                }
                assert!((horner(row, theta) - exact).abs() < 1e-14, "{theta}");
            }
        }
    }
}
