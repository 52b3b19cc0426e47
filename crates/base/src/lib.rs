//! Units, random streams, and what is wrong with a parameter: what every other crate stands on.
//!
//! Time is whole nanoseconds, a rate is whole bits per second, a size is whole bytes: integers,
//! so that a run gives the same bytes on every machine. Random numbers are counter-based.
#![no_std]
extern crate alloc;

mod choices;
mod dscp;
mod ecn;
mod invalid;
mod random;
mod units;
mod value;

pub use choices::module_documentation;
#[cfg(feature = "schema")]
pub use choices::{Tagged, name_or_table};
pub use dscp::Dscp;
pub use ecn::Ecn;
pub use invalid::Invalid;
pub use random::{Kind, Stream};
pub use units::{ParseError, Rate, Size, Time};
pub use value::Value;
