//! The equations, with the modes of the queues.

use super::{Class, Parameters, Queue, window_slope};
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
/// states; the signals are the losses of the queues, the arrivals there, what full buffers lose, and
/// what each flow of a class loses.
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

    /// Packets per second of what a flow sends that are lost or marked: a signal.
    pub fn hits(&self, class: usize) -> usize {
        self.classes + 5 * self.queues + class
    }

    /// Number of states.
    pub fn states(&self) -> usize {
        self.classes + 2 * self.queues
    }

    /// Number of signals.
    pub fn signals(&self) -> usize {
        3 * self.queues + self.classes
    }
}

/// A class as the equations go through it.
#[derive(Clone, Debug)]
struct Lane {
    /// Flows now.
    flows: f64,
    /// Since when there have been any.
    since: f64,
    rtt: f64,
    /// The queues that its data or its acknowledgements wait in: which states they are, and the
    /// seconds that their links take for a packet.
    waits: Vec<(usize, f64)>,
    /// Whether some queue on its path drops before another one.
    thinned: bool,
    /// Whether its growth is clocked by what was sent a round trip ago.
    clocked: bool,
}

impl Lane {
    /// The round trip, by the queues that `length` gives.
    #[inline]
    fn round_trip(&self, length: impl Fn(usize) -> f64) -> f64 {
        let mut sum = self.rtt;
        for &(queue, service) in &self.waits {
            sum += length(queue) * service;
        }
        sum
    }
}

/// The model as a system of equations.
#[derive(Clone, Debug)]
pub struct Mgt {
    parameters: Parameters,
    layout: Layout,
    modes: Vec<QueueMode>,
    lanes: Vec<Lane>,
    stops: Vec<f64>,
}

impl Mgt {
    /// The equations at time 0; the parameters have been checked.
    pub fn new(mut parameters: Parameters, state: &[f64]) -> Self {
        let layout = parameters.layout();
        for queue in &mut parameters.queues {
            queue.controller.prepare(queue.capacity * queue.unit);
        }
        let mut stops: Vec<f64> = parameters
            .classes
            .iter()
            .flat_map(|class| class.flows.iter().map(|(time, _)| *time))
            .filter(|time| *time > 0.0)
            .collect();
        stops.sort_by(f64::total_cmp);
        stops.dedup();
        let lanes = parameters.classes.iter().map(|class| lane(class, &parameters.queues, layout));
        let lanes = lanes.collect();
        let modes = vec![QueueMode { fill: Fill::Between, law: Mode::default() }; layout.queues];
        let mut model = Self { layout, modes, lanes, stops, parameters };
        for queue in 0..layout.queues {
            let (length, spec) = (state[layout.queue(queue)], &model.parameters.queues[queue]);
            model.modes[queue].fill = match length {
                q if q <= 0.0 => Fill::Empty,
                q if q >= spec.buffer => Fill::Full,
                _ => Fill::Between,
            };
        }
        let inflows = model.inflows(state);
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
        self.lanes[class].flows
    }

    /// The round trip of a class in a state.
    #[inline]
    pub fn round_trip_in(&self, class: usize, state: &[f64]) -> f64 {
        self.lanes[class].round_trip(|at| state[at])
    }

    /// Arrivals at all queues in packets per second, those that are dropped there included.
    fn inflows(&self, state: &[f64]) -> Vec<f64> {
        let mut inflows = vec![0.0; self.layout.queues];
        self.arrive(state, |queue, rate| inflows[queue] += rate);
        inflows
    }

    /// Calls `add` with what each class brings to each queue, in packets per second.
    #[inline]
    fn arrive(&self, state: &[f64], mut add: impl FnMut(usize, f64)) {
        for (index, lane) in self.lanes.iter().enumerate() {
            if lane.flows > 0.0 {
                let round_trip = lane.round_trip(|at| state[at]);
                self.send(index, lane.flows * state[index] / round_trip, state, &mut add);
            }
        }
    }

    /// Calls `add` with what a class that sends at `rate` brings to each queue on its path.
    #[inline]
    fn send(&self, class: usize, mut rate: f64, state: &[f64], mut add: impl FnMut(usize, f64)) {
        for &queue in &self.parameters.classes[class].path {
            add(queue, rate);
            if self.lanes[class].thinned && self.parameters.queues[queue].thins {
                // Laws that thin do not look at the present rate.
                rate *= 1.0 - self.law_loss(queue, state, 0.0);
            }
        }
    }

    /// What the law of a queue drops or marks, the buffer apart.
    #[inline]
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
    #[inline]
    fn entering(&self, queue: usize, state: &[f64], inflow: f64) -> f64 {
        if self.parameters.queues[queue].thins {
            inflow * (1.0 - self.law_loss(queue, state, inflow))
        } else {
            inflow
        }
    }

    /// What a law sees.
    #[inline]
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
    #[inline]
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

/// A class at time 0.
fn lane(class: &Class, queues: &[Queue], layout: Layout) -> Lane {
    let waits = class.path.iter().chain(&class.back);
    let before_the_last = &class.path[..class.path.len() - 1];
    Lane {
        flows: flows_at(class, 0.0),
        // What was lost before the start is in the past that the solver is given.
        since: f64::NEG_INFINITY,
        rtt: class.rtt,
        waits: waits.map(|&queue| (layout.queue(queue), 1.0 / queues[queue].capacity)).collect(),
        thinned: before_the_last.iter().any(|&queue| queues[queue].thins),
        clocked: class.law.clocked(),
    }
}

impl System for Mgt {
    fn states(&self) -> usize {
        self.layout.states()
    }

    fn signals(&self) -> usize {
        self.layout.signals()
    }

    fn lags(&self) -> usize {
        self.layout.classes
    }

    fn guards(&self) -> usize {
        GUARDS * self.layout.queues
    }

    #[inline]
    fn past_time(&self, class: usize, time: f64, state: &[f64]) -> f64 {
        time - self.round_trip_in(class, state)
    }

    fn slope(&self, time: f64, state: &[f64], past: &Past<'_>, slope: &mut [f64]) {
        let layout = self.layout;
        // First the arrivals are summed up where the slopes of the queues will stand.
        slope[layout.queue(0)..layout.own(0)].fill(0.0);
        for (index, (class, lane)) in self.parameters.classes.iter().zip(&self.lanes).enumerate() {
            if lane.flows <= 0.0 {
                slope[index] = 0.0;
                continue;
            }
            let w = state[index];
            let round_trip = lane.round_trip(|at| state[at]);
            let sent = time - round_trip;
            let then = past.at(index, sent);
            let rate = if lane.clocked {
                then.get(index) / lane.round_trip(|at| then.get(at))
            } else {
                0.0
            };
            let hits = if sent >= lane.since { then.get(layout.hits(index)) } else { 0.0 };
            let taper = Self::taper(class, w);
            let hits = hits * class.spread;
            let mut change = window_slope(&class.law, class.timeouts, w, round_trip, rate, hits);
            if taper < 1.0 {
                change -= (1.0 - taper) * class.law.growth(w, round_trip, rate);
            }
            slope[index] = change;
            let rate = lane.flows * w / round_trip;
            self.send(index, rate, state, |queue, rate| slope[layout.queue(queue)] += rate);
        }
        for (queue, mode) in self.modes.iter().enumerate() {
            let view = self.view(queue, time, state, slope[layout.queue(queue)]);
            let spec = &self.parameters.queues[queue];
            slope[layout.queue(queue)] = view.drift / spec.unit;
            let own = state[layout.own(queue)];
            slope[layout.own(queue)] = spec.controller.slope(&mode.law, own, &view);
        }
    }

    fn signal(&self, _: f64, state: &[f64], signals: &mut [f64]) {
        let queues = self.layout.queues;
        let (of_queues, hits) = signals.split_at_mut(3 * queues);
        let (losses, rest) = of_queues.split_at_mut(queues);
        let (inflows, overflows) = rest.split_at_mut(queues);
        inflows.fill(0.0);
        for (index, lane) in self.lanes.iter().enumerate() {
            let rate = state[index] / lane.round_trip(|at| state[at]);
            hits[index] = rate;
            if lane.flows > 0.0 {
                self.send(index, lane.flows * rate, state, |queue, rate| inflows[queue] += rate);
            }
        }
        for queue in 0..queues {
            let law = self.law_loss(queue, state, inflows[queue]);
            let overflow = self.overflow(queue, state, inflows[queue]);
            losses[queue] = if overflow > 0.0 { 1.0 - (1.0 - law) * (1.0 - overflow) } else { law };
            overflows[queue] = overflow;
        }
        for (hit, class) in hits.iter_mut().zip(&self.parameters.classes) {
            *hit *= class.loss(losses);
        }
    }

    fn scales(&self, scales: &mut [f64]) {
        scales.fill(1.0);
        for (queue, spec) in self.parameters.queues.iter().enumerate() {
            scales[self.layout.own(queue)] = spec.controller.scale();
        }
    }

    fn guard(&self, time: f64, state: &[f64], guards: &mut [f64]) {
        // First the arrivals are summed up where guards will stand.
        guards.fill(0.0);
        self.arrive(state, |queue, rate| guards[GUARDS * queue] += rate);
        for (queue, own) in guards.chunks_exact_mut(GUARDS).enumerate() {
            let (spec, mode) = (&self.parameters.queues[queue], &self.modes[queue]);
            let inflow = own[0];
            let length = state[self.layout.queue(queue)];
            let surplus = || (self.entering(queue, state, inflow) - spec.capacity) / spec.capacity;
            (own[0], own[1]) = match mode.fill {
                Fill::Empty => (-surplus(), 1.0),
                Fill::Between => (length, spec.buffer - length),
                Fill::Full => (surplus(), 1.0),
            };
            let view = self.view(queue, time, state, inflow);
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
        let inflows = self.inflows(state);
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
            let lane = &mut self.lanes[index];
            let (before, after) = (lane.flows, flows_at(class, time));
            if after > before {
                let window = &mut state[index];
                *window = (before * *window + (after - before) * class.initial_window) / after;
            }
            if before == 0.0 && after > 0.0 {
                lane.since = time;
            }
            lane.flows = after;
        }
    }
}
