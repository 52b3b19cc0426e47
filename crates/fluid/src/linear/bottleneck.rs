//! Like flows over one link, described in the words of a scenario, as a loop.

use serde::{Deserialize, Serialize};
use sojourn_qdisc::Config;

use super::linearise::{linearise, operating_point};
use super::matrix::{Matrix, Vector};
use super::polynomial::{Pair, Polynomial, characteristic};
use super::rest::{Flows, Rest, RoundTrip};
use super::system::{DelaySystem, Delayed, SIZE};
use crate::mgt::{Class, Form, Opened, Parameters, Queue};
use crate::queues::{Droptail, Env, Law, Made, Rate, has_law, no_law};
use crate::{Price, QueueLaw, WindowLaw};

/// Flows over one link.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bottleneck {
    /// How many flows.
    pub flows: f64,
    /// Packets per second.
    pub capacity: f64,
    /// Round trip time in seconds, the wait in the queue included.
    pub rtt: Option<f64>,
    /// Round trip time in seconds without the wait in the queue.
    pub propagation: Option<f64>,
    /// What becomes of windows.
    #[serde(default = "reno")]
    pub congestion: WindowLaw,
    /// The queue discipline.
    pub qdisc: Option<Config>,
    /// Instead: a price on the rate, without a queue.
    pub price: Option<Price>,
    /// Time constant of the rate's average in seconds, for a price.
    #[serde(default)]
    pub averaging: f64,
    /// Instead of both: no law at all, and so many packets waiting. The output is the queue.
    pub queue: Option<f64>,
    /// Which growth the linear model has.
    #[serde(default)]
    pub form: Form,
    /// Whether it counts in that the law samples.
    #[serde(default)]
    pub sampled: bool,
    /// Whether RED's drops are spaced.
    #[serde(default)]
    pub spaced: bool,
    /// Factor on the law's answer.
    #[serde(default = "crate::one")]
    pub gain: f64,
    /// For CoDel's describing function, in seconds; none: its target.
    pub amplitude: Option<f64>,
    /// Bytes of a packet, for laws that count bytes.
    #[serde(default = "crate::mgt::typical_packet")]
    pub mean_packet: u32,
    /// Which equilibrium, by window, where a price has several: −1 the one with the largest.
    #[serde(default = "largest")]
    pub branch: i64,
    /// The link and its packets where they are not of that size, as in a scenario.
    #[serde(skip)]
    pub link: Option<Env>,
    /// For many loops: the least window for which there is a point.
    #[serde(default = "crate::one")]
    pub window: f64,
    /// For many loops: half a sampling period of further delay.
    #[serde(default)]
    pub held: bool,
    /// For many loops: their polynomials too.
    #[serde(default)]
    pub coefficients: bool,
}

fn reno() -> WindowLaw {
    crate::windows::Reno.into()
}

pub(super) fn largest() -> i64 {
    -1
}

/// Where a loop comes to rest.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// How many flows.
    pub flows: f64,
    /// Packets per second.
    pub capacity: f64,
    /// Round trip time in seconds, the wait in the queue included.
    pub rtt: f64,
    /// The same without the wait.
    pub propagation: f64,
    /// Packets.
    pub window: f64,
    /// Probability of a mark.
    pub p: f64,
    /// Packets.
    pub queue: f64,
    /// Arrivals over capacity.
    pub load: f64,
    /// I(W): packets for each round trip.
    pub increase: f64,
    /// D(W): packets for each mark.
    pub decrease: f64,
    /// dI/dW.
    pub increase_slope: f64,
    /// dD/dW.
    pub decrease_slope: f64,
    /// How many equilibria there are.
    pub branches: usize,
}

/// A loop about its operating point.
#[derive(Clone, Debug, Serialize)]
pub struct Loop {
    /// What the states are.
    pub states: Vec<&'static str>,
    /// What states do to slopes at once.
    pub a0: Matrix<SIZE>,
    /// What they do later, by delay in seconds.
    pub delayed: Delayed<SIZE>,
    /// What the probability that packets meet does, by delay.
    pub b: Vec<(f64, Vector<SIZE>)>,
    /// What states do to the probability that the law gives.
    pub c: Vector<SIZE>,
    /// M of D(s) + M(s) e^(−sτ) = 0; none where there are two delays.
    pub numerator: Option<Polynomial>,
    /// D.
    pub denominator: Option<Polynomial>,
    /// τ in seconds.
    pub delay: f64,
    /// Seconds between two samples of the law; 0 if it acts at every packet.
    pub hold: f64,
    /// What it is linear about.
    pub point: Point,
}

/// What answers windows.
pub(super) struct Answer {
    pub made: Made<QueueLaw>,
    pub rest: Rest,
    branches: usize,
}

impl Bottleneck {
    /// Checks what is independent of the operating point.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        let above = |field: &str, value: f64| match value {
            v if v > 0.0 && v.is_finite() => Ok(()),
            v => Err(format!("{field} = {v}: must be above 0")),
        };
        above("flows", self.flows)?;
        above("capacity", self.capacity)?;
        self.rtt.map_or(Ok(()), |rtt| above("rtt", rtt))?;
        self.propagation.map_or(Ok(()), |propagation| above("propagation", propagation))?;
        if self.rtt.is_some() == self.propagation.is_some() {
            return Err("rtt, propagation: exactly one of them must be given".into());
        }
        self.amplitude.map_or(Ok(()), |amplitude| above("amplitude", amplitude))?;
        let given = [self.qdisc.is_some(), self.price.is_some(), self.queue.is_some()];
        if given.iter().filter(|given| **given).count() != 1 {
            return Err("qdisc, price, queue: exactly one of them must be given".into());
        }
        if let Some(Config::Droptail(_)) = &self.qdisc {
            let why = "it has no derivative at its operating point: it drops nothing until the \
                       buffer is full, and then all that does not fit";
            return Err(format!("qdisc = droptail: {why}"));
        }
        if let Some(config) = &self.qdisc {
            if !has_law(config) {
                return Err(no_law(config, |kind| kind != "droptail").to_string());
            }
            QueueLaw::of(config, &self.env()).map_err(|error| error.to_string())?;
        }
        if let Some(price) = self.price {
            Rate::made(price, self.averaging, self.capacity).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn env(&self) -> Env {
        let plain = || Env::packets(self.capacity, self.mean_packet);
        let env = self.link.unwrap_or_else(plain);
        Env { spaced: self.spaced, amplitude: self.amplitude, ..env }
    }

    /// The law, and where it comes to rest.
    pub(super) fn answer(&self) -> Result<Answer, String> {
        let round_trip = match (self.rtt, self.propagation) {
            (Some(rtt), _) => RoundTrip::Whole(rtt),
            (_, propagation) => RoundTrip::Propagation(propagation.unwrap_or(f64::NAN)),
        };
        let (count, capacity, law) = (self.flows, self.capacity, self.congestion);
        let flows = Flows { count, capacity, round_trip, law };
        let mut made = match (&self.qdisc, self.price) {
            (Some(config), _) => QueueLaw::unchecked(config, &self.env()),
            (_, Some(price)) => Rate::made(price, self.averaging, self.capacity),
            _ => Ok(Made::bare(Droptail)),
        }
        .map_err(|error| error.to_string())?;
        if let Some(queue) = self.queue {
            return Ok(Answer { made, rest: flows.full(queue), branches: 1 });
        }
        if let QueueLaw::Rate(rate) = &made.law {
            // A load is one of what the law takes the link to send.
            let flows = Flows { capacity: rate.capacity / made.unit, ..flows };
            let all = flows.priced(&rate.price, made.weight);
            let branches = all.len();
            let place = if self.branch < 0 { self.branch + branches as i64 } else { self.branch };
            let rest = usize::try_from(place).ok().and_then(|place| all.get(place).copied());
            let Some(rest) = rest else {
                let branch = self.branch;
                return Err(match branches {
                    0 => "no operating point: the price meets the law nowhere".into(),
                    _ => format!("branch = {branch}: there are {branches} equilibria"),
                });
            };
            return Ok(Answer { made, rest, branches });
        }
        let rest = flows.under(&mut made.law, made.unit, made.weight);
        Ok(Answer { made, rest, branches: 1 })
    }

    /// The equations about an equilibrium, and the state there.
    pub(super) fn opened(&self, answer: &Answer) -> (Opened, [f64; 3]) {
        let Answer { made, rest, .. } = answer;
        let mut class = Class::reno(self.flows, rest.propagation, vec![0]);
        class.law = self.congestion;
        let queue = Queue {
            unit: made.unit,
            weight: made.weight,
            ..Queue::new(self.capacity, made.law.clone())
        };
        let own = match &made.law {
            QueueLaw::Rate(rate) => self.load(rest) * self.capacity * made.unit / rate.capacity,
            law => {
                let (unit, p) = (made.unit, rest.p / made.weight);
                law.state_at(rest.queue * unit, p, self.capacity * unit)
            }
        };
        let parameters = Parameters { classes: vec![class], queues: vec![queue] };
        let state = [rest.window, rest.queue, own];
        (Opened::new(parameters, &state, &[rest.p], self.form, self.sampled), state)
    }

    fn load(&self, rest: &Rest) -> f64 {
        self.flows * rest.window / rest.rtt / self.capacity
    }

    /// The system with its output, which is the queue where there is no law.
    pub(super) fn system(&self, opened: &Opened, state: &[f64], met: &[f64]) -> DelaySystem<SIZE> {
        let mut system = linearise(opened, state, met);
        if self.queue.is_some() {
            system.c = Matrix::from_iter([Vector::from_iter([0.0, 1.0])]);
        }
        system.amplify(self.gain);
        system
    }

    /// The loop about its operating point.
    ///
    /// # Errors
    /// If something is wrong, or there is no operating point, or no derivative there.
    pub fn linearise(&self) -> Result<Loop, String> {
        self.check()?;
        let answer = self.answer()?;
        if self.queue.is_none() {
            self.require(&answer.rest)?;
        }
        let (opened, mut state) = self.opened(&answer);
        let mut met = Vector::<SIZE>::from_iter([answer.rest.p]);
        if self.queue.is_none() {
            met = operating_point(&opened, &mut state).map_err(|error| error.to_string())?;
            if let Some((_, why)) = opened.kink(&state, &met) {
                let kind = self.qdisc.as_ref().map_or("price", Config::name);
                return Err(format!("{kind}: {why}"));
            }
        }
        let system = self.system(&opened, &state, &met);
        let (polynomials, delay) = polynomials(&system, answer.rest.rtt);
        let (denominator, numerator) = polynomials.unzip();
        let mut a = system.a.into_iter();
        let a0 = a.next().map_or_else(Matrix::new, |(_, a0)| a0);
        let column = |b: Matrix<SIZE>| b.into_iter().map(|row| row[0]).collect();
        let acts = |b: &Matrix<SIZE>| b.iter().flatten().any(|entry| *entry != 0.0);
        let b = system.b.into_iter().filter(|(_, b)| acts(b));
        let [increase_slope, decrease_slope] = self.congestion.slopes(state[0]);
        Ok(Loop {
            states: opened.names(),
            a0,
            delayed: a.collect(),
            b: b.map(|(delay, b)| (delay, column(b))).collect(),
            c: system.c.into_iter().next().unwrap_or_default(),
            numerator,
            denominator,
            delay,
            hold: answer.made.law.hold(),
            point: Point {
                flows: self.flows,
                capacity: self.capacity,
                rtt: answer.rest.rtt,
                propagation: answer.rest.propagation,
                window: state[0],
                p: met[0],
                queue: state[1],
                load: self.load(&answer.rest),
                increase: self.congestion.increase(state[0]),
                decrease: self.congestion.cut(state[0]),
                increase_slope,
                decrease_slope,
                branches: answer.branches,
            },
        })
    }

    /// Whether the link sends just what its discipline lets come. It may not where that takes
    /// packets for larger or smaller than they are.
    pub(super) fn sends(&self, rest: &Rest) -> bool {
        rest.queue >= 0.0 && (self.qdisc.is_none() || self.load(rest) <= 1.0 + 1e-6)
    }

    /// What a point must be.
    fn require(&self, rest: &Rest) -> Result<(), String> {
        let Rest { window, p, queue, rtt, propagation } = *rest;
        let flows = self.flows;
        if queue.is_nan() {
            return Err(format!(
                "no operating point: {flows} flows need a probability of {p:.3}, more than the \
                 profile gives before it jumps to 1"
            ));
        }
        if window < 1.0 {
            return Err(format!(
                "no operating point: {flows} flows share {:.3} packets per round trip, a window of \
                 {window:.3}; it must be at least 1",
                rtt * self.capacity
            ));
        }
        if p > 1.0 {
            return Err(format!(
                "no operating point: a window of {window:.3} packets needs a probability of \
                 {p:.3}; it must be at most 1"
            ));
        }
        if !self.sends(rest) {
            let more = if queue < 0.0 { "fewer" } else { "more" };
            return Err(format!(
                "mean_packet: no operating point: the discipline lets {more} packets come than the \
                 link sends, as they do not have this size"
            ));
        }
        if propagation < 0.0 {
            return Err(format!(
                "no operating point: {queue:.1} packets wait {:.3} s, longer than the whole round \
                 trip of {rtt:.3} s",
                queue / self.capacity
            ));
        }
        Ok(())
    }
}

/// D and M, where all that is delayed is delayed by `rtt`, and that delay.
pub(super) fn polynomials(system: &DelaySystem<SIZE>, rtt: f64) -> (Option<Pair>, f64) {
    match &system.closed()[..] {
        [(_, now), (delay, delayed)] => (characteristic(now, delayed), *delay),
        _ => (None, rtt),
    }
}
