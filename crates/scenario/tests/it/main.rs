//! The tests of `sojourn-scenario` from outside, in one binary: one is linked faster than many.

mod bad;
mod changes;
mod choices;
mod fuzzed;
mod good;
mod limits;
mod random;
