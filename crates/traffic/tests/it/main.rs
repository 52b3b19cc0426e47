//! The tests of `sojourn-traffic` from outside, in one binary: one is linked faster than many.

mod allocation;
mod browser;
mod call;
mod distributions;
mod fuzzed;
mod hurst;
mod schema;
