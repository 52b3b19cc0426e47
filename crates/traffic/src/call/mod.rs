//! Video calls: a source of frames that follows a rate, and what sets that rate.
//!
//! Differences from real calls
//!
//! 1. There is no sound, and frames are all alike: at every instant of capture one of the target
//!    rate over the frame rate, without key frames. The encoder follows the target at once.
//! 2. Lost packets are neither sent again nor made up for: a frame that lost one never completes.
//! 3. A packet carries 40 bytes of headers (IPv4, UDP, RTP), one of feedback 48 and two for each
//!    packet that it tells of.
//!
//! What the controls do otherwise than their sources stands in `gcc` and `scream`.

mod gcc;
mod listener;
mod media;
mod params;
mod scream;
mod sender;

pub use listener::{Arrival, Feedback, Frame, Listener};
pub use media::Media;
pub use params::{Call, CallModel, DelayFilter, RateControl};
pub use sender::{ControlState, Sender, Wanted};
