//! Adaptive video over one connection (HTTP adaptive streaming).
//!
//! Differences from real players
//!
//! 1. All segments of a rung have the same size: the bit rate is constant.
//! 2. There is one server, one persistent connection and no separate audio.
//! 3. A segment that has been asked for is always fetched to its end; `bola` is BOLA-BASIC.
//! 4. A viewer watches until the group stops, and does not seek.

mod adaptation;
mod params;
mod playback;
mod player;

pub use params::{Adaptation, Video, VideoModel};
pub use playback::{Playback, Viewed};
pub use player::Player;
