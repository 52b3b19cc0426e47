//! The tins of each mode: their names, which codepoints they take, and their parts of the line.
//!
//! Numbers rise with priority, but for best effort, which is 0 where bulk is 1.

use super::params::Tins;
use sojourn_base::Dscp;

/// Codepoints that stand for a type of service of RFC 1349: high throughput, and low delay.
const THROUGHPUT: u8 = 2;
const DELAY: u8 = 4;

/// A tin's part of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// Of the rate, up to which it comes before those below it.
    pub rate: u64,
    /// Bytes in a round where there is no shaper.
    pub quantum: i64,
}

impl Tins {
    /// Their names; none where there is one tin only.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Besteffort => &[],
            Self::Diffserv3 => &["best_effort", "bulk", "voice"],
            Self::Diffserv4 => &["best_effort", "bulk", "video", "voice"],
            Self::Diffserv8 => &[
                "background",
                "high_throughput",
                "best_effort",
                "video",
                "low_latency",
                "interactive",
                "minimum_latency",
                "control",
            ],
            Self::Precedence => &[
                "precedence0",
                "precedence1",
                "precedence2",
                "precedence3",
                "precedence4",
                "precedence5",
                "precedence6",
                "precedence7",
            ],
        }
    }

    /// How many there are.
    pub(super) const fn count(self) -> usize {
        let named = self.names().len();
        if named == 0 { 1 } else { named }
    }

    /// The part of tin `at` of a line of `rate`.
    pub(super) fn part(self, at: usize, rate: u64) -> Part {
        match self {
            Self::Besteffort => Part { rate, quantum: 65_535 },
            Self::Diffserv3 => halved(rate, [0, 4, 2, 2][at]),
            Self::Diffserv4 => halved(rate, [0, 4, 1, 2][at]),
            Self::Diffserv8 | Self::Precedence => {
                (0..at).fold(Part { rate, quantum: 256 }, |part, _| Part {
                    rate: part.rate * 7 / 8,
                    quantum: part.quantum * 7 / 8,
                })
            }
        }
    }

    /// For each codepoint the number of its tin.
    pub(super) fn of_codepoints(self) -> [u8; 64] {
        core::array::from_fn(|bits| self.of(bits as u8))
    }

    fn of(self, bits: u8) -> u8 {
        let (class, rest) = (bits >> 3, bits & 7);
        // Assured forwarding: RFC 2597 section 6.
        let assured = (1..=4).contains(&class) && matches!(rest, 2 | 4 | 6);
        let selector = rest == 0;
        let expedited = bits == codepoint("ef") || bits == codepoint("voice-admit");
        let least_effort = bits == codepoint("le") || bits == codepoint("cs1");
        match self {
            Self::Besteffort => 0,
            Self::Precedence => class,
            Self::Diffserv3 => match () {
                () if least_effort => 1,
                () if expedited || bits == DELAY || (selector && class >= 6) => 2,
                () => 0,
            },
            Self::Diffserv4 => match () {
                () if least_effort => 1,
                () if expedited || (selector && class >= 4) => 3,
                () if bits == DELAY || (assured && class >= 2) || (selector && class >= 2) => 2,
                () => 0,
            },
            Self::Diffserv8 => match () {
                () if bits == codepoint("le") => 0,
                () if selector => [2, 1, 5, 3, 6, 6, 7, 7][usize::from(class)],
                () if expedited => 6,
                () if assured => [1, 4, 3, 3][usize::from(class) - 1],
                () if bits == THROUGHPUT => 1,
                () if bits == DELAY => 4,
                () => 2,
            },
        }
    }
}

/// The rate and a kilobyte in a round, halved `times`.
fn halved(rate: u64, times: u32) -> Part {
    Part { rate: rate >> times, quantum: 1024 >> times }
}

fn codepoint(name: &str) -> u8 {
    name.parse().map_or(0, Dscp::bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn tin(mode: Tins, name: &str) -> &'static str {
        mode.names()[usize::from(mode.of(codepoint(name)))]
    }

    #[test]
    fn codepoints_are_in_the_tins_that_linux_has() {
        for (name, three, four, eight) in [
            ("default", "best_effort", "best_effort", "best_effort"),
            ("le", "bulk", "bulk", "background"),
            ("cs1", "bulk", "bulk", "high_throughput"),
            ("af11", "best_effort", "best_effort", "high_throughput"),
            ("cs2", "best_effort", "video", "interactive"),
            ("af21", "best_effort", "video", "low_latency"),
            ("cs3", "best_effort", "video", "video"),
            ("af33", "best_effort", "video", "video"),
            ("cs4", "best_effort", "voice", "minimum_latency"),
            ("af42", "best_effort", "video", "video"),
            ("cs5", "best_effort", "voice", "minimum_latency"),
            ("voice-admit", "voice", "voice", "minimum_latency"),
            ("ef", "voice", "voice", "minimum_latency"),
            ("cs6", "voice", "voice", "control"),
            ("cs7", "voice", "voice", "control"),
        ] {
            let found = [Tins::Diffserv3, Tins::Diffserv4, Tins::Diffserv8].map(|m| tin(m, name));
            assert_eq!(found, [three, four, eight], "{name}");
        }
        // No name: best effort.
        for mode in [Tins::Diffserv3, Tins::Diffserv4, Tins::Diffserv8] {
            let best = mode.names().iter().position(|name| *name == "best_effort").unwrap();
            assert_eq!(usize::from(mode.of(63)), best);
        }
        assert_eq!(Tins::Precedence.of(63), 7);
    }

    #[test]
    fn every_codepoint_is_in_a_tin_that_exists() {
        for mode in
            [Tins::Besteffort, Tins::Diffserv3, Tins::Diffserv4, Tins::Diffserv8, Tins::Precedence]
        {
            assert!(mode.of_codepoints().iter().all(|&tin| usize::from(tin) < mode.count()));
        }
    }

    #[test]
    fn parts_are_those_of_linux() {
        let rates = |mode: Tins| -> Vec<u64> {
            (0..mode.count()).map(|at| mode.part(at, 8_000_000).rate).collect()
        };
        assert_eq!(rates(Tins::Diffserv3), [8_000_000, 500_000, 2_000_000]);
        assert_eq!(rates(Tins::Diffserv4), [8_000_000, 500_000, 4_000_000, 2_000_000]);
        assert_eq!(rates(Tins::Precedence)[..3], [8_000_000, 7_000_000, 6_125_000]);
        assert_eq!(Tins::Diffserv8.part(7, 0).quantum, 98);
    }
}
