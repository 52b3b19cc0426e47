//! The method of steps: an embedded Runge-Kutta pair over a dense past, with steps that end where
//! something bends.
//!
//! A step is tried, its error estimated, and then looked through for the first guard that falls
//! below zero and the first break that some lag passes. Up to there the past is seen as it was
//! before the break, so that the step is smooth; it ends there, its polynomial being shortened.
//!
//! A step may be longer than the shortest lag. What it then looks up of itself is first taken from
//! the last step's polynomials, which go on; afterwards the slope at its end is computed again by
//! its own. If that changes more than the tolerance allows, the stages are swept again by what the
//! sweep before left, and if it does not help, the step is taken again, no longer than the shortest
//! lag (Bellen and Zennaro, *Numerical Methods for Delay Differential Equations*, Oxford 2003,
//! section 3.3 on overlapping). While a lag has a break before it no step is longer than that.

use std::cell::Cell;

use super::breaks::{Breaks, FEW};
use super::history::{COEFFICIENTS, History, Past, Polynomial, Trial, horner, through};
use super::settings::{Failure, Settings, Work};
use super::stages::Stages;
use super::system::System;

/// A guard may fall this far below zero before it counts: what rounding does, and hysteresis.
const SLACK: f64 = 1e-9;
/// Events without any progress in time after which something is wrong.
const CHATTER: u32 = 200;
/// Logarithm of the least error that the next step's length is told of: 1e-4.
const LEAST_ERROR: f64 = -4.0 * std::f64::consts::LN_10;
/// A bend in this first part of a step is not worth a step of its own.
const NEAR: f64 = 0.02;
/// Where in a step guards are looked at; in the second half of them only if it is a long one.
const LOOKS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];
/// What a step looks up of itself may move its end by this part of the tolerance.
const AGREED: f64 = 0.3;
/// Sweeps over the stages of a step until it agrees with itself, if its length is given.
const MOST_SWEEPS: u32 = 20;
/// Sweeps that are cheaper than shorter steps.
const SWEEPS: u32 = 2;
/// A step that is longer than the shortest lag is at most this much over the rate at which small
/// differences die. The pair is stable up to 3.3; beyond that rounding would grow until the control
/// of the error sees it, and what stands still would tremble.
const STABLE: f64 = 2.5;
/// What is left of a rate that was higher, a step later.
const FADING: f64 = 0.9;
/// Steps that stay within the shortest lag after one that did not agree: the first time, and at most.
const PAUSE: (u32, u32) = (4, 64);
/// Where in a step signals are sampled.
const NODES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// A state that moves by more than this part of its scale, or a signal that does by this part of
/// itself, has jumped.
const JUMP: f64 = 1e-7;

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
    /// The step that the control of the error would take next.
    step: f64,
    /// Logarithm of the last step's error over what is allowed.
    last_error: f64,
    history: History,
    /// Breaks at which steps end.
    breaks: Breaks,
    /// Other bends; none if steps end at all of them.
    bends: Option<Breaks>,
    /// For each lag its next break, or what rounding leaves before it.
    caps: Vec<f64>,
    /// Signals at a moment at which something changes.
    signals: Vec<f64>,
    cursors: Vec<Cell<usize>>,
    stages: Stages,
    /// The mode or the state has changed since guards were looked at last.
    unsettled: bool,
    /// The first row of the samples has the signals of now.
    signalled: bool,
    next_stop: usize,
    scales: Vec<f64>,
    guards: Vec<f64>,
    /// The state somewhere in the step.
    inside: Vec<f64>,
    dense: Vec<Polynomial>,
    /// The polynomials of all components in the step that is tried, if `sampled`.
    row: Vec<Polynomial>,
    sampled: bool,
    /// Steps that are still to stay within the shortest lag, and how many after the next that does
    /// not agree with itself.
    waits: u32,
    pause: u32,
    /// How fast small differences died of late, per second; 0 if nothing was seen of it.
    rate: f64,
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
            step: settings.fixed.unwrap_or(1e-3).min(settings.longest),
            last_error: 0.0,
            history: History::new(time, before),
            breaks: if every { Breaks::new(lags) } else { Breaks::once(lags) },
            bends: (!every).then(|| Breaks::new(lags)),
            caps: vec![f64::INFINITY; lags],
            signals: before[states..].to_vec(),
            cursors: vec![Cell::new(0); lags],
            stages: Stages::new(states),
            unsettled: true,
            signalled: false,
            next_stop,
            scales,
            guards: vec![0.0; system.guards()],
            inside: vec![0.0; states],
            dense: vec![[0.0; COEFFICIENTS]; states],
            row: vec![[0.0; COEFFICIENTS]; states + signals],
            sampled: false,
            waits: 0,
            pause: PAUSE.0,
            rate: 0.0,
            samples: vec![0.0; NODES.len() * signals],
            candidates: Vec::new(),
            work: Work::default(),
            idle_events: 0,
            state,
            system,
        };
        solver.inside.copy_from_slice(&before[..states]);
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

    /// The last step: start, length, and coefficients of all states and signals.
    pub fn last_step(&self) -> Option<(f64, f64, &[Polynomial])> {
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
        let (mut event, mut whole, mut scrap) = (None, true, false);
        let mut step = self.propose(limit);
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
                        step = self.shortest(step);
                        event = None;
                        continue;
                    }
                }
            } else if stands {
                self.extend(step);
            }
            let wished = self.step;
            if let Some(shorter) = self.judge(step, error, event.is_some()) {
                self.work.rejected += 1;
                let bend = if event.is_none() { self.first_bend(step) } else { None };
                if let Some((lag, theta)) = bend {
                    // That is why: once there, the steps can be what they were.
                    event = Some(Event::Bend(lag));
                    step *= theta;
                    self.step = wished;
                } else {
                    step = shorter;
                    event = None;
                }
                continue;
            }
            if scrap {
                break;
            }
            let Some((found, theta)) = self.first_event(step) else { break };
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
    fn propose(&self, limit: f64) -> f64 {
        let left = limit - self.time;
        let step = self.settings.fixed.unwrap_or(self.step).min(self.settings.longest);
        let breaks = (0..self.cursors.len()).any(|lag| self.breaks.next(lag).is_some());
        let shortest = self.shortest_lag();
        let reach = if breaks || self.waits > 0 {
            0.0
        } else if self.settings.fixed.is_some() {
            f64::INFINITY
        } else if self.rate > 0.0 {
            (STABLE / self.rate - shortest).clamp(0.0, self.history.last_length())
        } else {
            0.0
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

    /// How long to make a step that did not agree with itself: no longer than the shortest lag, and
    /// the next ones neither.
    fn shortest(&mut self, step: f64) -> f64 {
        self.waits = self.pause;
        self.pause = (2 * self.pause).min(PAUSE.1);
        self.shortest_lag().min(0.8 * step)
    }

    /// All stages of a step; by the last sweep's polynomials if `again`. Tells whether one looked
    /// beyond what is known; None if it looked at what is forgotten.
    fn sweep(&mut self, step: f64, again: bool) -> Option<bool> {
        for (lag, cap) in self.caps.iter_mut().enumerate() {
            *cap = self.breaks.next(lag).map_or(f64::INFINITY, |point| point - near(point));
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
    fn agree(&mut self, step: f64) -> Result<Option<f64>, Failure> {
        let most = if self.settings.fixed.is_some() { MOST_SWEEPS } else { SWEEPS };
        let mut sweeps = 1;
        loop {
            self.extend(step);
            self.sample(step, true);
            let trial = Trial { row: &self.row, start: self.time, length: step };
            let past = Past::new(&self.history, &self.cursors, &self.caps, Some(trial));
            let at = (self.time, step);
            let sum = self.stages.again(&self.system, &self.state, &self.scales, at, &past);
            self.work.evaluations += 1;
            if self.relative(sum) <= AGREED {
                self.pause = PAUSE.0;
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
    fn error(&self, step: f64) -> Result<f64, Failure> {
        let sum = self.stages.error(&self.state, &self.scales, step);
        if sum.is_finite() {
            Ok(self.relative(sum).max(1e-10))
        } else if step > 1e-9 {
            Ok(f64::INFINITY)
        } else {
            Err(Failure::NotFinite(self.time))
        }
    }

    /// None if the step with this error is exact enough, else how long to make it.
    fn judge(&mut self, step: f64, error: f64, landing: bool) -> Option<f64> {
        if error == f64::INFINITY {
            return Some(0.1 * step);
        }
        if self.settings.fixed.is_some() {
            return None;
        }
        if error > 1.0 {
            let shorter = step * (0.9 * libm::pow(error, -0.2)).max(0.2);
            self.step = shorter;
            return Some(shorter);
        }
        // Proportional-integral control of the step (Hairer, Nørsett and Wanner, II.4).
        let logarithm = libm::log(error);
        let factor = 0.9 * libm::exp(0.08 * self.last_error - 0.14 * logarithm);
        let next = step * factor.clamp(0.2, 5.0);
        // A step that was cut short says little about the next.
        self.step = if landing || step < 0.5 * self.step { self.step.max(next) } else { next };
        self.last_error = logarithm.max(LEAST_ERROR);
        None
    }

    /// The continuous extension of the step that was tried.
    fn extend(&mut self, step: f64) {
        self.stages.extend(&self.state, step, &mut self.dense);
    }

    /// Ends the continuous extension at θ of the step: the same polynomial of a shorter step.
    fn shorten(&mut self, theta: f64) {
        for row in &mut self.dense {
            let mut power = 1.0;
            for c in row {
                *c *= power;
                power *= theta;
            }
        }
        // The last stage was at the old end.
        self.stages.spoil();
        self.sampled = false;
    }

    fn at(&mut self, theta: f64) {
        for (y, c) in self.inside.iter_mut().zip(&self.dense) {
            *y = horner(c, theta);
        }
    }

    /// How far above its limit what `event` watches is at θ.
    fn watch(&mut self, event: Event, theta: f64, step: f64) -> f64 {
        self.at(theta);
        let time = self.time + theta * step;
        match event {
            Event::Guard(guard) => {
                self.system.guard(time, &self.inside, &mut self.guards);
                self.guards[guard] + SLACK
            }
            Event::Lag(lag) => {
                let moment = self.system.past_time(lag, time, &self.inside);
                self.breaks.next(lag).map_or(1.0, |point| point - moment)
            }
            Event::Bend(lag) => {
                let moment = self.system.past_time(lag, time, &self.inside);
                let next = self.bends.as_ref().and_then(|bends| bends.next(lag));
                next.map_or(1.0, |point| point - moment)
            }
        }
    }

    /// The first thing that happens within the step, and where.
    fn first_event(&mut self, step: f64) -> Option<(Event, f64)> {
        let mut first: Option<(Event, f64)> = None;
        let mut below = 0.0;
        let long = step > self.history.last_length().max(self.shortest_lag());
        for look in LOOKS.into_iter().skip(usize::from(!long)).step_by(2 - usize::from(long)) {
            if look < 1.0 {
                self.at(look);
            } else {
                self.inside.copy_from_slice(self.stages.end());
            }
            let time = self.time + look * step;
            let mut candidates = std::mem::take(&mut self.candidates);
            self.system.guard(time, &self.inside, &mut self.guards);
            let fallen = self.guards.iter().enumerate().filter(|(_, guard)| **guard < -SLACK);
            candidates.extend(fallen.map(|(guard, _)| Event::Guard(guard)));
            self.passing(&self.breaks, look, step, |lag| candidates.push(Event::Lag(lag)));
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

    /// Which lags are beyond the next of `breaks` that they see at θ.
    fn passing(&self, breaks: &Breaks, theta: f64, step: f64, mut found: impl FnMut(usize)) {
        let time = self.time + theta * step;
        for lag in 0..self.cursors.len() {
            if let Some(point) = breaks.next(lag)
                && self.system.past_time(lag, time, &self.inside) > point
            {
                found(lag);
            }
        }
    }

    /// The first bend that a lag sees within a step that was too inexact, and where.
    fn first_bend(&mut self, step: f64) -> Option<(usize, f64)> {
        let mut candidates = std::mem::take(&mut self.candidates);
        self.inside.copy_from_slice(self.stages.end());
        if let Some(bends) = &self.bends {
            self.passing(bends, 1.0, step, |lag| candidates.push(Event::Bend(lag)));
        }
        let mut first: Option<(usize, f64)> = None;
        if !candidates.is_empty() {
            self.extend(step);
        }
        for event in candidates.drain(..) {
            let theta = self.root(event, 0.0, 1.0, step);
            if let Event::Bend(lag) = event
                && theta > NEAR
                && first.is_none_or(|(_, earliest)| theta < earliest)
            {
                first = Some((lag, theta));
            }
        }
        self.candidates = candidates;
        first
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

    /// The polynomials of all components over the step: those of the states are known, those of the
    /// signals go through five points.
    fn sample(&mut self, step: f64, whole: bool) {
        let width = self.system.signals();
        for (node, theta) in NODES.iter().enumerate().skip(usize::from(self.signalled)) {
            let signals = &mut self.samples[node * width..(node + 1) * width];
            let time = self.time + theta * step;
            match node {
                0 => self.system.signal(time, &self.state, signals),
                4 if whole => self.system.signal(time, self.stages.end(), signals),
                _ => {
                    for (y, c) in self.inside.iter_mut().zip(&self.dense) {
                        *y = horner(c, *theta);
                    }
                    self.system.signal(time, &self.inside, signals);
                }
            }
        }
        self.signalled = true;
        let (states, signals) = self.row.split_at_mut(self.state.len());
        states.copy_from_slice(&self.dense);
        for (signal, polynomial) in signals.iter_mut().enumerate() {
            let samples = &self.samples;
            *polynomial = through(std::array::from_fn(|node| samples[node * width + signal]));
        }
        self.sampled = true;
    }

    /// The step counts. Unless it is a whole one its end is that of its polynomial.
    fn accept(&mut self, step: f64, limit: f64, whole: bool) {
        if !self.sampled {
            self.sample(step, whole);
        }
        if whole {
            self.state.copy_from_slice(self.stages.end());
        } else {
            for (y, c) in self.state.iter_mut().zip(&self.dense) {
                *y = horner(c, 1.0);
            }
        }
        self.history.push(self.time, step, &self.row);
        if let Some(rate) = self.stages.rate(&self.state, &self.scales, step).filter(|_| whole) {
            self.rate = rate.max(FADING * self.rate);
        }
        let end = self.time + step;
        self.time = if (limit - end).abs() <= 1e-12 * limit.abs().max(1.0) { limit } else { end };
        self.samples.copy_within(4 * self.system.signals().., 0);
        self.stages.move_on();
        self.work.steps += 1;
        self.idle_events = 0;
        self.waits = self.waits.saturating_sub(1);
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

    /// The mode or the state is no longer that of the last step's end.
    fn changed(&mut self) {
        self.stages.spoil();
        self.unsettled = true;
        self.signalled = false;
    }

    /// Something is about to change: remembers state and signals.
    fn remember(&mut self) {
        self.inside.copy_from_slice(&self.state);
        self.system.signal(self.time, &self.state, &mut self.signals);
    }

    /// Something has changed: a break, at which steps that see it through a lag will end if a state
    /// or a signal has jumped.
    fn broken(&mut self) {
        let states = self.inside.iter().zip(&self.state).zip(&self.scales);
        let mut jump = states.into_iter().any(|((a, b), scale)| (a - b).abs() > JUMP * scale);
        let signals = &mut self.samples[..self.signals.len()];
        self.system.signal(self.time, &self.state, signals);
        let pairs = self.signals.iter().zip(signals);
        jump |= pairs.into_iter().any(|(a, b)| (*a - *b).abs() > JUMP * a.abs().max(b.abs()));
        match &mut self.bends {
            None => self.breaks.add(self.time),
            Some(bends) => {
                bends.add(self.time);
                if jump {
                    self.breaks.add(self.time);
                }
            }
        }
    }

    fn cross(&mut self, guard: usize) -> Result<(), Failure> {
        self.remember();
        self.system.crossed(guard, self.time, &mut self.state);
        self.changed();
        self.work.events += 1;
        self.idle_events += 1;
        self.broken();
        if self.idle_events > CHATTER {
            return Err(Failure::Chatter(self.time));
        }
        Ok(())
    }

    /// Changes the mode until no guard is below zero any more, and passes the points that lags
    /// stand at.
    fn settle(&mut self) -> Result<(), Failure> {
        let near = near(self.time);
        for lag in 0..self.cursors.len() {
            if self.breaks.next(lag).is_some() {
                let moment = self.system.past_time(lag, self.time, &self.state);
                while self.breaks.next(lag).is_some_and(|point| moment > point - near) {
                    self.breaks.passed(lag, self.time);
                    self.stages.spoil();
                }
            }
            let Some(bends) = &mut self.bends else { continue };
            if bends.next(lag).is_some() {
                let moment = self.system.past_time(lag, self.time, &self.state);
                while bends.next(lag).is_some_and(|point| moment > point - near) {
                    bends.passed(lag, self.time);
                }
            }
        }
        // Else the last step ended where all guards were above zero.
        while self.unsettled {
            self.system.guard(self.time, &self.state, &mut self.guards);
            let fallen = self.guards.iter().position(|guard| *guard < -SLACK);
            match fallen {
                Some(guard) => self.cross(guard)?,
                None => self.unsettled = false,
            }
        }
        Ok(())
    }

    fn run_stops(&mut self) {
        while let Some(stop) = self.system.stops().get(self.next_stop)
            && *stop <= self.time
        {
            self.remember();
            self.system.stop(self.next_stop, self.time, &mut self.state);
            self.next_stop += 1;
            self.changed();
            self.broken();
        }
    }
}
