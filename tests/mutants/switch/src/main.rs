//! `sojourn-mutants LIBRARY < MUTANTS`: in the present folder, puts mutants into the files they are
//! of, and the switch into the crate's `lib.rs`. Mutants are as cargo-mutants lists them, with a
//! number each. It prints the numbers of those that are in place.

mod edits;
mod places;

use std::collections::BTreeMap;
use std::error::Error;
use std::{env, fs, io};

use serde::Deserialize;

/// A line and a column, both from 1.
#[derive(Clone, Copy, Deserialize, PartialEq)]
struct Point {
    line: usize,
    column: usize,
}

#[derive(Deserialize)]
struct Span {
    start: Point,
    end: Point,
}

#[derive(Deserialize)]
struct Mutant {
    number: u32,
    file: String,
    span: Span,
    genre: String,
    replacement: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let library = env::args().nth(1).ok_or("which lib.rs?")?;
    let mutants: Vec<Mutant> = serde_json::from_reader(io::stdin())?;
    let mut by_file = BTreeMap::<String, Vec<Mutant>>::new();
    for mutant in mutants {
        by_file.entry(mutant.file.clone()).or_default().push(mutant);
    }
    for (file, mutants) in by_file {
        let (text, placed) = places::place(&fs::read_to_string(&file)?, &mutants)?;
        fs::write(&file, text)?;
        for number in placed {
            println!("{number}");
        }
    }
    let text = fs::read_to_string(&library)?;
    fs::write(&library, text + include_str!("switch.txt"))?;
    Ok(())
}
