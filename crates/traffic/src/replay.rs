//! Transfers replayed from a file.

use crate::Invalid;
use sojourn_base::{Size, Time};
use std::collections::BTreeMap;
use std::fmt;

/// Transfers read from a file, one a line: start, source, destination, bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "schema",
    derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema),
    serde(deny_unknown_fields)
)]
pub struct Replay {
    /// The file. Each line has a start (seconds, or a time such as "10ms"), the name of the node
    /// that sends, the name of the node that receives, and the bytes (a number, or a size such as
    /// "16kB"), with white space or commas between; `#` starts a comment.
    pub file: String,
}

impl Replay {
    /// Checks that a file is named.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.file.trim().is_empty() {
            return Err(Invalid::new("file", "\"\"", "must name a file of transfers"));
        }
        Ok(())
    }
}

/// One transfer of a [`Trace`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// When it starts, from the group's start.
    pub start: Time,
    /// Index into [`Trace::nodes`] of the node that sends.
    pub source: u32,
    /// Index into [`Trace::nodes`] of the node that receives.
    pub destination: u32,
    /// Bytes, at least 1.
    pub bytes: u64,
}

/// A file of transfers, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Names of nodes in the order in which they first occur.
    pub nodes: Vec<String>,
    /// Transfers by start; equal starts in the file's order.
    pub entries: Vec<Entry>,
}

/// A line that is not a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayError {
    /// Number of the line, from 1.
    pub line: usize,
    /// What is wrong and what would be right.
    pub message: String,
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReplayError {}

impl Trace {
    /// Reads a file's text.
    pub fn parse(text: &str) -> Result<Self, ReplayError> {
        let mut trace = Self::default();
        let mut names = BTreeMap::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let entry = trace.entry(line, &mut names);
            trace.entries.push(entry.map_err(|message| ReplayError { line: number + 1, message })?);
        }
        trace.entries.sort_by_key(|entry| entry.start);
        Ok(trace)
    }

    fn entry(&mut self, line: &str, names: &mut BTreeMap<String, u32>) -> Result<Entry, String> {
        let fields: Vec<&str> = if line.contains(',') {
            line.split(',').map(str::trim).collect()
        } else {
            line.split_whitespace().collect()
        };
        let [start, source, destination, bytes] = fields[..] else {
            let found = fields.len();
            return Err(format!(
                "{found} fields where 4 are needed: start source destination bytes"
            ));
        };
        let plain = |text: &str| text.bytes().all(|c| c.is_ascii_digit() || c == b'.');
        let unit = |text: &str, unit: &str| {
            if plain(text) { format!("{text}{unit}") } else { text.to_string() }
        };
        let start: Time = unit(start, "s").parse().map_err(|e| format!("start: {e}"))?;
        let size: Size = unit(bytes, "B").parse().map_err(|e| format!("bytes: {e}"))?;
        if size.0 == 0 {
            return Err("bytes: a transfer carries at least 1 byte".into());
        }
        let mut node = |name: &str| {
            if name.is_empty() {
                return Err("source and destination must be names of nodes".to_string());
            }
            Ok(*names.entry(name.to_string()).or_insert_with(|| {
                self.nodes.push(name.to_string());
                (self.nodes.len() - 1) as u32
            }))
        };
        let (source, destination) = (node(source)?, node(destination)?);
        if source == destination {
            return Err(format!("source and destination are both \"{}\"", fields[1]));
        }
        Ok(Entry { start, source, destination, bytes: size.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_sorted_by_start() {
        let text =
            "# a trace\n1.5 left right 16kB\n\n10ms, right, left, 1460 # back\n1.5 a left 1\n";
        let trace = Trace::parse(text).unwrap();
        assert_eq!(trace.nodes, ["left", "right", "a"]);
        let entry = |ms, source, destination, bytes| Entry {
            start: Time::from_millis(ms),
            source,
            destination,
            bytes,
        };
        let entries = [entry(10, 1, 0, 1460), entry(1500, 0, 1, 16_000), entry(1500, 2, 0, 1)];
        assert_eq!(trace.entries, entries);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, what) in [
            ("0 a b 1\n1 a b", "line 2: 3 fields"),
            ("x a b 1", "line 1: start"),
            ("-1 a b 1", "line 1: start"),
            ("0 a b 0", "line 1: bytes"),
            ("0 a b 1e6", "line 1: bytes"),
            ("#\n\n0 a a 1", "line 3: source and destination"),
            ("0,,b,1", "line 1: source and destination"),
        ] {
            let error = Trace::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(what), "{error}");
        }
    }
}
