//! Limits of the values that a scenario may have.

use sojourn_base::{Rate, Time};

use crate::error::{Fault, steps};

/// A year: far from where sums of times would overflow.
pub(crate) const MAX_TIME: Time = Time::from_secs(8760 * 3600);

/// 10 Tbit/s, where a byte takes less than a nanosecond: far above any link there is.
pub(crate) const MAX_RATE: Rate = Rate(10_000_000_000_000);

/// The shortest step of a rate that changes.
const SHORTEST: Time = Time::from_micros(10);

/// Checks the time from one change of a rate to the next.
pub(crate) fn long_enough(field: &str, time: Time) -> Result<(), Fault> {
    if !(SHORTEST..=MAX_TIME).contains(&time) {
        let message = format!("\"{time}\" must be from \"{SHORTEST}\" to \"{MAX_TIME}\"");
        return Err(Fault::new(steps![field], message));
    }
    Ok(())
}
