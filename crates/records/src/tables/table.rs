//! A table as the engine sees it: the buffer that is being filled.

use super::cell::ColumnBuffer;
use super::error::RecordError;
use super::row::{BATCH, Row};
use super::writer::Writer;
use super::written::Written;

/// Rows that there is room for at first in memory.
const FEW: usize = 64;

/// The buffer of a table. Without capacity the table is not open; without a writer, an open one
/// keeps all rows.
#[doc(hidden)]
pub struct Table<R> {
    pub(super) rows: Vec<R>,
    pub(super) writer: Option<Writer<R>>,
}

impl<R> Default for Table<R> {
    fn default() -> Self {
        Self { rows: Vec::new(), writer: None }
    }
}

impl<R> Table<R> {
    /// An open table whose rows go to a file.
    pub(super) fn written(writer: Writer<R>) -> Self {
        Self { rows: Vec::with_capacity(BATCH), writer: Some(writer) }
    }

    /// An open table whose rows stay in memory.
    pub(super) fn kept() -> Self {
        Self { rows: Vec::with_capacity(FEW), writer: None }
    }

    pub(super) fn is_open(&self) -> bool {
        self.rows.capacity() > 0
    }

    /// A table for a copy of the run: open if this is in memory, and empty.
    pub(super) fn for_copy(&self) -> Self {
        if self.writer.is_none() && self.is_open() { Self::kept() } else { Self::default() }
    }

    /// Sends the buffer off and takes an empty one; in memory the buffer grows.
    #[cold]
    pub(super) fn flush(&mut self) {
        if let Some(writer) = &self.writer {
            self.rows = writer.send(std::mem::take(&mut self.rows));
        }
    }
}

impl<R: Row> Table<R> {
    /// The rows in memory, column by column; the table goes on without them.
    pub(super) fn take(&mut self) -> Vec<f64> {
        if self.writer.is_some() || !self.is_open() {
            return Vec::new();
        }
        let rows = std::mem::replace(self, Self::kept()).rows;
        let mut buffer = ColumnBuffer::default();
        let mut numbers = Vec::with_capacity(rows.len() * R::COLUMNS.len());
        for column in R::COLUMNS {
            buffer.clear();
            (column.fill)(&rows, &mut buffer);
            numbers.extend(buffer.numbers(rows.len()));
        }
        numbers
    }

    pub(super) fn finish(&mut self) -> Option<Result<Written, RecordError>> {
        let writer = self.writer.take()?;
        Some(writer.finish(std::mem::take(&mut self.rows)))
    }
}
