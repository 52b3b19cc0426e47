//! The fluid engine: delay differential equations of TCP and queue disciplines.
//!
//! A model gives the mean window of each class of flows and the length of each queue as functions
//! of time, without packets: milliseconds for what takes the packet engine seconds, and exact
//! enough to tell a stable controller from an unstable one. What it leaves out is said in each
//! file and in `docs/explanation/fluid.md`.
//!
//! - [`integrate`]: delay differential equations with lags that depend on the state.
//! - [`mgt`]: TCP classes over queues; [`kelly`]: TCP under a price on the rate.
//! - [`linear`]: loops about their operating points, derived from the same laws.
//! - [`engine`]: a scenario, run by the former.
//! - [`queues`]: the laws of queues; [`windows`]: those of windows; [`Price`]: of links. Each is
//!   written once, for any [`scalar::Scalar`], and made of the parameters of what it models.
#![forbid(unsafe_code)]

pub mod course;
pub mod engine;
pub mod integrate;
pub mod linear;
mod models;
mod price;
pub mod queues;
mod root;
pub mod scalar;
pub mod windows;

pub use models::{kelly, mgt};
pub use price::Price;
pub use queues::QueueLaw;
pub use sojourn_base::Invalid;
pub use windows::WindowLaw;

/// What a limit is that there is not.
fn endless() -> f64 {
    f64::INFINITY
}

fn one() -> f64 {
    1.0
}
