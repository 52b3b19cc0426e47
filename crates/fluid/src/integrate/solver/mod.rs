//! The method of steps: an embedded Runge-Kutta pair over a dense past, with steps that end where
//! something bends.
//!
//! A step is tried, its error estimated, and then looked through for the first guard that falls
//! below zero and the first break that some lag passes. Up to there the past is seen as it was
//! before the break, so that the step is smooth; it ends there, its polynomial being shortened.

mod accept;
mod advance;
mod events;
mod extension;
mod sweep;
mod turns;

use super::breaks::{Breaks, FEW};
use super::control::Control;
use super::history::{COEFFICIENTS, History, Polynomial};
use super::overlap::Overlap;
use super::past::Cursor;
use super::settings::{Settings, Work};
use super::stages::Stages;
use super::system::System;

/// Where in a step signals are sampled.
const NODES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// What rounding may be of times like this one.
fn near(time: f64) -> f64 {
    1e-11 * time.abs().max(1.0)
}

/// What ends a step before its time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Guard(usize),
    /// A lag is at a break that steps end at.
    Lag(usize),
    /// A lag is at a bend that was too much for the step.
    Bend(usize),
}

/// A system on its way through time.
pub struct Solver<S> {
    system: S,
    settings: Settings,
    time: f64,
    state: Vec<f64>,
    control: Control,
    overlap: Overlap,
    history: History,
    /// Breaks at which steps end.
    breaks: Breaks,
    /// Other bends; none if steps end at all of them.
    bends: Option<Breaks>,
    /// For each lag its next break, or what rounding leaves before it.
    caps: Vec<f64>,
    /// Signals at a moment at which something changes.
    signals: Vec<f64>,
    cursors: Vec<Cursor>,
    stages: Stages,
    /// The mode or the state has changed since guards were looked at last.
    unsettled: bool,
    /// How many signals of now the first row of the samples has.
    signalled: usize,
    next_stop: usize,
    scales: Vec<f64>,
    guards: Vec<f64>,
    /// The state somewhere in the step that is tried.
    inside: Vec<f64>,
    /// The polynomials of the step that is tried: of the states, of the signals that are kept if
    /// `sampled`, and of all others if `shown`.
    row: Vec<Polynomial>,
    sampled: bool,
    shown: bool,
    /// Steps that end before this need not have signals that are not kept.
    shown_from: f64,
    /// Start and length of the last step.
    last: Option<(f64, f64)>,
    /// The signals at five points of a step, one row after the other.
    samples: Vec<f64>,
    candidates: Vec<Event>,
    work: Work,
    idle_events: u32,
}

impl<S: System> Solver<S> {
    /// A solver at `time` in `state`; before that all states and, behind them, signals stood as
    /// `before` says.
    pub fn new(system: S, time: f64, before: &[f64], state: Vec<f64>, settings: Settings) -> Self {
        let (states, signals, lags) = (system.states(), system.signals(), system.lags());
        debug_assert_eq!((state.len(), before.len()), (states, states + signals));
        let mut scales = vec![0.0; states];
        system.scales(&mut scales);
        let next_stop = system.stops().partition_point(|stop| *stop < time);
        let every = lags <= FEW || settings.fixed.is_some();
        let mut solver = Self {
            settings,
            time,
            control: Control::new(&settings),
            overlap: Overlap::new(),
            history: History::new(time, &before[..states + system.kept()]),
            breaks: if every { Breaks::new(lags) } else { Breaks::once(lags) },
            bends: (!every).then(|| Breaks::new(lags)),
            caps: vec![f64::INFINITY; lags],
            signals: before[states..].to_vec(),
            cursors: vec![Cursor::default(); lags],
            stages: Stages::new(&scales),
            unsettled: true,
            signalled: 0,
            next_stop,
            scales,
            guards: vec![0.0; system.guards()],
            inside: before[..states].to_vec(),
            row: vec![[0.0; COEFFICIENTS]; states + signals],
            sampled: false,
            shown: false,
            shown_from: f64::NEG_INFINITY,
            last: None,
            samples: vec![0.0; NODES.len() * signals],
            candidates: Vec::new(),
            work: Work::default(),
            idle_events: 0,
            state,
            system,
        };
        solver.broken();
        solver.run_stops();
        solver
    }

    /// The present.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The state at present.
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    /// The model.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// What has been done so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// The last step: start, length, and coefficients of all states and signals; of those signals
    /// only that lags look up if it ended before what [`Self::show_from`] said.
    pub fn last_step(&self) -> Option<(f64, f64, &[Polynomial])> {
        let known = self.state.len() + self.counted(self.shown);
        self.last.map(|(start, length)| (start, length, &self.row[..known]))
    }

    /// Nobody reads signals before `time`: those that no lag looks up need not be computed.
    pub fn show_from(&mut self, time: f64) {
        self.shown_from = time;
    }

    /// The number of signals: all, or those that are kept.
    fn counted(&self, all: bool) -> usize {
        if all { self.system.signals() } else { self.system.kept() }
    }
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn rounding_grows_with_the_time_and_is_that_of_a_second_at_least() {
        for (time, wanted) in [(0.0, 1e-11), (0.5, 1e-11), (200.0, 2e-9), (-200.0, 2e-9)] {
            assert!((near(time) / wanted - 1.0).abs() < 1e-12, "{time}");
        }
    }
}
