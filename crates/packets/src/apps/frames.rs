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
    /// With its header.
    bytes: u64,
}

/// What is left of an object behind the frames that have their places.
#[derive(Clone, Copy, Debug)]
struct Rest {
    slot: u8,
    /// Whether no frame of it has.
    first: bool,
    bytes: u64,
    priority: Priority,
}

impl Rest {
    /// How many frames it takes.
    fn frames(&self) -> u64 {
        self.bytes.div_ceil(MOST).max(1)
    }
}

/// The frames that have not come to the client, in their order.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    /// Those that have their places.
    queue: VecDeque<Frame>,
    /// Where the first of them begins in the stream of bytes, and where the last ends.
    begin: u64,
    end: u64,
    /// Whether some of the first has come.
    begun: bool,
    /// What is behind them, by priority and in turn: frames get their places one by one.
    left: VecDeque<Rest>,
}

impl Frames {
    /// Nothing, at the beginning of a connection.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.left.clear();
        (self.begin, self.end, self.begun) = (0, 0, false);
    }

    /// Bytes that come before the first frame, such as those of a handshake.
    pub(super) fn skip(&mut self, bytes: u64) {
        debug_assert!(self.queue.is_empty() && self.left.is_empty());
        self.begin += bytes;
        self.end += bytes;
    }

    /// Adds an object; `sent` bytes of the stream have been sent, and keep their order. Returns by
    /// how many bytes the stream grows.
    pub(super) fn add(&mut self, (slot, priority): (u8, Priority), bytes: u64, sent: u64) -> u64 {
        self.place(sent);
        self.line_up(Rest { slot, first: true, bytes, priority });
        bytes + bytes.div_ceil(MOST) * HEADER
    }

    /// Puts what is left of an object behind all of its priority and before those of a higher.
    fn line_up(&mut self, rest: Rest) {
        if self.left.back().is_none_or(|other| other.priority <= rest.priority) {
            return self.left.push_back(rest);
        }
        let behind = self.left.partition_point(|other| other.priority <= rest.priority);
        self.left.insert(behind, rest);
    }

    /// Gives frames that begin before `until` their places.
    fn place(&mut self, until: u64) {
        while self.end < until
            && let Some(rest) = self.left.pop_front()
        {
            let Rest { slot, first, bytes, priority } = rest;
            let now = bytes.min(MOST);
            let last = now == bytes;
            self.queue.push_back(Frame { slot, first, last, bytes: now + HEADER });
            self.end += now + HEADER;
            if last {
                continue;
            }
            let rest = Rest { first: false, bytes: bytes - now, ..rest };
            if priority.incremental {
                self.line_up(rest);
            } else {
                self.left.push_front(rest);
            }
        }
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
        // Until then those of the first priority take turns with full frames; one that takes none
        // sends all of its own before.
        let next = self.left.front()?;
        let alike = self.left.iter().take_while(|rest| rest.priority == next.priority);
        let turns = if next.priority.incremental { alike.count() } else { 1 };
        let ends = self.left.iter().take(turns).zip(0..).map(|(rest, place)| {
            let (before, bytes) = if rest.first {
                (0, 1)
            } else {
                let before = rest.frames() - 1;
                (before, rest.bytes - before * MOST + HEADER)
            };
            (before * turns as u64 + place) * (MOST + HEADER) + bytes
        });
        ends.min().map(|bytes| at + bytes)
    }

    /// The object that begins with the next frame, once, if its first byte is among the first
    /// `delivered` bytes of the stream.
    pub(super) fn begins(&mut self, delivered: u64) -> Option<u8> {
        self.place(delivered);
        let frame = self.queue.front()?;
        if self.begun || delivered <= self.begin {
            return None;
        }
        self.begun = true;
        frame.first.then_some(frame.slot)
    }

    /// The next frame, if all of it is among the first `delivered` bytes of the stream.
    pub(super) fn take(&mut self, delivered: u64) -> Option<Frame> {
        self.place(delivered);
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

    /// The frames in their order, if nothing more is added.
    fn order(frames: &Frames) -> Vec<(u8, u64)> {
        let mut frames = frames.clone();
        frames.place(u64::MAX);
        frames.queue.iter().map(|frame| (frame.slot, frame.bytes - HEADER)).collect()
    }

    #[test]
    fn objects_take_turns_from_what_is_not_sent_on() {
        let mut frames = Frames::default();
        assert_eq!(frames.add((0, ALIKE), 40_000, 0), 40_000 + 3 * HEADER);
        // The frame that has begun goes on.
        frames.add((1, ALIKE), 20_000, 1);
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
        let mut frames = Frames::default();
        let picture = Priority { urgency: 5, incremental: true };
        let script = Priority { urgency: 3, incremental: false };
        frames.add((0, picture), 40_000, 0);
        frames.add((1, picture), 20_000, 1);
        frames.add((2, script), 30_000, 1);
        frames.add((3, script), 20_000, 1);
        // Behind the frame that has begun, the scripts one by one, then the pictures in turns.
        let full = MOST;
        let script = [(2, full), (2, 30_000 - full), (3, full), (3, 20_000 - full)];
        let pictures = [(0, full), (1, full), (0, 40_000 - 2 * full), (1, 20_000 - full)];
        assert_eq!(order(&frames)[0], (0, full));
        assert_eq!(order(&frames)[1..5], script);
        assert_eq!(order(&frames)[5..], pictures);
        // Of the same urgency those in one piece come before those in turns.
        frames.clear();
        frames.add((0, ALIKE), 20_000, 0);
        frames.add((1, Priority { incremental: false, ..ALIKE }), 20_000, 0);
        assert_eq!(order(&frames).iter().map(|frame| frame.0).collect::<Vec<_>>(), [1, 1, 0, 0]);
    }

    #[test]
    fn every_byte_of_every_object_has_one_place() {
        let mut state = 1_u64;
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % most
        };
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
                written += frames.add((slot, priority), bytes, sent);
            }
            sent = (sent + draw(60_000)).min(written);
            let delivered = if round == 1999 { written } else { sent.saturating_sub(draw(30_000)) };
            while let Some(frame) = frames.take(delivered) {
                came[usize::from(frame.slot)] += frame.bytes - HEADER;
                ends[usize::from(frame.slot)] += u32::from(frame.last);
                let at = usize::from(frame.slot);
                assert_eq!(frame.last, came[at] == wanted[at]);
            }
            let mut placed = frames.clone();
            placed.place(u64::MAX);
            assert_eq!(frames.awaited(), placed.awaited());
        }
        assert_eq!(came, wanted);
        assert_eq!(frames.begin, written);
        assert!(ends.iter().all(|&ends| ends > 10), "{ends:?}");
    }
}
