//! How a receiver reports marks, and what AccECN's three flags say (RFC 9768 section 3).

use crate::segment::Flags;
use sojourn_base::Ecn;

/// How a receiver reports marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Feedback {
    /// From a mark until the sender has reduced its window (RFC 3168 section 6.1.3).
    Latched,
    /// Whether what an acknowledgement is for was marked (RFC 8257 section 3.2).
    Exact,
    /// How many packets were marked: AccECN (RFC 9768).
    Counted,
}

/// Both ends' counters of marked packets start here (section 3.2.1).
pub(crate) const FIRST_COUNT: u8 = 5;

/// Counters of bytes wrap here (section 3.2.3).
pub(crate) const WRAP: u32 = 1 << 24;

/// The flags AE, CWR, ECE, from the highest bit down, for a number below 8.
pub(crate) fn flags(n: u8) -> Flags {
    let bit = |value: u8, flag: Flags| if n & value != 0 { flag } else { Flags::NONE };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

/// The number in those flags.
pub(crate) fn number(flags: Flags) -> u8 {
    let bit = |value: u8, flag: Flags| if flags.has(flag) { value } else { 0 };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

/// How a handshake reports the ECN field of the segment that it answers (tables 2 and 3).
pub(crate) const fn handshake(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// Whether the answer to a handshake's segment reports a codepoint other than Not-ECT.
pub(crate) const fn arrived_capable(field: u8) -> bool {
    matches!(field, 0b011 | 0b100 | 0b110)
}
