//! Thousands of PI controllers in integers, as a line card has them: 512 queues of 8 classes, all
//! sampled each millisecond, with drop probabilities from at most 8 shared tables of at most 16
//! entries. After Hollot, Misra, Towsley and Gong, INFOCOM 2001 (see [`crate::pi`]), for a hardware
//! that can look a probability up but not compute one.
//!
//! - [`Table`]: up to 16 probabilities, and which of them stands for which stretch of [0, 1].
//! - [`Gains`]: what one class's controllers have in common, as mantissas and shifts.
//! - [`Bank`]: the controllers, 8 bytes each, and one pass that updates them all.
//! - [`IndexBank`]: the same with p as a place in the table, in half the state.
//! - [`RedBank`]: RED's averages, for the same path of decisions.
//! - [`Decide`]: the decision about a packet, as hardware takes it.
//! - [`vectors`]: what banks in hardware are checked against.
//!
//! A library, not a discipline: `pi_table` is PI with one such table.

mod controllers;
mod decide;
mod gains;
mod grid;
mod index;
mod lloyd;
mod pass;
mod red;
mod table;
pub mod vectors;

pub use controllers::Bank;
pub use decide::{Decide, Decision};
pub use gains::Gains;
pub use grid::Grid;
pub use index::{IndexBank, IndexGains};
pub use lloyd::{cost, optimal};
pub use red::{Profile, RedBank};
pub use table::Table;

/// Most classes in a bank, each with gains and a table of its own.
pub const MOST_CLASSES: usize = 8;
/// Most entries in a table.
pub const MOST_ENTRIES: usize = 16;
