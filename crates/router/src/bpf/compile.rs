//! Turns a source into a program, by clang, and keeps it for the next time.

use super::source::{HEADER, PLACE, Source};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The compiled program.
///
/// # Errors
/// One line: no clang, or what it says.
pub(super) fn object(source: &Source) -> Result<Vec<u8>, String> {
    let kept = cache().map(|folder| folder.join(file_name(source)));
    if let Some(object) = kept.as_deref().and_then(read) {
        return Ok(object);
    }
    let object = compile(source)?;
    if let Some(path) = kept {
        // One that cannot be kept is compiled again.
        let _ = keep(&path, &object);
    }
    Ok(object)
}

/// Where compiled programs are kept, as the XDG base directory specification has it.
fn cache() -> Option<PathBuf> {
    let given = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = given("XDG_CACHE_HOME").or_else(|| Some(given("HOME")?.join(".cache")))?;
    Some(base.join("sojourn").join("congestion"))
}

/// A name that is another when anything is.
fn file_name(source: &Source) -> String {
    let mut hasher = DefaultHasher::new();
    (HEADER, source.text, &source.constants, PLACE).hash(&mut hasher);
    format!("{}-{:016x}.o", source.short, hasher.finish())
}

/// What is kept there, if nobody else can have put it there: it goes into the kernel.
fn read(path: &Path) -> Option<Vec<u8>> {
    // SAFETY: a system call without pointers that cannot fail.
    #[expect(unsafe_code, reason = "a system call")]
    let user = unsafe { libc::geteuid() };
    let ours = |path: &Path| {
        let about = path.symlink_metadata().ok()?;
        (about.uid() == user && about.mode() & 0o022 == 0).then_some(())
    };
    ours(path.parent()?)?;
    ours(path)?;
    std::fs::read(path).ok()
}

fn keep(path: &Path, object: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // Whole or not at all, also if two do it at once.
    let part = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&part, object)?;
    std::fs::rename(&part, path)
}

/// Clang, by any of the names that distributions give it.
fn clang() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let named = std::iter::once("clang".to_string());
    let names = named.chain((11..=29).rev().map(|version| format!("clang-{version}")));
    let found = |name: String| std::env::split_paths(&path).map(move |folder| folder.join(&name));
    names.flat_map(found).find(|program| program.is_file())
}

fn compile(source: &Source) -> Result<Vec<u8>, String> {
    let clang = clang().ok_or("a program for it needs clang, which is not there: install clang")?;
    let mut command = Command::new(&clang);
    // Debugging information is what the kernel's loader finds structures by.
    command.args(["-O2", "-g", "-target", "bpf", "-x", "c", "-c", "-", "-o", "-"]);
    command.arg(format!("-DNAME=\"{PLACE}\""));
    for (name, value) in &source.constants {
        command.arg(format!("-D{name}={value}"));
    }
    let failed = |error: std::io::Error| format!("{}: {error}", clang.display());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().map_err(failed)?;
    if let Some(mut input) = running.stdin.take() {
        // The header stands before it, not beside it.
        let text = source.text.replace("#include \"sojourn.h\"\n", "");
        input.write_all(HEADER.as_bytes()).map_err(failed)?;
        input.write_all(text.as_bytes()).map_err(failed)?;
    }
    let done = running.wait_with_output().map_err(failed)?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let said = said.lines().find(|line| line.contains("error")).unwrap_or("it failed");
        return Err(format!("{}: {said}", clang.display()));
    }
    Ok(done.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_tcp::Algorithm;

    #[test]
    fn other_settings_are_another_file() {
        let source = |name| super::super::source::source(&Algorithm::named(name).unwrap()).unwrap();
        let one = source("aimd");
        let mut other = one.clone();
        other.constants[0].1 = "7ULL".into();
        assert_eq!(file_name(&one), file_name(&one.clone()));
        assert_ne!(file_name(&one), file_name(&other));
        assert_ne!(file_name(&one), file_name(&source("scalable")));
    }

    #[test]
    fn cached_program_must_be_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir().join(format!("sojourn-cache-{}", std::process::id()));
        let path = folder.join("it.o");
        keep(&path, b"program").unwrap();
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
        assert_eq!(read(&path).as_deref(), Some(b"program".as_slice()));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).unwrap();
        assert_eq!(read(&path), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
