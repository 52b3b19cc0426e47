//! The equations about an operating point, with the laws' probabilities as inputs: what is
//! linearised.
//!
//! They are those of [`super::Mgt`], lane by lane and port by port, for any [`Scalar`]. A loop is
//! opened where a packet meets a probability: it is the input there, and what the law would say is
//! the output.

use serde::Deserialize;

use super::lane::Lane;
use super::port::Port;
use super::{Layout, Parameters};
use crate::linear::Model;
use crate::scalar::Scalar;

/// Which growth of windows the linear model has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// All growth is clocked by acknowledgements: dW/dt = (I/W − D p) x, with p and the rate x of a
    /// round trip ago. That is the plant of Hollot, Misra, Towsley and Gong (INFOCOM 2001, equation
    /// 4), C²/2N e^(−sR)/((s + 2N/(R²C))(s + 1/R)) for Reno.
    #[default]
    Paper,
    /// As the equations of the fluid engine have it.
    Fluid,
}

/// The equations with their modes at an operating point.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    layout: Layout,
    form: Form,
    lanes: Vec<Lane>,
    ports: Vec<Port>,
    /// The states that move.
    active: Vec<usize>,
}

impl Opened {
    /// About `state`, in which packets meet `met`; the parameters have been checked.
    pub(crate) fn new(
        parameters: Parameters,
        state: &[f64],
        met: &[f64],
        form: Form,
        sampled: bool,
    ) -> Self {
        let layout = parameters.layout();
        let Parameters { classes, queues } = parameters;
        let lanes = classes.into_iter().map(|class| Lane::new(class, &queues, layout)).collect();
        let port = |(number, queue)| Port::new(queue, number, layout, state[layout.queue(number)]);
        let ports = queues.into_iter().enumerate().map(port).collect();
        let mut model = Self { layout, form, lanes, ports, active: Vec::new() };
        for queue in 0..layout.queues {
            let inflow = model.inflow(queue, state, met);
            model.ports[queue].settle(state, met[queue], inflow, sampled);
        }
        let windows = (0..layout.classes).filter(|class| model.lanes[*class].flows > 0.0);
        let moves = |queue: &usize| model.ports[*queue].moves();
        let has_state = |queue: &usize| model.ports[*queue].has_state();
        let lengths = (0..layout.queues).filter(moves).map(|queue| layout.queue(queue));
        let own = (0..layout.queues).filter(has_state).map(|queue| layout.own(queue));
        model.active = windows.chain(lengths).chain(own).collect();
        model
    }

    /// What the states that move are.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        let Layout { classes, queues } = self.layout;
        let name = |place: &usize| match *place {
            place if place < classes => "window",
            place if place < classes + queues => "queue",
            _ => "law",
        };
        self.active.iter().map(name).collect()
    }

    /// Arrivals at a queue in packets per second, where `met` are the probabilities at all.
    fn inflow<S: Scalar>(&self, queue: usize, state: &[S], met: &[S]) -> S {
        let mut inflow = S::of(0.0);
        for (class, lane) in self.lanes.iter().enumerate() {
            let rate = state[class] * lane.flows / lane.round_trip(|at| state[at]);
            let add = |at: usize, rate| {
                if at == queue {
                    inflow = inflow + rate;
                }
            };
            lane.send(rate, |queue| met[queue], add);
        }
        inflow
    }

    /// Why a law has no derivative in `state`, if one has none.
    pub(crate) fn kink(&self, state: &[f64], met: &[f64]) -> Option<(usize, String)> {
        let mut ports = self.ports.iter().enumerate();
        ports.find_map(|(queue, port)| {
            Some((queue, port.kink(state, self.inflow(queue, state, met))?))
        })
    }
}

impl Model for Opened {
    fn all(&self) -> usize {
        self.layout.states()
    }

    fn active(&self) -> &[usize] {
        &self.active
    }

    fn inputs(&self) -> usize {
        self.layout.queues
    }

    fn delays(&self, state: &[f64]) -> impl Iterator<Item = f64> {
        let round_trips = self.lanes.iter().map(|lane| lane.round_trip(|at| state[at]));
        round_trips.chain(self.ports.iter().map(Port::hold))
    }

    fn evaluate<S: Scalar>(&self, now: (&[S], &[S]), past: &[(&[S], &[S])], out: &mut [S]) {
        let (state, met) = now;
        let Layout { classes, queues } = self.layout;
        for (class, lane) in self.lanes.iter().enumerate() {
            let (w, round_trip) = (state[class], lane.round_trip(|at| state[at]));
            let (then, met) = past[class];
            let rate = then[class] / lane.round_trip(|at| then[at]);
            let lost = lane.loss(|queue| {
                self.ports[queue].total_loss(met[queue], self.inflow(queue, then, met))
            });
            // By acknowledgements a round trip takes as long as they take to come in.
            let round_trip = if self.form == Form::Paper { w / rate } else { round_trip };
            out[class] = lane.slope(w, round_trip, rate, rate * lost);
        }
        for (queue, port) in self.ports.iter().enumerate() {
            let (inflow, before) = (self.inflow(queue, state, met), past[classes + queue].0);
            let (length, own) = port.open_slopes(state, met[queue], inflow, before);
            out[self.layout.queue(queue)] = length;
            out[self.layout.own(queue)] = own;
            out[self.layout.states() + queue] = port.open_loss(state, inflow);
        }
        debug_assert_eq!(out.len(), self.layout.states() + queues);
    }
}
