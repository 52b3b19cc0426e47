//! The equations, with the modes of the queues.

use super::lane::{Lane, flows_at};
use super::port::{Fill, Port};
use super::quad::{Four, Quad};
use super::{Layout, Parameters};
use crate::integrate::{Past, System};
use crate::queues::Law;

/// Guards of a queue: two of the buffer, two of the law.
const GUARDS: usize = 4;

/// The model as a system of equations.
#[derive(Clone, Debug)]
pub struct Mgt {
    parameters: Parameters,
    layout: Layout,
    lanes: Vec<Lane>,
    /// The same in fours.
    quads: Vec<Quad>,
    ports: Vec<Port>,
    stops: Vec<f64>,
}

impl Mgt {
    /// The equations at time 0; the parameters have been checked.
    pub fn new(parameters: Parameters, state: &[f64]) -> Self {
        let layout = parameters.layout();
        let mut stops: Vec<f64> = parameters
            .classes
            .iter()
            .flat_map(|class| class.flows.iter().map(|(time, _)| *time))
            .filter(|time| *time > 0.0)
            .collect();
        sojourn_base::sort_by(&mut stops, f64::total_cmp);
        stops.dedup();
        let Parameters { classes, queues } = &parameters;
        let lanes: Vec<_> =
            classes.iter().map(|class| Lane::new(class.clone(), queues, layout)).collect();
        let quads = Quad::all(&lanes);
        let port = |(number, queue): (usize, &super::Queue)| {
            Port::new(queue.clone(), number, layout, state[layout.queue(number)])
        };
        let ports = queues.iter().enumerate().map(port).collect();
        let mut model = Self { layout, lanes, quads, ports, stops, parameters };
        let inflows = model.inflows(state);
        for (port, inflow) in model.ports.iter_mut().zip(inflows) {
            port.find_mode(state, inflow);
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

    /// Calls `add` with what the classes bring to each queue, in packets per second.
    #[inline]
    fn arrive(&self, state: &[f64], mut add: impl FnMut(usize, f64)) {
        for quad in &self.quads {
            let per = quad.round_trips(state).map(|round_trip| 1.0 / round_trip);
            let rates = quad.rates(&quad.windows(state), &per);
            self.send(quad, &rates, state, &mut add);
        }
    }

    /// Calls `add` with what four classes bring to each queue if they send at `rates`.
    #[inline]
    fn send(&self, quad: &Quad, rates: &Four, state: &[f64], mut add: impl FnMut(usize, f64)) {
        if !quad.thins {
            return quad.send(rates, add);
        }
        for (lane, rate) in self.lanes[quad.range()].iter().zip(rates) {
            // Laws that thin do not look at the present rate.
            lane.send(*rate, |queue| self.ports[queue].law_loss(state, 0.0), &mut add);
        }
    }

    /// How fast windows change where the law is not Reno's alone.
    #[inline(never)]
    fn other_slopes(
        &self,
        quad: &Quad,
        (time, past): (f64, &Past<'_>),
        (w, round_trips, hits): (&Four, &Four, &Four),
        slopes: &mut [f64],
    ) {
        for ((i, class), slope) in quad.range().enumerate().zip(slopes) {
            let lane = &self.lanes[class];
            *slope = 0.0;
            if lane.flows > 0.0 {
                let rate = if lane.clocked {
                    let then = past.at(class, time - round_trips[i]);
                    then.get(class) / lane.round_trip(|at| then.get(at))
                } else {
                    0.0
                };
                *slope = lane.slope(w[i], round_trips[i], rate, hits[i]);
            }
        }
    }

    /// Whether losses or guards depend on the arrivals somewhere.
    #[inline]
    fn needs_inflows(&self) -> bool {
        self.ports.iter().any(Port::needs_inflow)
    }
}

impl System for Mgt {
    fn states(&self) -> usize {
        self.layout.states()
    }

    fn signals(&self) -> usize {
        self.layout.signals()
    }

    fn kept(&self) -> usize {
        self.layout.classes
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
        let (classes, queues) = (self.layout.classes, self.layout.queues);
        let hits_at = self.layout.hits(0);
        let (windows, rest) = slope.split_at_mut(classes);
        let (lengths, own) = rest.split_at_mut(queues);
        // First the arrivals are summed up where the slopes of the queues will stand.
        lengths.iter_mut().for_each(|length| *length = 0.0);
        for quad in &self.quads {
            let (w, round_trips) = (quad.windows(state), quad.round_trips(state));
            let per = round_trips.map(|round_trip| 1.0 / round_trip);
            let lookup = |class, sent| past.get(class, sent, hits_at + class);
            let hits = quad.hits(time, &round_trips, lookup);
            let windows = &mut windows[quad.range()];
            match quad.slopes(&w, &per, &hits) {
                Some(slopes) => {
                    for (window, slope) in windows.iter_mut().zip(slopes) {
                        *window = slope;
                    }
                }
                None => self.other_slopes(quad, (time, past), (&w, &round_trips, &hits), windows),
            }
            let rates = quad.rates(&w, &per);
            self.send(quad, &rates, state, |queue, rate| lengths[queue] += rate);
        }
        for ((port, length), own) in self.ports.iter().zip(lengths).zip(own) {
            (*length, *own) = port.slopes(time, state, *length);
        }
    }

    fn signal(&self, _: f64, state: &[f64], all: bool, signals: &mut [f64]) {
        let queues = self.layout.queues;
        let (hits, of_queues) = signals.split_at_mut(self.layout.classes);
        let (losses, rest) = of_queues.split_at_mut(queues);
        let (inflows, overflows) = rest.split_at_mut(queues);
        if all || self.needs_inflows() {
            inflows.iter_mut().for_each(|inflow| *inflow = 0.0);
            self.arrive(state, |queue, rate| inflows[queue] += rate);
        }
        let places = losses.iter_mut().zip(overflows).zip(inflows);
        for (port, ((loss, overflow), inflow)) in self.ports.iter().zip(places) {
            let law = port.law_loss(state, *inflow);
            (*loss, *overflow) = (law, 0.0);
            if port.fill == Fill::Full {
                *overflow = port.overflow(state, *inflow);
                *loss = 1.0 - (1.0 - law) * (1.0 - *overflow);
            }
        }
        for quad in &self.quads {
            let (w, round_trips) = (quad.windows(state), quad.round_trips(state));
            let lost = quad.losses(losses);
            let each: Four = std::array::from_fn(|i| w[i] / round_trips[i] * lost[i]);
            for (hits, each) in hits[quad.range()].iter_mut().zip(each) {
                *hits = each;
            }
        }
    }

    fn scales(&self, scales: &mut [f64]) {
        scales.fill(1.0);
        for (queue, spec) in self.parameters.queues.iter().enumerate() {
            scales[self.layout.own(queue)] = spec.law.scale();
        }
    }

    fn guard(&self, time: f64, state: &[f64], guards: &mut [f64]) {
        let (guards, _) = guards.as_chunks_mut::<GUARDS>();
        // First the arrivals are summed up where guards will stand.
        guards.iter_mut().for_each(|own| own[0] = 0.0);
        if self.needs_inflows() {
            self.arrive(state, |queue, rate| guards[queue][0] += rate);
        }
        for (own, port) in guards.iter_mut().zip(&self.ports) {
            *own = port.guards(time, state, own[0]);
        }
    }

    fn clear(&self, state: &[f64], reach: &[f64]) -> bool {
        self.ports.iter().all(|port| port.clear(state, reach))
    }

    fn crossed(&mut self, guard: usize, time: f64, state: &mut [f64]) {
        let (queue, which) = (guard / GUARDS, guard % GUARDS);
        if which < 2 {
            self.ports[queue].refill(which, state);
        } else {
            let inflows = self.inflows(state);
            self.ports[queue].turn(which - 2, time, state, inflows[queue]);
        }
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
        self.quads = Quad::all(&self.lanes);
    }
}
