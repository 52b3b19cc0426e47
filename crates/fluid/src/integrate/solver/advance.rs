//! One step of a solver: how far, again and again until it is exact enough, and to what it ends at.

use super::super::settings::Failure;
use super::super::system::System;
use super::{Event, Solver};

impl<S: System> Solver<S> {
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
}
