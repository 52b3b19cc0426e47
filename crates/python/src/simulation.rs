//! A simulation that Python takes step by step.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;
use sojourn_base::{Time, Value};
use sojourn_packets::{Control, FlowObservation, Recorder, Simulation as Stepped};

use crate::clock::CLOCK;
use crate::errors::{self, Error, ScenarioError};
use crate::scenario::Scenario;

/// Simulated time between two looks for Ctrl-C.
const SLICE: Time = Time::from_millis(1000);

/// What a look at one link gives.
type Link = (u64, Option<f64>, u64, f64, f64, u64, u64);

/// What a look at one group gives.
type Group = (Option<f64>, u64, f64, u64, u64);

/// A simulation under way; none once it is finished.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct Simulation {
    state: Mutex<Option<Stepped>>,
}

impl Simulation {
    fn of(simulation: Stepped) -> Self {
        Self { state: Mutex::new(Some(simulation)) }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Stepped>> {
        self.state.lock().unwrap_or_else(|poison| poison.into_inner())
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Stepped) -> Result<T, sojourn_packets::Error> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut state = self.lock();
            let simulation =
                state.as_mut().ok_or_else(|| Error::new_err("the simulation is finished"))?;
            errors::guarded(|| work(simulation))
                .map_err(Error::new_err)?
                .map_err(|error| ScenarioError::new_err(errors::one_line(&error.to_string())))
        })
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, base_dir: PathBuf) -> PyResult<Self> {
        let definition = &scenario.definition;
        let made =
            py.detach(|| errors::guarded(|| Stepped::new(definition, &base_dir, Recorder::none())));
        made.map_err(Error::new_err)?
            .map(Self::of)
            .map_err(|error| ScenarioError::new_err(errors::one_line(&error.to_string())))
    }

    /// Runs on up to an instant, in nanoseconds; gives the instant reached.
    fn run_until(&self, py: Python<'_>, until: u64) -> PyResult<u64> {
        loop {
            let now = self.with(py, |simulation| {
                let next = Time(until).min(simulation.now() + SLICE);
                let control = Control { clock: CLOCK, ..Control::default() };
                simulation.run_until(next, &control)
            })?;
            let end = self.with(py, |simulation| Ok(simulation.duration()))?;
            if now >= Time(until).min(end) {
                return Ok(now.0);
            }
            py.check_signals()?;
        }
    }

    /// The instant reached and the end, in nanoseconds.
    fn times(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.with(py, |simulation| Ok((simulation.now().0, simulation.duration().0)))
    }

    /// JSON of what is seen now.
    fn observe(&self, py: Python<'_>) -> PyResult<String> {
        let seen = self.with(py, |simulation| Ok(simulation.observe()))?;
        serde_json::to_string(&seen).map_err(|error| Error::new_err(error.to_string()))
    }

    /// The rates of the links as the scenario writes them, bit/s, and whether one may vary.
    fn rates(&self, py: Python<'_>) -> PyResult<(Vec<u64>, bool)> {
        self.with(py, |simulation| {
            Ok((simulation.written_rates().collect(), simulation.rates_vary()))
        })
    }

    /// Of the link of this number, now and since the last look at links: its rate and the mean of
    /// that, the bytes in its queue, probability, throughput, packets dropped and marked.
    fn link(&self, py: Python<'_>, number: usize) -> PyResult<Option<Link>> {
        let links = self.with(py, |simulation| Ok(simulation.observe_links()))?;
        Ok(links.get(number).map(|link| {
            (
                link.rate_bps,
                link.mean_rate_bps,
                link.queue_bytes,
                link.probability,
                link.throughput_bps.unwrap_or(0.0),
                link.dropped,
                link.marked,
            )
        }))
    }

    /// Of the group of this number, now and since the last look at it: the mean smoothed round trip
    /// of its flows in seconds, their bytes in flight, throughput, packets dropped and marked.
    fn group(&self, py: Python<'_>, number: usize) -> PyResult<Option<Group>> {
        let group = self.with(py, |simulation| Ok(simulation.observe_group(number)))?;
        Ok(group.map(|group| {
            let srtts: Vec<f64> = group.flows.iter().filter_map(|flow| flow.srtt_s).collect();
            let srtt = (!srtts.is_empty()).then(|| srtts.iter().sum::<f64>() / srtts.len() as f64);
            let sum = |of: fn(&FlowObservation) -> u64| group.flows.iter().map(of).sum();
            (
                srtt,
                sum(|flow| flow.in_flight_bytes.into()),
                group.throughput_bps.unwrap_or(0.0),
                sum(|flow| flow.dropped),
                sum(|flow| flow.marked),
            )
        }))
    }

    /// JSON of the packets in the queue of a link, the first so many.
    fn queued(&self, py: Python<'_>, link: &str, most: usize) -> PyResult<String> {
        let packets = self.with(py, |simulation| simulation.queued(link, most))?;
        serde_json::to_string(&packets).map_err(|error| Error::new_err(error.to_string()))
    }

    /// Sets the value, JSON, at a dotted path.
    fn set(&self, py: Python<'_>, path: &str, value: &str) -> PyResult<()> {
        let value: Value = serde_json::from_str(value).map_err(|_| {
            let message = format!("{path}: {value} must be a number, a string or true or false");
            ScenarioError::new_err(message)
        })?;
        self.with(py, |simulation| simulation.set(path, value))
    }

    /// A copy.
    fn fork(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |simulation| simulation.fork()).map(Self::of)
    }

    /// The scenario with all that was set.
    fn scenario(&self, py: Python<'_>) -> PyResult<Scenario> {
        let definition = self.with(py, |simulation| Ok(simulation.scenario().cloned()))?;
        definition.map(Scenario::of).ok_or_else(|| Error::new_err("the simulation has no scenario"))
    }

    /// Ends it; the summary as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let simulation = self.lock().take();
            let simulation =
                simulation.ok_or_else(|| Error::new_err("the simulation is finished"))?;
            errors::guarded(|| simulation.finish().0.to_json())
                .map_err(Error::new_err)?
                .map_err(|error| Error::new_err(error.to_string()))
        })
    }
}
