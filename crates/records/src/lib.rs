//! What a run gives back.
//!
//! - [`Histogram`] and [`CoarseHistogram`]: distributions with a bounded relative error, filled
//!   on the packet path.
//! - [`Summary`] and its parts: the JSON document that every engine returns.
//!
//! Everything here but two fields of wall-clock time depends only on the scenario and the seed.
#![forbid(unsafe_code)]

mod histogram;
mod summary;

pub use histogram::{CoarseHistogram, Histogram};
pub use summary::{
    Distribution, FlowSummary, GroupSummary, Imbalance, LinkCounts, LinkSummary, Quantiles,
    Summary, jain, rate_bps, ratio,
};
