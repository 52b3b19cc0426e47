//! The integrator of delay differential equations.

mod breaks;
mod history;
mod settings;
mod solver;
mod stages;
mod system;
mod tableau;
#[cfg(test)]
mod tests;

pub use history::{Moment, Past, Polynomial, horner};
pub use settings::{Failure, Settings, Work};
pub use solver::Solver;
pub use system::System;
