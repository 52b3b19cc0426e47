//! Algorithms written in Python: the engine's calls become calls of a class's methods.

pub(crate) mod qdisc;
pub(crate) mod tcp;

use std::cell::RefCell;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::errors::one_line;

/// What a run needs to make objects of classes, and to end when one of them fails.
pub(crate) struct Outside {
    /// Called with what is wanted ("qdisc" or "tcp"), the class's name, its parameters as JSON,
    /// and for a queue the link's rate, its mean packet and a coin; gives an object.
    pub make: Py<PyAny>,
    /// Asks the run to end.
    pub stop: Arc<dyn Fn() + Send + Sync>,
}

thread_local! {
    static OUTSIDE: RefCell<Option<Outside>> = const { RefCell::new(None) };
    /// What went wrong first in a class of this thread's run.
    static FAILURE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Does `work`, a run that may use classes written in Python. What goes wrong in one of them
/// becomes the run's error.
///
/// Python's lock is taken once for the whole run: the interpreter lets other threads have it while
/// it runs a class's methods, and to take it anew for every packet costs ten times the methods.
pub(crate) fn within<T, E>(
    outside: Outside,
    work: impl FnOnce() -> Result<T, E>,
    error: impl FnOnce(String) -> E,
) -> Result<T, E> {
    qdisc::install_maker();
    tcp::install_maker();
    OUTSIDE.with(|cell| cell.replace(Some(outside)));
    FAILURE.with(RefCell::take);
    let outcome = Python::attach(|_| work());
    OUTSIDE.with(RefCell::take);
    let failure = FAILURE.with(RefCell::take);
    outcome.and_then(|value| failure.map_or(Ok(value), |message| Err(error(message))))
}

/// What makes objects in this thread's run, if classes can be used in it.
fn maker(py: Python<'_>) -> Option<Py<PyAny>> {
    OUTSIDE.with(|cell| cell.borrow().as_ref().map(|outside| outside.make.clone_ref(py)))
}

/// The object's method, if its class has one of its own.
fn own_method(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<Py<PyAny>>> {
    let inherited = object.get_type().getattr(name)?.hasattr("__sojourn_default__")?;
    Ok(if inherited { None } else { Some(object.getattr(name)?.unbind()) })
}

/// Remembers the first failure and asks the run to end.
fn fail(py: Python<'_>, error: &PyErr) {
    FAILURE.with(|cell| {
        cell.borrow_mut().get_or_insert_with(|| describe(py, error));
    });
    OUTSIDE.with(|cell| {
        if let Some(outside) = &*cell.borrow() {
            (outside.stop)();
        }
    });
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
