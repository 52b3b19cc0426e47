//! The fluid models as functions: parameters in as JSON, arrays out as bytes.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Value, json};
use sojourn_fluid::course::{Course, course};
use sojourn_fluid::integrate::{Settings, Solver, System};
use sojourn_fluid::kelly::{self, Kelly};
use sojourn_fluid::mgt::{self, Mgt};

use crate::errors::{self, Error, ScenarioError, one_line};

/// How to integrate and where to begin; the same for all models.
#[derive(FromPyObject)]
pub(crate) struct Task(
    /// Seconds to integrate.
    f64,
    /// Seconds between two samples.
    f64,
    /// Relative error of a step.
    f64,
    /// Begin at the operating point with windows 1 + kick times as large; none: with empty queues.
    Option<f64>,
);

/// A course as a dictionary: `times` and, row by row, `components` as bytes of doubles, `work`,
/// `point` as JSON.
type Outcome<'py> = PyResult<Bound<'py, PyDict>>;

/// A model whose states are given from outside.
trait Model {
    type Equations: System;
    fn read(text: &str) -> Result<Self, String>
    where
        Self: Sized;
    /// The operating point as JSON, the state there with a kick, and all states and signals before.
    fn point(&self, kick: f64) -> Result<(Value, Vec<f64>, Vec<f64>), String>;
    /// The state when nothing has been sent yet, and all states and signals before.
    fn empty(&self) -> Result<(Vec<f64>, Vec<f64>), String>;
    fn equations(self, state: &[f64]) -> Self::Equations;
}

impl Model for mgt::Parameters {
    type Equations = Mgt;

    fn read(text: &str) -> Result<Self, String> {
        sojourn_scenario::from_json(text).map_err(|error| error.to_string())
    }

    fn point(&self, kick: f64) -> Result<(Value, Vec<f64>, Vec<f64>), String> {
        let point = self.equilibrium(0.0).map_err(|error| error.to_string())?;
        let json = json!({
            "window": point.windows,
            "round_trip": point.round_trips,
            "queue": point.queues,
            "loss": point.losses,
        });
        Ok((json, self.state_at(&point, kick), self.past_at(&point)))
    }

    fn empty(&self) -> Result<(Vec<f64>, Vec<f64>), String> {
        self.validate().map_err(|error| error.to_string())?;
        Ok((self.empty(), self.empty_past()))
    }

    fn equations(self, state: &[f64]) -> Mgt {
        Mgt::new(self, state)
    }
}

impl Model for kelly::Parameters {
    type Equations = Kelly;

    fn read(text: &str) -> Result<Self, String> {
        sojourn_scenario::from_json(text).map_err(|error| error.to_string())
    }

    fn point(&self, kick: f64) -> Result<(Value, Vec<f64>, Vec<f64>), String> {
        let all = self.equilibria().map_err(|error| error.to_string())?;
        let point = &all[all.len() - 1];
        let json = json!({
            "window": point.windows,
            "load": point.load,
            "loss": point.loss,
            "loads": all.iter().map(|point| point.load).collect::<Vec<_>>(),
        });
        Ok((json, self.state_at(point, kick), self.past_at(point)))
    }

    fn empty(&self) -> Result<(Vec<f64>, Vec<f64>), String> {
        self.validate().map_err(|error| error.to_string())?;
        let states = self.classes.len() + usize::from(self.averaging > 0.0);
        let mut state = vec![0.0; states];
        state[..self.classes.len()].fill(1.0);
        let loss = self.price.at(Kelly::new(self.clone(), &state).measured(&state));
        let past = state.iter().copied().chain([loss]).collect();
        Ok((state, past))
    }

    fn equations(self, state: &[f64]) -> Kelly {
        Kelly::new(self, state)
    }
}

fn solve<M: Model>(text: &str, task: &Task) -> Result<(Course, Value), String> {
    let &Task(duration, interval, tolerance, kick) = task;
    let settings = Settings { tolerance, ..Settings::default() };
    settings.validate()?;
    for (field, value) in [("duration", duration), ("interval", interval)] {
        if !(value > 0.0 && value.is_finite()) {
            return Err(format!("{field} = {value}: must be above 0 seconds"));
        }
    }
    if duration / interval > 1e8 {
        return Err(format!("interval = {interval}: more than 1e8 samples; make it longer"));
    }
    let model = M::read(text)?;
    let (point, state, past) = match kick {
        Some(kick) if kick > -1.0 && kick.is_finite() => model.point(kick)?,
        Some(kick) => return Err(format!("kick = {kick}: must be above -1, such as 0.01")),
        None => {
            let (state, past) = model.empty()?;
            (Value::Null, state, past)
        }
    };
    // A kick comes at the start: what was before it stood still.
    let start: Vec<f64> = state.iter().chain(&past[state.len()..]).copied().collect();
    let equations = model.equations(&state);
    let (states, kept) = (equations.states(), equations.kept());
    let solver = Solver::new(equations, 0.0, &past, state, settings);
    let mut course =
        course(solver, &start, interval, duration).map_err(|error| error.to_string())?;
    // Those signals first that are shown.
    course.components[states..].rotate_left(kept);
    Ok((course, point))
}

/// Doubles as bytes, row by row; all rows are as long as the first.
fn bytes<'py>(py: Python<'py>, rows: &[Vec<f64>]) -> PyResult<Bound<'py, PyBytes>> {
    let size = rows.len() * rows.first().map_or(0, Vec::len) * size_of::<f64>();
    PyBytes::new_with(py, size, |bytes| {
        let (bytes, _) = bytes.as_chunks_mut();
        for (bytes, value) in bytes.iter_mut().zip(rows.iter().flatten()) {
            *bytes = value.to_ne_bytes();
        }
        Ok(())
    })
}

fn outcome<'py, M: Model>(py: Python<'py>, text: &str, task: &Task) -> Outcome<'py> {
    let solved = py
        .detach(|| errors::guarded(|| solve::<M>(text, task)))
        .map_err(Error::new_err)?
        .map_err(|message| ScenarioError::new_err(one_line(&message)))?;
    let (course, point) = solved;
    let answer = PyDict::new(py);
    answer.set_item("times", bytes(py, std::slice::from_ref(&course.times))?)?;
    answer.set_item("components", bytes(py, &course.components)?)?;
    answer.set_item("point", point.to_string())?;
    let work = course.work;
    answer.set_item("work", (work.steps, work.rejected, work.evaluations, work.events))?;
    Ok(answer)
}

/// The course of the model of Misra, Gong and Towsley.
#[pyfunction]
pub(crate) fn fluid_mgt<'py>(py: Python<'py>, parameters: &str, task: Task) -> Outcome<'py> {
    outcome::<mgt::Parameters>(py, parameters, &task)
}

/// The course of Kelly's model.
#[pyfunction]
pub(crate) fn fluid_kelly<'py>(py: Python<'py>, parameters: &str, task: Task) -> Outcome<'py> {
    outcome::<kelly::Parameters>(py, parameters, &task)
}

fn point<M: Model>(parameters: &str) -> PyResult<String> {
    errors::guarded(|| M::read(parameters)?.point(0.0))
        .map_err(Error::new_err)?
        .map(|(json, ..)| json.to_string())
        .map_err(|message| ScenarioError::new_err(one_line(&message)))
}

/// The operating point of the model of Misra, Gong and Towsley, as JSON.
#[pyfunction]
pub(crate) fn fluid_mgt_point(parameters: &str) -> PyResult<String> {
    point::<mgt::Parameters>(parameters)
}

/// The operating points of Kelly's model, as JSON.
#[pyfunction]
pub(crate) fn fluid_kelly_point(parameters: &str) -> PyResult<String> {
    point::<kelly::Parameters>(parameters)
}
