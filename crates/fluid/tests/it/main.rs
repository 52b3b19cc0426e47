//! The tests of `sojourn-fluid` from outside, in one binary: one is linked faster than many.

mod engine;
mod plan;
