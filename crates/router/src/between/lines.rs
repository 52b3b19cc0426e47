//! What is said: lines of JSON for a program, or a table at the end for a person.

use super::table::table;
use crate::forward::Snapshot;
use serde_json::json;
use sojourn_records::Summary;
use std::io::Write;
use std::process::ExitCode;

/// To whom.
pub(super) struct Lines {
    json: bool,
    /// Who speaks.
    name: &'static str,
}

impl Lines {
    /// Lines of JSON, or not; errors begin with the program's name.
    pub(super) fn new(json: bool, name: &'static str) -> Self {
        Self { json, name }
    }

    /// The queues at an instant.
    pub(super) fn snapshot(&self, snapshot: &Snapshot) {
        if self.json {
            say(&json!({ "snapshot": snapshot }));
        }
    }

    /// The end. The table goes to standard error: standard output is the command's.
    pub(super) fn summary(&self, summary: &Summary) -> Result<(), String> {
        if self.json {
            let summary = serde_json::to_value(summary).map_err(|e| e.to_string())?;
            say(&json!({ "summary": summary }));
        } else {
            eprint!("{}", table(summary));
        }
        Ok(())
    }

    /// The end, without a result.
    pub(super) fn failure(&self, what: &str, code: u8) -> ExitCode {
        let what = what.split_whitespace().collect::<Vec<_>>().join(" ");
        if self.json {
            say(&json!({ "error": what }));
        } else {
            eprintln!("{}: {what}", self.name);
        }
        ExitCode::from(code)
    }
}

fn say(line: &serde_json::Value) {
    let mut out = std::io::stdout().lock();
    // Whoever reads may have had enough; the run goes on for its program.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
