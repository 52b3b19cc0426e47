//! One step of a pair over flat arrays: its stages and the estimate of its error.

mod chunk;
mod extension;

use super::history::Polynomial;
use super::past::Past;
use super::system::System;
use super::tableau::{EXACT, Pair, STAGES};
use chunk::{Block, Chunk, WIDTH, larger, total, weighted};
use extension::Inside;

/// Relative differences of states below this may be rounding.
const ROUNDING: f64 = 1e-12;

/// The stages of a step that is being tried, by chunks of states; the last is filled up with zeros.
pub(super) struct Stages {
    states: usize,
    blocks: Vec<Block>,
    /// The state of the last stage; after all of them, the end of the step.
    end: Vec<Chunk>,
    /// Where a model writes slopes.
    slope: Vec<Chunk>,
    inside: Inside,
    /// Whether the first stage has the slopes at the step's beginning.
    fresh: bool,
    /// By which pair.
    pub pair: &'static Pair,
}

impl Stages {
    pub(super) fn new(scales: &[f64]) -> Self {
        let states = scales.len();
        let chunks = states.div_ceil(WIDTH);
        // What fills the last chunk up has no errors, relative to 1.
        let mut padded = vec![[1.0; WIDTH]; chunks];
        padded.as_flattened_mut()[..states].copy_from_slice(scales);
        Self {
            states,
            blocks: padded.into_iter().map(Block::new).collect(),
            end: vec![[0.0; WIDTH]; chunks],
            slope: vec![[0.0; WIDTH]; chunks],
            inside: Inside::new(chunks),
            fresh: false,
            pair: &EXACT,
        }
    }

    /// The state at the end of the step that was tried.
    pub(super) fn end(&self) -> &[f64] {
        &self.end.as_flattened()[..self.states]
    }

    /// The slope at the step's beginning is no longer what it was.
    pub(super) fn spoil(&mut self) {
        self.fresh = false;
    }

    /// The step counts: its last stage is the next one's first.
    pub(super) fn move_on(&mut self) {
        for block in &mut self.blocks {
            block.slopes[0] = block.slopes[STAGES - 1];
        }
    }

    /// Computes all stages of a step from `state` on; tells how many evaluations it took.
    pub(super) fn run<S: System>(
        &mut self,
        system: &S,
        time: f64,
        state: &[f64],
        step: f64,
        past: &Past<'_>,
    ) -> u64 {
        let first = usize::from(self.fresh);
        if !self.fresh {
            let slope = &mut self.slope.as_flattened_mut()[..self.states];
            system.slope(time, state, past, slope);
            self.keep(0);
            self.fresh = true;
        }
        for (block, state) in self.blocks.iter_mut().zip(state.chunks(WIDTH)) {
            block.begin[..state.len()].copy_from_slice(state);
        }
        let nodes = &self.pair.nodes;
        for (slope, block) in self.slope.iter_mut().zip(&self.blocks) {
            *slope = block.slopes[0];
        }
        self.stage::<1, S>(system, time + nodes[1] * step, step, past);
        self.stage::<2, S>(system, time + nodes[2] * step, step, past);
        self.stage::<3, S>(system, time + nodes[3] * step, step, past);
        self.stage::<4, S>(system, time + nodes[4] * step, step, past);
        self.stage::<5, S>(system, time + nodes[5] * step, step, past);
        for (block, y) in self.blocks.iter_mut().zip(&self.end) {
            block.before = *y;
        }
        self.stage::<6, S>(system, time + nodes[6] * step, step, past);
        self.keep(STAGES - 1);
        for (block, end) in self.blocks.iter_mut().zip(&self.end) {
            let errors = weighted(&self.pair.error, &block.slopes);
            for i in 0..WIDTH {
                let size = larger(larger(block.begin[i].abs(), end[i].abs()), block.scales[i]);
                block.weights[i] = 1.0 / size;
                block.errors[i] = errors[i] * block.weights[i];
            }
        }
        (STAGES - first) as u64
    }

    /// Stage `M`: its state and the slope there.
    fn stage<const M: usize, S: System>(
        &mut self,
        system: &S,
        time: f64,
        step: f64,
        past: &Past<'_>,
    ) {
        self.combine::<M>(step);
        self.evaluate(system, time, past);
    }

    /// The state of stage `M` from the slopes of the stages before it, of which the last is kept
    /// here.
    #[inline]
    fn combine<const M: usize>(&mut self, step: f64) {
        let by: [f64; M] = std::array::from_fn(|m| step * self.pair.stages[M][m]);
        for ((y, block), slope) in self.end.iter_mut().zip(&mut self.blocks).zip(&self.slope) {
            block.slopes[M - 1] = *slope;
            *y = block.by(&by);
        }
    }

    /// The slope in the state of the last stage.
    fn evaluate<S: System>(&mut self, system: &S, time: f64, past: &Past<'_>) {
        let slope = &mut self.slope.as_flattened_mut()[..self.states];
        system.slope(time, &self.end.as_flattened()[..self.states], past, slope);
    }

    /// Keeps the slope as that of a stage.
    fn keep(&mut self, stage: usize) {
        for (block, slope) in self.blocks.iter_mut().zip(&self.slope) {
            block.slopes[stage] = *slope;
        }
    }

    /// Computes the slope at the step's end again, by another past. Returns by how much a state
    /// would move in the step if all its slopes changed so, as [`Self::error`] measures it.
    pub(super) fn again<S: System>(
        &mut self,
        system: &S,
        (time, step): (f64, f64),
        past: &Past<'_>,
    ) -> f64 {
        self.evaluate(system, time + step, past);
        let mut sum = [0.0; WIDTH];
        for (block, slope) in self.blocks.iter_mut().zip(&self.slope) {
            for i in 0..WIDTH {
                let change = (slope[i] - block.slopes[STAGES - 1][i]) * block.weights[i];
                sum[i] += change * change;
                block.errors[i] += self.pair.error[STAGES - 1] * change;
            }
            block.slopes[STAGES - 1] = *slope;
        }
        step * step * total(sum)
    }

    /// How fast a small difference of states dies, per second: by how much the slopes of the last
    /// two stages, which lie at the same time, differ for how much their states do (Hairer and
    /// Wanner, *Solving Ordinary Differential Equations II*, IV.2). None if rounding is all the
    /// difference.
    pub(super) fn rate(&self) -> Option<f64> {
        let (mut apart, mut steeper) = ([0.0; WIDTH], [0.0; WIDTH]);
        for (block, end) in self.blocks.iter().zip(&self.end) {
            let [.., before, last] = &block.slopes;
            for i in 0..WIDTH {
                let slope = (last[i] - before[i]) * block.weights[i];
                let state = (end[i] - block.before[i]) * block.weights[i];
                steeper[i] += slope * slope;
                apart[i] += state * state;
            }
        }
        let apart = total(apart);
        let rounding = self.states as f64 * ROUNDING * ROUNDING;
        (apart > rounding).then(|| libm::sqrt(total(steeper) / apart))
    }

    /// The sum of the squares of the states' errors, relative to the larger of a state and its
    /// scale.
    pub(super) fn error(&self, step: f64) -> f64 {
        let mut sum = [0.0; WIDTH];
        for block in &self.blocks {
            for (sum, error) in sum.iter_mut().zip(&block.errors) {
                *sum += error * error;
            }
        }
        step * step * total(sum)
    }

    /// The polynomials of the states over the step.
    pub(super) fn extend(&mut self, step: f64, dense: &mut [Polynomial]) {
        self.inside.extend(step, self.pair, (&self.blocks, &self.end), dense);
    }

    /// The polynomials have become others: computes the states between their ends again.
    pub(super) fn reread(&mut self, dense: &[Polynomial]) {
        self.inside.reread(dense);
    }

    /// The states after 1 to 3 quarters of the step.
    pub(super) fn middle(&self, quarters: usize) -> &[f64] {
        &self.inside.middle(quarters)[..self.states]
    }

    /// How far from their beginning the states can be anywhere in the step.
    pub(super) fn reach(&self) -> &[f64] {
        &self.inside.reach()[..self.states]
    }
}
