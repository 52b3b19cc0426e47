//! The tests of `sojourn-qdisc` from outside, in one binary: one is linked faster than many.

mod allocation;
mod bank;
mod changing;
mod classful;
mod common;
mod dualpi2;
mod mistakes;
mod parameters;
mod pi2;
mod pie;
mod red;
mod reference;
mod sequences;
mod silence;
