//! A run of an engine, in the thread that asks for it, without Python's lock.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Once;

use pyo3::prelude::*;
use sojourn_base::Time;
use sojourn_fluid::engine as fluid;
use sojourn_packets::{Control, Provenance, Recorder};
use sojourn_scenario::Scenario as Definition;

use crate::clock::CLOCK;
use crate::errors::{self, Error, ScenarioError};
use crate::outside;
use crate::scenario::Scenario;
use crate::watch::Watch;

/// Why a run gave no summary.
enum Failure {
    /// The scenario is to blame.
    Scenario(String),
    /// Something else is.
    Other(String),
    /// A class in Python raised this.
    Raised(PyErr),
}

/// Which engine runs a scenario.
#[derive(Clone, Copy)]
enum Engine {
    Packets,
    Fluid,
}

/// Runs `engine`, "packets" or "fluid", and gives the summary as JSON, with a line for each field.
/// Files that the scenario names are found from `base_dir`; tables that it asks for are written
/// into `out_dir`. `make` gives objects of classes that are written in Python.
///
/// `look` is called ten times a second with the simulated seconds and the bottleneck packets so
/// far. If it returns true, the run ends early and still gives its summary; what it raises ends the
/// run and is raised here.
#[pyfunction]
#[pyo3(signature = (scenario, base_dir, look, out_dir=None, make=None, engine="packets"))]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Scenario,
    base_dir: PathBuf,
    look: Py<PyAny>,
    out_dir: Option<PathBuf>,
    make: Option<Py<PyAny>>,
    engine: &str,
) -> PyResult<String> {
    let engine = match engine {
        "packets" => Engine::Packets,
        "fluid" => Engine::Fluid,
        other => {
            let message = format!("there is no engine \"{other}\"; there are packets and fluid");
            return Err(Error::new_err(message));
        }
    };
    keep_memory();
    let definition = &scenario.definition;
    let (outcome, raised) = py.detach(|| {
        let watch = Watch::new();
        let look = |now_s: f64, packets: u64| {
            let ask = |py: Python<'_>| look.call1(py, (now_s, packets))?.is_truthy(py);
            outside::has_failed() || watch.look(ask)
        };
        let simulate = || {
            errors::guarded(|| simulate(engine, definition, &base_dir, &look, out_dir.as_deref()))
                .unwrap_or_else(|panic| Err(Failure::Other(panic)))
        };
        let outcome = match make {
            None => simulate(),
            Some(make) => outside::within(make, simulate, Failure::Raised),
        };
        (outcome, watch.raised())
    });
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Ok(json)) => Ok(json),
        (None, Err(Failure::Scenario(message))) => Err(ScenarioError::new_err(message)),
        (None, Err(Failure::Other(message))) => Err(Error::new_err(message)),
        (None, Err(Failure::Raised(error))) => Err(error),
    }
}

/// Has the allocator keep what a run frees for the next one.
///
/// What glibc has free at the top of a heap it gives back to the system beyond 128 kB, which a
/// short run passes: to take it anew, page by page, is a tenth of that run. It gives back less
/// once a large block was freed: beyond twice the size of that.
fn keep_memory() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| drop(std::hint::black_box(Vec::<u8>::with_capacity(8 << 20))));
}

/// The one place that knows the engines.
fn simulate(
    engine: Engine,
    scenario: &Definition,
    base_dir: &Path,
    look: &dyn Fn(f64, u64) -> bool,
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
    let summary = match engine {
        Engine::Packets => {
            let look = |now: Time, packets: u64| look(now.as_secs_f64(), packets);
            let control = Control { look: &look, clock: CLOCK };
            sojourn_packets::run(network, &control, &mut recorder).map_err(|error| match error {
                sojourn_packets::Error::Scenario(_) => Failure::scenario(error),
            })?
        }
        Engine::Fluid => {
            let control = fluid::Control { look: &|now_s| look(now_s, 0), clock: CLOCK };
            fluid::run(&network, &control, &mut recorder).map_err(Failure::scenario)?
        }
    };
    recorder.finish().map_err(Failure::other)?;
    summary.to_lines().map_err(Failure::other)
}

impl Failure {
    fn scenario(error: impl Display) -> Self {
        Self::Scenario(errors::one_line(&error.to_string()))
    }

    fn other(error: impl Display) -> Self {
        Self::Other(errors::one_line(&error.to_string()))
    }
}
