//! A run of an engine in a thread of its own, without Python's lock.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use sojourn_fluid::engine as fluid;
use sojourn_packets::{Control, Provenance, Recorder};
use sojourn_scenario::Scenario as Definition;

use crate::clock;
use crate::errors::{self, Error, ScenarioError};
use crate::outside::{self, Outside};
use crate::scenario::Scenario;

/// Why a run gave no summary.
enum Failure {
    /// The scenario is to blame.
    Scenario(String),
    /// Something else is.
    Other(String),
}

/// Which engine runs a scenario.
#[derive(Clone, Copy)]
enum Engine {
    Packets,
    Fluid,
}

/// What the engine's thread and Python share.
#[derive(Default)]
struct Shared {
    control: Control,
    fluid: fluid::Control,
    /// The summary as JSON.
    outcome: Mutex<Option<Result<String, Failure>>>,
    ended: Condvar,
}

/// A run under way. It begins with the object; dropping the object stops it.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct Run {
    shared: Arc<Shared>,
}

#[pymethods]
impl Run {
    /// Starts `engine`: "packets" or "fluid". Files that the scenario names are found from
    /// `base_dir`; tables that it asks for are written into `out_dir`. `make` gives objects of
    /// classes that are written in Python.
    #[new]
    #[pyo3(signature = (scenario, base_dir, out_dir=None, make=None, engine="packets"))]
    fn new(
        scenario: &Scenario,
        base_dir: PathBuf,
        out_dir: Option<PathBuf>,
        make: Option<Py<PyAny>>,
        engine: &str,
    ) -> PyResult<Self> {
        let engine = match engine {
            "packets" => Engine::Packets,
            "fluid" => Engine::Fluid,
            other => {
                let message =
                    format!("there is no engine \"{other}\"; there are packets and fluid");
                return Err(Error::new_err(message));
            }
        };
        let shared =
            Shared { control: clock::packets(), fluid: clock::fluid(), ..Shared::default() };
        let shared = Arc::new(shared);
        let (theirs, definition) = (Arc::clone(&shared), scenario.definition.clone());
        let work = move || {
            let simulate = || {
                errors::guarded(|| {
                    simulate(engine, &definition, &base_dir, &theirs, out_dir.as_deref())
                })
                .unwrap_or_else(|panic| Err(Failure::Other(panic)))
            };
            let outcome = match make {
                None => simulate(),
                Some(make) => {
                    let stopped = Arc::clone(&theirs);
                    let stop = Arc::new(move || stopped.control.stop.store(true, Relaxed));
                    outside::within(Outside { make, stop }, simulate, Failure::Other)
                }
            };
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
        // Only one of the engines moves.
        let now = control.now.load(Relaxed).max(self.shared.fluid.now.load(Relaxed));
        (now as f64 / 1e9, control.packets.load(Relaxed))
    }

    /// Asks the engine to end early; it then gives the summary of what it has simulated.
    fn stop(&self) {
        self.shared.control.stop.store(true, Relaxed);
        self.shared.fluid.stop.store(true, Relaxed);
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
            Some(Ok(json)) => Ok(Some(json)),
            Some(Err(Failure::Scenario(message))) => Err(ScenarioError::new_err(message)),
            Some(Err(Failure::Other(message))) => Err(Error::new_err(message)),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The one place that knows the engines.
fn simulate(
    engine: Engine,
    scenario: &Definition,
    base_dir: &Path,
    shared: &Shared,
    out_dir: Option<&Path>,
) -> Result<String, Failure> {
    let network = scenario.network(base_dir).map_err(Failure::scenario)?;
    let name = match engine {
        Engine::Packets => "packets",
        Engine::Fluid => "fluid",
    };
    let mut recorder = match out_dir {
        Some(folder) => Recorder::to_directory(folder)
            .map_err(Failure::other)?
            .of_run(Provenance::of(name, &network)),
        None => Recorder::none(),
    };
    let summary =
        match engine {
            Engine::Packets => sojourn_packets::run(&network, &shared.control, &mut recorder)
                .map_err(|error| match error {
                    sojourn_packets::Error::Scenario(_) => Failure::scenario(error),
                })?,
            Engine::Fluid => {
                fluid::run(&network, &shared.fluid, &mut recorder).map_err(Failure::scenario)?
            }
        };
    recorder.finish().map_err(Failure::other)?;
    summary.to_json().map_err(Failure::other)
}

impl Failure {
    fn scenario(error: impl Display) -> Self {
        Self::Scenario(errors::one_line(&error.to_string()))
    }

    fn other(error: impl Display) -> Self {
        Self::Other(errors::one_line(&error.to_string()))
    }
}
