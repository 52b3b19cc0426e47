//! TCP under a price on the rate: F. Kelly, "Mathematical modelling of the Internet", in
//! *Mathematics Unlimited: 2001 and Beyond*; Vinnicombe, "On the stability of networks operating
//! TCP-like congestion control", IFAC 2002.
//!
//! ```text
//! dW_i/dt = growth − cut(W_i) · x_i(t − R_i) · p(t − R_i)    x_i = W_i/R_i, R_i constant
//! p       = g(y/C)                                            y = Σ N_i x_i, averaged or not
//! ```
//!
//! There is no queue: the link marks by the rate alone, so round trips are constant. With
//! `averaging` = τ the rate is measured through a first-order lag, τ dy/dt = Σ N_i x_i − y.

use serde::Deserialize;

use crate::integrate::{Past, System};
use crate::{Invalid, Price, WindowLaw};

/// A class of like flows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// How many flows: above 0.
    pub flows: f64,
    /// Their round-trip time, in seconds: above 0.
    pub rtt: f64,
    /// What becomes of their windows: read from a congestion control's table in a scenario.
    pub law: WindowLaw,
}

/// Classes of flows over one link.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The classes.
    pub classes: Vec<Class>,
    /// What the link could carry, in packets per second.
    pub capacity: f64,
    /// The price.
    pub price: Price,
    /// Time constant of the measured rate, in seconds; 0: the rate of now.
    #[serde(default)]
    pub averaging: f64,
}

/// An operating point.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// Window of each class, in packets.
    pub windows: Vec<f64>,
    /// Rate over capacity.
    pub load: f64,
    /// Marking probability.
    pub loss: f64,
}

impl Parameters {
    /// Checks everything.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.classes.is_empty() {
            return Err(Invalid::new("classes", "[]", "there must be at least one class of flows"));
        }
        for (number, class) in self.classes.iter().enumerate() {
            let wrong = |field: &'static str, value: f64, remedy: &str| {
                Invalid::new(field, value, remedy).of(format_args!("classes[{number}]"))
            };
            if !(class.flows > 0.0 && class.flows <= 1e12) {
                return Err(wrong("flows", class.flows, "must be above 0"));
            }
            if !(class.rtt > 0.0 && class.rtt <= 1e6) {
                return Err(wrong("rtt", class.rtt, "must be above 0 seconds, such as 0.1"));
            }
        }
        if !(self.capacity > 0.0 && self.capacity <= 1e12) {
            let remedy = "must be above 0 packets per second, such as 1250";
            return Err(Invalid::new("capacity", self.capacity, remedy));
        }
        if !(0.0..=1e6).contains(&self.averaging) {
            let remedy = "must be 0 to 1e6 seconds, such as 0";
            return Err(Invalid::new("averaging", self.averaging, remedy));
        }
        self.price.validate()
    }

    /// The load that all classes make when the probability is `loss`.
    fn load(&self, loss: f64) -> f64 {
        let rates = self.classes.iter().map(|c| c.flows * c.law.window(loss, false) / c.rtt);
        rates.sum::<f64>() / self.capacity
    }

    /// All operating points, by load. There may be several if the price is not clipped.
    ///
    /// # Errors
    /// If a parameter is wrong, or there is no such point.
    pub fn equilibria(&self) -> Result<Vec<Equilibrium>, Invalid> {
        self.validate()?;
        let surplus = |load: f64| self.load(self.price.at(load)) - load;
        const LOOKS: u32 = 4000;
        let mut found = Vec::new();
        for look in 0..LOOKS {
            let (mut low, mut high) =
                (f64::from(look) / f64::from(LOOKS), f64::from(look + 1) / f64::from(LOOKS));
            let sign = surplus(low) > 0.0;
            if sign == (surplus(high) > 0.0) {
                continue;
            }
            for _ in 0..100 {
                let middle = 0.5 * (low + high);
                if (surplus(middle) > 0.0) == sign { low = middle } else { high = middle }
            }
            let load = 0.5 * (low + high);
            let loss = self.price.at(load);
            let windows = self.classes.iter().map(|c| c.law.window(loss, false)).collect();
            found.push(Equilibrium { windows, load, loss });
        }
        if found.is_empty() {
            let remedy = "there is no operating point: even if everything is marked more is sent \
                          than the link carries; there must be fewer flows, or longer round trips";
            return Err(Invalid::new("classes", "", remedy));
        }
        Ok(found)
    }

    /// The operating point with the highest load.
    ///
    /// # Errors
    /// As for [`Parameters::equilibria`].
    pub fn equilibrium(&self) -> Result<Equilibrium, Invalid> {
        let mut all = self.equilibria()?;
        Ok(all.swap_remove(all.len() - 1))
    }

    /// The state at an operating point, with every window `1 + kick` times as large.
    pub fn state_at(&self, point: &Equilibrium, kick: f64) -> Vec<f64> {
        let windows = point.windows.iter().map(|window| window * (1.0 + kick));
        windows.chain(self.averages().then_some(point.load)).collect()
    }

    /// The state and the signal at an operating point, as the past of a run that begins there.
    pub fn past_at(&self, point: &Equilibrium) -> Vec<f64> {
        let mut past = self.state_at(point, 0.0);
        past.push(point.loss);
        past
    }

    fn averages(&self) -> bool {
        self.averaging > 0.0
    }
}

/// The model as a system of equations: the windows, then the averaged load if there is one; its
/// signal is the marking probability.
#[derive(Clone, Debug)]
pub struct Kelly {
    parameters: Parameters,
    piece: usize,
}

impl Kelly {
    /// The equations; the parameters have been checked.
    pub fn new(parameters: Parameters, state: &[f64]) -> Self {
        let mut model = Self { parameters, piece: 0 };
        let load = model.measured(state);
        model.piece = model.parameters.price.piece(load);
        model
    }

    /// The load of now.
    pub fn load(&self, state: &[f64]) -> f64 {
        let rates = self.parameters.classes.iter().zip(state).map(|(c, w)| c.flows * w / c.rtt);
        rates.sum::<f64>() / self.parameters.capacity
    }

    /// The load that is charged for.
    pub fn measured(&self, state: &[f64]) -> f64 {
        if self.parameters.averages() {
            state[self.parameters.classes.len()]
        } else {
            self.load(state)
        }
    }
}

impl System for Kelly {
    fn states(&self) -> usize {
        self.parameters.classes.len() + usize::from(self.parameters.averages())
    }

    fn signals(&self) -> usize {
        1
    }

    fn kept(&self) -> usize {
        1
    }

    fn lags(&self) -> usize {
        self.parameters.classes.len()
    }

    fn guards(&self) -> usize {
        2
    }

    fn past_time(&self, class: usize, time: f64, _: &[f64]) -> f64 {
        time - self.parameters.classes[class].rtt
    }

    fn slope(&self, time: f64, state: &[f64], past: &Past<'_>, slope: &mut [f64]) {
        let loss_at = self.states();
        for (index, class) in self.parameters.classes.iter().enumerate() {
            let then = past.at(index, time - class.rtt);
            let rate = then.get(index) / class.rtt;
            let hits = rate * then.get(loss_at);
            slope[index] = class.law.slope(false, state[index], class.rtt, rate, hits);
        }
        if self.parameters.averages() {
            let average = self.parameters.classes.len();
            slope[average] = (self.load(state) - state[average]) / self.parameters.averaging;
        }
    }

    fn signal(&self, _: f64, state: &[f64], _: bool, signals: &mut [f64]) {
        signals[0] = self.parameters.price.within(self.piece, self.measured(state));
    }

    fn scales(&self, scales: &mut [f64]) {
        scales.fill(1.0);
        if self.parameters.averages() {
            scales[self.parameters.classes.len()] = 1e-2;
        }
    }

    fn guard(&self, _: f64, state: &[f64], guards: &mut [f64]) {
        let own = self.parameters.price.guards(self.piece, self.measured(state));
        guards.copy_from_slice(&own);
    }

    fn crossed(&mut self, guard: usize, _: f64, _: &mut [f64]) {
        self.piece = if guard == 0 { self.piece - 1 } else { self.piece + 1 };
    }

    fn stops(&self) -> &[f64] {
        &[]
    }

    fn stop(&mut self, _: usize, _: f64, _: &mut [f64]) {}
}

#[cfg(test)]
mod tests;
