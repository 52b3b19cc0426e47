//! The equations, with the modes of the queues.

use std::cell::RefCell;

use super::{Class, Parameters, window_slope};
use crate::controllers::{Mode, View};
use crate::integrate::{Past, System};

/// Guards of a queue: two of the buffer, two of the law.
const GUARDS: usize = 4;

/// How full a queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fill {
    Empty,
    Between,
    Full,
}

#[derive(Clone, Debug)]
struct QueueMode {
    fill: Fill,
    law: Mode,
}

/// Where what stands among the states and signals: windows, then queues, then the laws' own
/// states; the signals are the losses of the queues, the arrivals there, and what full buffers lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of classes.
    pub classes: usize,
    /// Number of queues.
    pub queues: usize,
}

impl Layout {
    /// The window of a class.
    pub fn window(&self, class: usize) -> usize {
        class
    }

    /// The length of a queue.
    pub fn queue(&self, queue: usize) -> usize {
        self.classes + queue
    }

    /// The state of a queue's law; without meaning if it has none.
    pub fn own(&self, queue: usize) -> usize {
        self.classes + self.queues + queue
    }

    /// The loss at a queue: a signal.
    pub fn loss(&self, queue: usize) -> usize {
        self.classes + 2 * self.queues + queue
    }

    /// Arrivals at a queue in packets per second: a signal.
    pub fn inflow(&self, queue: usize) -> usize {
        self.classes + 3 * self.queues + queue
    }

    /// The share of what a queue's law lets pass that its full buffer loses: a signal.
    pub fn overflow(&self, queue: usize) -> usize {
        self.classes + 4 * self.queues + queue
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.classes + 2 * self.queues
    }
}

/// The model as a system of equations.
#[derive(Clone, Debug)]
pub struct Mgt {
    parameters: Parameters,
    layout: Layout,
    modes: Vec<QueueMode>,
    /// Flows of each class now, and since when there have been any.
    present: Vec<(f64, f64)>,
    stops: Vec<f64>,
    /// Seconds that each link takes for a packet.
    service: Vec<f64>,
    /// Arrivals at each queue, while they are summed up.
    scratch: RefCell<Vec<f64>>,
}

impl Mgt {
    /// The equations at time 0; the parameters have been checked.
    pub fn new(parameters: Parameters, state: &[f64]) -> Self {
        let layout = Layout { classes: parameters.classes.len(), queues: parameters.queues.len() };
        let mut stops: Vec<f64> = parameters
            .classes
            .iter()
            .flat_map(|class| class.flows.iter().map(|(time, _)| *time))
            .filter(|time| *time > 0.0)
            .collect();
        stops.sort_by(f64::total_cmp);
        stops.dedup();
        // What was lost before the start is in the past that the solver is given.
        let always = f64::NEG_INFINITY;
        let present = parameters.classes.iter().map(|class| (flows_at(class, 0.0), always));
        let present = present.collect();
        let modes = vec![QueueMode { fill: Fill::Between, law: Mode::default() }; layout.queues];
        let service = parameters.queues.iter().map(|queue| 1.0 / queue.capacity).collect();
        let scratch = RefCell::new(vec![0.0; layout.queues]);
        let mut model = Self { layout, modes, present, stops, service, scratch, parameters };
        for queue in 0..layout.queues {
            let (length, spec) = (state[layout.queue(queue)], &model.parameters.queues[queue]);
            model.modes[queue].fill = match length {
                q if q <= 0.0 => Fill::Empty,
                q if q >= spec.buffer => Fill::Full,
                _ => Fill::Between,
            };
        }
        let mut inflows = vec![0.0; layout.queues];
        model.inflows(state, &mut inflows);
        for (queue, inflow) in inflows.iter().enumerate() {
            let view = model.view(queue, 0.0, state, *inflow);
            let own = state[layout.own(queue)];
            let law = model.parameters.queues[queue].controller.mode_at(own, &view);
            model.modes[queue].law = law;
        }
        model
    }

    /// Where what stands.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// The parameters.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Flows of a class now.
    pub fn flows(&self, class: usize) -> f64 {
        self.present[class].0
    }

    /// The round trip of a class, by the queues that `length` gives.
    #[inline]
    fn round_trip(&self, class: &Class, length: impl Fn(usize) -> f64) -> f64 {
        let waits = class.path.iter().chain(&class.back);
        waits.fold(class.rtt, |sum, &queue| {
            sum + length(self.layout.queue(queue)) * self.service[queue]
        })
    }

    /// The round trip of a class in a state.
    pub fn round_trip_in(&self, class: usize, state: &[f64]) -> f64 {
        self.round_trip(&self.parameters.classes[class], |at| state[at])
    }

    /// Arrivals at all queues in packets per second, those that are dropped there included.
    pub fn inflows(&self, state: &[f64], inflows: &mut [f64]) {
        inflows.fill(0.0);
        for (index, class) in self.parameters.classes.iter().enumerate() {
            let flows = self.present[index].0;
            if flows > 0.0 {
                let round_trip = self.round_trip(class, |at| state[at]);
                let rate = flows * state[self.layout.window(index)] / round_trip;
                self.send(class, rate, state, inflows);
            }
        }
    }

    /// Adds what a class sends to the arrivals along its path.
    #[inline]
    fn send(&self, class: &Class, mut rate: f64, state: &[f64], inflows: &mut [f64]) {
        for (hop, &queue) in class.path.iter().enumerate() {
            inflows[queue] += rate;
            if hop + 1 < class.path.len() && self.parameters.queues[queue].thins {
                // Laws that thin do not look at the present rate.
                rate *= 1.0 - self.law_loss(queue, state, 0.0);
            }
        }
    }

    /// What the law of a queue drops or marks, the buffer apart.
    fn law_loss(&self, queue: usize, state: &[f64], inflow: f64) -> f64 {
        let spec = &self.parameters.queues[queue];
        let view = View {
            capacity: spec.capacity * spec.unit,
            inflow: inflow * spec.unit,
            ..View::default()
        };
        let own = state[self.layout.own(queue)];
        let p = spec.controller.probability(&self.modes[queue].law, own, &view);
        (p * spec.weight).clamp(0.0, 1.0)
    }

    /// What enters a queue that has room, of what arrives.
    fn entering(&self, queue: usize, state: &[f64], inflow: f64) -> f64 {
        if self.parameters.queues[queue].thins {
            inflow * (1.0 - self.law_loss(queue, state, inflow))
        } else {
            inflow
        }
    }

    /// What a law sees.
    fn view(&self, queue: usize, time: f64, state: &[f64], inflow: f64) -> View {
        let spec = &self.parameters.queues[queue];
        let drift = match self.modes[queue].fill {
            Fill::Between => self.entering(queue, state, inflow) - spec.capacity,
            _ => 0.0,
        };
        View {
            time,
            queue: state[self.layout.queue(queue)] * spec.unit,
            drift: drift * spec.unit,
            inflow: inflow * spec.unit,
            capacity: spec.capacity * spec.unit,
        }
    }

    /// The share of what enters that a full buffer loses.
    fn overflow(&self, queue: usize, state: &[f64], inflow: f64) -> f64 {
        if self.modes[queue].fill != Fill::Full {
            return 0.0;
        }
        let entering = self.entering(queue, state, inflow);
        (1.0 - self.parameters.queues[queue].capacity / entering).max(0.0)
    }

    /// Growth is tapered over the last hundredth below the greatest window.
    #[inline]
    fn taper(class: &Class, w: f64) -> f64 {
        if class.max_window.is_infinite() {
            return 1.0;
        }
        ((class.max_window - w) / (0.01 * class.max_window)).clamp(0.0, 1.0)
    }
}

/// Flows of a class at a time.
fn flows_at(class: &Class, time: f64) -> f64 {
    class.flows.iter().take_while(|(from, _)| *from <= time).last().map_or(0.0, |(_, n)| *n)
}

impl System for Mgt {
    fn states(&self) -> usize {
        self.layout.states()
    }

    fn signals(&self) -> usize {
        3 * self.layout.queues
    }

    fn lags(&self) -> usize {
        self.layout.classes
    }

    fn guards(&self) -> usize {
        GUARDS * self.layout.queues
    }

    fn past_time(&self, class: usize, time: f64, state: &[f64]) -> f64 {
        time - self.round_trip_in(class, state)
    }

    fn slope(&self, time: f64, state: &[f64], past: &Past<'_>, slope: &mut [f64]) {
        let mut inflows = self.scratch.borrow_mut();
        inflows.fill(0.0);
        for (index, class) in self.parameters.classes.iter().enumerate() {
            let (flows, since) = self.present[index];
            if flows <= 0.0 {
                slope[index] = 0.0;
                continue;
            }
            let w = state[index];
            let round_trip = self.round_trip(class, |at| state[at]);
            let sent = time - round_trip;
            let then = past.at(index, sent);
            let rate = then.get(index) / self.round_trip(class, |at| then.get(at));
            let loss = if sent >= since {
                let passed =
                    class.path.iter().map(|&queue| 1.0 - then.get(self.layout.loss(queue)));
                1.0 - passed.product::<f64>()
            } else {
                0.0
            };
            let taper = Self::taper(class, w);
            let mut change = window_slope(&class.law, class.timeouts, w, round_trip, rate, loss);
            if taper < 1.0 {
                change -= (1.0 - taper) * class.law.growth(w, round_trip, rate);
            }
            slope[index] = change;
            self.send(class, flows * w / round_trip, state, &mut inflows);
        }
        for (queue, inflow) in inflows.iter().enumerate() {
            let mode = &self.modes[queue];
            let view = self.view(queue, time, state, *inflow);
            let spec = &self.parameters.queues[queue];
            slope[self.layout.queue(queue)] = view.drift / spec.unit;
            let own = state[self.layout.own(queue)];
            slope[self.layout.own(queue)] = spec.controller.slope(&mode.law, own, &view);
        }
    }

    fn signal(&self, _: f64, state: &[f64], signals: &mut [f64]) {
        let mut inflows = self.scratch.borrow_mut();
        self.inflows(state, &mut inflows);
        for (queue, inflow) in inflows.iter().enumerate() {
            let law = self.law_loss(queue, state, *inflow);
            let overflow = self.overflow(queue, state, *inflow);
            signals[queue] =
                if overflow > 0.0 { 1.0 - (1.0 - law) * (1.0 - overflow) } else { law };
            signals[self.layout.queues + queue] = *inflow;
            signals[2 * self.layout.queues + queue] = overflow;
        }
    }

    fn scales(&self, scales: &mut [f64]) {
        scales.fill(1.0);
        for (queue, spec) in self.parameters.queues.iter().enumerate() {
            scales[self.layout.own(queue)] = spec.controller.scale();
        }
    }

    fn guard(&self, time: f64, state: &[f64], guards: &mut [f64]) {
        let mut inflows = self.scratch.borrow_mut();
        self.inflows(state, &mut inflows);
        for (queue, inflow) in inflows.iter().enumerate() {
            let (spec, mode) = (&self.parameters.queues[queue], &self.modes[queue]);
            let length = state[self.layout.queue(queue)];
            let entering = self.entering(queue, state, *inflow);
            let surplus = (entering - spec.capacity) / spec.capacity;
            let own = &mut guards[GUARDS * queue..GUARDS * (queue + 1)];
            (own[0], own[1]) = match mode.fill {
                Fill::Empty => (-surplus, 1.0),
                Fill::Between => (length, spec.buffer - length),
                Fill::Full => (surplus, 1.0),
            };
            let view = self.view(queue, time, state, *inflow);
            let law = spec.controller.guards(&mode.law, state[self.layout.own(queue)], &view);
            own[2..].copy_from_slice(&law);
        }
    }

    fn crossed(&mut self, guard: usize, time: f64, state: &mut [f64]) {
        let (queue, which) = (guard / GUARDS, guard % GUARDS);
        let (length, own) = (self.layout.queue(queue), self.layout.own(queue));
        if which < 2 {
            let fill = &mut self.modes[queue].fill;
            (*fill, state[length]) = match (*fill, which) {
                (Fill::Between, 0) => (Fill::Empty, 0.0),
                (Fill::Between, _) => (Fill::Full, self.parameters.queues[queue].buffer),
                (Fill::Empty | Fill::Full, _) => (Fill::Between, state[length]),
            };
            return;
        }
        let mut inflows = vec![0.0; self.layout.queues];
        self.inflows(state, &mut inflows);
        let view = self.view(queue, time, state, inflows[queue]);
        let law = &mut self.modes[queue].law;
        self.parameters.queues[queue].controller.crossed(law, which - 2, &mut state[own], &view);
    }

    fn stops(&self) -> &[f64] {
        &self.stops
    }

    fn stop(&mut self, stop: usize, _: f64, state: &mut [f64]) {
        let time = self.stops[stop];
        for (index, class) in self.parameters.classes.iter().enumerate() {
            let (before, after) = (self.present[index].0, flows_at(class, time));
            if after > before {
                let window = &mut state[self.layout.window(index)];
                *window = (before * *window + (after - before) * class.initial_window) / after;
            }
            if before == 0.0 && after > 0.0 {
                self.present[index].1 = time;
            }
            self.present[index].0 = after;
        }
    }
}
