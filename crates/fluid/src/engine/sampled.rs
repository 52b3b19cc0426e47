//! A network whose samples are made by hand, so that what is measured of them has a closed form.

use std::path::Path;

use sojourn_records::Recorder;
use sojourn_scenario::{Network, Scenario};

use super::measure::Measure;
use super::read;
use crate::integrate::System;
use crate::mgt::Mgt;

/// Packets of 500 bytes over two links, 1000 and 2000 of them a second. The first one drops, the
/// second one marks. Three flows cross both, two flows the second one alone.
const TWO_LINKS: &str = r#"
duration = "10s"
warmup = "2s"
[tcp]
profile = "classic"
mss = 460
ecn = true
[[links]]
name = "first"
from = "a"
to = "b"
rate = "4mbit"
delay = "10ms"
qdisc = { kind = "red", min_th = 50, max_th = 150, wq = 0.002, limit = 400 }
[[links]]
name = "second"
from = "b"
to = "c"
rate = "8mbit"
delay = "20ms"
qdisc = { kind = "pi", a = 1.822e-5, b = 1.816e-5, frequency = 160, qref = 100, ecn = true }
[[links]]
name = "near"
from = "c"
to = "b"
delay = "20ms"
[[links]]
name = "far"
from = "b"
to = "a"
delay = "10ms"
[[traffic]]
kind = "bulk"
name = "long"
flows = 3
from = "a"
to = "c"
[[traffic]]
kind = "bulk"
name = "short"
flows = 2
from = "b"
to = "c"
"#;

/// The same with changes.
pub(super) fn network(changes: &[(&str, &str)]) -> Network {
    let scenario = Scenario::from_toml(TWO_LINKS, "two links").unwrap().with(changes).unwrap();
    scenario.network(Path::new(".")).unwrap()
}

/// What is sampled at a time, for both queues or both classes.
#[derive(Clone, Copy, Default)]
pub(super) struct Sample {
    /// Packets per second that a flow sends.
    pub rates: [f64; 2],
    /// Packets in the queues.
    pub lengths: [f64; 2],
    /// Packets per second that arrive.
    pub inflows: [f64; 2],
    /// What the laws lose of them.
    pub laws: [f64; 2],
    /// What full buffers lose of the rest.
    pub overflows: [f64; 2],
}

/// A run under way.
pub(super) struct Sampled {
    pub network: Network,
    pub measure: Measure,
    pub model: Mgt,
    samples: u64,
}

impl Sampled {
    pub(super) fn new(changes: &[(&str, &str)]) -> Self {
        let network = network(changes);
        let plan = read(&network).unwrap();
        let measure = Measure::new(&network, &plan, Recorder::in_memory()).unwrap();
        let model = Mgt::new(plan.parameters.clone(), &plan.parameters.empty());
        Self { network, measure, model, samples: 0 }
    }

    /// Round trips of the classes, in seconds.
    pub(super) fn round_trips(&self, lengths: [f64; 2]) -> [f64; 2] {
        let [long, short] = [0, 1].map(|class: usize| self.model.parameters().classes[class].rtt);
        let [first, second] = [lengths[0] / 1000.0, lengths[1] / 2000.0];
        [long + first + second, short + second]
    }

    /// Takes all samples up to `end` seconds.
    pub(super) fn follow(&mut self, end: f64, at: impl Fn(f64) -> Sample) {
        let layout = self.model.layout();
        loop {
            let time = self.samples as f64 * self.measure.step();
            if time > end {
                return;
            }
            let Sample { rates, lengths, inflows, laws, overflows } = at(time);
            let round_trips = self.round_trips(lengths);
            let mut row = vec![f64::NAN; layout.states() + layout.signals()];
            for i in 0..2 {
                row[layout.window(i)] = rates[i] * round_trips[i];
                row[layout.queue(i)] = lengths[i];
                row[layout.inflow(i)] = inflows[i];
                row[layout.loss(i)] = 1.0 - (1.0 - laws[i]) * (1.0 - overflows[i]);
                row[layout.overflow(i)] = overflows[i];
            }
            self.measure.sample(self.samples, time, &row, &self.model);
            self.samples += 1;
        }
    }

    /// The flows that come or go at the model's next stops do so.
    pub(super) fn stop(&mut self, number: usize) {
        let time = self.model.stops()[number];
        let mut state = vec![1.0; self.model.layout().states()];
        self.model.stop(number, time, &mut state);
    }
}
