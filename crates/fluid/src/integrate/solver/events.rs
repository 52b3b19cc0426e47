//! What ends a step before its time: the first guard that falls below zero in it, and the first
//! break that a lag passes.

use super::super::breaks::Breaks;
use super::super::system::System;
use super::{Event, Solver};

/// A guard may fall this far below zero before it counts: what rounding does, and hysteresis.
pub(super) const SLACK: f64 = 1e-9;
/// A bend in this first part of a step is not worth a step of its own.
const NEAR: f64 = 0.02;

impl<S: System> Solver<S> {
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
    pub(super) fn first_event(&mut self, step: f64, shortest: f64) -> Option<(Event, f64)> {
        if !self.breaks.any() && self.system.clear(&self.state, self.stages.reach()) {
            return None;
        }
        let mut first: Option<(Event, f64)> = None;
        let mut below = 0.0;
        let long = step > self.history.last_length().max(shortest);
        // Guards are looked at in each quarter of a long step, in each half of another.
        for &quarter in if long { &[1, 2, 3, 4][..] } else { &[2, 4] } {
            let look = 0.25 * quarter as f64;
            let state = match quarter {
                1..=3 => self.stages.middle(quarter),
                _ => self.stages.end(),
            };
            let time = self.time + look * step;
            self.system.guard(time, state, &mut self.guards);
            let mut candidates = std::mem::take(&mut self.candidates);
            for (guard, above) in self.guards.iter().enumerate() {
                if *above < -SLACK {
                    candidates.push(Event::Guard(guard));
                }
            }
            if self.breaks.any() {
                let found = |lag| candidates.push(Event::Lag(lag));
                passing(&self.system, &self.breaks, time, state, found);
            }
            if candidates.is_empty() {
                self.candidates = candidates;
                below = look;
                continue;
            }
            for event in candidates.drain(..) {
                let theta = self.root(event, below, look, step);
                if first.is_none_or(|(_, earliest)| theta < earliest) {
                    first = Some((event, theta));
                }
            }
            self.candidates = candidates;
            return first;
        }
        None
    }

    /// The first bend that a lag sees within a step that was too inexact, and where.
    pub(super) fn first_bend(&mut self, step: f64) -> Option<(usize, f64)> {
        let mut candidates = std::mem::take(&mut self.candidates);
        if let Some(bends) = &self.bends {
            let found = |lag| candidates.push(Event::Bend(lag));
            passing(&self.system, bends, self.time + step, self.stages.end(), found);
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
}

/// Which lags are beyond the next of `breaks` that they see at a time and in a state.
fn passing<S: System>(
    system: &S,
    breaks: &Breaks,
    time: f64,
    state: &[f64],
    mut found: impl FnMut(usize),
) {
    for lag in 0..system.lags() {
        if let Some(point) = breaks.next(lag)
            && system.past_time(lag, time, state) > point
        {
            found(lag);
        }
    }
}
