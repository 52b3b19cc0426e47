//! Packets of media.

use sojourn_base::Time;

/// IPv4, UDP and RTP headers of a packet.
pub(super) const HEADERS: u32 = 40;

/// A packet of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Media {
    /// Its number, from 0.
    pub number: u64,
    /// The frame that it is of, from 0.
    pub frame: u64,
    /// Bytes of the IP packet.
    pub ip_bytes: u32,
    /// When it was sent.
    pub sent: Time,
    /// Whether it is the last of its frame.
    pub last: bool,
}
