//! A packet capture, or the log of a connection, on its way to its file.

use super::error::RecordError;
use super::written::{Written, partial};
use crate::{pcapng, qlog};
use std::fs::File;
use std::io::{BufWriter, Result, Write as _};
use std::path::PathBuf;

/// Where all of them write.
pub(super) type Out = BufWriter<File>;

/// What gives a file its format.
pub(super) trait Format {
    fn into_out(self) -> Out;
}

impl Format for pcapng::Writer<Out> {
    fn into_out(self) -> Out {
        self.into_inner()
    }
}

impl Format for qlog::Writer<Out> {
    fn into_out(self) -> Out {
        self.into_inner()
    }
}

/// A file while it is being written, under a temporary name.
pub(super) struct Capture<W> {
    pub(super) path: PathBuf,
    writer: Option<W>,
    items: u64,
    error: Option<RecordError>,
}

impl<W: Format> Capture<W> {
    pub(super) fn create(
        path: PathBuf,
        begin: impl FnOnce(Out) -> Result<W>,
    ) -> std::result::Result<Self, RecordError> {
        let writer = File::create(partial(&path))
            .and_then(|file| begin(BufWriter::with_capacity(1 << 16, file)))
            .map_err(|e| RecordError::new(&path, e))?;
        Ok(Self { path, writer: Some(writer), items: 0, error: None })
    }

    /// Adds a packet or an event.
    pub(super) fn add(&mut self, write: impl FnOnce(&mut W) -> Result<()>) {
        let Some(writer) = &mut self.writer else { return };
        match write(writer) {
            Ok(()) => self.items += 1,
            Err(error) => {
                self.error = Some(RecordError::new(&self.path, error));
                self.writer = None;
            }
        }
    }

    pub(super) fn finish(mut self) -> std::result::Result<Written, RecordError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let error = |e| RecordError::new(&self.path, e);
        if let Some(writer) = self.writer.take() {
            writer.into_out().flush().map_err(error)?;
            std::fs::rename(partial(&self.path), &self.path).map_err(error)?;
        }
        Ok(Written { path: self.path.clone(), rows: self.items })
    }
}

impl<W> Drop for Capture<W> {
    fn drop(&mut self) {
        // After a rename there is nothing under this name.
        let _ = std::fs::remove_file(partial(&self.path));
    }
}
