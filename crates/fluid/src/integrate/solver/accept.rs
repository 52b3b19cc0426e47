//! A step that counts: it becomes past, and what nobody can look at any more is forgotten.

use super::super::past::Cursor;
use super::super::system::System;
use super::Solver;
use super::extension::evaluate;

/// After so many steps what is not needed any more is forgotten.
const FORGETTING: u64 = 32;

impl<S: System> Solver<S> {
    /// The step counts. Unless it is a whole one its end is that of its polynomial.
    pub(super) fn accept(&mut self, step: f64, limit: f64, whole: bool) {
        if !self.sampled {
            self.sample(step, whole);
        }
        if whole {
            self.state.copy_from_slice(self.stages.end());
        } else {
            evaluate(&self.row, 1.0, &mut self.state);
        }
        let kept = self.state.len() + self.system.kept();
        self.history.push(self.time, step, &self.row[..kept]);
        self.last = Some((self.time, step));
        self.overlap.stepped(if whole { self.stages.rate() } else { None });
        let end = self.time + step;
        self.time = if (limit - end).abs() <= 1e-12 * limit.abs().max(1.0) { limit } else { end };
        self.samples.copy_within(4 * self.system.signals().., 0);
        self.signalled = self.counted(self.shown);
        self.stages.move_on();
        self.work.steps += 1;
        self.idle_events = 0;
        self.forget();
    }

    /// Keeps what lags can still look at: four times the longest of now.
    fn forget(&mut self) {
        if !self.work.steps.is_multiple_of(FORGETTING) {
            return;
        }
        let oldest = (0..self.cursors.len())
            .map(|lag| self.system.past_time(lag, self.time, &self.state))
            .fold(self.time, f64::min);
        if self.history.forget_before(self.time - 4.0 * (self.time - oldest) - 1.0) {
            self.cursors.iter().for_each(Cursor::reset);
        }
    }
}
