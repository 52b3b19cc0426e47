//! Looking up from work that is under way without Python's lock.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How often work that is under way is looked at: progress is shown, Ctrl-C is heard.
const LOOK: Duration = Duration::from_millis(100);

/// When to look up next, and what was raised then.
pub(crate) struct Watch {
    next: Cell<Instant>,
    raised: RefCell<Option<PyErr>>,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { next: Cell::new(Instant::now() + LOOK), raised: RefCell::new(None) }
    }

    /// If it is time to, listens for Ctrl-C and then asks; whether the work is to end.
    pub(crate) fn look(&self, ask: impl FnOnce(Python<'_>) -> PyResult<bool>) -> bool {
        let now = Instant::now();
        if now < self.next.get() {
            return false;
        }
        self.next.set(now + LOOK);
        let over = Python::attach(|py| {
            py.check_signals()?;
            ask(py)
        });
        over.unwrap_or_else(|error| {
            self.raised.replace(Some(error));
            true
        })
    }

    /// What ended the work, if it was raised.
    pub(crate) fn raised(self) -> Option<PyErr> {
        self.raised.into_inner()
    }
}
