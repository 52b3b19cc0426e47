//! The step that is tried between its ends: its polynomials, and those of signals through samples.

use super::super::history::{Polynomial, horner, through};
use super::super::system::System;
use super::{NODES, Solver, near};

impl<S: System> Solver<S> {
    /// The continuous extension of the step that was tried.
    pub(super) fn extend(&mut self, step: f64) {
        self.stages.extend(step, &mut self.row[..self.state.len()]);
    }

    /// Ends the continuous extension at θ of the step: the same polynomial of a shorter step.
    pub(super) fn shorten(&mut self, theta: f64) {
        for row in &mut self.row[..self.state.len()] {
            let mut power = 1.0;
            for c in row {
                *c *= power;
                power *= theta;
            }
        }
        self.stages.reread(&self.row[..self.state.len()]);
        // The last stage was at the old end.
        self.stages.spoil();
        self.sampled = false;
    }

    /// Puts the states at θ of the step in `inside`.
    pub(super) fn at(&mut self, theta: f64) {
        evaluate(&self.row, theta, &mut self.inside);
    }

    /// The polynomials of the signals over the step, through five points; those of the states are
    /// known.
    pub(super) fn sample(&mut self, step: f64, whole: bool) {
        let width = self.system.signals();
        let all = self.time + step + near(self.time) >= self.shown_from;
        let wanted = self.counted(all);
        let known = self.signalled >= wanted;
        for (node, theta) in NODES.iter().enumerate().skip(usize::from(known)) {
            let signals = &mut self.samples[node * width..(node + 1) * width];
            let time = self.time + theta * step;
            match node {
                0 => self.system.signal(time, &self.state, all, signals),
                4 if whole => self.system.signal(time, self.stages.end(), all, signals),
                1..=3 => {
                    self.system.signal(time, self.stages.middle(node), all, signals);
                }
                _ => {
                    evaluate(&self.row, 1.0, &mut self.inside);
                    self.system.signal(time, &self.inside, all, signals);
                }
            }
        }
        self.signalled = self.signalled.max(wanted);
        let polynomials = &mut self.row[self.state.len()..][..wanted];
        for (signal, polynomial) in polynomials.iter_mut().enumerate() {
            let samples = &self.samples;
            *polynomial = through(std::array::from_fn(|node| samples[node * width + signal]));
        }
        (self.sampled, self.shown) = (true, all);
    }
}

/// The states at θ of a step.
#[inline]
pub(super) fn evaluate(row: &[Polynomial], theta: f64, states: &mut [f64]) {
    for (y, c) in states.iter_mut().zip(row) {
        *y = horner(c, theta);
    }
}
