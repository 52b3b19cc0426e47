//! Packets that have come in a space, and when to acknowledge them (RFC 9000 section 13.2).
//!
//! # Differences from the source
//!
//! 1. Ranges are kept until the acknowledgement of a packet that reported them (section 13.2.4),
//!    and the lowest are forgotten beyond [`MOST_RANGES`](crate::packet::MOST_RANGES); what comes
//!    below what was forgotten counts as a duplicate (section 13.2.3).

use crate::packet::{Ack, EcnCounts, MOST_RANGES};
use crate::params::Params;
use crate::ranges::Ranges;
use sojourn_base::{Ecn, Time};

/// What has come in a space.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Received {
    numbers: Ranges,
    /// Everything below came or is forgotten.
    floor: u64,
    /// The largest that asked for an acknowledgement.
    largest_eliciting: Option<u64>,
    /// When the largest number came.
    largest_at: Time,
    /// When an acknowledgement is due; [`Time::MAX`] for never.
    pub due: Time,
    /// Packets that ask for an acknowledgement and have none yet.
    unacked: u32,
    counts: EcnCounts,
}

impl Received {
    pub(crate) fn new() -> Self {
        Self {
            numbers: Ranges::default(),
            floor: 0,
            counts: EcnCounts::default(),
            largest_at: Time::ZERO,
            largest_eliciting: None,
            unacked: 0,
            due: Time::MAX,
        }
    }

    /// Whether a packet of this number came before, or cannot be told from one that did.
    #[inline]
    pub(crate) fn is_duplicate(&self, number: u64) -> bool {
        let below_largest = self.numbers.last().is_some_and(|(_, end)| number < end);
        number < self.floor || below_largest && self.numbers.contains(number)
    }

    /// A packet has come, not a duplicate. `delay` is how long its acknowledgement may wait; none
    /// if it asks for none.
    #[inline]
    pub(crate) fn come(
        &mut self,
        params: &Params,
        now: Time,
        number: u64,
        ecn: Ecn,
        delay: Option<Time>,
    ) {
        self.counts.count(ecn);
        // The first of the range that the largest is in.
        let start = match self.numbers.last_mut() {
            // Most follow the one before.
            Some((start, end)) if *end == number => {
                *end += 1;
                self.largest_at = now;
                *start
            }
            _ => self.come_apart(now, number),
        };
        let Some(delay) = delay else { return };
        // Section 13.2.1: at once if it is out of order, or leaves a gap, or is marked.
        let out_of_order =
            (self.largest_eliciting).is_some_and(|largest| number < largest || start > largest + 1);
        self.largest_eliciting = self.largest_eliciting.max(Some(number));
        self.unacked += 1;
        let at_once = out_of_order || ecn == Ecn::Ce || self.unacked >= params.ack_every;
        self.due = self.due.min(if at_once { now } else { now + delay });
    }

    /// The same of a number that does not follow the largest. Returns where the range of the
    /// largest begins.
    #[inline(never)]
    fn come_apart(&mut self, now: Time, number: u64) -> u64 {
        let largest = self.numbers.last().map(|(_, end)| end - 1);
        self.numbers.insert(number, number + 1);
        if self.numbers.count() > MOST_RANGES {
            self.floor = self.numbers.first().map_or(self.floor, |(_, end)| end);
            self.numbers.drop_first();
        }
        if largest.is_none_or(|largest| number > largest) {
            self.largest_at = now;
        }
        self.numbers.last().map_or(number, |(start, _)| start)
    }

    /// Whether an acknowledgement is due.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.due <= now
    }

    /// Whether there is something to acknowledge.
    #[inline]
    pub(crate) fn is_unacked(&self) -> bool {
        self.unacked > 0
    }

    /// The largest number that has come.
    #[inline]
    pub(crate) fn largest(&self) -> Option<u64> {
        self.numbers.last().map(|(_, end)| end - 1)
    }

    /// Makes the frame to send now in `frame` if there is something to acknowledge: with what else
    /// is sent an acknowledgement need not wait.
    #[inline]
    pub(crate) fn fill(&self, now: Time, frame: &mut Option<Ack>) {
        if self.is_unacked() {
            let counts = (self.counts != EcnCounts::default()).then_some(self.counts);
            Ack::fill(frame, self.numbers.descending(), now - self.largest_at, counts);
        }
    }

    /// The frame was sent.
    pub(crate) fn frame_sent(&mut self) {
        (self.unacked, self.due) = (0, Time::MAX);
    }

    /// The peer has an acknowledgement of everything up to `largest`: nothing below needs to be
    /// reported again (section 13.2.4).
    pub(crate) fn reported(&mut self, largest: u64) {
        // The range that it ends stays, for those that come late.
        if largest > self.floor {
            self.floor = largest;
            self.numbers.remove_below(largest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use alloc::vec::Vec;

    fn ms(n: u64) -> Time {
        Time::from_millis(n)
    }

    struct Side(Received, Params);

    impl Side {
        fn new() -> Self {
            Self(Received::new(), Spec::resolve(&[]).unwrap())
        }
        fn frame(&self, at: u64) -> Option<Ack> {
            let mut frame = None;
            self.0.fill(ms(at), &mut frame);
            frame
        }
        fn come(&mut self, at: u64, number: u64) -> Time {
            self.0.come(&self.1, ms(at), number, Ecn::NotEct, Some(ms(25)));
            self.0.due
        }
    }

    #[test]
    fn every_second_packet_is_acknowledged_at_once() {
        let mut side = Side::new();
        assert_eq!(side.come(0, 0), ms(25));
        assert_eq!(side.come(10, 1), ms(10));
        let ack = side.frame(11).unwrap();
        assert_eq!((ack.largest, ack.first, ack.delay), (1, 1, ms(1)));
        side.0.frame_sent();
        assert_eq!(side.frame(11), None);
        assert_eq!(side.come(20, 2), ms(45));
    }

    #[test]
    fn gaps_and_late_packets_are_acknowledged_at_once() {
        let mut side = Side::new();
        side.come(0, 0);
        side.0.frame_sent();
        assert_eq!(side.come(1, 2), ms(1));
        side.0.frame_sent();
        assert_eq!(side.come(2, 1), ms(2));
        side.0.frame_sent();
        assert_eq!(side.come(3, 3), ms(28));
    }

    #[test]
    fn marks_are_acknowledged_at_once_and_counted() {
        let mut side = Side::new();
        side.0.come(&side.1, ms(0), 0, Ecn::Ce, Some(ms(25)));
        assert!(side.0.is_due(ms(0)));
        let counts = side.frame(0).unwrap().ecn();
        assert_eq!(counts, Some(EcnCounts { ce: 1, ..EcnCounts::default() }));
    }

    #[test]
    fn acknowledgements_alone_ask_for_none() {
        let mut side = Side::new();
        side.0.come(&side.1, ms(0), 0, Ecn::NotEct, None);
        assert_eq!((side.0.due, side.frame(0)), (Time::MAX, None));
        assert!(side.0.is_duplicate(0));
    }

    #[test]
    fn what_was_reported_is_forgotten_and_stays_a_duplicate() {
        let mut side = Side::new();
        for number in [0, 1, 3, 5] {
            side.come(0, number);
        }
        side.0.reported(3);
        side.come(0, 6);
        let ranges: Vec<_> = side.frame(0).unwrap().ranges().collect();
        assert_eq!(ranges, [(5, 7), (3, 4)]);
        assert!(side.0.is_duplicate(2) && !side.0.is_duplicate(4));
    }

    #[test]
    fn more_ranges_than_a_frame_holds_are_forgotten() {
        let mut side = Side::new();
        for number in 0..40 {
            side.come(0, 2 * number);
        }
        assert_eq!(side.frame(0).unwrap().ranges().count(), MOST_RANGES);
        assert!(side.0.is_duplicate(13) && !side.0.is_duplicate(77));
    }

    #[test]
    fn what_follows_an_acknowledgement_that_was_reported_is_in_order() {
        let mut side = Side::new();
        side.come(0, 0);
        // 1 is an acknowledgement: nothing below it needs to be reported again.
        side.0.come(&side.1, ms(1), 1, Ecn::NotEct, None);
        side.0.frame_sent();
        side.0.reported(1);
        assert_eq!(side.come(2, 2), ms(27));
        // Of 3 nothing is known.
        assert_eq!(side.come(3, 4), ms(3));
    }
}
