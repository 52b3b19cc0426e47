#![doc = include_str!("../README.md")]
//!
//! # Differences from the sources
//!
//! 1. Both ends are given the same [`Params`], so transport parameters (RFC 9000 section 18) are
//!    counted, not carried.
//! 2. No connection migration and no other paths (section 9), no new connection IDs, no path
//!    challenges, no stateless reset.
//! 3. A connection is closed by the client, once all streams are over in both directions; the
//!    closing end answers what still comes with CONNECTION_CLOSE (section 10.2.1), ever more
//!    rarely. The idle timeout (section 10.1) runs only while something is awaited, as if an
//!    application kept the connection alive at no cost.
//! 4. The size of a full datagram is known when the handshake is complete; nothing probes for it
//!    (section 14.3).
//!
//! What else differs is at the top of the files: packets and frames, handshake, streams,
//! acknowledgements, round trips, loss detection, congestion control, ECN.
#![forbid(unsafe_code)]
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod buffer;
mod control;
mod ecn;
mod endpoint;
mod handshake;
mod packet;
mod params;
mod ranges;
mod received;
mod rtt;
mod sent;
mod streams;

pub use control::LEAST_WINDOW;
pub use endpoint::{Endpoint, Event, Lost, Output, Overdue, PERSISTENT, RoundTrip, Unread};
pub use handshake::{CLIENT_HELLO, FINISHED, server_answer};
pub use packet::{
    Ack, CryptoFrame, EcnCounts, HEADERS, LEAST_DATAGRAM, MOST_PACKETS, MOST_RANGES, MOST_STREAMS,
    Packet, Rare, Space, StreamFrame, StreamPacket, TAG,
};
pub use params::{Params, Settings, Spec};
pub use rtt::GRANULARITY;
pub use sent::PACKET_THRESHOLD;
pub use sojourn_base::{Ecn, Invalid};
