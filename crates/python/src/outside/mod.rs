//! Algorithms written in Python: the engine's calls become calls of a class's methods.

pub(crate) mod qdisc;
pub(crate) mod tcp;

use std::cell::RefCell;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors::{Error, one_line};

thread_local! {
    /// Makes objects of classes in this thread's run. Called with what is wanted ("qdisc" or
    /// "tcp"), the class's name, its parameters as JSON, and for a queue the link's rate, its mean
    /// packet and a coin.
    static MAKER: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
    /// What went wrong first in a class of this thread's run.
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

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
    let around = (MAKER.replace(Some(make)), FAILURE.take());
    let outcome = Python::attach(|_| work());
    MAKER.set(around.0);
    let failure = FAILURE.replace(around.1);
    outcome.and_then(|value| failure.map_or(Ok(value), |raised| Err(error(raised))))
}

/// What makes objects in this thread's run, if classes can be used in it.
fn maker(py: Python<'_>) -> Option<Py<PyAny>> {
    MAKER.with_borrow(|make| make.as_ref().map(|make| make.clone_ref(py)))
}

/// Whether a class of this thread's run has failed, so that the run is to end.
pub(crate) fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

/// The object's method, if its class has one of its own.
fn own_method(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let inherited = object.get_type().getattr(name)?.hasattr("__sojourn_default__")?;
    Ok(if inherited { None } else { Some(object.getattr(name)?.unbind()) })
}

/// Remembers the first failure, which ends the run; no method is called after it.
fn fail(py: Python<'_>, error: PyErr) {
    // Ctrl-C is no fault of the class, and stays what it is.
    let stopped = error.is_instance_of::<PyKeyboardInterrupt>(py);
    // Described before it is kept: that may call Python.
    let error = if stopped { error } else { Error::new_err(describe(py, &error)) };
    if !has_failed() {
        FAILURE.set(Some(error));
    }
}

/// An exception in one line: where it was raised, and what it says.
fn describe(py: Python<'_>, error: &PyErr) -> String {
    let place = || -> PyResult<String> {
        let module = py.import("traceback")?;
        let frames = module.call_method1("extract_tb", (error.traceback(py),))?;
        let last = frames.get_item(frames.len()?.saturating_sub(1))?;
        let file: String = last.getattr("filename")?.extract()?;
        let line: u32 = last.getattr("lineno")?.extract()?;
        Ok(format!("{file}:{line}: "))
    };
    let place = error.traceback(py).and_then(|_| place().ok()).unwrap_or_default();
    one_line(&format!("{place}{error}"))
}
