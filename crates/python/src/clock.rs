//! The clock that times runs.

use std::sync::LazyLock;
use std::time::Instant;

use sojourn_packets::Clock;

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Seconds since the first look at it.
pub(crate) const CLOCK: Clock = Clock(|| START.elapsed().as_secs_f64());
