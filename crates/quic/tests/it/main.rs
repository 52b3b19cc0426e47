//! Tests of whole connections.

mod adversary;
mod allocation;
mod closed_forms;
mod common;
mod handshakes;
mod marks;
mod recovery;
