//! Test vectors of a queue discipline.

use pyo3::prelude::*;
use sojourn_base::Rate;
use sojourn_qdisc::{Env, Invalid, vectors as of};
use sojourn_scenario::Scenario;

use crate::errors::{self, ScenarioError};
use crate::watch::Watch;

/// What `write` gives. It is told whether to end early, so that Ctrl-C is heard.
fn written(
    py: Python<'_>,
    write: impl FnOnce(&dyn Fn() -> bool) -> Result<String, Invalid> + Send,
) -> PyResult<String> {
    let (text, raised) = py.detach(|| {
        let watch = Watch::new();
        let text = errors::guarded(|| write(&|| watch.look(|_| Ok(false))));
        (text, watch.raised())
    });
    if let Some(error) = raised {
        return Err(error);
    }
    text.map_err(errors::Error::new_err)?
        .map_err(|error| ScenarioError::new_err(errors::one_line(&error.to_string())))
}

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
    written(py, |over| of::write(&link.qdisc, &env, definition.seed, operations, over))
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
    use sojourn_qdisc::bank::vectors::{write, write_index, write_red};
    let write = match form {
        "bank" => write,
        "table-bank" => write_index,
        "red-bank" => write_red,
        other => {
            let remedy = "must be bank, table-bank or red-bank";
            let invalid = Invalid::new("form", other, remedy);
            return Err(ScenarioError::new_err(errors::one_line(&invalid.to_string())));
        }
    };
    written(py, |over| write(seed, each, passes, over))
}

/// `operations` steps of CoDel's control law.
#[pyfunction]
pub(crate) fn control_law_vectors(py: Python<'_>, seed: u64, operations: u64) -> PyResult<String> {
    written(py, |over| Ok(of::control_law(seed, operations, over)))
}
