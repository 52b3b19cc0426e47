//! Who sends what and when, without I/O.
//!
//! The parameter structs ([`Source`] and one struct per kind) are what a scenario says; each
//! compiles into a small state machine that is told the time and answers with what to send and
//! when to be woken. All randomness comes from [`sojourn_base::Stream`]s named by seed, kind, group
//! and index, and every draw is made in an order that the network cannot change: changing a queue
//! discipline leaves every user's draws as they were.
#![forbid(unsafe_code)]

mod arrivals;
mod bulk;
mod call;
mod client;
mod distribution;
mod onoff;
mod ping;
mod replay;
mod source;
mod spacing;
mod udp;
mod video;
mod web;

pub use arrivals::{Arrivals, Transfers};
pub use bulk::{Bulk, Fetches, Writer, Writes};
pub use call::{
    Arrival, Call, CallModel, ControlState, DelayFilter, Feedback, Frame, Listener, Media,
    RateControl, Sender, Wanted,
};
pub use client::{Client, Command, Exchange, Input, PageEnded};
pub use distribution::{
    Character, Count, Distribution, Interpolate, Part, Residual, Sampler, Unit, quantiles_from_csv,
};
pub use onoff::{OnOff, OnOffModel, OnOffSource};
pub use ping::Ping;
pub use replay::{Entry, Replay, ReplayError, Trace};
pub use sojourn_base::Invalid;
pub use source::Source;
#[cfg(feature = "schema")]
pub use source::SourceByName;
pub use udp::{Codepoint, Udp, UdpModel, UdpSource};
pub use video::{Adaptation, Playback, Player, Video, VideoModel, Viewed};
pub use web::{
    Browser, Http, MOST_SERVERS, Model, Pages, Priorities, Priority, Recorded, Recording, RttPer,
    Web, WebModel, WebUsers,
};
