//! The integrator of delay differential equations.

mod breaks;
mod history;
mod settings;
mod solver;
mod system;
mod tableau;
#[cfg(test)]
mod tests;

pub use history::{COEFFICIENTS, Moment, Past, horner};
pub use settings::{Failure, Settings, Work};
pub use solver::Solver;
pub use system::System;
