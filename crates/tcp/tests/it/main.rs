//! The tests of `sojourn-tcp` from outside, in one binary: one is linked faster than many.

mod accecn;
mod adversary;
mod allocation;
mod application;
mod common;
mod controls;
mod host;
mod long_run;
mod losing_again;
mod losses;
mod marked_window;
mod marks;
mod offload;
mod opening;
mod path;
mod rack;
mod receiving;
mod recovering;
mod reducing;
mod response;
mod scenario_text;
mod spurious;
mod telling;
mod window;
