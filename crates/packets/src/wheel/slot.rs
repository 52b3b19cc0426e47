//! Slots, in which events lie, and keys, by which those of a bucket are put in order.

use sojourn_base::Time;

/// No slot.
pub(super) const NONE: u32 = u32::MAX;

/// An event with its place in the order, in a cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Slot<E> {
    pub time: Time,
    pub order: u32,
    pub counter: u32,
    pub event: E,
}

/// Where an opened bucket's event lies, with its place in the order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub time: Time,
    /// Order above, counter below. The counter wraps: among events of one instant and one order
    /// fewer than 2³¹ lie between first and last, so it is compared after rotation, see
    /// `Wheel::key`.
    pub order: u64,
    pub slot: u32,
}

impl Key {
    /// Its time and order, which say where it goes among others whose ages were taken earlier.
    #[inline]
    pub(super) fn place(&self) -> (Time, u64) {
        (self.time, self.order >> 32)
    }
}
