//! The integrator of delay differential equations.

mod breaks;
mod control;
mod history;
mod overlap;
mod past;
mod settings;
mod solver;
mod stages;
mod system;
mod tableau;
#[cfg(test)]
mod tests;

pub use history::{Polynomial, horner};
pub use past::{Moment, Past};
pub use settings::{Failure, Settings, Work};
pub use solver::Solver;
pub use system::System;
