//! The objects of a page.

use std::ops::Range;

/// No object.
pub(super) const NONE: u32 = u32::MAX;

/// One object of a page, with everything that is random about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Object {
    pub response: u64,
    pub server_delay: u64,
    /// Time from the object before it in its place to its request, in nanoseconds.
    pub gap: u64,
    pub request: u32,
    /// The objects that this one names.
    pub children: Range<u32>,
    /// The object of the same server that was named after this one, while they wait.
    pub next: u32,
    /// The server that has it, from 0.
    pub server: u8,
}
