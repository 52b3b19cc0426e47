//! The books of a run: what every engine counts of its groups, and how that becomes rows of the
//! tables and the summary. A measure is defined here, once for all engines
//! (docs/reference/measures.md).

mod exchange;
mod group;
mod opening;
mod totals;

pub use exchange::Exchange;
pub use group::GroupBook;
pub use totals::Totals;
