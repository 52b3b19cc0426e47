//! Reading files: a scenario's own, and those that it names.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The longest scenario: a long one has a hundred kilobytes.
pub(crate) const MAX_SCENARIO: u64 = 10 << 20;

/// The longest file that a scenario names: an hour of a trace at 100 Mbit/s has 240 MB.
const MAX_NAMED: u64 = 1 << 30;

/// The text of a file that a scenario names; before files are looked at, something that fits
/// everywhere instead.
pub(crate) fn read_text(base_dir: Option<&Path>, path: &str) -> Result<String, String> {
    let Some(base_dir) = base_dir else { return Ok("0 86400\n1 86400\n".into()) };
    read(&base_dir.join(path), MAX_NAMED)
}

/// The text of a file of at most so many bytes, without the mark that some editors put first.
pub(crate) fn read(path: &Path, most: u64) -> Result<String, String> {
    if cfg!(target_family = "wasm") {
        return Err("cannot be read: there are no files in a browser".into());
    }
    let unreadable = |error: std::io::Error| format!("cannot be read: {error}");
    // Of a pipe that nobody writes to the reader would wait without a word, and a device may have
    // no end.
    let about = std::fs::metadata(path).map_err(unreadable)?;
    if about.is_dir() {
        return Err("is a folder, not a file".into());
    }
    if !about.is_file() {
        return Err("is a pipe or a device, not a file; write it to a file first (a scenario may \
                    come by standard input, as -)"
            .into());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > most {
        return Err(format!("is too large: more than {} MiB", most >> 20));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("is not text in UTF-8: see byte {}", at + 1)
    })?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.into(),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_that_cannot_be_a_text_is_refused() {
        let folder = std::env::temp_dir().join(format!("sojourn-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("file");
        let said = |bytes: &[u8]| {
            std::fs::write(&file, bytes).unwrap();
            read(&file, 8)
        };
        assert_eq!(said(b"12345678"), Ok("12345678".into()));
        assert!(said(b"123456789").unwrap_err().contains("too large"));
        assert!(said(b"12\xff").unwrap_err().contains("see byte 3"));
        assert_eq!(said(b"\xef\xbb\xbf1\r\n"), Ok("1\r\n".into()));
        assert!(read(&folder, 8).unwrap_err().contains("folder"));
        assert!(read(&folder.join("none"), 8).unwrap_err().contains("cannot be read"));
        #[cfg(unix)]
        assert!(read(Path::new("/dev/zero"), 8).unwrap_err().contains("device"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
