//! A run of the packet engine in a thread of its own, without Python's lock.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use sojourn_packets::Control;

use crate::errors::{self, Error, ScenarioError};
use crate::scenario::Scenario;

/// How a run ended: its summary as JSON, or what went wrong.
enum Outcome {
    Summary(String),
    BadScenario(String),
    Failed(String),
}

/// What the engine's thread and Python share.
#[derive(Default)]
struct Shared {
    control: Control,
    outcome: Mutex<Option<Outcome>>,
    ended: Condvar,
}

/// A run under way. It begins with the object; dropping the object stops it.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct Run {
    shared: Arc<Shared>,
}

#[pymethods]
impl Run {
    /// Starts the engine. Files that the scenario names are found from `base_dir`; tables that it
    /// asks for are written into `out_dir`.
    #[new]
    #[pyo3(signature = (scenario, base_dir, out_dir=None))]
    fn new(
        scenario: &Scenario,
        base_dir: PathBuf,
        out_dir: Option<PathBuf>,
    ) -> PyResult<Self> {
        let shared = Arc::new(Shared::default());
        let (theirs, definition) = (Arc::clone(&shared), scenario.definition.clone());
        let work = move || {
            let outcome = errors::guarded(|| {
                simulate(&definition, &base_dir, &theirs.control, out_dir.as_deref())
            })
            .unwrap_or_else(Outcome::Failed);
            let mut slot = theirs.outcome.lock().unwrap_or_else(|poison| poison.into_inner());
            *slot = Some(outcome);
            drop(slot);
            theirs.ended.notify_all();
        };
        thread::Builder::new()
            .name("sojourn-run".into())
            .spawn(work)
            .map_err(|error| Error::new_err(format!("cannot start a thread: {error}")))?;
        Ok(Self { shared })
    }

    /// Simulated seconds and bottleneck packets so far.
    fn progress(&self) -> (f64, u64) {
        let control = &self.shared.control;
        (control.now.load(Relaxed) as f64 / 1e9, control.packets.load(Relaxed))
    }

    /// Asks the engine to end early; it then gives the summary of what it has simulated.
    fn stop(&self) {
        self.shared.control.stop.store(true, Relaxed);
    }

    /// The summary as JSON, or none if the run has not ended within `timeout` seconds. Raises what
    /// went wrong in the run. The outcome can be taken once.
    fn wait(&self, py: Python<'_>, timeout: f64) -> PyResult<Option<String>> {
        let timeout = Duration::try_from_secs_f64(timeout).unwrap_or_default();
        let outcome = py.detach(|| {
            let slot = self.shared.outcome.lock().unwrap_or_else(|poison| poison.into_inner());
            self.shared
                .ended
                .wait_timeout_while(slot, timeout, |slot| slot.is_none())
                .unwrap_or_else(|poison| poison.into_inner())
                .0
                .take()
        });
        match outcome {
            None => Ok(None),
            Some(Outcome::Summary(json)) => Ok(Some(json)),
            Some(Outcome::BadScenario(message)) => Err(ScenarioError::new_err(message)),
            Some(Outcome::Failed(message)) => Err(Error::new_err(message)),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The one place that knows the engine.
fn simulate(
    scenario: &sojourn_scenario::Scenario,
    base_dir: &Path,
    control: &Control,
    out_dir: Option<&Path>,
) -> Outcome {
    let summary = match sojourn_packets::run(scenario, base_dir, control, out_dir) {
        Ok(summary) => summary,
        Err(sojourn_packets::Error::Scenario(error)) => {
            return Outcome::BadScenario(errors::one_line(&error.to_string()));
        }
        Err(error) => return Outcome::Failed(errors::one_line(&error.to_string())),
    };
    match summary.to_json() {
        Ok(json) => Outcome::Summary(json),
        Err(error) => Outcome::Failed(errors::one_line(&error.to_string())),
    }
}
