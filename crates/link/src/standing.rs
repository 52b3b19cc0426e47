//! The queue that stands: the least length, and the least sojourn time, of a sliding window.
//!
//! A queue that a burst fills and that is empty again within a round trip does its work. What is
//! there all the time does nothing but delay: Nichols and Jacobson, "Controlling Queue Delay" (ACM
//! Queue, 2012), call it the bad queue, and find it as the minimum over at least a round trip.
//!
//! The window is cut into [`SLICES`] equal slices. Within a slice all it takes is a comparison per
//! change; see [`Window`] for what the end of a slice takes.
//! The running minimum is taken at the end of each slice, over the slices that end there, which is
//! exact: so its mean is one over `window / 64`.

use sojourn_base::product;

/// Slices of a window.
const SLICES: u64 = 64;

/// No value.
const NONE: u64 = u64::MAX;

/// Running minima of a queue's length and of the sojourn times of packets that left it.
///
/// A queue that was empty at some time of a slice has a least sojourn time of zero there. While it
/// is not empty and yet nothing leaves, the last minimum stays.
#[derive(Clone)]
pub(crate) struct Running {
    /// Length of a slice, ns.
    width: u64,
    /// When the present slice ends, ns.
    ends: u64,
    /// Its number.
    slice: u64,
    /// The least values in it so far.
    length: u64,
    sojourn: u64,
    lengths: Window,
    sojourns: Window,
}

impl Running {
    /// Minima over `window` nanoseconds, above zero.
    pub(crate) fn new(window: u64) -> Self {
        let width = window.div_ceil(SLICES).max(1);
        Self {
            width,
            ends: width,
            slice: 0,
            length: NONE,
            sojourn: NONE,
            lengths: Window::default(),
            sojourns: Window::default(),
        }
    }

    /// Before `now` there were `packets` in the queue, for more than no time.
    #[inline(always)]
    pub(crate) fn until(&mut self, now: u64, packets: u64) {
        if packets < self.length {
            self.length = packets;
        }
        if now >= self.ends {
            self.roll(now, packets);
        }
    }

    /// A packet leaves after `sojourn` nanoseconds.
    #[inline(always)]
    pub(crate) fn left(&mut self, sojourn: u64) {
        if sojourn < self.sojourn {
            self.sojourn = sojourn;
        }
    }

    /// Ends slices up to `now`; all but the first had `packets` throughout.
    #[cold]
    #[inline(never)]
    fn roll(&mut self, now: u64, packets: u64) {
        let slices = (now - self.ends) / self.width + 1;
        self.ends += slices * self.width;
        // After a whole window of the same nothing changes any more.
        let short = slices.min(SLICES + 1);
        for _ in 0..short {
            self.end_slice();
            self.length = packets;
        }
        if slices > short {
            self.slice += slices - short;
            let sojourn = if packets == 0 { 0 } else { NONE };
            self.lengths.skip(slices - short, self.slice - 1, packets);
            self.sojourns.skip(slices - short, self.slice - 1, sojourn);
        }
        if now + self.width == self.ends {
            // The present slice begins now.
            self.length = NONE;
        }
    }

    fn end_slice(&mut self) {
        let sojourn = if self.length == 0 { 0 } else { self.sojourn };
        self.lengths.push(self.slice, self.length);
        self.sojourns.push(self.slice, sojourn);
        self.slice += 1;
        (self.length, self.sojourn) = (NONE, NONE);
    }

    /// What counts towards means and maxima begins with the present slice.
    pub(crate) fn start(&mut self) {
        self.lengths.start();
        self.sojourns.start();
    }

    /// The running minima now, the slice under way included: packets, and nanoseconds unless
    /// nothing has left yet and the queue was never empty.
    pub(crate) fn now(&self) -> (u64, Option<u64>) {
        let sojourn = if self.length == 0 { 0 } else { self.sojourn };
        let length = self.lengths.last.min(self.length);
        let sojourn = match (self.sojourns.last, sojourn) {
            (NONE, NONE) => None,
            (last, present) => Some(last.min(present)),
        };
        (if length == NONE { 0 } else { length }, sojourn)
    }

    /// Mean and maximum since the start of the running minimum of the length, and of the sojourn
    /// time in nanoseconds; none if no slice has ended.
    pub(crate) fn lengths(&self) -> Option<(f64, u64)> {
        self.lengths.statistics()
    }

    /// The same of the sojourn time, in nanoseconds.
    pub(crate) fn sojourns(&self) -> Option<(f64, u64)> {
        self.sojourns.statistics()
    }
}

/// The minimum over the last [`SLICES`] values, and its statistics.
///
/// Values stand in blocks of [`SLICES`]. When a block is complete, each of its places gets the
/// least value from there to the block's end; so the minimum of any window is that of two numbers,
/// one of the block before and one of the block under way (van Herk 1992; Gil and Werman 1993).
#[derive(Clone)]
struct Window {
    /// The places up to the last slice: values. Those behind it: least values to the block's end.
    block: Box<[u64; SLICES as usize]>,
    /// The least value of the block under way.
    least: u64,
    /// The minimum when the last slice ended; [`NONE`] if there was no value ever.
    last: u64,
    sum: u128,
    slices: u64,
    most: u64,
}

impl Default for Window {
    fn default() -> Self {
        let block = Box::new([NONE; SLICES as usize]);
        Self { block, least: NONE, last: NONE, sum: 0, slices: 0, most: 0 }
    }
}

impl Window {
    fn push(&mut self, slice: u64, value: u64) {
        let place = (slice % SLICES) as usize;
        self.block[place] = value;
        self.least = self.least.min(value);
        let before = self.block.get(place + 1).map_or(NONE, |&least| least);
        let least = self.least.min(before);
        if least != NONE {
            self.last = least;
        }
        if place + 1 == self.block.len() {
            self.complete();
        }
        self.count(1);
    }

    /// The block is complete.
    fn complete(&mut self) {
        let mut least = NONE;
        for place in self.block.iter_mut().rev() {
            least = least.min(*place);
            *place = least;
        }
        self.least = NONE;
    }

    /// More slices with the value of at least a window of slices before, the last being `slice`.
    fn skip(&mut self, slices: u64, slice: u64, value: u64) {
        self.block.fill(value);
        self.least = if (slice + 1).is_multiple_of(SLICES) { NONE } else { value };
        self.count(slices);
    }

    /// The minimum is the present one at the end of so many slices.
    fn count(&mut self, slices: u64) {
        if self.last != NONE {
            self.sum += product(self.last, slices);
            self.slices += slices;
            self.most = self.most.max(self.last);
        }
    }

    fn start(&mut self) {
        (self.sum, self.slices, self.most) = (0, 0, 0);
    }

    fn statistics(&self) -> Option<(f64, u64)> {
        (self.slices > 0).then(|| (self.sum as f64 / self.slices as f64, self.most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn standing_queue_ignores_bursts() {
        // A slice is 10 ns.
        let mut running = Running::new(640);
        running.until(1000, 5);
        assert_eq!(running.now(), (5, None));
        // A burst on top of five that stay.
        running.until(1300, 50);
        assert_eq!(running.now().0, 5);
        running.until(2000, 50);
        assert_eq!(running.now().0, 50, "the window holds nothing else");
        running.until(2001, 0);
        assert_eq!(running.now(), (0, Some(0)), "empty for a moment");
        running.until(2600, 9);
        assert_eq!(running.now().0, 0);
        running.until(2700, 9);
        assert_eq!(running.now().0, 9);
    }

    #[test]
    fn standing_sojourn_stays_without_departures() {
        let mut running = Running::new(640);
        running.until(100, 3);
        running.left(70);
        running.until(5000, 3);
        assert_eq!(running.now(), (3, Some(70)));
        running.left(90);
        running.until(10_000, 3);
        assert_eq!(
            running.now(),
            (3, Some(90)),
            "the newer one, as the older is out of the window"
        );
    }

    proptest! {
        /// Against the definition: the least of all that was in the last 64 slices.
        #[test]
        fn standing_queue_is_window_minimum_per_slice(
            changes in prop::collection::vec((1u64..900, 0u64..30, prop::option::of(0u64..500)), 1..200),
            start in 0u64..5000,
        ) {
            let mut running = Running::new(640);
            // The length at each nanosecond, and sojourns with their instants.
            let (mut lengths, mut sojourns) = (Vec::new(), Vec::new());
            let mut now = 0;
            let mut began = None;
            for (span, packets, sojourn) in changes {
                now += span;
                lengths.resize(now as usize, packets);
                running.until(now, packets);
                if let Some(sojourn) = sojourn {
                    sojourns.push((now, sojourn));
                    running.left(sojourn);
                }
                if began.is_none() && now >= start {
                    running.start();
                    began = Some(now / 10);
                }
            }
            let Some(began) = began else { return Ok(()) };
            // Slice i is the ten nanoseconds from 10i on.
            let over = now / 10;
            let mut held = None;
            let (mut of_lengths, mut of_sojourns) = (Vec::new(), Vec::new());
            for i in 0..over {
                let first = (i + 1).saturating_sub(64) * 10;
                let last = (i + 1) * 10;
                let length = *lengths[first as usize..last as usize].iter().min().unwrap();
                let left = sojourns.iter().filter(|s| first <= s.0 && s.0 < last).map(|s| s.1).min();
                held = if length == 0 { Some(0) } else { left.or(held) };
                if i >= began {
                    of_lengths.push(length);
                    of_sojourns.extend(held);
                }
            }
            let statistics = |values: &[u64]| {
                let sum = values.iter().sum::<u64>() as f64;
                values.iter().max().map(|&most| (sum / values.len() as f64, most))
            };
            prop_assert_eq!(running.lengths(), statistics(&of_lengths));
            prop_assert_eq!(running.sojourns(), statistics(&of_sojourns));
        }
    }

    #[test]
    fn a_queue_that_was_empty_for_long_stands_once_a_window_is_full() {
        // Whatever part of a block of slices, of a nanosecond each, the long time ends in.
        for idle in 200..200 + SLICES {
            let mut running = Running::new(SLICES);
            running.until(idle, 0);
            for slice in 1..=SLICES {
                running.left(70);
                running.until(idle + slice, 3);
                let (length, sojourn) = if slice < SLICES { (0, 0) } else { (3, 70) };
                assert_eq!(running.now(), (length, Some(sojourn)), "{idle} {slice}");
            }
        }
    }
}
