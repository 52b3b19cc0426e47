//! Which object each byte of an HTTP/2 connection belongs to: frames of objects, by their
//! priorities. Those of less urgency (RFC 9218 section 4.1) come first; of the same, objects of
//! which a part is of no use (section 4.2) one after another, then the others in turns (section
//! 10). Where nothing is said of priorities all are alike and take turns.
//!
//! A server decides which frame is next when there is room for it, so what has not been sent can
//! still be put into another order. The order is kept here; the transport knows only how many bytes
//! there are.
//!
//! # Differences from the source (RFC 9113)
//!
//! 1. One after another is in the order in which the server has them, not that of their requests.
//!    What it has later comes first if it is more urgent: all but the frame that has begun waits.
//! 2. A response is DATA frames of 16 kB with their headers of 9 bytes; its own header is among its
//!    bytes. Requests are as long as over HTTP/1.1: nothing compresses headers.
//! 3. No flow control beside TCP's: browsers grant windows that are not the limit.

use sojourn_traffic::Priority;
use std::collections::VecDeque;

/// SETTINGS_MAX_FRAME_SIZE, the initial value (RFC 9113 section 6.5.2).
const MOST: u64 = 1 << 14;

/// Bytes of a frame's header (RFC 9113 section 4.1).
const HEADER: u64 = 9;

/// A frame of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub slot: u8,
    /// Whether it begins the object, and whether it ends it.
    pub first: bool,
    pub last: bool,
    priority: Priority,
    /// With its header.
    bytes: u64,
}

/// The frames that have not come to the client, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    queue: VecDeque<Frame>,
    /// Where the first of them begins in the stream of bytes.
    begin: u64,
    /// Whether some of it has come.
    begun: bool,
}

/// What is left of an object while frames are put into order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    slot: u8,
    /// Whether none of it has a place yet.
    first: bool,
    bytes: u64,
    priority: Priority,
}

pub(super) type Left = VecDeque<Rest>;

impl Frames {
    /// Nothing, at the beginning of a connection.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        (self.begin, self.begun) = (0, false);
    }

    /// Bytes that come before the first frame, such as those of a handshake.
    pub(super) fn skip(&mut self, bytes: u64) {
        debug_assert!(self.queue.is_empty());
        self.begin += bytes;
    }

    /// Adds an object; `sent` bytes of the stream have been sent, and keep their order. Returns by
    /// how many bytes the stream grows. What is in `left` does not matter; it keeps its memory.
    pub(super) fn add(
        &mut self,
        (slot, priority): (u8, Priority),
        bytes: u64,
        sent: u64,
        left: &mut Left,
    ) -> u64 {
        let mut at = self.begin;
        let fixed = self.queue.iter().take_while(|frame| {
            let before = at;
            at += frame.bytes;
            before < sent
        });
        let fixed = fixed.count();
        left.clear();
        for frame in self.queue.drain(fixed..) {
            let Frame { slot, first, priority, .. } = frame;
            let bytes = frame.bytes - HEADER;
            match left.iter_mut().find(|other| other.slot == slot) {
                Some(other) => other.bytes += bytes,
                None => left.push_back(Rest { slot, first, bytes, priority }),
            }
        }
        left.push_back(Rest { slot, first: true, bytes, priority });
        left.make_contiguous().sort_by_key(|rest| rest.priority);
        while let Some(Rest { slot, first, bytes, priority }) = left.pop_front() {
            let now = bytes.min(MOST);
            let last = now == bytes;
            self.queue.push_back(Frame { slot, first, last, priority, bytes: now + HEADER });
            if last {
                continue;
            }
            let rest = Rest { slot, first: false, bytes: bytes - now, priority };
            if !priority.incremental {
                left.push_front(rest);
            } else if left.back().is_none_or(|other| other.priority <= priority) {
                left.push_back(rest);
            } else {
                let behind = left.partition_point(|other| other.priority <= priority);
                left.insert(behind, rest);
            }
        }
        bytes + bytes.div_ceil(MOST) * HEADER
    }

    /// Where in the stream the next byte ends that somebody waits for: the first one of an object,
    /// or the last.
    pub(super) fn awaited(&self) -> Option<u64> {
        let (mut at, mut begun) = (self.begin, self.begun);
        for frame in &self.queue {
            if frame.first && !begun {
                return Some(at + 1);
            }
            at += frame.bytes;
            if frame.last {
                return Some(at);
            }
            begun = false;
        }
        None
    }

    /// The object that begins with the next frame, once, if its first byte is among the first
    /// `delivered` bytes of the stream.
    pub(super) fn begins(&mut self, delivered: u64) -> Option<u8> {
        let frame = self.queue.front()?;
        if self.begun || delivered <= self.begin {
            return None;
        }
        self.begun = true;
        frame.first.then_some(frame.slot)
    }

    /// The next frame, if all of it is among the first `delivered` bytes of the stream.
    pub(super) fn take(&mut self, delivered: u64) -> Option<Frame> {
        let frame = *self.queue.front()?;
        let end = self.begin + frame.bytes;
        if end > delivered {
            return None;
        }
        (self.begin, self.begun) = (end, false);
        self.queue.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALIKE: Priority = Priority { urgency: 3, incremental: true };

    fn order(frames: &Frames) -> Vec<(u8, u64)> {
        frames.queue.iter().map(|frame| (frame.slot, frame.bytes - HEADER)).collect()
    }

    #[test]
    fn objects_take_turns_from_what_is_not_sent_on() {
        let (mut frames, left) = (Frames::default(), &mut Left::new());
        assert_eq!(frames.add((0, ALIKE), 40_000, 0, left), 40_000 + 3 * HEADER);
        // The frame that has begun goes on.
        frames.add((1, ALIKE), 20_000, 1, left);
        let full = MOST;
        assert_eq!(
            order(&frames),
            [(0, full), (0, full), (1, full), (0, 40_000 - 2 * full), (1, 20_000 - full)]
        );
        let first = full + HEADER;
        assert_eq!(frames.awaited(), Some(1));
        assert_eq!((frames.begins(0), frames.begins(1), frames.begins(2)), (None, Some(0), None));
        // The next that begins is the other object, behind two frames.
        assert_eq!(frames.awaited(), Some(2 * first + 1));
        assert_eq!(frames.take(first - 1), None);
        assert_eq!(frames.take(first).map(|frame| (frame.slot, frame.last)), Some((0, false)));
    }

    #[test]
    fn what_is_urgent_comes_first_and_what_is_whole_or_nothing_in_one_piece() {
        let (mut frames, left) = (Frames::default(), &mut Left::new());
        let picture = Priority { urgency: 5, incremental: true };
        let script = Priority { urgency: 3, incremental: false };
        frames.add((0, picture), 40_000, 0, left);
        frames.add((1, picture), 20_000, 1, left);
        frames.add((2, script), 30_000, 1, left);
        frames.add((3, script), 20_000, 1, left);
        // Behind the frame that has begun, the scripts one by one, then the pictures in turns.
        let full = MOST;
        let script = [(2, full), (2, 30_000 - full), (3, full), (3, 20_000 - full)];
        let pictures = [(0, full), (1, full), (0, 40_000 - 2 * full), (1, 20_000 - full)];
        assert_eq!(order(&frames)[0], (0, full));
        assert_eq!(order(&frames)[1..5], script);
        assert_eq!(order(&frames)[5..], pictures);
        // Of the same urgency those in one piece come before those in turns.
        frames.clear();
        frames.add((0, ALIKE), 20_000, 0, left);
        frames.add((1, Priority { incremental: false, ..ALIKE }), 20_000, 0, left);
        assert_eq!(frames.queue.iter().map(|f| f.slot).collect::<Vec<_>>(), [1, 1, 0, 0]);
    }

    #[test]
    fn every_byte_of_every_object_has_one_place() {
        let mut state = 1_u64;
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
        let left = &mut Left::new();
        let (mut frames, mut written, mut sent) = (Frames::default(), 0, 0);
        let (mut wanted, mut came) = ([0_u64; 8], [0_u64; 8]);
        let mut ends = [0_u32; 8];
        for round in 0..2000 {
            let slot = draw(8) as u8;
            // An object whose turn is over makes its place free.
            if came[usize::from(slot)] == wanted[usize::from(slot)] {
                let bytes = 1 + draw(100_000);
                wanted[usize::from(slot)] += bytes;
                let urgency = draw(8) as u8;
                let priority = Priority { urgency, incremental: draw(2) == 0 };
                written += frames.add((slot, priority), bytes, sent, left);
            }
            sent = (sent + draw(60_000)).min(written);
            let delivered = if round == 1999 { written } else { sent.saturating_sub(draw(30_000)) };
            while let Some(frame) = frames.take(delivered) {
                came[usize::from(frame.slot)] += frame.bytes - HEADER;
                ends[usize::from(frame.slot)] += u32::from(frame.last);
                let at = usize::from(frame.slot);
                assert_eq!(frame.last, came[at] == wanted[at]);
            }
        }
        assert_eq!(came, wanted);
        assert_eq!(frames.begin, written);
        assert!(ends.iter().all(|&ends| ends > 10), "{ends:?}");
    }
}
