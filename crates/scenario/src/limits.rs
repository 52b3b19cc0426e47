//! The greatest values that a scenario may have.

use sojourn_base::{Rate, Time};

/// A year: far from where sums of times would overflow.
pub(crate) const MAX_TIME: Time = Time::from_secs(8760 * 3600);

/// 10 Tbit/s, where a byte takes less than a nanosecond: far above any link there is.
pub(crate) const MAX_RATE: Rate = Rate(10_000_000_000_000);
