//! The tests of `sojourn-router` from outside, in one binary: one is linked faster than many.

mod common;
mod core;
mod fuzzed;
mod linux_engine;
mod process;
mod transfer;
