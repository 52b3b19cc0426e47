//! Logs of flows in the format of qlog: what each end of a connection or of a call sends, receives
//! and takes for lost, and what that means for its window or its rate. Nothing here changes a
//! decision.
//!
//! While an endpoint is called, what it does is noted; once the call is over, the notes become
//! events, and after them what has changed of the endpoint.

mod endpoint;
mod events;
mod flow;
mod quic;
mod recovery;
mod rtp;
mod tcp;

pub(crate) use endpoint::{Action, Arrival, Subject};
pub(crate) use flow::FlowLog;
pub(crate) use rtp::{CallEvents, CallLog};
