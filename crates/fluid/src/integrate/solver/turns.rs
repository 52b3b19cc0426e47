//! Changes of the mode: guards that have fallen, stops, and the breaks that they leave behind.

use super::super::breaks::Breaks;
use super::super::settings::Failure;
use super::super::system::System;
use super::events::SLACK;
use super::{Solver, near};

/// What has fallen by this part of the slack when a step ends falls with what the step ended at:
/// like queues run empty together.
const TOGETHER: f64 = 0.5;
/// Events without any progress in time after which something is wrong.
const CHATTER: u32 = 200;
/// A state that moves by more than this part of its scale, or a signal that does by this part of
/// itself, has jumped.
const JUMP: f64 = 1e-7;

impl<S: System> Solver<S> {
    /// The mode or the state is no longer that of the last step's end.
    fn changed(&mut self) {
        self.stages.spoil();
        self.unsettled = true;
        self.signalled = 0;
    }

    /// Something is about to change: remembers state and signals.
    fn remember(&mut self) {
        self.inside.copy_from_slice(&self.state);
        self.system.signal(self.time, &self.state, true, &mut self.signals);
    }

    /// Something has changed: a break, at which steps that see it through a lag will end if a state
    /// or a signal has jumped.
    pub(super) fn broken(&mut self) {
        let states = self.inside.iter().zip(&self.state).zip(&self.scales);
        let mut jump = states.into_iter().any(|((a, b), scale)| (a - b).abs() > JUMP * scale);
        let signals = &mut self.samples[..self.signals.len()];
        self.system.signal(self.time, &self.state, true, signals);
        self.signalled = signals.len();
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

    pub(super) fn cross(&mut self, guard: usize) -> Result<(), Failure> {
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
    pub(super) fn settle(&mut self) -> Result<(), Failure> {
        let near = near(self.time);
        let any = self.breaks.any() || self.bends.as_ref().is_some_and(Breaks::any);
        for lag in 0..if any { self.cursors.len() } else { 0 } {
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
            let fallen = self.guards.iter().position(|guard| *guard < -TOGETHER * SLACK);
            match fallen {
                Some(guard) => self.cross(guard)?,
                None => self.unsettled = false,
            }
        }
        Ok(())
    }

    pub(super) fn run_stops(&mut self) {
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
