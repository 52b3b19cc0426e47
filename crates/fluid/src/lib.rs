//! The fluid engine: delay differential equations of TCP and queue disciplines.
//!
//! A model gives the mean window of each class of flows and the length of each queue as functions
//! of time, without packets: milliseconds for what takes the packet engine seconds, and exact
//! enough to tell a stable controller from an unstable one. What it leaves out is said in each
//! file and in `docs/fluid.md`.
//!
//! - [`integrate`]: delay differential equations with lags that depend on the state.
//! - [`mgt`]: TCP classes over queues; [`kelly`]: TCP under a price on the rate.
//! - [`engine`]: a scenario, run by the former.
//! - [`controllers`]: the laws of queues; [`WindowLaw`]: those of windows; [`Price`]: of links.
#![forbid(unsafe_code)]

pub mod controllers;
pub mod course;
pub mod engine;
pub mod integrate;
mod models;
mod price;
mod root;
mod windows;

pub use models::{kelly, mgt};
pub use price::Price;
pub use sojourn_base::Invalid;
pub use windows::WindowLaw;

/// What a limit is that there is not.
fn endless() -> f64 {
    f64::INFINITY
}

fn one() -> f64 {
    1.0
}
