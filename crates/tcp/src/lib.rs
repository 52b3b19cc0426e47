#![doc = include_str!("../README.md")]
//!
//! # Differences from the sources
//!
//! 1. Both ends are given the same [`Params`], so the options of a SYN are counted, not carried;
//!    only ECN is agreed by flags (RFC 3168).
//! 2. The application takes data at once, so the window never closes: no persist timer, no silly
//!    windows (RFC 9293 sections 3.8.6.1 and 3.8.6.2). No Nagle, urgent data or keep-alive.
//! 3. TIME-WAIT has no timer: a closed endpoint acknowledges a repeated FIN as long as it is kept.
//!    RSTs come from failed endpoints only. No simultaneous open.
//! 4. Timestamps count microseconds (RFC 7323 section 5.4 asks for at least 1 ms a tick). No PAWS:
//!    nothing in a simulation is delayed by 2 GiB of data. Every acknowledgement of new data gives
//!    a sample, with the gains of RFC 6298 unchanged.
//! 5. SACK blocks travel on bare acknowledgements only, so data segments keep their size. What was
//!    selectively acknowledged stays so after a timeout: receivers here never take it back (RFC
//!    2018 section 8). Only segments that came twice as a whole are reported (RFC 2883 section 4.2
//!    has parts too): nothing is cut anew when it is sent again.
//! 6. FlightSize in a reduction is at most the congestion window, which leaves out what limited
//!    transmit added (RFC 5681 section 3.2). A mark and a loss in the same window reduce it once; a
//!    timeout always does.
//! 7. After a handshake in which a SYN or SYN-ACK was lost the timeout is 3 s, or the initial one
//!    if that is greater, until a sample comes (RFC 6298 rule 5.7 for any initial timeout).
//! 8. The retransmission timer starts again with the first retransmission of a fast recovery, as
//!    RFC 6675 section 6 allows; by RFC 6298 alone it would wait for new data to be acknowledged.
//! 9. The rescue retransmission of RFC 6675 section 4 (`NextSeg` rule 4) may go out before the
//!    first retransmission of the recovery is acknowledged, which section 5 step 4.3 puts off, and
//!    so does `early_rescue = false`.
//! 10. Without a log an acknowledgement that moves the edge or brings data does not count as a
//!     duplicate, whatever else it reports (RFC 6675 section 2 counts it).
//! 11. Senders that log their segments (`recovery/log.rs`) after a timeout have a window of what is
//!     still under way and one segment, as Linux. SACK blocks give them samples of the round trip
//!     while there is a hole, and the timer starts again whenever the first segment is sent again.
//! 12. PSH is never sent. Linux ends every burst of two segments or more with it, and since 6.6 a
//!     full segment that has it is acknowledged at once. Timers run out when they are due, Linux's
//!     at the next tick of a clock of 1 to 10 ms.
//!
//! What else differs is at the top of the files of `receiver/` and `sender/`, and of those of the
//! congestion controls.
#![forbid(unsafe_code)]
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod call;
pub mod congestion;
mod connection;
mod context;
mod ecn;
mod endpoint;
mod options;
mod params;
mod profile;
mod receiver;
mod runs;
mod segment;
mod sender;

pub use congestion::{Algorithm, Tuning};
pub use ecn::Feedback;
pub use endpoint::{Endpoint, Expected};
pub use options::{LARGEST_WINDOW, Options, Spec};
pub use params::Params;
pub use profile::Profile;
pub use segment::{
    COUNTER_BYTES, Event, Flags, HEADERS, Output, SackBlock, Segment, TIMESTAMP_BYTES,
};
pub use sojourn_base::Ecn;
pub use sojourn_base::Invalid;
