//! Test vectors of a queue discipline.

use pyo3::prelude::*;
use sojourn_base::Rate;
use sojourn_qdisc::{Env, Invalid, vectors::write};
use sojourn_scenario::Scenario;

use crate::errors::{self, ScenarioError};

/// The table of `operations` operations on the bottleneck's discipline of a scenario.
#[pyfunction]
pub(crate) fn vectors(
    py: Python<'_>,
    scenario: &crate::scenario::Scenario,
    operations: u64,
) -> PyResult<String> {
    let definition: &Scenario = &scenario.definition;
    let link = definition.bottleneck.as_ref().map(|dumbbell| &dumbbell.link);
    let Some((link, rate)) = link.and_then(|link| Some((link, link.rate?))) else {
        return Err(ScenarioError::new_err("bottleneck.rate is missing: write a rate"));
    };
    let env = Env { rate: Rate(rate.0), mean_packet: link.mean_packet };
    let made = || write(&link.qdisc, &env, definition.seed, operations);
    py.detach(|| errors::guarded(made))
        .map_err(errors::Error::new_err)?
        .map_err(|error| ScenarioError::new_err(errors::one_line(&error.to_string())))
}

/// `passes` passes over a bank, `each` of eight classes: PI controllers, in table form, or RED.
#[pyfunction]
pub(crate) fn bank_vectors(
    py: Python<'_>,
    seed: u64,
    each: usize,
    passes: u64,
    form: &str,
) -> PyResult<String> {
    use sojourn_qdisc::bank::vectors;
    let write: fn(u64, usize, u64) -> Result<String, Invalid> = match form {
        "bank" => vectors::write,
        "table-bank" => vectors::write_index,
        "red-bank" => vectors::write_red,
        other => {
            let remedy = "must be bank, table-bank or red-bank";
            let invalid = Invalid::new("form", other, remedy);
            return Err(ScenarioError::new_err(errors::one_line(&invalid.to_string())));
        }
    };
    py.detach(|| errors::guarded(|| write(seed, each, passes)))
        .map_err(errors::Error::new_err)?
        .map_err(|error| ScenarioError::new_err(errors::one_line(&error.to_string())))
}

/// `operations` steps of CoDel's control law.
#[pyfunction]
pub(crate) fn control_law_vectors(seed: u64, operations: u64) -> String {
    sojourn_qdisc::vectors::control_law(seed, operations)
}
