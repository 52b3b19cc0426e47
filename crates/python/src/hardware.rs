//! The modules in `hardware` and their bench, for whoever has the package alone.

use pyo3::prelude::*;

macro_rules! files {
    ($($name:literal)+) => {
        [$(($name, include_str!(concat!("../../../hardware/", $name)))),+]
    };
}

/// The PI controllers, in table form and with p exact: names and texts.
#[pyfunction]
pub(crate) fn hardware_files() -> Vec<(&'static str, &'static str)> {
    files![
        "pi_table_aqm.v"
        "pi_table_bank.v"
        "pi_table_port.v"
        "pi_table_axi.v"
        "pi_port.v"
        "pi_axi.v"
        "pi_aqm.v"
        "pi_bank.v"
        "table_level.v"
        "decide.v"
        "outcome.v"
        "registers.toml"
        "bench/pi_table_aqm.cpp"
        "bench/pi_aqm.cpp"
        "bench/levels_bench.h"
        "bench/vectors.h"
    ]
    .to_vec()
}
