//! Where an engine puts its records.

use super::FILES;
use super::capture::{Capture, Format, Out};
use super::cell::Names;
use super::error::RecordError;
use super::open::{Recorded, Tables};
use super::provenance::Provenance;
use super::row::BATCH;
use super::table::Table;
use super::writer::Writer;
use super::written::Written;
use crate::{pcapng, qlog};
use serde::Serialize;
use sojourn_base::Time;
use std::fs::File;
use std::path::PathBuf;

/// Takes the records of one run, or ignores them.
///
/// The caller makes it, the engine names links, groups and flows ([`begin`](Self::begin)), opens
/// the tables and captures that the scenario asks for and pushes rows and packets, and the caller
/// ends it with [`finish`](Self::finish). A failure to write never disturbs the run: it is kept
/// and returned by `finish`. Dropped without `finish`, it leaves no files.
#[derive(Default)]
pub struct Recorder {
    tables: Tables,
    captures: Vec<Capture<pcapng::Writer<Out>>>,
    logs: Vec<Capture<qlog::Writer<Out>>>,
    to: Destination,
    names: Names,
    run: Option<Provenance>,
    errors: Vec<RecordError>,
}

/// Where rows go.
#[derive(Clone, Default)]
enum Destination {
    #[default]
    Nowhere,
    Memory,
    Directory(PathBuf),
}

/// An open packet capture of a [`Recorder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureId(usize);

/// An open log of a [`Recorder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogId(usize);

impl Recorder {
    /// A recorder that ignores everything.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// A recorder that keeps rows until they are [taken](Self::take), and no captures.
    #[must_use]
    pub fn in_memory() -> Self {
        Self { to: Destination::Memory, ..Self::default() }
    }

    /// For a copy of a run whose tables are open: in memory if this is, and else one that ignores
    /// everything.
    #[must_use]
    pub fn for_copy(&self) -> Self {
        match self.to {
            Destination::Memory => Self {
                tables: self.tables.for_copy(),
                names: self.names.clone(),
                ..Self::in_memory()
            },
            _ => Self::none(),
        }
    }

    /// What the identifiers in rows stand for.
    #[must_use]
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The columns of a table in memory as numbers, one after another: all rows since the last
    /// time. Names are their places in [`names`](Self::names), how something ended the place in
    /// [`Outcome::NAMES`](super::Outcome::NAMES), and what is missing is NaN. `None` if there is no
    /// such table.
    pub fn take(&mut self, table: &str) -> Option<Vec<f64>> {
        self.tables.take(table)
    }

    /// A recorder that writes into `directory`, which is created if need be.
    ///
    /// # Errors
    /// If the directory cannot be made or nothing can be written in it: better now than after an
    /// hour of simulation.
    pub fn to_directory(directory: impl Into<PathBuf>) -> Result<Self, RecordError> {
        let directory = directory.into();
        let error = |e| RecordError::new(&directory, e);
        std::fs::create_dir_all(&directory).map_err(error)?;
        let probe = directory.join(".sojourn.partial");
        File::create(&probe).and_then(|_| std::fs::remove_file(&probe)).map_err(error)?;
        Ok(Self { to: Destination::Directory(directory), ..Self::default() })
    }

    /// The same with the run that tables are from, which their files say.
    #[must_use]
    pub fn of_run(mut self, run: Provenance) -> Self {
        self.run = Some(run);
        self
    }

    /// Says what the identifiers in rows stand for. Before any [`open`](Self::open).
    pub fn begin(&mut self, names: Names) {
        self.names = names;
    }

    /// Opens the table of `R`: from now on its rows are recorded. A table without rows becomes a
    /// file without rows.
    pub fn open<R: Recorded>(&mut self) {
        let table = R::table(&mut self.tables);
        if table.is_open() {
            return;
        }
        match &self.to {
            Destination::Nowhere => {}
            Destination::Memory => *table = Table::kept(),
            Destination::Directory(directory) => {
                match Writer::start(directory, &self.names, self.run.as_ref()) {
                    Ok(writer) => *table = Table::written(writer),
                    Err(error) => self.errors.push(error),
                }
            }
        }
    }

    /// Whether the table of `R` is open, so that rows are worth making.
    #[must_use]
    #[inline]
    pub fn wants<R: Recorded>(&mut self) -> bool {
        R::table(&mut self.tables).is_open()
    }

    /// Adds a row to its table; ignores it if the table is not open. Waits if the disk is so slow
    /// that all buffers are full.
    #[inline]
    pub fn push<R: Recorded>(&mut self, row: R) {
        let table = R::table(&mut self.tables);
        if table.is_open() {
            table.rows.push(row);
            if table.rows.len() == BATCH {
                table.flush();
            }
        }
    }

    /// Opens the capture `NAME.pcapng` of a link. `None` if this recorder ignores everything or
    /// the file cannot be made.
    pub fn open_capture(&mut self, link: &str, content: pcapng::Content) -> Option<CaptureId> {
        let Destination::Directory(directory) = &self.to else { return None };
        let path = directory.join(format!("{}.pcapng", in_file_name(link)));
        let begin = |out| pcapng::Writer::new(out, link, content);
        open(&mut self.captures, path, &mut self.errors, begin).map(CaptureId)
    }

    /// Opens the log `NAME.END.sqlog` of an end of a flow, with events of `schema`. `None` as with
    /// a capture.
    pub fn open_log(&mut self, flow: &str, end: qlog::Vantage, schema: &str) -> Option<LogId> {
        let Destination::Directory(directory) = &self.to else { return None };
        let path = directory.join(format!("{}.{}.sqlog", in_file_name(flow), end.name()));
        let begin = |out| qlog::Writer::new(out, flow, end, schema);
        open(&mut self.logs, path, &mut self.errors, begin).map(LogId)
    }

    /// Adds an event of the flow's connection of this number to a log.
    pub fn log(
        &mut self,
        id: LogId,
        time: Time,
        name: &str,
        connection: u64,
        data: &impl Serialize,
    ) {
        if let Some(log) = self.logs.get_mut(id.0) {
            log.add(|writer| writer.event(time, name, connection, data));
        }
    }

    /// Adds a packet to a capture.
    pub fn capture(&mut self, id: CaptureId, packet: &pcapng::Packet<'_>) {
        self.captures[id.0].add(|writer| writer.write(packet));
    }

    /// Adds a real packet of IPv4 to a capture.
    pub fn capture_bytes(&mut self, id: CaptureId, time: Time, packet: &[u8]) {
        self.captures[id.0].add(|writer| writer.write_bytes(time, packet));
    }

    /// Writes what is left and gives the files their names. All files that can be completed are,
    /// even if others fail.
    ///
    /// # Errors
    /// The first failure since the recorder was made.
    pub fn finish(mut self) -> Result<Vec<Written>, RecordError> {
        let mut written = Vec::new();
        let mut errors = std::mem::take(&mut self.errors);
        let captures = std::mem::take(&mut self.captures).into_iter().map(Capture::finish);
        let logs = std::mem::take(&mut self.logs).into_iter().map(Capture::finish);
        for finished in self.tables.finish().into_iter().chain(captures).chain(logs) {
            match finished {
                Ok(file) => written.push(file),
                Err(error) => errors.push(error),
            }
        }
        errors.into_iter().next().map_or(Ok(written), Err)
    }
}

/// A name without what file names may not have.
fn in_file_name(name: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    name.chars().map(safe).collect()
}

/// Begins a file among others of its kind: its place there, or none if there is an error.
fn open<W: Format>(
    files: &mut Vec<Capture<W>>,
    path: PathBuf,
    errors: &mut Vec<RecordError>,
    begin: impl FnOnce(Out) -> std::io::Result<W>,
) -> Option<usize> {
    if !FILES {
        return None;
    }
    let file = if files.iter().any(|file| file.path == path) {
        Err(RecordError::new(&path, "two captures would have this name"))
    } else {
        Capture::create(path, begin)
    };
    match file {
        Ok(file) => files.push(file),
        Err(error) => {
            errors.push(error);
            return None;
        }
    }
    Some(files.len() - 1)
}
