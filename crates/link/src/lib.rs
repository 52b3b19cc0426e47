//! A link: a queue discipline, a transmitter, a wire, and what is measured there.
//!
//! This is plain code that is told the time: the packet engine drives it with the time of its
//! events and the router with instants of the real clock, so that a simulated packet and a real
//! one meet the same queue, the same limiter and the same counters.
#![forbid(unsafe_code)]

mod arrivals;
mod classes;
mod device;
mod dql;
mod link;
mod meter;
mod observed;
mod paths;
mod probes;
mod rate;
mod sample;
mod serialiser;
mod standing;
mod summary;
mod waiting;
mod wire;

pub use arrivals::Arrivals;
pub use link::{Dropped, Fate, Link, Sent, Wake};
pub use observed::Observed;
pub use paths::{HOST, Path, Paths, Step, halves, places};
pub use probes::Probes;
pub use sample::Samples;
pub use serialiser::Serialiser;
pub use summary::summaries;
pub use waiting::Waiting;
