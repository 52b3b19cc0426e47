//! The tests of `sojourn-scenario` from outside, in one binary: one is linked faster than many.

mod bad;
mod choices;
mod fuzzed;
mod good;
mod random;
