//! The one error of writing records.

use std::fmt;
use std::path::{Path, PathBuf};

/// Why records could not be written. The run itself and its summary do not depend on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordError {
    /// The file or folder.
    pub path: PathBuf,
    /// What went wrong, usually in the operating system's words.
    pub problem: String,
}

impl RecordError {
    pub(super) fn new(path: &Path, problem: impl fmt::Display) -> Self {
        Self { path: path.to_owned(), problem: problem.to_string() }
    }
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write {}: {}", self.path.display(), self.problem)
    }
}

impl std::error::Error for RecordError {}
