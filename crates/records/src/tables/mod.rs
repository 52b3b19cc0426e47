//! Full records of a run as Parquet files, one per table.
//!
//! The engine pushes a row (a plain struct, one copy) onto a buffer; every 8192 rows the buffer
//! goes through a bounded channel to the table's own thread, which turns rows into columns and
//! writes them. Buffers come back to be filled again, so memory stays bounded, and a disk slower
//! than the engine makes the engine wait. The same rows give the same bytes.

mod capture;
mod cell;
mod error;
mod file;
mod recorder;
mod rows;
mod writer;

pub use cell::{Cell, Column, ColumnBuffer, ColumnKind, FlowId, GroupId, LinkId, Names, Outcome};
pub use error::RecordError;
pub use recorder::{CaptureId, Recorder, Written};
pub use rows::{
    ExchangeRow, FlowRow, PacketCountRow, QueueRow, Row, TableSchema, TraceRow, TransferRow,
    table_schemas,
};
