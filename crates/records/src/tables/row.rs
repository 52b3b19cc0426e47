//! What a row and a table are.

use super::cell::{Column, ColumnKind};

/// Rows in a buffer on its way to a file.
pub(super) const BATCH: usize = 8192;

/// A row of a table.
pub trait Row: Copy + Send + Sized + 'static {
    /// The table's name; its file is `NAME.parquet`.
    const NAME: &'static str;
    /// Its columns in the order of the file.
    const COLUMNS: &'static [Column<Self>];
}

/// A table's schema, without its Rust type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// The table's name.
    pub name: &'static str,
    /// For each column its name, kind, whether it may be null, and its meaning with the unit.
    pub columns: Vec<(&'static str, ColumnKind, bool, &'static str)>,
}
