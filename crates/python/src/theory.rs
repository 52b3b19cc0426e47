//! Laws by themselves, and loops made of them: descriptions in as JSON, answers out as JSON, or
//! arrays of doubles in and out.

use std::collections::HashMap;

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use sojourn_base::Rate;
use sojourn_fluid::linear::{Bottleneck, Columns};
use sojourn_fluid::{Price, WindowLaw};
use sojourn_qdisc::integers::{integers, resolved as resolve};
use sojourn_qdisc::{Config, Env};
use sojourn_tcp::Algorithm;

use crate::errors::{self, Error, ScenarioError, one_line};
use crate::scenario::Scenario;

/// Arrays by name, as bytes of doubles.
type Arrays<'py> = PyResult<Bound<'py, PyDict>>;

/// `work` on what `text` says.
fn asked<D: DeserializeOwned, A>(
    text: &str,
    work: impl FnOnce(D) -> Result<A, String>,
) -> PyResult<A> {
    let work = || work(told(sojourn_scenario::from_json(text))?);
    errors::guarded(work)
        .map_err(Error::new_err)?
        .map_err(|message| ScenarioError::new_err(one_line(&message)))
}

fn told<A>(answer: Result<A, impl ToString>) -> Result<A, String> {
    answer.map_err(|error| error.to_string())
}

fn arrays<'py>(
    py: Python<'py>,
    named: impl IntoIterator<Item = (&'static str, Vec<f64>)>,
) -> Arrays<'py> {
    let answer = PyDict::new(py);
    for (name, values) in named {
        let bytes = PyBytes::new_with(py, size_of_val(&values[..]), |bytes| {
            let (bytes, _) = bytes.as_chunks_mut();
            for (bytes, value) in bytes.iter_mut().zip(&values) {
                *bytes = value.to_ne_bytes();
            }
            Ok(())
        })?;
        answer.set_item(name, bytes)?;
    }
    Ok(answer)
}

/// `work` on the loop of a scenario's long flows over its bottleneck.
fn with_loop(
    scenario: &Scenario,
    work: impl FnOnce(Bottleneck) -> Result<String, String>,
) -> PyResult<String> {
    let work = || work(Bottleneck::of(&told(scenario.definition.outline())?)?);
    errors::guarded(work)
        .map_err(Error::new_err)?
        .map_err(|message| ScenarioError::new_err(one_line(&message)))
}

/// What the loop of a scenario's long flows over its bottleneck is made of, as JSON: `flows`, their
/// mean `propagation` in seconds, and the link's `capacity` in their packets per second.
#[pyfunction]
pub(crate) fn loop_of(scenario: &Scenario) -> PyResult<String> {
    with_loop(scenario, |it| {
        let Bottleneck { flows, capacity, propagation, .. } = it;
        let table = json!({"flows": flows, "capacity": capacity, "propagation": propagation});
        Ok(table.to_string())
    })
}

/// The margins of that loop, and what they mean in `words`, as JSON.
#[pyfunction]
pub(crate) fn nyquist(scenario: &Scenario) -> PyResult<String> {
    with_loop(scenario, |it| {
        let (_, curve) = it.nyquist()?;
        told(serde_json::to_string(&curve))
    })
}

/// A loop about its operating point, as JSON.
#[pyfunction]
pub(crate) fn linearise(description: &str) -> PyResult<String> {
    asked(description, |bottleneck: Bottleneck| {
        bottleneck.linearise().and_then(|found| told(serde_json::to_string(&found)))
    })
}

/// Phase margins of many loops: the description's, with values for each loop in `columns`.
#[pyfunction]
pub(crate) fn margins<'py>(
    py: Python<'py>,
    description: &str,
    columns: HashMap<String, PyBuffer<f64>>,
) -> Arrays<'py> {
    let columns = columns
        .iter()
        .map(|(name, buffer)| Ok((name.as_str(), buffer.to_vec(py)?)))
        .collect::<PyResult<Vec<_>>>()?;
    let rows = py.detach(|| {
        asked(description, |bottleneck: Bottleneck| {
            let columns = columns.iter().map(|(name, values)| (*name, &values[..])).collect();
            bottleneck.margins(&Columns::new(columns)?)
        })
    })?;
    arrays(py, rows.arrays())
}

/// How a congestion control moves windows of so many packets: `increase` for each round trip,
/// `decrease` for each mark, their slopes, and the probability `p` that holds such a window.
#[pyfunction]
pub(crate) fn window_law<'py>(
    py: Python<'py>,
    congestion: &str,
    windows: PyBuffer<f64>,
) -> Arrays<'py> {
    let windows = windows.to_vec(py)?;
    let law = asked(congestion, |law: WindowLaw| Ok(law))?;
    let of = |value: &dyn Fn(f64) -> f64| windows.iter().map(|w| value(*w)).collect();
    let named = [
        ("increase", of(&|w| law.increase(w))),
        ("decrease", of(&|w| law.cut(w))),
        ("increase_slope", of(&|w| law.slopes(w)[0])),
        ("decrease_slope", of(&|w| law.slopes(w)[1])),
        ("p", of(&|w| law.loss(w))),
    ];
    arrays(py, named)
}

/// The window in packets that a probability holds; infinite if none.
#[pyfunction]
pub(crate) fn window_at(congestion: &str, p: f64) -> PyResult<f64> {
    asked(congestion, |law: WindowLaw| Ok(law.window(p, false)))
}

/// A price's `probability` and `elasticity` at loads.
#[pyfunction]
pub(crate) fn price<'py>(py: Python<'py>, price: &str, loads: PyBuffer<f64>) -> Arrays<'py> {
    let loads = loads.to_vec(py)?;
    let price = asked(price, |price: Price| told(price.validate().map(|()| price)))?;
    let probability = loads.iter().map(|load| price.at(*load)).collect();
    let elasticity = loads.iter().map(|load| price.elasticity(*load)).collect();
    arrays(py, [("probability", probability), ("elasticity", elasticity)])
}

/// All settings of a queue discipline ("qdisc") or a congestion control ("congestion") with their
/// defaults, as JSON.
#[pyfunction]
pub(crate) fn defaults(kind: &str, name: &str) -> PyResult<String> {
    let found = match kind {
        "qdisc" => Config::named(name).map(|it| sojourn_scenario::to_json(&it)),
        _ => Algorithm::named(name).map(|it| sojourn_scenario::to_json(&it)),
    };
    let Some(found) = found else {
        let message = format!("kind = \"{name}\": there is no such {kind}");
        return Err(ScenarioError::new_err(message));
    };
    found.map(|table| table.to_string()).map_err(|error| Error::new_err(error.to_string()))
}

/// The integers that a queue discipline works with on a link, as JSON.
#[pyfunction]
#[pyo3(signature = (qdisc, rate_bps = 1e9, mean_packet = 500))]
pub(crate) fn constants(qdisc: &str, rate_bps: f64, mean_packet: u32) -> PyResult<String> {
    asked(qdisc, |config: Config| {
        let found = told(integers(&config, &env(rate_bps, mean_packet)))?;
        let named = found.into_iter().map(|each| {
            let (raw, bits) = (each.raw, each.bits);
            let table = json!({"raw": raw, "bits": bits, "value": each.value, "error": each.error});
            (each.name.to_string(), table)
        });
        Ok(Value::Object(named.collect()).to_string())
    })
}

/// The settings of a queue discipline with nothing left to the link, as JSON.
#[pyfunction]
pub(crate) fn resolved(qdisc: &str, rate_bps: f64, mean_packet: u32) -> PyResult<String> {
    asked(qdisc, |config: Config| {
        let found = told(resolve(&config, &env(rate_bps, mean_packet)))?;
        told(sojourn_scenario::to_json(&found)).map(|table| table.to_string())
    })
}

fn env(rate_bps: f64, mean_packet: u32) -> Env {
    Env { rate: Rate((rate_bps + 0.5) as u64), mean_packet }
}
