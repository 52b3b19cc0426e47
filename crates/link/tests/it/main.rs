//! The tests of `sojourn-link` from outside, in one binary: one is linked faster than many.

mod air;
mod host;
mod lindley;
mod probes;
mod stages;
