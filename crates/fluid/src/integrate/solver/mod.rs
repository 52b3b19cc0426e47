//! The method of steps: an embedded Runge-Kutta pair over a dense past, with steps that end where
//! something bends.
//!
//! A step is tried, its error estimated, and then looked through for the first guard that falls
//! below zero and the first break that some lag passes. Up to there the past is seen as it was
//! before the break, so that the step is smooth; it ends there, its polynomial being shortened.

mod accept;
mod control;
mod events;
mod extension;
mod overlap;
mod turns;

use super::breaks::{Breaks, FEW};
use super::history::{COEFFICIENTS, History, Polynomial};
use super::past::{Cursor, Past, Trial};
use super::settings::{Failure, Settings, Work};
use super::stages::Stages;
use super::system::System;
use control::Control;
use events::Event;
use extension::NODES;
use overlap::Overlap;

/// What rounding may be of times like this one.
fn near(time: f64) -> f64 {
    1e-11 * time.abs().max(1.0)
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

    /// Takes one step, at most to `end`.
    ///
    /// # Errors
    /// If the solution cannot be followed.
    pub fn advance(&mut self, end: f64) -> Result<(), Failure> {
        self.settle()?;
        let mut limit = end;
        if let Some(stop) = self.system.stops().get(self.next_stop) {
            limit = limit.min(*stop);
        }
        let (mut event, mut whole, mut scrap) = (None, true, false);
        let shortest = self.shortest_lag();
        let mut step = self.propose(limit, shortest);
        self.stages.pair = self.overlap.pair(step);
        loop {
            if self.work.steps + self.work.rejected > self.settings.most_steps {
                return Err(Failure::TooManySteps(self.time));
            }
            if step <= 1e-14 * self.time.abs().max(1e-3) {
                return Err(Failure::StepTooShort(self.time));
            }
            let Some(beyond) = self.sweep(step, false) else {
                self.work.rejected += 1;
                step *= 0.8;
                event = None;
                continue;
            };
            let mut error = self.error(step)?;
            let stands = error <= 1.0 || self.settings.fixed.is_some();
            if stands && beyond {
                match self.agree(step)? {
                    Some(agreed) => error = agreed,
                    None => {
                        self.work.rejected += 1;
                        self.overlap.failed();
                        step = shortest.min(0.8 * step);
                        event = None;
                        continue;
                    }
                }
            } else if stands {
                self.extend(step);
            }
            let wished = self.control.step;
            let fixed = self.settings.fixed.is_some();
            if let Some(shorter) = self.control.judge(step, error, event.is_some(), fixed) {
                self.work.rejected += 1;
                let bend = if event.is_none() { self.first_bend(step) } else { None };
                if let Some((lag, theta)) = bend {
                    // That is why: once there, the steps can be what they were.
                    event = Some(Event::Bend(lag));
                    step *= theta;
                    self.control.step = wished;
                } else {
                    step = shorter;
                    event = None;
                }
                continue;
            }
            if scrap {
                break;
            }
            let Some((found, theta)) = self.first_event(step, shortest) else { break };
            if theta > 1.0 - 1e-9 {
                event = Some(found);
                break;
            }
            if theta > 1e-9 {
                // Up to there nothing has bent: the polynomial of the step holds as it is.
                self.shorten(theta);
                event = Some(found);
                step *= theta;
                whole = false;
                break;
            }
            // It is there already, but for rounding.
            self.work.rejected += 1;
            event = Some(found);
            scrap = true;
            step *= theta.max(1e-9);
        }
        self.accept(step, limit, whole);
        // Of a step that was cut short nobody has looked at the guards.
        self.unsettled |= event.is_some() || scrap;
        match event {
            Some(Event::Guard(guard)) => self.cross(guard)?,
            Some(Event::Lag(lag)) => {
                self.breaks.passed(lag, self.time);
                // From now on it sees what is behind the break.
                self.stages.spoil();
            }
            Some(Event::Bend(lag)) => {
                if let Some(bends) = &mut self.bends {
                    bends.passed(lag, self.time);
                }
            }
            None => {}
        }
        self.run_stops();
        Ok(())
    }

    /// How far to go: as the error allows, not beyond the shortest lag by more than the last step's
    /// length, and not so close to `limit` that a scrap remains.
    fn propose(&self, limit: f64, shortest: f64) -> f64 {
        let left = limit - self.time;
        let step = self.settings.fixed.unwrap_or(self.control.step).min(self.settings.longest);
        let reach = if self.breaks.any() {
            0.0
        } else if self.settings.fixed.is_some() {
            f64::INFINITY
        } else {
            self.overlap.reach(shortest, self.history.last_length())
        };
        let step = step.min(shortest + reach);
        if step >= left * (1.0 - 1e-9) {
            left
        } else if step > 0.5 * left && self.settings.fixed.is_none() {
            0.5 * left
        } else {
            step
        }
    }

    /// The shortest lag that is one; infinite if there is none.
    fn shortest_lag(&self) -> f64 {
        let lags = (0..self.cursors.len())
            .map(|lag| self.time - self.system.past_time(lag, self.time, &self.state));
        lags.filter(|lag| *lag > 0.0).fold(f64::INFINITY, f64::min)
    }

    /// All stages of a step; by the last sweep's polynomials if `again`. Tells whether one looked
    /// beyond what is known; None if it looked at what is forgotten.
    fn sweep(&mut self, step: f64, again: bool) -> Option<bool> {
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

    /// The root of the mean of squares whose sum is given, over the tolerance.
    fn relative(&self, sum: f64) -> f64 {
        libm::sqrt(sum / self.state.len() as f64) / self.settings.tolerance
    }

    /// The error of the step that was tried over what is allowed.
    fn error(&self, step: f64) -> Result<f64, Failure> {
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
