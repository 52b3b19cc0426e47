//! Values with units, as they are written everywhere.

use pyo3::prelude::*;
use sojourn_base::{Rate, Size, Time};

use crate::errors::Error;

/// A value with its unit as a whole number: nanoseconds for "time", bits per second for "rate",
/// bytes for "size".
#[pyfunction]
pub(crate) fn quantity(kind: &str, text: &str) -> PyResult<u64> {
    let read = match kind {
        "time" => text.parse::<Time>().map(|time| time.0),
        "rate" => text.parse::<Rate>().map(|rate| rate.0),
        _ => text.parse::<Size>().map(|size| size.0),
    };
    read.map_err(|error| Error::new_err(error.to_string()))
}
