//! Sweeps over the stages of a step, and the error that is left.
//!
//! What a step that is longer than the shortest lag looks up of itself is first taken from the last
//! step's polynomials, which go on; afterwards the slope at its end is computed again by its own.
//! If that changes more than the tolerance allows, the stages are swept again by what the sweep
//! before left, and if it does not help, the step is taken again, no longer than the shortest lag
//! (Bellen and Zennaro, *Numerical Methods for Delay Differential Equations*, Oxford 2003, section
//! 3.3 on overlapping). While a lag has a break before it no step is longer than that.

use super::super::past::{Past, Trial};
use super::super::settings::Failure;
use super::super::system::System;
use super::{Solver, near};

/// What a step looks up of itself may move its end by this part of the tolerance.
const AGREED: f64 = 0.3;
/// Sweeps over the stages of a step until it agrees with itself, if its length is given.
const MOST_SWEEPS: u32 = 20;
/// Sweeps that are cheaper than shorter steps.
const SWEEPS: u32 = 2;

impl<S: System> Solver<S> {
    /// All stages of a step; by the last sweep's polynomials if `again`. Tells whether one looked
    /// beyond what is known; None if it looked at what is forgotten.
    pub(super) fn sweep(&mut self, step: f64, again: bool) -> Option<bool> {
        for (lag, cap) in self.caps.iter_mut().enumerate() {
            let next = self.breaks.next(lag).map_or(f64::INFINITY, |point| point - near(point));
            if *cap != next {
                *cap = next;
                self.cursors[lag].reset();
            }
        }
        self.sampled = false;
        let trial = Trial { row: &self.row, start: self.time, length: step };
        let past = Past::new(&self.history, &self.cursors, &self.caps, again.then_some(trial));
        let evaluations = self.stages.run(&self.system, self.time, &self.state, step, &past);
        self.work.evaluations += evaluations;
        (!past.astray()).then(|| past.beyond())
    }

    /// Sweeps over a step that looked at itself until it agrees with itself; its error then, or
    /// None if it does not.
    pub(super) fn agree(&mut self, step: f64) -> Result<Option<f64>, Failure> {
        let most = if self.settings.fixed.is_some() { MOST_SWEEPS } else { SWEEPS };
        let mut sweeps = 1;
        loop {
            self.extend(step);
            self.sample(step, true);
            let trial = Trial { row: &self.row, start: self.time, length: step };
            let past = Past::new(&self.history, &self.cursors, &self.caps, Some(trial));
            let sum = self.stages.again(&self.system, (self.time, step), &past);
            self.work.evaluations += 1;
            if self.relative(sum) <= AGREED {
                self.overlap.agreed();
                return self.error(step).map(Some);
            }
            if sweeps == most || self.sweep(step, true).is_none() {
                return Ok(None);
            }
            sweeps += 1;
        }
    }

    /// The root of the mean of squares whose sum is given, over the tolerance.
    fn relative(&self, sum: f64) -> f64 {
        libm::sqrt(sum / self.state.len() as f64) / self.settings.tolerance
    }

    /// The error of the step that was tried over what is allowed.
    pub(super) fn error(&self, step: f64) -> Result<f64, Failure> {
        let sum = self.stages.error(step);
        if sum.is_finite() {
            Ok(self.relative(sum).max(1e-10))
        } else if step > 1e-9 {
            Ok(f64::INFINITY)
        } else {
            Err(Failure::NotFinite(self.time))
        }
    }
}
