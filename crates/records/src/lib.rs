//! What a run gives back.
//!
//! - [`Histogram`] and [`CoarseHistogram`]: distributions with a bounded relative error, filled
//!   on the packet path.
//! - [`Summary`] and its parts: the JSON document that every engine returns.
//! - [`GroupBook`]: what every engine counts of a group.
//! - [`Recorder`]: full records on request, as Parquet tables, packet captures and logs of
//!   connections.
//!
//! Everything here but two fields of wall-clock time depends only on the scenario and the seed.
#![forbid(unsafe_code)]

mod books;
mod clock;
mod coarse;
mod counts;
mod histogram;
pub mod pcapng;
pub mod qlog;
mod summary;
mod tables;

pub use books::{Exchange, GroupBook, Totals};
pub use clock::Clock;
pub use coarse::CoarseHistogram;
pub use counts::{Imbalance, LinkCounts};
pub use histogram::Histogram;
pub use summary::{
    CallSummary, DeviceSummary, Distribution, FlowSummary, GroupSummary, HostsSummary, LinkSummary,
    PagesSummary, Quantiles, RouterSummary, Summary, VideoSummary, jain, rate_bps, ratio,
};
pub use tables::{
    CaptureId, Cell, Column, ColumnBuffer, ColumnKind, ExchangeRow, FILES, FlowId, FlowRow,
    GroupId, LinkId, LogId, Names, Outcome, PacketCountRow, PageRow, Provenance, QueueRow,
    RecordError, Recorded, Recorder, Row, TableSchema, TraceRow, TransferRow, Written,
    table_schemas,
};
