//! The tests of `sojourn-packets` from outside, in one binary: one is linked faster than many.

mod allocation;
mod application;
mod autorate;
mod cake;
mod calls;
mod capture;
mod chain;
mod classes;
mod closed_forms;
mod common;
mod determinism;
mod events;
mod fused;
mod golden;
mod hosts;
mod households;
mod http;
mod links;
mod low_latency;
mod pages;
mod qlog;
mod quic;
mod stepping;
mod transfers;
mod video;
mod wifi;
