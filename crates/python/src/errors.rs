//! Every failure leaves as one of the package's exceptions with a message of one line.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use pyo3::prelude::*;

pyo3::import_exception!(sojourn.errors, Error);
pyo3::import_exception!(sojourn.errors, ScenarioError);

thread_local! {
    /// Where this thread's last panic happened.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// From here on a panic in this extension prints nothing but remembers where it happened. Rust's
/// hook belongs to one extension module: others keep theirs.
pub(crate) fn keep_panics_quiet() {
    set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        PLACE.with(|cell| cell.replace(place));
    }));
}

/// Runs `work`; a panic, which is always a mistake in the program, becomes a message.
///
/// # Errors
/// The message.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        let what = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_string())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        let place = PLACE.with(RefCell::take);
        one_line(&format!("internal error, please report it: {what} ({place})"))
    })
}

/// `work`, whose error is what is wrong with a scenario.
///
/// # Errors
/// `sojourn.ScenarioError`, or `sojourn.Error` for a panic.
pub(crate) fn scenario<T>(
    work: impl FnOnce() -> Result<T, sojourn_scenario::Error>,
) -> PyResult<T> {
    guarded(work)
        .map_err(Error::new_err)?
        .map_err(|error| ScenarioError::new_err(one_line(&error.to_string())))
}

/// Line breaks become spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
