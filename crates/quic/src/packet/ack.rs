//! ACK frames (RFC 9000 section 19.3).

use super::varint::varint;
use sojourn_base::{Ecn, Time};

/// Most ranges in an ACK frame.
pub const MOST_RANGES: usize = 32;

/// Packets counted by their ECN field (RFC 9000 section 19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// With ECT(0).
    pub ect0: u64,
    /// With ECT(1).
    pub ect1: u64,
    /// With CE.
    pub ce: u64,
}

impl EcnCounts {
    /// One more packet.
    pub(crate) fn count(&mut self, ecn: Ecn) {
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ect0 += 1,
            Ecn::Ect1 => self.ect1 += 1,
            Ecn::Ce => self.ce += 1,
        }
    }
}

/// An ACK frame (RFC 9000 section 19.3). What few have lies last.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Ack {
    /// The largest number that is acknowledged.
    pub largest: u64,
    /// How long ago that packet came.
    pub delay: Time,
    /// Packets below the largest in its range.
    pub first: u32,
    /// Bytes of the other ranges on the wire.
    below_bytes: u16,
    /// How many these are.
    more: u8,
    /// Whether it is an ACK_ECN frame, with counts. As the one field that cannot have every value,
    /// it says too whether there is a frame: among what nearly all have.
    has_counts: bool,
    counts: EcnCounts,
    /// Of each how many numbers above it are missing, and how many it has.
    below: [(u32, u32); MOST_RANGES - 1],
}

impl Ack {
    /// Without ranges.
    const EMPTY: Self = Self {
        largest: 0,
        delay: Time::ZERO,
        first: 0,
        below_bytes: 0,
        more: 0,
        has_counts: false,
        counts: EcnCounts { ect0: 0, ect1: 0, ce: 0 },
        below: [(0, 0); MOST_RANGES - 1],
    };

    /// Makes the frame in its place, where another may be, for ranges `start..end`, the highest
    /// first; those that find no room are left out, and there is no frame without any.
    pub(crate) fn fill(
        place: &mut Option<Self>,
        ranges: impl Iterator<Item = (u64, u64)>,
        delay: Time,
        ecn: Option<EcnCounts>,
    ) {
        let mut ranges = ranges.take(MOST_RANGES);
        let Some((start, end)) = ranges.next() else {
            *place = None;
            return;
        };
        // What is there of `below` need not be cleared.
        let ack = place.get_or_insert(Self::EMPTY);
        (ack.largest, ack.delay, ack.first) = (end - 1, delay, (end - 1 - start) as u32);
        (ack.below_bytes, ack.more, ack.has_counts) = (0, 0, ecn.is_some());
        if let Some(counts) = ecn {
            ack.counts = counts;
        }
        let mut above = start;
        for ((start, end), below) in ranges.zip(&mut ack.below) {
            let (missing, has) = (above - end, end - start);
            *below = (missing as u32, has as u32);
            // Both are written less one (section 19.3.1).
            ack.below_bytes += (varint(missing - 1) + varint(has - 1)) as u16;
            ack.more += 1;
            above = start;
        }
    }

    /// With counts it is an ACK_ECN frame.
    #[must_use]
    pub fn ecn(&self) -> Option<EcnCounts> {
        self.has_counts.then_some(self.counts)
    }

    /// Puts it in the place of another; of the ranges only those that there are.
    pub(super) fn overwrite(&self, old: &mut Self) {
        let &Self { largest, delay, first, below_bytes, more, has_counts, counts, ref below } =
            self;
        (old.largest, old.delay, old.first) = (largest, delay, first);
        (old.below_bytes, old.more, old.has_counts) = (below_bytes, more, has_counts);
        if has_counts {
            old.counts = counts;
        }
        for (old, new) in old.below.iter_mut().zip(&below[..usize::from(more)]) {
            *old = *new;
        }
    }

    /// The ranges `start..end` that it acknowledges, the highest first.
    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        let first = (self.largest - u64::from(self.first), self.largest + 1);
        let mut above = first.0;
        let more = self.below[..usize::from(self.more)].iter().map(move |&(missing, has)| {
            let end = above - u64::from(missing);
            above = end - u64::from(has);
            (above, end)
        });
        core::iter::once(first).chain(more)
    }

    /// Bytes on the wire. The delay is in units of 8 µs (RFC 9000 section 18.2,
    /// `ack_delay_exponent` 3).
    pub(crate) fn bytes(&self) -> u32 {
        let mut bytes = 1
            + varint(self.largest)
            + varint(self.delay.0 / 8000)
            + varint(u64::from(self.more))
            + varint(u64::from(self.first))
            + u32::from(self.below_bytes);
        if let Some(EcnCounts { ect0, ect1, ce }) = self.ecn() {
            bytes += varint(ect0) + varint(ect1) + varint(ce);
        }
        bytes
    }
}

impl PartialEq for Ack {
    fn eq(&self, other: &Self) -> bool {
        let rest = |ack: &Self| (ack.delay, ack.ecn());
        rest(self) == rest(other) && self.ranges().eq(other.ranges())
    }
}

impl Eq for Ack {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use alloc::vec::Vec;

    fn ack(ranges: impl Iterator<Item = (u64, u64)>, delay: Time) -> Ack {
        let mut ack = None;
        Ack::fill(&mut ack, ranges, delay, None);
        ack.unwrap()
    }

    #[test]
    fn ack_ranges_survive_the_encoding() {
        let ranges = [(90, 100), (50, 60), (0, 49)];
        let ack = ack(ranges.into_iter(), Time::from_micros(80));
        assert_eq!(ack.ranges().collect::<Vec<_>>(), ranges);
        assert_eq!((ack.largest, ack.first), (99, 9));
        // Type, largest (two), delay, count, first; two gaps and lengths of one byte each.
        assert_eq!(ack.bytes(), 6 + 4);
    }

    #[test]
    fn gaps_and_lengths_are_written_less_one() {
        // Type, largest (two), delay, count, first; then a gap and a length, of one byte up to 64.
        for (missing, has, bytes) in [(64, 64, 2), (65, 64, 3), (64, 65, 3)] {
            let below = 1000 - missing;
            let ranges = [(1000, 1001), (below - has, below)];
            assert_eq!(ack(ranges.into_iter(), Time::ZERO).bytes(), 6 + bytes, "{missing} {has}");
        }
    }

    #[test]
    fn ack_keeps_the_highest_ranges() {
        let ranges = (0..40).rev().map(|n| (2 * n, 2 * n + 1));
        let ack = ack(ranges, Time::ZERO);
        let kept: Vec<_> = ack.ranges().collect();
        assert_eq!((kept.len(), kept[0], kept[31]), (MOST_RANGES, (78, 79), (16, 17)));
    }

    #[test]
    fn what_most_packets_have_lies_together() {
        assert_eq!(core::mem::offset_of!(Packet, ack) + core::mem::offset_of!(Ack, counts), 56);
        assert_eq!(size_of::<Option<Ack>>(), size_of::<Ack>());
    }
}
