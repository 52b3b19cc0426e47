//! The tests of `sojourn-records` from outside, in one binary: one is linked faster than many.

mod books;
mod fuzzed;
mod histogram;
mod pcapng;
mod recorder;
