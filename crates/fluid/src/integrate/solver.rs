//! The method of steps: an embedded Runge-Kutta pair over a dense past, with steps that end where
//! something bends.
//!
//! A step is tried, its error estimated, and then looked through for the first guard that falls
//! below zero and the first bend that some lag passes. If there is one, the step is taken again, up
//! to there. No step looks past its own beginning: it is at most as long as the shortest lag, and
//! one whose lag shrinks below it is taken again, shorter.

use std::cell::Cell;

use super::breaks::Breaks;
use super::history::{COEFFICIENTS, History, Past, horner, through};
use super::settings::{Failure, Settings, Work};
use super::system::System;
use super::tableau::{DENSE, ERROR_WEIGHTS, NODES, STAGE_WEIGHTS, STAGES};

/// A guard may fall this far below zero before it counts: what rounding does, and hysteresis.
const SLACK: f64 = 1e-9;
/// Events without any progress in time after which something is wrong.
const CHATTER: u32 = 200;
/// Where in a step guards are looked at.
const LOOKS: [f64; 2] = [0.5, 1.0];

/// What ends a step before its time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Guard(usize),
    Lag(usize),
}

/// A system on its way through time.
pub struct Solver<S> {
    system: S,
    settings: Settings,
    time: f64,
    state: Vec<f64>,
    /// The step that the control of the error would take next.
    step: f64,
    last_error: f64,
    history: History,
    breaks: Breaks,
    cursors: Vec<Cell<usize>>,
    slopes: Vec<Vec<f64>>,
    fresh: bool,
    next_stop: usize,
    scales: Vec<f64>,
    guards: Vec<f64>,
    stage: Vec<f64>,
    dense: Vec<f64>,
    signals: Vec<f64>,
    samples: Vec<[f64; 5]>,
    candidates: Vec<Event>,
    work: Work,
    idle_events: u32,
}

impl<S: System> Solver<S> {
    /// A solver at `time`; before that everything stood as in `state`, with the signals that follow
    /// from it being `signals`.
    pub fn new(system: S, time: f64, state: Vec<f64>, signals: &[f64], settings: Settings) -> Self {
        let (states, lags) = (system.states(), system.lags());
        debug_assert_eq!((state.len(), signals.len()), (states, system.signals()));
        let before: Vec<f64> = state.iter().chain(signals).copied().collect();
        let mut scales = vec![0.0; states];
        system.scales(&mut scales);
        let next_stop = system.stops().partition_point(|stop| *stop < time);
        let mut breaks = Breaks::new(lags);
        breaks.add(time);
        let mut solver = Self {
            settings,
            time,
            step: settings.fixed.unwrap_or(1e-3).min(settings.longest),
            last_error: 1.0,
            history: History::new(time, before),
            breaks,
            cursors: vec![Cell::new(0); lags],
            slopes: vec![vec![0.0; states]; STAGES],
            fresh: false,
            next_stop,
            scales,
            guards: vec![0.0; system.guards()],
            stage: vec![0.0; states],
            dense: vec![0.0; states * COEFFICIENTS],
            signals: vec![0.0; system.signals()],
            samples: vec![[0.0; 5]; system.signals()],
            candidates: Vec::new(),
            work: Work::default(),
            idle_events: 0,
            state,
            system,
        };
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

    /// The last step: start, length, and coefficients of all states and signals.
    pub fn last_step(&self) -> Option<(f64, f64, &[f64])> {
        self.history.last()
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
        let mut event = None;
        let mut step = self.propose(limit);
        loop {
            if self.work.steps + self.work.rejected > self.settings.most_steps {
                return Err(Failure::TooManySteps(self.time));
            }
            if step <= 1e-14 * self.time.abs().max(1e-3) {
                return Err(Failure::StepTooShort(self.time));
            }
            if !self.try_step(step) {
                self.work.rejected += 1;
                step *= 0.8;
                event = None;
                continue;
            }
            if let Some(shorter) = self.judge(step, event.is_some())? {
                self.work.rejected += 1;
                step = shorter;
                event = None;
                continue;
            }
            self.extend(step);
            if event.is_some() {
                break;
            }
            let Some((found, theta)) = self.first_event(step) else { break };
            if theta > 1.0 - 1e-9 {
                event = Some(found);
                break;
            }
            self.work.rejected += 1;
            event = Some(found);
            step *= theta.max(1e-9);
        }
        self.accept(step, limit);
        match event {
            Some(Event::Guard(guard)) => self.cross(guard)?,
            Some(Event::Lag(lag)) => self.breaks.passed(lag, self.time),
            None => {}
        }
        self.run_stops();
        Ok(())
    }

    /// How far to go: as the error allows, not beyond the shortest lag, and not so close to `limit`
    /// that a scrap remains.
    fn propose(&self, limit: f64) -> f64 {
        let left = limit - self.time;
        let mut step = self.settings.fixed.unwrap_or(self.step).min(self.settings.longest);
        for lag in 0..self.cursors.len() {
            let lag = self.time - self.system.past_time(lag, self.time, &self.state);
            if lag > 0.0 {
                step = step.min(lag);
            }
        }
        if step >= left * (1.0 - 1e-9) {
            left
        } else if step > 0.5 * left && self.settings.fixed.is_none() {
            0.5 * left
        } else {
            step
        }
    }

    /// All stages of a step; false if one looked beyond what is known.
    fn try_step(&mut self, step: f64) -> bool {
        let astray = Cell::new(false);
        let past = Past::new(&self.history, &self.cursors, &astray);
        let first = usize::from(self.fresh);
        for stage in first..STAGES {
            let weights = &STAGE_WEIGHTS[stage];
            self.stage.copy_from_slice(&self.state);
            for (slopes, weight) in self.slopes[..stage].iter().zip(weights) {
                if *weight != 0.0 {
                    let by = step * weight;
                    for (y, k) in self.stage.iter_mut().zip(slopes) {
                        *y += by * k;
                    }
                }
            }
            let time = self.time + NODES[stage] * step;
            self.system.slope(time, &self.stage, &past, &mut self.slopes[stage]);
            self.work.evaluations += 1;
        }
        self.fresh = true;
        !astray.get()
    }

    /// None if the step is exact enough, else how long to make it.
    fn judge(&mut self, step: f64, landing: bool) -> Result<Option<f64>, Failure> {
        let mut sum = 0.0;
        for i in 0..self.state.len() {
            let error: f64 =
                (0..STAGES).map(|stage| ERROR_WEIGHTS[stage] * self.slopes[stage][i]).sum();
            let size = self.state[i].abs().max(self.stage[i].abs()).max(self.scales[i]);
            let relative = step * error / size;
            sum += relative * relative;
        }
        if !sum.is_finite() {
            return if step > 1e-9 {
                Ok(Some(0.1 * step))
            } else {
                Err(Failure::NotFinite(self.time))
            };
        }
        if self.settings.fixed.is_some() {
            return Ok(None);
        }
        let error =
            (libm::sqrt(sum / self.state.len() as f64) / self.settings.tolerance).max(1e-10);
        if error > 1.0 {
            let shorter = step * (0.9 * libm::pow(error, -0.2)).max(0.2);
            self.step = shorter;
            return Ok(Some(shorter));
        }
        // Proportional-integral control of the step (Hairer, Nørsett and Wanner, II.4).
        let factor = 0.9 * libm::pow(error, -0.14) * libm::pow(self.last_error, 0.08);
        let next = step * factor.clamp(0.2, 5.0);
        // A step that was cut short says little about the next.
        self.step = if landing || step < 0.5 * self.step { self.step.max(next) } else { next };
        self.last_error = error.max(1e-4);
        Ok(None)
    }

    /// The continuous extension of the step that was tried.
    fn extend(&mut self, step: f64) {
        for i in 0..self.state.len() {
            let row = &mut self.dense[i * COEFFICIENTS..(i + 1) * COEFFICIENTS];
            row[0] = self.state[i];
            for power in 0..4 {
                let sum: f64 =
                    (0..STAGES).map(|stage| DENSE[stage][power] * self.slopes[stage][i]).sum();
                row[power + 1] = step * sum;
            }
        }
    }

    fn at(&mut self, theta: f64) {
        for (i, y) in self.stage.iter_mut().enumerate() {
            *y = horner(&self.dense[i * COEFFICIENTS..(i + 1) * COEFFICIENTS], theta);
        }
    }

    /// How far above its limit what `event` watches is at θ.
    fn watch(&mut self, event: Event, theta: f64, step: f64) -> f64 {
        self.at(theta);
        let time = self.time + theta * step;
        match event {
            Event::Guard(guard) => {
                self.system.guard(time, &self.stage, &mut self.guards);
                self.guards[guard] + SLACK
            }
            Event::Lag(lag) => {
                let moment = self.system.past_time(lag, time, &self.stage);
                self.breaks.next(lag).map_or(1.0, |point| point - moment)
            }
        }
    }

    /// The first thing that happens within the step, and where.
    fn first_event(&mut self, step: f64) -> Option<(Event, f64)> {
        let mut first: Option<(Event, f64)> = None;
        let mut below = 0.0;
        for look in LOOKS {
            self.at(look);
            let time = self.time + look * step;
            let mut candidates = std::mem::take(&mut self.candidates);
            self.system.guard(time, &self.stage, &mut self.guards);
            let fallen = self.guards.iter().enumerate().filter(|(_, guard)| **guard < -SLACK);
            candidates.extend(fallen.map(|(guard, _)| Event::Guard(guard)));
            for lag in 0..self.cursors.len() {
                let moment = self.system.past_time(lag, time, &self.stage);
                if self.breaks.next(lag).is_some_and(|point| moment > point) {
                    candidates.push(Event::Lag(lag));
                }
            }
            for event in candidates.drain(..) {
                let theta = self.root(event, below, look, step);
                if first.is_none_or(|(_, earliest)| theta < earliest) {
                    first = Some((event, theta));
                }
            }
            self.candidates = candidates;
            if first.is_some() {
                return first;
            }
            below = look;
        }
        None
    }

    /// Where what `event` watches falls below zero: above zero at `low`, not so at `high`. Regula
    /// falsi in the Illinois form, with a bound on the number of rounds.
    fn root(&mut self, event: Event, mut low: f64, mut high: f64, step: f64) -> f64 {
        let mut at_low = self.watch(event, low, step);
        let mut at_high = self.watch(event, high, step);
        if at_low <= 0.0 {
            return low;
        }
        let mut side = 0;
        for round in 0..60 {
            if high - low < 1e-12 {
                break;
            }
            let theta = if round > 40 || at_high >= 0.0 {
                0.5 * (low + high)
            } else {
                (low * at_high - high * at_low) / (at_high - at_low)
            };
            let value = self.watch(event, theta, step);
            if value <= 0.0 {
                (high, at_high) = (theta, value);
                if side < 0 {
                    at_low *= 0.5;
                }
                side = -1;
            } else {
                (low, at_low) = (theta, value);
                if side > 0 {
                    at_high *= 0.5;
                }
                side = 1;
            }
        }
        high
    }

    fn accept(&mut self, step: f64, limit: f64) {
        // The last stage's state is the step's end.
        self.at(1.0);
        self.state.copy_from_slice(&self.stage);
        for node in 0..5 {
            let theta = 0.25 * node as f64;
            self.at(theta);
            self.system.signal(self.time + theta * step, &self.stage, &mut self.signals);
            for (samples, signal) in self.samples.iter_mut().zip(&self.signals) {
                samples[node] = *signal;
            }
        }
        let row = self.history.push(self.time, step);
        row[..self.dense.len()].copy_from_slice(&self.dense);
        let rest = row[self.dense.len()..].chunks_exact_mut(COEFFICIENTS);
        for (samples, coefficients) in self.samples.iter().zip(rest) {
            through(*samples, coefficients);
        }
        let end = self.time + step;
        self.time = if (limit - end).abs() <= 1e-12 * limit.abs().max(1.0) { limit } else { end };
        self.slopes.swap(0, STAGES - 1);
        self.work.steps += 1;
        self.idle_events = 0;
        self.forget();
    }

    /// Keeps what lags can still look at: four times the longest of now.
    fn forget(&mut self) {
        if !self.work.steps.is_multiple_of(256) {
            return;
        }
        let oldest = (0..self.cursors.len())
            .map(|lag| self.system.past_time(lag, self.time, &self.state))
            .fold(self.time, f64::min);
        self.history.forget_before(self.time - 4.0 * (self.time - oldest) - 1.0);
    }

    fn cross(&mut self, guard: usize) -> Result<(), Failure> {
        self.system.crossed(guard, self.time, &mut self.state);
        self.fresh = false;
        self.work.events += 1;
        self.idle_events += 1;
        self.breaks.add(self.time);
        if self.idle_events > CHATTER {
            return Err(Failure::Chatter(self.time));
        }
        Ok(())
    }

    /// Changes the mode until no guard is below zero any more, and passes the points that lags
    /// stand at.
    fn settle(&mut self) -> Result<(), Failure> {
        let near = 1e-11 * self.time.abs().max(1.0);
        for lag in 0..self.cursors.len() {
            let moment = self.system.past_time(lag, self.time, &self.state);
            while self.breaks.next(lag).is_some_and(|point| moment > point - near) {
                self.breaks.passed(lag, self.time);
            }
        }
        loop {
            self.system.guard(self.time, &self.state, &mut self.guards);
            let fallen = self.guards.iter().position(|guard| *guard < -SLACK);
            match fallen {
                Some(guard) => self.cross(guard)?,
                None => return Ok(()),
            }
        }
    }

    fn run_stops(&mut self) {
        while let Some(stop) = self.system.stops().get(self.next_stop)
            && *stop <= self.time
        {
            self.system.stop(self.next_stop, self.time, &mut self.state);
            self.next_stop += 1;
            self.fresh = false;
            self.breaks.add(self.time);
        }
    }
}
