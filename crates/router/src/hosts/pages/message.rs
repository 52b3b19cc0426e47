//! What requests and responses are, whatever the version of HTTP.

use crate::hosts::certificate::NAME;
use crate::hosts::connection::Connection;
use http::Request;
use sojourn_records::Exchange;
use std::io;

/// Bytes of a request that are its headers, more or less.
const HEADERS: u64 = 40;

/// Bytes of a body that a stream hands down at once: four frames of HTTP/2.
pub(super) const PIECE: u64 = 1 << 16;

/// A request of a user's slot, whose path names it.
pub(super) fn request(slot: u16) -> io::Result<Request<()>> {
    Request::post(format!("https://{NAME}/{slot}")).body(()).map_err(failed)
}

/// The bytes of a request's body.
pub(super) fn body_of(exchange: &Exchange) -> u64 {
    u64::from(exchange.request).saturating_sub(HEADERS)
}

/// What a request asks for, which its path names; both hosts live in one process.
pub(super) fn asked_for(connection: &Connection, path: &str) -> io::Result<Exchange> {
    let slot = path.strip_prefix('/').and_then(|slot| slot.parse().ok());
    let found = slot.and_then(|slot: u16| connection.state().streams.get(&slot).copied());
    found.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// What is wrong with a connection or a stream, from whatever library.
pub(super) fn failed<E: Into<Box<dyn std::error::Error + Send + Sync>>>(error: E) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, error)
}
