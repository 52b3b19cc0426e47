#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod access;
mod arrivals;
mod autorate;
mod classes;
mod device;
mod docsis;
mod dql;
mod link;
mod lognormal;
mod meter;
mod observed;
mod paths;
mod probes;
mod radio;
mod rate;
mod sample;
mod serialiser;
mod standing;
mod summary;
mod waiting;
mod wifi;
mod wire;

pub use arrivals::Arrivals;
pub use link::{Dropped, Fate, Link, Sent, Wake};
pub use observed::Observed;
pub use paths::{HOST, Machine, Path, Paths, Step, halves, places};
pub use probes::Probes;
pub use sample::Samples;
pub use serialiser::Serialiser;
pub use summary::summaries;
pub use waiting::Waiting;
pub use wifi::{Aired, Medium};
