//! The extension module of the Python package (`sojourn._engine`): nothing but conversion.
//!
//! Text goes in and out as TOML and JSON; what the text means is the business of the crates below,
//! and what is done with it that of the Python package above.

mod errors;
mod run;
mod scenario;

use pyo3::prelude::*;

/// The version of the whole program.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::keep_panics_quiet();
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::schema, module)?)?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<run::Run>()?;
    Ok(())
}
