//! What a fuzzer has found worth keeping, tried again without one: each file of a corpus as it is,
//! and changed at random.

use sojourn_base::{Kind, Stream};
use std::path::Path;

/// Gives `check` every file of a corpus, and `changed` changed ones.
pub(crate) fn replay(corpus: &str, changed: u64, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(corpus);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let files: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files.iter().for_each(|file| tried(file, &check));
    for index in 0..changed {
        let mut stream = Stream::new(1, Kind::Test, 0, index);
        let mut bytes = pick(&files, &mut stream).clone();
        for _ in 0..=stream.below(4) {
            change(&mut bytes, &files, &mut stream);
        }
        tried(&bytes, &check);
    }
}

/// Says which bytes it was if the check does not pass.
fn tried(bytes: &[u8], check: &impl Fn(&[u8])) {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(bytes)));
    if let Err(panic) = outcome {
        eprintln!("not passed by {:?}", bytes.escape_ascii().to_string());
        std::panic::resume_unwind(panic);
    }
}

fn pick<'a, T>(among: &'a [T], stream: &mut Stream) -> &'a T {
    &among[stream.below(among.len() as u64) as usize]
}

fn change(bytes: &mut Vec<u8>, files: &[Vec<u8>], stream: &mut Stream) {
    let at = |length: usize, stream: &mut Stream| stream.below(length as u64 + 1) as usize;
    let start = at(bytes.len(), stream);
    let end = start + at((bytes.len() - start).min(32), stream);
    match stream.below(6) {
        0 if start < bytes.len() => bytes[start] ^= 1 << stream.below(8),
        1 if start < bytes.len() => bytes[start] = *pick(&[0, b'0', b'9', b'-', 255], stream),
        2 => drop(bytes.drain(start..end)),
        3 => {
            let again = bytes[start..end].to_vec();
            bytes.splice(end..end, again);
        }
        4 => {
            let other = pick(files, stream);
            let from = at(other.len(), stream);
            let to = from + at((other.len() - from).min(64), stream);
            bytes.splice(start..end, other[from..to].iter().copied());
        }
        _ => bytes.insert(start, stream.next_u32() as u8),
    }
}
