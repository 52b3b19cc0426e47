//! The model of Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers
//! supporting TCP flows with an application to RED", SIGCOMM 2000: classes of like TCP flows over
//! queues in series.
//!
//! ```text
//! R_i(t)   = a_i + Σ q_v(t)/C_v                                  round trip of class i
//! dW_i/dt  = growth − cut(W_i) · x_i(t − R_i) · p_i(t − R_i)     x_i = W_i/R_i, Reno: 1/R, W/2
//! p_i      = 1 − Π (1 − p_v)                                     over the queues on its path
//! dq_v/dt  = Σ N_i x_i − C_v                                     between 0 and the buffer
//! ```
//!
//! With `timeouts` the share Q = min(1, 3/W) of losses takes the window to 1 (section 3 there).
//!
//! **Spread.** A flow loses x p packets a second and W/2 for each, so what counts is the mean of W²
//! over its flows; the equations take the square of the mean window for it. `spread` is the ratio
//! of the two. It is 1 in the paper. For Reno flows that are hit independently of each other it is
//! 2/1.3098² = 1.1658, the window being distributed as Ott, Kemperman and Mathis found ("The
//! stationary behavior of ideal TCP congestion avoidance", 1996): W = 1.3098/√p, not √2/√p.
//!
//! # Differences from the source
//!
//! 1. A full buffer loses what does not fit, 1 − C/x of the arrivals; they have no such limit.
//! 2. A queue may thin its arrivals (`thins`): what is dropped does not wait, nor reach the queues
//!    behind. In the paper everything that is sent arrives at every queue.
//! 3. Flows of a class may come and go; those that come begin with the initial window, and the mean
//!    window of the class becomes the mean over old and new.
//! 4. A window has a limit; its growth is tapered over the last hundredth below it.
//! 5. What a class has on the way when it starts was sent without loss.

mod equilibrium;
mod lane;
mod layout;
mod opened;
mod port;
mod quad;
mod system;
#[cfg(test)]
mod tests;
mod text;

pub use equilibrium::Equilibrium;
pub use layout::Layout;
pub(crate) use opened::Opened;
pub use system::Mgt;
pub(crate) use text::typical as typical_packet;

use serde::Deserialize;
use text::QueueText;

use crate::queues::Law;
use crate::{Invalid, QueueLaw, WindowLaw};

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

/// A queue and its link.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "QueueText")]
pub struct Queue {
    /// What the link sends, in packets per second.
    pub capacity: f64,
    /// Most packets that may wait; may be infinite.
    pub buffer: f64,
    /// The control law.
    pub law: QueueLaw,
    /// Whether the law drops packets, which then wait nowhere, instead of marking them.
    pub thins: bool,
    /// How many of the packets that the law counts in one packet is: 1, or its size over the mean
    /// packet of a law that counts bytes.
    pub unit: f64,
    /// What the law's probability is multiplied by, for a law that scales it by a packet's size.
    pub weight: f64,
}

/// Classes and queues.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The classes.
    pub classes: Vec<Class>,
    /// The queues.
    pub queues: Vec<Queue>,
}

impl Class {
    /// `flows` Reno flows from the start on over the queues in `path`.
    pub fn reno(flows: f64, rtt: f64, path: Vec<usize>) -> Self {
        Self {
            flows: vec![(0.0, flows)],
            rtt,
            path,
            back: Vec::new(),
            law: crate::windows::Reno.into(),
            timeouts: false,
            spread: 1.0,
            initial_window: 1.0,
            max_window: f64::INFINITY,
        }
    }

    /// What is lost on its path, the queues losing `losses`. A small loss keeps its digits.
    #[inline]
    fn loss(&self, losses: &[f64]) -> f64 {
        match self.path[..] {
            [queue] => losses[queue],
            _ => 1.0 - self.path.iter().map(|&queue| 1.0 - losses[queue]).product::<f64>(),
        }
    }

    fn validate(&self, queues: usize) -> Result<(), Invalid> {
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

impl Queue {
    /// A queue without a limit under `law`.
    pub fn new(capacity: f64, law: impl Into<QueueLaw>) -> Self {
        let law = law.into();
        Self { capacity, buffer: f64::INFINITY, law, thins: false, unit: 1.0, weight: 1.0 }
    }

    fn validate(&self) -> Result<(), Invalid> {
        if !(self.capacity > 0.0 && self.capacity <= 1e12) {
            return Err(Invalid::new("capacity", self.capacity, text::CAPACITY));
        }
        if self.buffer.is_nan() || self.buffer <= 0.0 {
            return Err(Invalid::new("buffer", self.buffer, "must be above 0 packets"));
        }
        let droptail = matches!(self.law, QueueLaw::Droptail(_));
        if droptail && self.buffer.is_infinite() {
            let remedy = "a queue without a control law needs one, or nothing is ever lost";
            return Err(Invalid::new("buffer", self.buffer, remedy));
        }
        for (field, value) in [("unit", self.unit), ("weight", self.weight)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Invalid::new(field, value, "must be above 0"));
            }
        }
        if self.thins && !self.law.has_state() && self.law.looks_at_rate() {
            let remedy = "a price on the present rate marks and cannot thin it: set thins = false, \
                          or give averaging";
            return Err(Invalid::new("thins", self.thins, remedy));
        }
        Ok(())
    }
}

impl Parameters {
    /// Where what stands among states and signals.
    pub fn layout(&self) -> Layout {
        Layout { classes: self.classes.len(), queues: self.queues.len() }
    }

    /// Checks everything.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.classes.is_empty() {
            return Err(Invalid::new("classes", "[]", "there must be at least one class of flows"));
        }
        for (number, queue) in self.queues.iter().enumerate() {
            queue.validate().map_err(|error| error.of(format_args!("queues[{number}]")))?;
        }
        for (number, class) in self.classes.iter().enumerate() {
            let checked = class.validate(self.queues.len());
            checked.map_err(|error| error.of(format_args!("classes[{number}]")))?;
        }
        Ok(())
    }
}
