//! Congestion controls that the kernel has not: programs for it, made from the scenario's settings.
//!
//! Since Linux 5.6 a congestion control may be a BPF program (`struct_ops`). Ours are C sources
//! (`bpf/` of this crate) that clang turns into such programs when they are first wanted, with the
//! settings as constants; libbpf, found when it is needed, hands them to the kernel. From Linux 6.4
//! on a program is registered through a link that lies with this process: when the process is gone,
//! however it went, so is the congestion control. Before, it stays until [`Registered`] is dropped.
//!
//! A congestion control is the machine's and not a namespace's: its name is of this process, so
//! that runs at the same time do not meet.

mod compile;
mod library;
mod source;

use library::Way;
use sojourn_tcp::Algorithm;
use std::os::fd::OwnedFd;

/// A congestion control that the kernel knows as long as this lives.
#[derive(Debug)]
pub struct Registered {
    /// What the kernel calls it.
    pub name: String,
    held: library::Held,
}

/// Whether there is a program for `algorithm`.
#[must_use]
pub fn has(algorithm: &Algorithm) -> bool {
    source::source(algorithm).is_some()
}

impl Registered {
    /// Makes `algorithm` known to the kernel, as the `number`th of this process.
    ///
    /// # Errors
    /// One line: there is no program for it, or clang or libbpf is missing, or the kernel will not
    /// have it.
    pub fn new(algorithm: &Algorithm, number: u8) -> Result<Self, String> {
        Self::by(algorithm, number, Way::Link).or_else(|first| {
            // Kernels before 6.4; if it is something else, the first complaint is the right one.
            Self::by(algorithm, number, Way::Map).map_err(|_| first)
        })
    }

    fn by(algorithm: &Algorithm, number: u8, way: Way) -> Result<Self, String> {
        let source = source::source(algorithm)
            .ok_or_else(|| format!("there is no program for {}", algorithm.name()))?;
        let name = format!("sj{}{:07x}{number:02x}", source.short, std::process::id());
        let object = source::named(compile::object(&source)?, &name)?;
        let held = library::register(&object, way)?;
        Ok(Self { name, held })
    }

    /// What holds it.
    #[must_use]
    pub fn descriptor(&self) -> &OwnedFd {
        self.held.descriptor()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_tcp::Profile;

    fn known() -> Vec<String> {
        let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
        let text = std::fs::read_to_string(path).unwrap();
        text.split_whitespace().map(String::from).collect()
    }

    /// All, or none, said loudly, where there can be none.
    #[test]
    fn programs_are_known_as_long_as_they_are_held() {
        for (number, way) in [(200, Way::Link), (210, Way::Map)] {
            let mut held = Vec::new();
            let mut all: Vec<Algorithm> = ["scalable", "highspeed", "westwood", "aimd"]
                .iter()
                .map(|name| Algorithm::named(name).unwrap())
                .collect();
            // With what a setting leaves out otherwise: Westwood's estimate after a recovery.
            let mut as_linux = Algorithm::named("westwood").unwrap();
            as_linux.settle(Profile::Modern);
            all.push(as_linux);
            for (at, algorithm) in all.iter().enumerate() {
                let name = algorithm.name();
                match Registered::by(algorithm, number + at as u8, way) {
                    Ok(registered) => held.push(registered),
                    Err(error) => {
                        let line = format!("\nSKIPPED: {name} as a program because {error}\n");
                        let _ = std::fs::write("/dev/stderr", line);
                        assert!(!error.contains('\n'), "{error}");
                        assert!(held.is_empty(), "one could be had, and {name} could not: {error}");
                        return;
                    }
                }
            }
            let names: Vec<String> = held.iter().map(|one| one.name.clone()).collect();
            for name in &names {
                assert!(name.len() < 16 && known().contains(name), "{name}: {:?}", known());
            }
            drop(held);
            for name in &names {
                assert!(!known().contains(name), "{name} stayed: {:?}", known());
            }
        }
    }

    #[test]
    fn there_are_programs_for_four() {
        let with: Vec<_> = Algorithm::NAMES
            .iter()
            .filter(|name| has(&Algorithm::named(name).unwrap()))
            .copied()
            .collect();
        assert_eq!(with.len(), 4, "{with:?}");
    }
}
