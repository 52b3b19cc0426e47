//! Where the model stands still.
//!
//! Each queue has one unknown: its length where the law is a profile of the queue (RED), its
//! probability where the law holds the queue (PI, REM, PIE, a setpoint), its loss at a full buffer;
//! with neither, where the windows' bounds leave a queue below its setpoint, its length as well.
//! The arrivals at a queue fall with its own unknown, so each is found by bisection, queue by
//! queue, until nothing changes.

use super::{Class, Parameters};
use crate::Invalid;
use crate::QueueLaw;
use crate::queues::Law;
use crate::root::between;

/// An operating point.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// Window of each class, in packets.
    pub windows: Vec<f64>,
    /// Round trip of each class, in seconds.
    pub round_trips: Vec<f64>,
    /// Length of each queue, in packets.
    pub queues: Vec<f64>,
    /// Loss or marking probability at each queue.
    pub losses: Vec<f64>,
    /// Arrivals at each queue, in packets per second.
    pub arrivals: Vec<f64>,
}

/// Sweeps over the queues, at most.
const SWEEPS: usize = 500;

impl Parameters {
    /// The operating point with the flows that are there at `time`.
    ///
    /// # Errors
    /// If a parameter is wrong, or there is no such point; says why.
    pub fn equilibrium(&self, time: f64) -> Result<Equilibrium, Invalid> {
        self.validate()?;
        for (number, queue) in self.queues.iter().enumerate() {
            if let QueueLaw::Ared(_) = queue.law {
                let remedy = "ARED has no single operating point: it leaves an average in the \
                              middle fifth between its thresholds where it is; use RED";
                return Err(Invalid::new(format!("queues[{number}].qdisc"), "ared", remedy));
            }
            if let Some(setpoint) = queue.law.setpoint(queue.capacity * queue.unit)
                && setpoint / queue.unit > queue.buffer
            {
                let remedy =
                    format!("the setpoint of {setpoint:.6} packets is above it: make it longer");
                let field = format!("queues[{number}].buffer");
                return Err(Invalid::new(field, queue.buffer, remedy));
            }
        }
        let queues = self.queues.len();
        let mut point =
            Unknowns { at: vec![0.0; queues], moves: vec![1.0; queues], time, of: self };
        for _ in 0..SWEEPS {
            let mut moved = 0.0_f64;
            for queue in 0..self.queues.len() {
                point.balance(queue)?;
                moved = moved.max(point.moves[queue] / point.at[queue].abs().max(1e-12));
            }
            if moved < 1e-13 || self.queues.len() == 1 {
                break;
            }
        }
        Ok(point.settled())
    }

    /// The state at an operating point, with every window `1 + kick` times as large.
    pub fn state_at(&self, point: &Equilibrium, kick: f64) -> Vec<f64> {
        let layout = self.layout();
        let mut state = vec![0.0; layout.states()];
        for (class, window) in point.windows.iter().enumerate() {
            state[layout.window(class)] = window * (1.0 + kick);
        }
        for (number, queue) in self.queues.iter().enumerate() {
            let (length, loss) = (point.queues[number], point.losses[number]);
            state[layout.queue(number)] = length;
            if let QueueLaw::Rate(rate) = &queue.law {
                // What it measures: the load.
                let arrivals = point.arrivals[number] * queue.unit;
                state[layout.own(number)] = arrivals / rate.capacity;
                continue;
            }
            state[layout.own(number)] = queue.law.state_at(
                length * queue.unit,
                loss / queue.weight,
                queue.capacity * queue.unit,
            );
        }
        state
    }

    /// All states and signals at an operating point, as the past of a run that begins there.
    pub fn past_at(&self, point: &Equilibrium) -> Vec<f64> {
        let layout = self.layout();
        let mut past = self.state_at(point, 0.0);
        past.resize(layout.states() + layout.signals(), 0.0);
        for (queue, spec) in self.queues.iter().enumerate() {
            past[layout.loss(queue)] = point.losses[queue];
            past[layout.inflow(queue)] = point.arrivals[queue];
            if let QueueLaw::Droptail(_) = spec.law {
                past[layout.overflow(queue)] = point.losses[queue];
            }
        }
        for (number, class) in self.classes.iter().enumerate() {
            let rate = point.windows[number] / point.round_trips[number];
            past[layout.hits(number)] = rate * class.loss(&point.losses);
        }
        past
    }

    /// The state with empty queues and initial windows.
    pub fn empty(&self) -> Vec<f64> {
        let layout = self.layout();
        let mut state = vec![0.0; layout.states()];
        for (number, class) in self.classes.iter().enumerate() {
            state[layout.window(number)] = class.initial_window;
        }
        state
    }

    /// All states and signals before a start with empty queues: nothing is lost.
    pub fn empty_past(&self) -> Vec<f64> {
        let layout = self.layout();
        let mut past = self.empty();
        past.resize(layout.states() + layout.signals(), 0.0);
        past
    }
}

/// One number for each queue, from 0 (no loss) to 1 (the most that its law can do). For a queue
/// that is held at a length, from -1 (empty) to 0 (that length) while nothing is lost.
struct Unknowns<'a> {
    at: Vec<f64>,
    /// How far each has moved in the last sweep.
    moves: Vec<f64>,
    time: f64,
    of: &'a Parameters,
}

impl Unknowns<'_> {
    /// Length and loss of a queue.
    fn queue(&self, queue: usize) -> (f64, f64) {
        let (spec, z) = (&self.of.queues[queue], self.at[queue]);
        match &spec.law {
            law if law.rises().is_some() => {
                let length = z * self.longest(queue);
                let loss = law.at_rest(length * spec.unit) * spec.weight;
                (length, loss.min(1.0))
            }
            QueueLaw::Rate(rate) => {
                // Arrivals and capacity need not balance: z is the load that is charged for.
                (0.0, (rate.price.at(2.0 * z) * spec.weight).min(1.0))
            }
            QueueLaw::Droptail(_) => held(spec.buffer, z),
            law => {
                let capacity = spec.capacity * spec.unit;
                let setpoint = if spec.thins {
                    law.setpoint_dropping(capacity, z.max(0.0))
                } else {
                    law.setpoint(capacity)
                };
                held(setpoint.unwrap_or(0.0).max(0.0) / spec.unit, z)
            }
        }
    }

    /// The least that the unknown of a queue can be.
    fn least(&self, queue: usize) -> f64 {
        match &self.of.queues[queue].law {
            QueueLaw::Rate(_) => 0.0,
            law if law.rises().is_some() => 0.0,
            _ => -1.0,
        }
    }

    /// The greatest queue that is looked at: where a profile has not jumped to 1.
    fn longest(&self, queue: usize) -> f64 {
        let spec = &self.of.queues[queue];
        spec.law.rises().map_or(spec.buffer, |[_, top]| (top / spec.unit).min(spec.buffer))
    }

    fn flows(&self, class: &Class) -> f64 {
        class.flows.iter().take_while(|(from, _)| *from <= self.time).last().map_or(0.0, |f| f.1)
    }

    fn class(&self, class: &Class) -> (f64, f64) {
        let (mut round_trip, mut passed, mut loss) = (class.rtt, 1.0, 0.0);
        for &queue in &class.path {
            let (length, lost) = self.queue(queue);
            round_trip += length / self.of.queues[queue].capacity;
            passed *= 1.0 - lost;
            // Computed so that small losses keep their digits.
            loss = if class.path.len() == 1 { lost } else { 1.0 - passed };
        }
        for &queue in &class.back {
            round_trip += self.queue(queue).0 / self.of.queues[queue].capacity;
        }
        (class.law.window(loss * class.spread, class.timeouts).min(class.max_window), round_trip)
    }

    /// Arrivals at a queue, and what enters it, per second.
    fn arrivals(&self, queue: usize) -> (f64, f64) {
        let mut sum = 0.0;
        for class in self.of.classes.iter().filter(|class| class.path.contains(&queue)) {
            let (window, round_trip) = self.class(class);
            let mut rate = self.flows(class) * window / round_trip;
            if rate.is_nan() {
                rate = 0.0;
            }
            for &before in class.path.iter().take_while(|before| **before != queue) {
                if self.of.queues[before].thins {
                    rate *= 1.0 - self.queue(before).1;
                }
            }
            sum += rate;
        }
        let spec = &self.of.queues[queue];
        let thins = spec.thins || matches!(spec.law, QueueLaw::Droptail(_));
        let entering = if thins { sum * (1.0 - self.queue(queue).1) } else { sum };
        (sum, entering)
    }

    /// How much more arrives than can be, as a share of the capacity.
    fn surplus(&mut self, queue: usize, z: f64) -> f64 {
        self.at[queue] = z;
        let (arriving, entering) = self.arrivals(queue);
        let spec = &self.of.queues[queue];
        let counted = arriving * spec.unit;
        match &spec.law {
            QueueLaw::Rate(rate) => counted / rate.capacity - 2.0 * z,
            law => (entering / spec.capacity).max(counted / law.admits()) - 1.0,
        }
    }

    /// Finds the unknown of one queue, the others staying. The moves become smaller from sweep to
    /// sweep, so that it is looked for first within the last one.
    fn balance(&mut self, queue: usize) -> Result<(), Invalid> {
        let (z, reach) = (self.at[queue], self.moves[queue]);
        // On one side of 0 only: small losses are to keep their digits.
        let [least, most] = if z < 0.0 { [self.least(queue), 0.0] } else { [0.0, 1.0] };
        let near = [(z - reach).max(least), (z + reach).min(most)];
        let mut ends = near.map(|z| (z, self.surplus(queue, z)));
        if ends[0].1 <= 0.0 || ends[1].1 > 0.0 {
            ends = [0.0, 1.0].map(|z| (z, self.surplus(queue, z)));
        }
        if ends[0].1 <= 0.0 {
            ends = [self.least(queue), 0.0].map(|z| (z, self.surplus(queue, z)));
        }
        let [low, high] = ends;
        if low.1 <= 0.0 {
            self.at[queue] = low.0;
        } else if high.1 > 0.0 {
            return Err(self.too_much(queue));
        } else {
            self.at[queue] = between(low, high, |z| self.surplus(queue, z));
        }
        self.moves[queue] = (self.at[queue] - z).abs();
        Ok(())
    }

    /// Even at its greatest loss a queue gets more than its link can send.
    fn too_much(&self, queue: usize) -> Invalid {
        let (length, loss) = self.queue(queue);
        let remedy = match &self.of.queues[queue].law {
            law if law.rises().is_some() => format!(
                "there is no operating point: with the most that the law can do before it drops \
                 everything (p = {loss:.4} at {length:.1} packets) more arrives than the link \
                 sends; make its profile rise further, or the buffer longer"
            ),
            _ => "there is no operating point: even if all is lost more arrives than the link \
                  sends; there are too many flows"
                .to_string(),
        };
        Invalid::new(format!("queues[{queue}]"), "", remedy)
    }

    fn settled(&self) -> Equilibrium {
        let (windows, round_trips) = self.of.classes.iter().map(|c| self.class(c)).unzip();
        let (queues, losses) = (0..self.at.len()).map(|queue| self.queue(queue)).unzip();
        let arrivals = (0..self.at.len()).map(|queue| self.arrivals(queue).0).collect();
        Equilibrium { windows, round_trips, queues, losses, arrivals }
    }
}

/// Length and loss of a queue that is held at a length once something is lost.
fn held(length: f64, z: f64) -> (f64, f64) {
    (length * (1.0 + z.min(0.0)), z.max(0.0))
}
