//! The extension module of the Python package (`sojourn._engine`): nothing but conversion.
//!
//! Text goes in and out as TOML and JSON; what the text means is the business of the crates below,
//! and what is done with it that of the Python package above.

mod bank;
mod calibration;
mod clock;
mod errors;
mod fluid;
mod hardware;
#[cfg(feature = "mimalloc")]
mod memory;
mod outside;
mod quantity;
mod run;
mod scenario;
mod simulation;
mod theory;
mod vectors;
mod watch;

use pyo3::prelude::*;
use sojourn_records::{Distribution, Histogram};

/// The version of the whole program.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// What the source of a queue discipline ("qdisc") or a congestion control ("tcp") says at its
/// head; none if there is no such thing.
#[pyfunction]
fn documentation(kind: &str, name: &str) -> Option<String> {
    match kind {
        "qdisc" => sojourn_qdisc::Config::documentation(name),
        "tcp" => sojourn_tcp::Algorithm::documentation(name),
        _ => None,
    }
}

/// The known name that a mistyped one was meant to be; none if no name is near.
#[pyfunction]
fn nearest(wrong: &str, known: Vec<String>) -> Option<String> {
    sojourn_scenario::nearest(wrong, known.iter().map(String::as_str)).map(str::to_owned)
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::keep_panics_quiet();
    #[cfg(feature = "mimalloc")]
    memory::give_back_at_once();
    module.add("QUANTILE_ERROR", Histogram::ERROR)?;
    module.add("CURVE_POINTS", Distribution::POINTS)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    module.add_function(wrap_pyfunction!(documentation, module)?)?;
    module.add_function(wrap_pyfunction!(nearest, module)?)?;
    module.add_function(wrap_pyfunction!(quantity::quantity, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::schema, module)?)?;
    module.add_function(wrap_pyfunction!(vectors::vectors, module)?)?;
    module.add_function(wrap_pyfunction!(vectors::bank_vectors, module)?)?;
    module.add_function(wrap_pyfunction!(vectors::control_law_vectors, module)?)?;
    module.add_class::<bank::Table>()?;
    module.add_class::<bank::TableGains>()?;
    module.add_class::<bank::TableBank>()?;
    module.add_class::<bank::ExactGains>()?;
    module.add_class::<bank::ExactBank>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<calibration::Calibration>()?;
    module.add_function(wrap_pyfunction!(calibration::bps_per_user, module)?)?;
    module.add_function(wrap_pyfunction!(calibration::offered_bps, module)?)?;
    module.add("NO_LOAD_RATE", sojourn_scenario::calibration::NO_LOAD_RATE)?;
    module.add("MOST_LOAD", sojourn_scenario::MOST_LOAD)?;
    module.add_function(wrap_pyfunction!(calibration::users_for, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<outside::qdisc::Coin>()?;
    module.add_class::<outside::qdisc::PacketView>()?;
    module.add_class::<outside::qdisc::QueueView>()?;
    module.add_class::<outside::tcp::WindowView>()?;
    module.add_class::<outside::tcp::Occasion>()?;
    module.add_function(wrap_pyfunction!(hardware::hardware_files, module)?)?;
    module.add_function(wrap_pyfunction!(theory::loop_of, module)?)?;
    module.add_function(wrap_pyfunction!(theory::nyquist, module)?)?;
    module.add_function(wrap_pyfunction!(theory::linearise, module)?)?;
    module.add_function(wrap_pyfunction!(theory::margins, module)?)?;
    module.add_function(wrap_pyfunction!(theory::window_law, module)?)?;
    module.add_function(wrap_pyfunction!(theory::window_at, module)?)?;
    module.add_function(wrap_pyfunction!(theory::price, module)?)?;
    module.add_function(wrap_pyfunction!(theory::defaults, module)?)?;
    module.add_function(wrap_pyfunction!(theory::constants, module)?)?;
    module.add_function(wrap_pyfunction!(theory::resolved, module)?)?;
    module.add_function(wrap_pyfunction!(fluid::fluid_mgt, module)?)?;
    module.add_function(wrap_pyfunction!(fluid::fluid_mgt_point, module)?)?;
    module.add_function(wrap_pyfunction!(fluid::fluid_kelly, module)?)?;
    module.add_function(wrap_pyfunction!(fluid::fluid_kelly_point, module)?)?;
    Ok(())
}
