//! Scenarios: read, varied, written.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pyo3::prelude::*;
use serde_json::{Value, json};
use sojourn_scenario::{Room, Scenario as Definition, SeedFile};

use crate::calibration::{direction_called, name_of};
use crate::errors::{self, Error, ScenarioError, guarded};

/// A scenario that has been read and checked; it does not change.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct Scenario {
    pub definition: Definition,
    /// The shortest file, once it was asked for, of all that differ in the seed alone.
    file: Arc<OnceLock<SeedFile>>,
}

impl Scenario {
    pub(crate) fn of(definition: Definition) -> Self {
        Self { definition, file: Arc::default() }
    }

    fn checked(
        read: impl FnOnce() -> Result<Definition, sojourn_scenario::Error>,
    ) -> PyResult<Self> {
        Ok(Self::of(errors::scenario(read)?))
    }
}

#[pymethods]
impl Scenario {
    /// Reads TOML; `name` stands for the file in errors.
    #[staticmethod]
    fn from_toml(text: &str, name: &str) -> PyResult<Self> {
        Self::checked(|| Definition::from_toml(text, name))
    }

    /// Reads JSON.
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        Self::checked(|| Definition::from_json(text))
    }

    /// Reads a TOML or JSON file.
    #[staticmethod]
    fn from_file(path: PathBuf) -> PyResult<Self> {
        Self::checked(|| Definition::from_file(&path))
    }

    /// A variation by dotted paths with values as typed on a command line.
    fn vary_text(&self, changes: Vec<(String, String)>) -> PyResult<Self> {
        let changes: Vec<_> = changes.iter().map(|(p, v)| (p.as_str(), v.as_str())).collect();
        Self::checked(|| self.definition.with(&changes))
    }

    /// A variation by dotted paths with values in JSON.
    fn vary_json(&self, changes: Vec<(String, String)>) -> PyResult<Self> {
        let parsed: Result<Vec<(&str, Value)>, _> = changes
            .iter()
            .map(|(path, text)| serde_json::from_str(text).map(|value| (path.as_str(), value)))
            .collect();
        let parsed = parsed.map_err(|e| errors::ScenarioError::new_err(e.to_string()))?;
        Self::checked(|| self.definition.with_json(&parsed))
    }

    /// The same with another seed.
    fn with_seed(&self, seed: u64) -> Self {
        Self { definition: self.definition.with_seed(seed), file: Arc::clone(&self.file) }
    }

    /// JSON with every field, defaults included.
    fn to_json(&self) -> PyResult<String> {
        errors::scenario(|| Ok(self.definition.to_json()))
    }

    /// The same on a link ten times as fast, with a queue that never overflows.
    fn uncongested(&self) -> PyResult<Self> {
        Self::checked(|| self.definition.uncongested())
    }

    /// What engines call its groups, in order.
    fn group_names(&self) -> Vec<String> {
        self.definition.group_names()
    }

    /// For each group the load that is to be turned into users.
    fn open_loads(&self) -> Vec<Option<f64>> {
        self.definition.open_loads()
    }

    /// Refuses what the fluid engine cannot represent.
    fn check_fluid(&self, base_dir: PathBuf) -> PyResult<()> {
        let network = errors::scenario(|| self.definition.network(&base_dir))?;
        guarded(|| sojourn_fluid::engine::read(&network))
            .map_err(Error::new_err)?
            .map(|_| ())
            .map_err(|error| ScenarioError::new_err(error.to_string()))
    }

    /// Which way a group's data go: "forward", "reverse", "both".
    fn direction_of(&self, group: usize) -> String {
        name_of(self.definition.direction_of(group))
    }

    /// The same of all that offer a load; none if nothing does.
    fn offered_direction(&self) -> Option<String> {
        self.definition.offered_direction().map(name_of)
    }

    /// Bits per second that a load in this direction is a fraction of.
    fn load_rate(&self, direction: &str) -> PyResult<Option<u64>> {
        let direction = direction_called(direction)?;
        Ok(self.definition.load_rate(direction).map(|rate| rate.0))
    }

    /// A group of web users by itself on that link, so many of them.
    fn alone(&self, group: usize, users: u32, seed: u64) -> PyResult<Self> {
        Self::checked(|| self.definition.alone(group, users, seed))
    }

    /// The same with users in groups, by their numbers, instead of loads.
    fn with_users(&self, users: Vec<(usize, u32)>) -> PyResult<Self> {
        Self::checked(|| self.definition.with_users(&users))
    }

    /// The same with every option of its TCPs spelled out.
    fn resolved(&self) -> PyResult<Self> {
        Self::checked(|| self.definition.resolved())
    }

    /// The shortest TOML that says the same.
    fn to_toml(&self) -> PyResult<String> {
        errors::scenario(|| {
            let file = self.file.get_or_init(|| self.definition.seed_file());
            Ok(file.to_toml(self.definition.seed))
        })
    }

    /// JSON of the few numbers that are needed before a run: `duration_s`, `warmup_s`, `seed`, and
    /// a dumbbell's rate in bits per second (null if there is none).
    fn facts(&self) -> String {
        let scenario = &self.definition;
        let link = scenario.bottleneck.as_ref().map(|dumbbell| &dumbbell.link);
        json!({
            "duration_s": scenario.duration.0 as f64 / 1e9,
            "warmup_s": scenario.warmup.0 as f64 / 1e9,
            "seed": scenario.seed,
            "bottleneck_bps": link.and_then(|link| link.rate).map(|rate| rate.0),
        })
        .to_string()
    }

    /// Why a run would not fit into so many bytes of memory.
    fn too_large(&self, free: Option<f64>) -> Option<String> {
        self.definition.too_large(Room { free, row: 0.0 })
    }

    /// The names of its links and groups; fails as a run would before it begins.
    fn ready(&self, base_dir: PathBuf) -> PyResult<Vec<String>> {
        errors::scenario(|| {
            let network = self.definition.network(&base_dir)?;
            let links = network.links.into_iter().map(|link| link.name);
            Ok(links.chain(network.groups.into_iter().map(|group| group.name)).collect())
        })
    }
}

/// JSON Schema of the scenario file.
#[pyfunction]
pub(crate) fn schema() -> PyResult<String> {
    errors::scenario(|| Ok(Definition::schema().to_string()))
}
