//! The tables of a recorder: one for each kind of row, open or not.

use super::error::RecordError;
use super::row::Row;
use super::rows::{ExchangeRow, FlowRow, PacketCountRow, PageRow, QueueRow, TraceRow, TransferRow};
use super::table::Table;
use super::written::Written;

/// A row that a recorder has a table for. Implemented in this crate only.
#[doc(hidden)]
pub trait Recorded: Row {
    fn table(tables: &mut Tables) -> &mut Table<Self>;
}

macro_rules! tables {
    ($($table:ident: $row:ty,)*) => {
        /// All tables.
        #[doc(hidden)]
        #[derive(Default)]
        pub struct Tables {
            $($table: Table<$row>,)*
        }

        impl Tables {
            /// The tables of a copy of the run.
            pub(super) fn for_copy(&self) -> Self {
                Self { $($table: self.$table.for_copy()),* }
            }

            /// The rows of the table of this name, column by column.
            pub(super) fn take(&mut self, name: &str) -> Option<Vec<f64>> {
                $(if name == <$row>::NAME {
                    return Some(self.$table.take());
                })*
                None
            }

            /// Ends each table that is open: the file that is complete, or why there is none.
            pub(super) fn finish(&mut self) -> Vec<Result<Written, RecordError>> {
                [$(self.$table.finish()),*].into_iter().flatten().collect()
            }
        }

        $(impl Recorded for $row {
            #[inline(always)]
            fn table(tables: &mut Tables) -> &mut Table<Self> {
                &mut tables.$table
            }
        })*
    };
}

tables! {
    queues: QueueRow,
    packet_counts: PacketCountRow,
    traces: TraceRow,
    exchanges: ExchangeRow,
    pages: PageRow,
    transfers: TransferRow,
    flows: FlowRow,
}
