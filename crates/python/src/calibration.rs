//! How many web users make a given load: the search, whose runs Python makes.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use serde_json::json;
use sojourn_scenario::{Direction, calibration};

use crate::errors::Error;

/// Users against offered load, while they are looked for.
#[pyclass(frozen, module = "sojourn._engine")]
pub struct Calibration {
    search: Mutex<calibration::Calibration>,
}

impl Calibration {
    fn with<T>(&self, work: impl FnOnce(&mut calibration::Calibration) -> T) -> T {
        work(&mut self.search.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Calibration {
    #[new]
    fn new(rate: f64) -> Self {
        Self { search: Mutex::new(calibration::Calibration::new(rate)) }
    }

    /// Users and seed of the runs to be made next; none if all is known.
    fn wanted(&self) -> Vec<(u32, u64)> {
        self.with(|search| search.wanted())
    }

    /// What those runs offered, in bits per second.
    fn told(&self, bps: Vec<f64>) -> PyResult<()> {
        self.with(|search| search.told(&bps)).map_err(Error::new_err)
    }

    /// Users, and their offered load.
    fn points(&self) -> Vec<(u32, f64)> {
        self.with(|search| search.points())
    }
}

/// Mean offered load of one user.
#[pyfunction]
pub(crate) fn bps_per_user(points: Vec<(u32, f64)>) -> f64 {
    calibration::bps_per_user(&points)
}

/// The offered load, from what the uncongested link carried forward and back.
#[pyfunction]
pub(crate) fn offered_bps(direction: &str, forward: f64, back: Option<f64>) -> PyResult<f64> {
    Ok(calibration::offered_bps(direction_called(direction)?, forward, back))
}

/// What a scenario calls a direction.
pub(crate) fn name_of(direction: Direction) -> String {
    json!(direction).as_str().unwrap_or_default().into()
}

/// The direction of this name.
pub(crate) fn direction_called(name: &str) -> PyResult<Direction> {
    serde_json::from_value(json!(name)).map_err(|error| Error::new_err(error.to_string()))
}

/// Users whose offered load is `load` of a rate.
#[pyfunction]
pub(crate) fn users_for(load: f64, rate: f64, bps_per_user: f64) -> u32 {
    calibration::users_for(load, rate, bps_per_user)
}
