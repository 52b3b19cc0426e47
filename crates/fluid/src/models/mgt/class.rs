//! A class of like flows.

use serde::Deserialize;

use crate::windows::Reno;
use crate::{Invalid, WindowLaw};

/// A class of like flows.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// How many flows there are from when on, in order of time; none before the first.
    pub flows: Vec<(f64, f64)>,
    /// Round-trip time without queueing, in seconds: above 0.
    pub rtt: f64,
    /// The queues that its packets wait and are lost in, in order.
    pub path: Vec<usize>,
    /// Queues that only its acknowledgements wait in.
    #[serde(default)]
    pub back: Vec<usize>,
    /// What becomes of its windows: read from a congestion control's table in a scenario.
    pub law: WindowLaw,
    /// Whether losses in small windows are timeouts.
    #[serde(default)]
    pub timeouts: bool,
    /// The mean of the squares of its flows' windows over the square of their mean: 1, all being
    /// alike, to 2.
    #[serde(default = "crate::one")]
    pub spread: f64,
    /// Window of a flow that starts, in packets: at least 1.
    #[serde(default = "crate::one")]
    pub initial_window: f64,
    /// Greatest window, in packets; may be infinite.
    #[serde(default = "crate::endless")]
    pub max_window: f64,
}

impl Class {
    /// `flows` Reno flows from the start on over the queues in `path`.
    pub fn reno(flows: f64, rtt: f64, path: Vec<usize>) -> Self {
        Self {
            flows: vec![(0.0, flows)],
            rtt,
            path,
            back: Vec::new(),
            law: Reno.into(),
            timeouts: false,
            spread: 1.0,
            initial_window: 1.0,
            max_window: f64::INFINITY,
        }
    }

    /// What is lost on its path, the queues losing `losses`. A small loss keeps its digits.
    #[inline]
    pub(super) fn loss(&self, losses: &[f64]) -> f64 {
        match self.path[..] {
            [queue] => losses[queue],
            _ => 1.0 - self.path.iter().map(|&queue| 1.0 - losses[queue]).product::<f64>(),
        }
    }

    pub(super) fn validate(&self, queues: usize) -> Result<(), Invalid> {
        if !(self.rtt > 0.0 && self.rtt <= 1e6) {
            return Err(Invalid::new("rtt", self.rtt, "must be above 0 seconds, such as 0.1"));
        }
        for &(time, n) in &self.flows {
            for (value, holds) in [(time, time.is_finite()), (n, n >= 0.0 && n.is_finite())] {
                if !holds {
                    let remedy = "must be a time and a number of flows, at least 0";
                    return Err(Invalid::new("flows", value, remedy));
                }
            }
        }
        let most = self.flows.iter().fold(0.0, |most: f64, (_, n)| most.max(*n));
        if !(most > 0.0 && most <= 1e12) {
            return Err(Invalid::new(
                "flows",
                most,
                "must be above 0: there must be a flow at some time",
            ));
        }
        for pair in self.flows.windows(2) {
            if pair[0].0 >= pair[1].0 {
                return Err(Invalid::new("flows", pair[1].0, "times must be in order, each once"));
            }
        }
        if self.path.is_empty() {
            return Err(Invalid::new("path", "[]", "must name at least one queue"));
        }
        if let Some(queue) = self.path.iter().chain(&self.back).find(|queue| **queue >= queues) {
            let remedy = format!("there are {queues} queues, from 0");
            return Err(Invalid::new("path", queue, remedy));
        }
        if !(1.0..=2.0).contains(&self.spread) {
            let remedy = "must be 1 (all windows alike, as in the paper) to 2, such as 1.1658";
            return Err(Invalid::new("spread", self.spread, remedy));
        }
        if !(self.initial_window >= 1.0 && self.initial_window.is_finite()) {
            return Err(Invalid::new(
                "initial_window",
                self.initial_window,
                "must be at least 1 packet",
            ));
        }
        if self.max_window.is_nan() || self.max_window < self.initial_window {
            let remedy = format!("must be at least initial_window = {}", self.initial_window);
            return Err(Invalid::new("max_window", self.max_window, remedy));
        }
        Ok(())
    }
}
