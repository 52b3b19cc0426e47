//! Algorithms written in Python: the engine's calls become calls of a class's methods.

pub(crate) mod qdisc;
pub(crate) mod tcp;

mod calls;

use pyo3::prelude::*;

pub(crate) use calls::has_failed;

/// Does `work`, a run that may use classes written in Python, which `make` makes. What goes wrong
/// in one of them becomes the run's error.
///
/// Python's lock is taken once for the whole run: the interpreter lets other threads have it while
/// it runs a class's methods, and to take it anew for every packet costs ten times the methods.
pub(crate) fn within<T, E>(
    make: Py<PyAny>,
    work: impl FnOnce() -> Result<T, E>,
    error: impl FnOnce(PyErr) -> E,
) -> Result<T, E> {
    qdisc::install_maker();
    tcp::install_maker();
    // A class may have a run of its own.
    let around = calls::begin(make);
    let outcome = Python::attach(|_| work());
    let failure = calls::end(around);
    outcome.and_then(|value| failure.map_or(Ok(value), |raised| Err(error(raised))))
}
