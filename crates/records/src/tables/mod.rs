//! Full records of a run as Parquet files, one per table, or in memory.
//!
//! The engine pushes a row (a plain struct, one copy) onto a buffer; every 8192 rows the buffer
//! goes through a bounded channel to the table's own thread, which turns rows into columns and
//! writes them. Buffers come back to be filled again, so memory stays bounded, and a disk slower
//! than the engine makes the engine wait. The same rows give the same bytes.

mod capture;
mod cell;
mod error;
#[cfg(not(target_family = "wasm"))]
mod file;
mod open;
mod provenance;
mod recorder;
mod row;
mod rows;
mod table;
#[cfg_attr(target_family = "wasm", path = "no_writer.rs")]
mod writer;
mod written;

pub use cell::{Cell, Column, ColumnBuffer, ColumnKind, FlowId, GroupId, LinkId, Names, Outcome};
pub use error::RecordError;
pub use open::Recorded;
pub use provenance::Provenance;
pub use recorder::{CaptureId, LogId, Recorder};
pub use row::{Row, TableSchema};
pub use rows::{
    ExchangeRow, FlowRow, PacketCountRow, PageRow, QueueRow, TraceRow, TransferRow, table_schemas,
};
pub use written::Written;

/// Whether there are files here. Where there are none nothing is captured or logged, and the code
/// that would is left out.
pub const FILES: bool = cfg!(not(target_family = "wasm"));
