//! The clock that times runs.

use std::sync::LazyLock;
use std::time::Instant;

use sojourn_fluid::engine as fluid;
use sojourn_packets::{Clock, Control};

static START: LazyLock<Instant> = LazyLock::new(Instant::now);

const CLOCK: Clock = Clock(|| START.elapsed().as_secs_f64());

/// Controls of a run of packets that is timed.
pub(crate) fn packets() -> Control {
    Control { clock: CLOCK, ..Control::default() }
}

/// Those of a run of the fluid engine.
pub(crate) fn fluid() -> fluid::Control {
    fluid::Control { clock: CLOCK, ..fluid::Control::default() }
}
