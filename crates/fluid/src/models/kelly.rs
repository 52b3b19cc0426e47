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
use crate::mgt::window_slope;
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
            slope[index] = window_slope(&class.law, false, state[index], class.rtt, rate, hits);
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
mod tests {
    use super::*;
    use crate::integrate::{Settings, Solver};

    fn power(exponent: f64, rtt: f64) -> Parameters {
        Parameters {
            classes: vec![Class { flows: 60.0, rtt, law: crate::windows::Reno.into() }],
            capacity: 3750.0,
            price: Price::Power { exponent },
            averaging: 0.0,
        }
    }

    /// How many times larger the swing is after `round_trips` than after the first few.
    fn growth(parameters: Parameters, round_trips: f64) -> f64 {
        let point = parameters.equilibrium().unwrap();
        let (w0, rtt) = (point.windows[0], parameters.classes[0].rtt);
        let (past, state) = (parameters.past_at(&point), parameters.state_at(&point, 1e-5));
        let model = Kelly::new(parameters, &state);
        let settings = Settings { tolerance: 1e-10, ..Settings::default() };
        let mut solver = Solver::new(model, 0.0, &past, state, settings);
        let end = round_trips * rtt;
        let (mut early, mut late) = (0.0_f64, 0.0_f64);
        while solver.time() < end {
            solver.advance(end).unwrap();
            let swing = (solver.state()[0] - w0).abs();
            if solver.time() < 12.0 * rtt {
                early = early.max(swing);
            } else if solver.time() > end - 12.0 * rtt {
                late = late.max(swing);
            }
        }
        late / early
    }

    #[test]
    fn equilibria_are_those_of_the_closed_form() {
        for (exponent, rtt, utilisation) in
            [(1.0, 0.1, 0.371), (2.0, 0.3, 0.275), (4.0, 0.8, 0.305)]
        {
            let point = power(exponent, rtt).equilibrium().unwrap();
            assert!((point.load - utilisation).abs() < 5e-4, "{point:?}");
            let w0 =
                libm::pow(2.0 * libm::pow(rtt * 3750.0 / 60.0, exponent), 1.0 / (2.0 + exponent));
            assert!((point.windows[0] / w0 - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn the_boundary_is_where_the_closed_form_has_it() {
        // Stable iff W0 > sqrt((1 + B)² − 1)/arccos(−1/(1 + B)).
        let bound = |b: f64| libm::sqrt((1.0 + b) * (1.0 + b) - 1.0) / libm::acos(-1.0 / (1.0 + b));
        for exponent in [16.0, 32.0] {
            for rtt in [0.05, 0.1, 0.3, 0.8] {
                let w0 = power(exponent, rtt).equilibrium().unwrap().windows[0];
                let stable = w0 > bound(exponent);
                let growth = growth(power(exponent, rtt), 60.0);
                assert_eq!(growth < 1.0, stable, "B {exponent} R {rtt}: W0 {w0}, {growth}");
            }
        }
    }

    #[test]
    fn a_ramp_that_starts_late_is_unstable_and_the_bend_is_sharp() {
        // With B = 1 and R = 0.3 s the linearisation turns at γ = 0.301.
        let ramp = |start| {
            let mut p = power(1.0, 0.3);
            p.price = Price::Ramp { start, exponent: 1.0, clipped: true };
            p
        };
        assert!(growth(ramp(0.28), 200.0) < 1.0);
        assert!(growth(ramp(0.32), 200.0) > 1.0);
    }

    #[test]
    fn an_unclipped_parabola_has_three_operating_points() {
        let mut p = power(2.0, 0.3);
        p.price = Price::Ramp { start: 0.6, exponent: 2.0, clipped: false };
        assert_eq!(p.equilibria().unwrap().len(), 3);
        p.price = Price::Ramp { start: 0.3, exponent: 2.0, clipped: false };
        assert_eq!(p.equilibria().unwrap().len(), 1);
    }

    #[test]
    fn averaging_the_rate_adds_a_state_and_keeps_the_point() {
        let mut p = power(16.0, 0.3);
        p.averaging = 0.05;
        let point = p.equilibrium().unwrap();
        let (past, state) = (p.past_at(&point), p.state_at(&point, 0.0));
        assert_eq!(state.len(), 2);
        let model = Kelly::new(p, &state);
        let mut solver = Solver::new(model, 0.0, &past, state, Settings::default());
        while solver.time() < 10.0 {
            solver.advance(10.0).unwrap();
        }
        assert!((solver.state()[0] - point.windows[0]).abs() < 1e-3);
    }

    #[test]
    fn scalable_tcp_is_stable_as_vinnicombes_theorem_says() {
        // a < 1/B suffices. The linearisation s + κ + κ B e^(−sR) with κ = a/R turns where
        // a = arccos(−1/B)/√(B² − 1).
        let b: f64 = 16.0;
        let turn = libm::acos(-1.0 / b) / libm::sqrt(b * b - 1.0);
        assert!(turn > 1.0 / b);
        for (a, stable) in [(0.9 / b, true), (0.95 * turn, true), (1.05 * turn, false)] {
            let mut p = power(b, 0.1);
            p.classes[0].law =
                crate::windows::Scalable { a, b: 0.125, lwnd: 0.0, at_least_reno: false }.into();
            assert_eq!(growth(p, 100.0) < 1.0, stable, "a = {a}");
        }
    }

    #[test]
    fn what_cannot_work_is_named() {
        let text = |p: Parameters| p.equilibrium().unwrap_err().to_string();
        let mut p = power(1.0, 0.1);
        p.classes[0].flows = 0.0;
        assert_eq!(text(p), "classes[0].flows = 0: must be above 0");
        let mut p = power(1.0, 0.0);
        assert!(text(p.clone()).starts_with("classes[0].rtt = 0: "));
        p.classes[0].rtt = 0.001;
        assert!(text(p).contains("no operating point"));
    }
}
