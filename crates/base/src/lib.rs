#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![no_std]
extern crate alloc;

mod choices;
mod dscp;
mod ecn;
mod invalid;
mod product;
mod random;
mod range;
mod sort;
mod units;
mod value;

pub use choices::module_documentation;
#[cfg(feature = "schema")]
pub use choices::{Tagged, name_or_table};
pub use dscp::Dscp;
pub use ecn::Ecn;
pub use invalid::Invalid;
pub use product::product;
pub use random::{Kind, Stream};
pub use range::within;
pub use sort::{sort_by, sort_by_key};
pub use units::{NANOS_PER_BYTE, ParseError, Rate, Size, Time};
pub use value::Value;
