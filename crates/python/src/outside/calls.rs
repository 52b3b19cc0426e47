//! What a run's calls of classes need: what makes their objects, and what went wrong in them first.

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

/// What a run that goes on around this one calls, and what went wrong in it.
pub(super) type Around = (Option<Py<PyAny>>, Option<PyErr>);

/// Begins a run whose objects `make` makes.
pub(super) fn begin(make: Py<PyAny>) -> Around {
    (MAKER.replace(Some(make)), FAILURE.take())
}

/// Ends it: its first failure, if there was one.
pub(super) fn end(around: Around) -> Option<PyErr> {
    MAKER.set(around.0);
    FAILURE.replace(around.1)
}

/// What makes objects in this thread's run, if classes can be used in it.
pub(super) fn maker(py: Python<'_>) -> Option<Py<PyAny>> {
    MAKER.with_borrow(|make| make.as_ref().map(|make| make.clone_ref(py)))
}

/// Whether a class of this thread's run has failed, so that the run is to end.
pub(crate) fn has_failed() -> bool {
    FAILURE.with_borrow(Option::is_some)
}

/// The object's method, if its class has one of its own.
pub(super) fn own_method(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let inherited = object.get_type().getattr(name)?.hasattr("__sojourn_default__")?;
    Ok(if inherited { None } else { Some(object.getattr(name)?.unbind()) })
}

/// Remembers the first failure, which ends the run; no method is called after it.
pub(super) fn fail(py: Python<'_>, error: PyErr) {
    // Ctrl-C is no fault of the class, and stays what it is.
    let stopped = error.is_instance_of::<PyKeyboardInterrupt>(py);
    // Described before it is kept: that may call Python.
    let error = if stopped { error } else { Error::new_err(describe(py, &error)) };
    if !has_failed() {
        FAILURE.set(Some(error));
    }
}

/// An exception in one line: where it was raised, and what it says.
pub(super) fn describe(py: Python<'_>, error: &PyErr) -> String {
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
