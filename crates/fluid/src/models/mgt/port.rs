//! A queue as the equations go through it: with the mode that it is in.

use super::{Layout, Queue};
use crate::controllers::{Controller, Mode, View};

/// How full a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    Empty,
    Between,
    Full,
}

/// A queue and its mode.
#[derive(Clone, Debug)]
pub struct Port {
    queue: Queue,
    /// The capacity in packets that the law counts.
    capacity: f64,
    /// Where its length stands among the states.
    length: usize,
    /// Where its law's state stands.
    own: usize,
    /// Whether its law looks at the rate of arrivals.
    rated: bool,
    pub fill: Fill,
    pub law: Mode,
}

impl Port {
    /// Queue number `number` with this length.
    pub fn new(mut queue: Queue, number: usize, layout: Layout, length: f64) -> Self {
        let capacity = queue.capacity * queue.unit;
        queue.controller.prepare(capacity);
        let fill = match length {
            q if q <= 0.0 => Fill::Empty,
            q if q >= queue.buffer => Fill::Full,
            _ => Fill::Between,
        };
        Self {
            capacity,
            length: layout.queue(number),
            own: layout.own(number),
            rated: queue.controller.looks_at_rate(),
            fill,
            law: Mode::default(),
            queue,
        }
    }

    /// The law is in the mode that fits a state.
    pub fn find_mode(&mut self, state: &[f64], inflow: f64) {
        let view = self.view(0.0, state, inflow, self.drift(state, inflow));
        self.law = self.queue.controller.mode_at(state[self.own], &view);
    }

    /// Whether losses or guards depend on the arrivals.
    #[inline]
    pub fn needs_inflow(&self) -> bool {
        self.rated || self.fill != Fill::Between
    }

    /// What the law drops or marks, the buffer apart.
    #[inline(always)]
    pub fn law_loss(&self, state: &[f64], inflow: f64) -> f64 {
        let own = state[self.own];
        let p = match &self.queue.controller {
            // The most frequent one sees nothing but its average.
            Controller::Red(red) => red.profile(self.law.piece, own, red.max_p),
            _ => self.other_loss(own, inflow),
        };
        (p * self.queue.weight).clamp(0.0, 1.0)
    }

    #[inline(never)]
    fn other_loss(&self, own: f64, inflow: f64) -> f64 {
        let inflow = inflow * self.queue.unit;
        let view = View { capacity: self.capacity, inflow, ..View::default() };
        self.queue.controller.probability(&self.law, own, &view)
    }

    /// What enters if there is room, of what arrives.
    #[inline]
    fn entering(&self, state: &[f64], inflow: f64) -> f64 {
        if self.queue.thins { inflow * (1.0 - self.law_loss(state, inflow)) } else { inflow }
    }

    /// How fast the queue grows.
    #[inline]
    fn drift(&self, state: &[f64], inflow: f64) -> f64 {
        match self.fill {
            Fill::Between => self.entering(state, inflow) - self.queue.capacity,
            _ => 0.0,
        }
    }

    /// What the law sees.
    #[inline]
    fn view(&self, time: f64, state: &[f64], inflow: f64, drift: f64) -> View {
        let unit = self.queue.unit;
        View {
            time,
            queue: state[self.length] * unit,
            drift: drift * unit,
            inflow: inflow * unit,
            capacity: self.capacity,
        }
    }

    /// How fast the queue and the state of its law change.
    #[inline(always)]
    pub fn slopes(&self, time: f64, state: &[f64], inflow: f64) -> (f64, f64) {
        let drift = self.drift(state, inflow);
        let own = match &self.queue.controller {
            // The most frequent one sees nothing but the queue.
            Controller::Red(red) => {
                red.follow(state[self.length] * self.queue.unit, state[self.own])
            }
            _ => self.other_slope(time, state, inflow, drift),
        };
        (drift, own)
    }

    #[inline(never)]
    fn other_slope(&self, time: f64, state: &[f64], inflow: f64, drift: f64) -> f64 {
        let view = self.view(time, state, inflow, drift);
        self.queue.controller.slope(&self.law, state[self.own], &view)
    }

    /// The share of what enters that a full buffer loses.
    #[inline]
    pub fn overflow(&self, state: &[f64], inflow: f64) -> f64 {
        if self.fill != Fill::Full {
            return 0.0;
        }
        (1.0 - self.queue.capacity / self.entering(state, inflow)).max(0.0)
    }

    /// Four guards: two of the buffer, two of the law.
    #[inline]
    pub fn guards(&self, time: f64, state: &[f64], inflow: f64) -> [f64; 4] {
        let Queue { capacity, buffer, controller, .. } = &self.queue;
        let surplus = || (self.entering(state, inflow) - capacity) / capacity;
        let length = state[self.length];
        let (low, high) = match self.fill {
            Fill::Empty => (-surplus(), 1.0),
            Fill::Between => (length, buffer - length),
            Fill::Full => (surplus(), 1.0),
        };
        let [below, above] = match controller {
            Controller::Red(red) => red.guards_at(self.law.piece, state[self.own]),
            law => {
                let view = self.view(time, state, inflow, self.drift(state, inflow));
                law.guards(&self.law, state[self.own], &view)
            }
        };
        [low, high, below, above]
    }

    /// Whether no guard can fall while each state is within its reach; no where guards look at more
    /// than one of them.
    #[inline]
    pub fn clear(&self, state: &[f64], reach: &[f64]) -> bool {
        let (length, far) = (state[self.length], reach[self.length]);
        let between =
            self.fill == Fill::Between && far < length && far < self.queue.buffer - length;
        between
            && match &self.queue.controller {
                Controller::Droptail => true,
                Controller::Red(red) => {
                    let [below, above] = red.guards_at(self.law.piece, state[self.own]);
                    reach[self.own] < below && reach[self.own] < above
                }
                _ => false,
            }
    }

    /// One of the guards of the buffer has fallen below zero.
    pub fn refill(&mut self, guard: usize, state: &mut [f64]) {
        let length = &mut state[self.length];
        (self.fill, *length) = match (self.fill, guard) {
            (Fill::Between, 0) => (Fill::Empty, 0.0),
            (Fill::Between, _) => (Fill::Full, self.queue.buffer),
            (Fill::Empty | Fill::Full, _) => (Fill::Between, *length),
        };
    }

    /// One of the guards of the law has fallen below zero.
    pub fn turn(&mut self, guard: usize, time: f64, state: &mut [f64], inflow: f64) {
        let view = self.view(time, state, inflow, self.drift(state, inflow));
        let controller: &Controller = &self.queue.controller;
        controller.crossed(&mut self.law, guard, &mut state[self.own], &view);
    }
}
