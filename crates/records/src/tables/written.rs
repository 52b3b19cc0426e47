//! Files under a temporary name until they are complete.

use std::path::{Path, PathBuf};

/// A file that is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its path.
    pub path: PathBuf,
    /// Rows of a table, packets of a capture.
    pub rows: u64,
}

/// The name of `path` until it is complete.
pub(super) fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}
