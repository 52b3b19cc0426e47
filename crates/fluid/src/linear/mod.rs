//! Linear models, derived from the equations: an operating point by Newton's method, and the
//! Jacobians there with respect to the present and to every delayed state, by automatic
//! differentiation.
//!
//! ```text
//! ẋ(t) = A₀ x(t) + Σ A_k x(t − τ_k) + Σ B_k u(t − τ_k)    u: the probabilities that packets meet
//! y(t) = C x(t) + D u(t)                                  y: those that the laws give; u = y
//! ```
//!
//! A state-dependent delay is constant here: what is looked up stands still at the operating point,
//! so that a change of the delay changes nothing (Hartung and Turi, "Linearized stability in
//! functional differential equations with state-dependent delays", 2001). A law that samples every
//! T, a q(k) − b q(k−1) being added to its probability and held, has the transfer function (a − b
//! e^(−sT))/(s T): one more delay.

mod bottleneck;
mod cycle;
mod linearise;
mod many;
mod margins;
mod matrix;
mod nyquist;
mod polynomial;
mod rest;
mod scenario;
mod system;
#[cfg(test)]
mod tests;

pub use crate::mgt::Form;
pub use bottleneck::{Bottleneck, Loop, Point};
pub use linearise::{Model, linearise, operating_point};
pub use many::{Columns, Rows};
pub use matrix::{Matrix, Vector};
pub use nyquist::Nyquist;
pub use system::{DelaySystem, Delayed, SIZE};
