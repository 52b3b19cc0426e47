//! A packet capture on its way to its file.

use super::error::RecordError;
use super::written::{Written, partial};
use crate::pcapng;
use sojourn_base::Time;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::PathBuf;

/// A capture file while it is being written, under a temporary name.
pub(super) struct Capture {
    pub(super) path: PathBuf,
    writer: Option<pcapng::Writer<BufWriter<File>>>,
    packets: u64,
    error: Option<RecordError>,
}

impl Capture {
    pub(super) fn create(
        path: PathBuf,
        link: &str,
        content: pcapng::Content,
    ) -> Result<Self, RecordError> {
        let writer = File::create(partial(&path))
            .and_then(|file| {
                pcapng::Writer::new(BufWriter::with_capacity(1 << 16, file), link, content)
            })
            .map_err(|e| RecordError::new(&path, e))?;
        Ok(Self { path, writer: Some(writer), packets: 0, error: None })
    }

    pub(super) fn add(&mut self, packet: &pcapng::Packet<'_>) {
        self.add_with(|writer| writer.write(packet));
    }

    pub(super) fn add_bytes(&mut self, time: Time, packet: &[u8]) {
        self.add_with(|writer| writer.write_bytes(time, packet));
    }

    fn add_with(
        &mut self,
        write: impl FnOnce(&mut pcapng::Writer<BufWriter<File>>) -> std::io::Result<()>,
    ) {
        let Some(writer) = &mut self.writer else { return };
        match write(writer) {
            Ok(()) => self.packets += 1,
            Err(error) => {
                self.error = Some(RecordError::new(&self.path, error));
                self.writer = None;
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<Written, RecordError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let error = |e| RecordError::new(&self.path, e);
        if let Some(writer) = self.writer.take() {
            writer.into_inner().flush().map_err(error)?;
            std::fs::rename(partial(&self.path), &self.path).map_err(error)?;
        }
        Ok(Written { path: self.path.clone(), rows: self.packets })
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // After a rename there is nothing under this name.
        let _ = std::fs::remove_file(partial(&self.path));
    }
}
