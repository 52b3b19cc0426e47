//! The handshake of TLS 1.3 over TCP, in bytes of the two directions.

use sojourn_quic::server_answer;
pub(crate) use sojourn_quic::{CLIENT_HELLO as HELLO, FINISHED};

/// What the server answers before the first request; its certificates are those of QUIC's default.
pub(crate) const FLIGHT: u64 = server_answer(3000);

/// What comes at the client and at the server that is not of the application.
pub(crate) const HANDSHAKE: [u64; 2] = [FLIGHT, HELLO + FINISHED];
