//! The thread that writes one table, and the buffers that go to it and come back.

use super::cell::Names;
use super::error::RecordError;
use super::file::TableFile;
use super::provenance::Provenance;
use super::row::{BATCH, Row};
use super::written::Written;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

/// Buffers in a row group of the file.
const GROUP: usize = 4;
/// Buffers on their way to a writer before the engine has to wait.
const WAITING: usize = 2;

enum Message<R> {
    Rows(Vec<R>),
    Finish,
}

/// A table's thread, as the engine sees it.
pub(super) struct Writer<R> {
    /// `None` once the table is to end.
    full: Option<SyncSender<Message<R>>>,
    empty: Receiver<Vec<R>>,
    thread: Option<JoinHandle<Result<Written, RecordError>>>,
    path: PathBuf,
}

impl<R: Row> Writer<R> {
    pub(super) fn start(
        directory: &Path,
        names: &Names,
        run: Option<&Provenance>,
    ) -> Result<Self, RecordError> {
        let path = directory.join(format!("{}.parquet", R::NAME));
        let file = TableFile::create(directory, names, run)?;
        let (full, incoming) = sync_channel(WAITING);
        let (returning, empty) = channel();
        let thread = std::thread::Builder::new()
            .name(format!("records {}", R::NAME))
            .spawn(move || write_all(file, &incoming, &returning))
            .map_err(|e| RecordError::new(&path, e))?;
        Ok(Self { full: Some(full), empty, thread: Some(thread), path })
    }

    pub(super) fn finish(mut self, rest: Vec<R>) -> Result<Written, RecordError> {
        let failed = RecordError::new(&self.path, "its writer stopped unexpectedly");
        if let Some(full) = self.full.take() {
            // A writer that has failed no longer listens; its error is the thread's result.
            let _ = full.send(Message::Rows(rest));
            let _ = full.send(Message::Finish);
        }
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or(Err(failed))
    }
}

impl<R> Writer<R> {
    /// Hands over a full buffer; returns an empty one. If the writer has failed, the rows are
    /// forgotten and the run goes on.
    pub(super) fn send(&self, rows: Vec<R>) -> Vec<R> {
        let Some(full) = &self.full else { return rows };
        match full.send(Message::Rows(rows)) {
            Ok(()) => self.empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH)),
            Err(refused) => match refused.0 {
                Message::Rows(mut rows) => {
                    rows.clear();
                    rows
                }
                Message::Finish => Vec::with_capacity(BATCH),
            },
        }
    }
}

impl<R> Drop for Writer<R> {
    /// Without [`finish`](Writer::finish): lets the thread remove its unfinished file.
    fn drop(&mut self) {
        self.full = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The thread of a table: collects buffers to a row group, writes, sends them back empty.
fn write_all<R: Row>(
    mut file: TableFile<R>,
    incoming: &Receiver<Message<R>>,
    returning: &Sender<Vec<R>>,
) -> Result<Written, RecordError> {
    let mut group: Vec<Vec<R>> = Vec::with_capacity(GROUP);
    while let Ok(message) = incoming.recv() {
        let last = match message {
            Message::Rows(rows) => {
                if !rows.is_empty() {
                    group.push(rows);
                }
                false
            }
            Message::Finish => true,
        };
        if group.len() == GROUP || (last && !group.is_empty()) {
            file.write(&group)?;
            for mut rows in group.drain(..) {
                rows.clear();
                // At the end nobody wants them back.
                let _ = returning.send(rows);
            }
        }
        if last {
            let (path, rows) = file.finish()?;
            return Ok(Written { path, rows });
        }
    }
    Err(RecordError { path: R::NAME.into(), problem: "the run was abandoned".into() })
}
