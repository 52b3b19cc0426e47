//! The files of scenarios that differ in the seed alone.

use crate::scenario::{Scenario, first_seed};
use crate::write;

/// The shortest TOML files of one scenario with any seed. What need not be said is found once for
/// all of them: to find it takes much longer than to write a file.
#[derive(Clone, Debug)]
pub struct SeedFile {
    /// What stands before the line of the seed.
    before: String,
    /// What stands behind it.
    after: String,
}

impl SeedFile {
    fn of(scenario: &Scenario) -> Self {
        // A seed that is not the default has a line, and only the root's fields stand before it.
        let seed = u64::MAX;
        let text = write::to_toml(&scenario.with_seed(seed).shortest());
        let line = line(seed);
        let (before, after) = text.split_once(&line).unwrap_or((&text, ""));
        Self { before: before.into(), after: after.into() }
    }

    /// The file of the scenario with this seed.
    #[must_use]
    pub fn to_toml(&self, seed: u64) -> String {
        let line = if seed == first_seed() { String::new() } else { line(seed) };
        [self.before.as_str(), &line, &self.after].concat()
    }
}

impl Scenario {
    /// The shortest TOML that reads back to the same scenario.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.seed_file().to_toml(self.seed)
    }

    /// The shortest files of this scenario with any seed.
    #[must_use]
    pub fn seed_file(&self) -> SeedFile {
        SeedFile::of(self)
    }
}

fn line(seed: u64) -> String {
    format!("seed = {seed}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_of_the_scenarios() {
        let text = "name = \"seed = 18446744073709551615\"\nduration = \"1s\"\n\n[bottleneck]\n\
                    rate = \"1mbit\"\ndelay = \"5ms\"\n\n[[traffic]]\nkind = \"bulk\"\n\
                    flows = 1\nrtt = \"10ms\"\n";
        let scenario = Scenario::from_toml(text, "x.toml");
        let Ok(scenario) = scenario else { panic!("{scenario:?}") };
        let files = scenario.seed_file();
        for seed in [0, 1, 2, 77, u64::MAX] {
            let written = files.to_toml(seed);
            let read = Scenario::from_toml(&written, "x.toml");
            assert_eq!(read, Ok(scenario.with_seed(seed)));
            assert_eq!(written, write::to_toml(&scenario.with_seed(seed).shortest()));
        }
    }
}
