//! The transmission log: what became of every segment that is outstanding, and when it was last
//! sent. Loss detection by time (RFC 8985) and samples of the delivery rate
//! (draft-ietf-ccwg-bbr section 4.1) need it; connections that do neither have none.
//!
//! Records are in the order of sequence numbers. Each is also in one of two lists that run through
//! the records: that of what is under way, in the order in which it was last sent, and that of what
//! is lost and waits to be sent again, lowest sequence numbers first. What is selectively
//! acknowledged is in neither; there the link skips what is behind it and has arrived as well. So
//! an acknowledgement costs what it brings, however large the window is and however many holes
//! there are in it.

use crate::congestion::Stamp;
use crate::segment::{SackBlock, before};
use alloc::collections::VecDeque;
use sojourn_base::Time;

/// Bits of [`Record::state`].
pub(super) mod state {
    /// Selectively acknowledged.
    pub(crate) const SACKED: u8 = 1;
    /// Taken for lost, whether or not it was sent again since.
    pub(crate) const LOST: u8 = 2;
    /// Sent again, and that is still under way.
    pub(crate) const AGAIN: u8 = 4;
    /// Was sent again at some time: an acknowledgement of it is ambiguous (Karn).
    pub(crate) const EVER: u8 = 8;
    /// When it was sent, the application had no more to send.
    pub(crate) const APP_LIMITED: u8 = 16;
}

/// A segment that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub start: u32,
    pub end: u32,
    pub stamp: Stamp,
    next: u32,
    prev: u32,
    pub state: u8,
}

impl Record {
    pub(crate) fn len(&self) -> u32 {
        self.end.wrapping_sub(self.start)
    }

    pub(crate) fn is(&self, bits: u8) -> bool {
        self.state & bits != 0
    }
}

/// No record.
const NIL: u32 = u32::MAX;

/// Records are numbered modulo this, so that no number is [`NIL`].
const NUMBERS: u32 = 1 << 31;

#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

const NOTHING: List = List { head: NIL, tail: NIL };

/// See the top of the file.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    records: VecDeque<Record>,
    /// The number of the first record.
    first: u32,
    flying: List,
    waiting: List,
    /// Where a record was last put into the list of what waits: the next one mostly comes behind
    /// it.
    near: u32,
    /// Bytes selectively acknowledged.
    sacked: u32,
    segments_sacked: u32,
    /// Bytes taken for lost, sent again or not.
    lost: u32,
    /// Bytes sent again and under way.
    again: u32,
    /// What is before this record has been marked lost, or not, by what is selectively acknowledged
    /// above it.
    edge: u32,
    /// Bytes selectively acknowledged from there on.
    above: u32,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self {
            records: VecDeque::new(),
            first: 0,
            flying: NOTHING,
            waiting: NOTHING,
            near: NIL,
            sacked: 0,
            segments_sacked: 0,
            lost: 0,
            again: 0,
            edge: 0,
            above: 0,
        }
    }

    fn index(&self, number: u32) -> usize {
        (number.wrapping_sub(self.first) & (NUMBERS - 1)) as usize
    }

    fn number(&self, index: usize) -> u32 {
        self.first.wrapping_add(index as u32) & (NUMBERS - 1)
    }

    fn at(&mut self, number: u32) -> &mut Record {
        let index = self.index(number);
        &mut self.records[index]
    }

    pub(crate) fn get(&self, number: u32) -> &Record {
        &self.records[self.index(number)]
    }

    /// Bytes selectively acknowledged.
    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments selectively acknowledged.
    pub(crate) fn segments_sacked(&self) -> u32 {
        self.segments_sacked
    }

    /// Whether one segment is outstanding.
    pub(crate) fn is_one(&self) -> bool {
        self.records.len() == 1
    }

    /// Bytes taken to be in the network, of `outstanding` bytes: what is neither lost nor has
    /// arrived, and what was sent again.
    pub(crate) fn pipe(&self, outstanding: u32) -> u32 {
        (outstanding + self.again).saturating_sub(self.sacked + self.lost)
    }

    /// Whether anything is lost, sent again or not.
    pub(crate) fn any_lost(&self) -> bool {
        self.lost > 0
    }

    /// Bytes sent again and under way.
    pub(crate) fn again(&self) -> u32 {
        self.again
    }

    /// When the first outstanding segment was last sent.
    pub(crate) fn first_sent(&self) -> Option<Time> {
        self.records.front().map(|record| record.stamp.sent)
    }

    fn list(&mut self, waiting: bool) -> &mut List {
        if waiting { &mut self.waiting } else { &mut self.flying }
    }

    /// Puts a record before `place` in a list, or at the end.
    fn link(&mut self, waiting: bool, number: u32, place: u32) {
        let prev = if place == NIL { self.list(waiting).tail } else { self.get(place).prev };
        (self.at(number).prev, self.at(number).next) = (prev, place);
        if prev == NIL {
            self.list(waiting).head = number;
        } else {
            self.at(prev).next = number;
        }
        if place == NIL {
            self.list(waiting).tail = number;
        } else {
            self.at(place).prev = number;
        }
    }

    fn unlink(&mut self, number: u32) {
        let Record { next, prev, .. } = *self.get(number);
        let waiting = self.is_waiting(number);
        self.near = if self.near == number { prev } else { self.near };
        if prev == NIL {
            self.list(waiting).head = next;
        } else {
            self.at(prev).next = next;
        }
        if next == NIL {
            self.list(waiting).tail = prev;
        } else {
            self.at(next).prev = prev;
        }
    }

    /// Whether a record is in the list of what waits, not in that of what is under way.
    fn is_waiting(&self, number: u32) -> bool {
        self.get(number).state & (state::LOST | state::AGAIN) == state::LOST
    }

    /// A segment was sent for the first time, behind all others.
    pub(crate) fn sent(&mut self, start: u32, end: u32, stamp: Stamp, state: u8) {
        let number = self.number(self.records.len());
        self.records.push_back(Record { start, end, stamp, next: NIL, prev: NIL, state });
        self.link(false, number, NIL);
    }

    /// A record was sent again.
    pub(crate) fn sent_again(&mut self, number: u32, stamp: Stamp, app_limited: u8) {
        self.unlink(number);
        let record = self.at(number);
        record.stamp = stamp;
        let more = if record.is(state::AGAIN) { 0 } else { record.len() };
        record.state =
            record.state & !state::APP_LIMITED | state::AGAIN | state::EVER | app_limited;
        self.again += more;
        self.link(false, number, NIL);
    }

    /// Takes a record for lost; it waits to be sent again. Returns whether that is news.
    #[inline(never)]
    pub(crate) fn lose(&mut self, number: u32) -> bool {
        if self.get(number).is(state::SACKED) || self.is_waiting(number) {
            return false;
        }
        self.unlink(number);
        let record = self.at(number);
        let (bytes, was) = (record.len(), record.state);
        record.state = was & !state::AGAIN | state::LOST;
        let start = record.start;
        self.again -= if was & state::AGAIN != 0 { bytes } else { 0 };
        self.lost += if was & state::LOST == 0 { bytes } else { 0 };
        let place = self.place(start);
        self.link(true, number, place);
        self.near = number;
        true
    }

    /// Before which record of those that wait one belongs that begins at `start`.
    fn place(&self, start: u32) -> u32 {
        let List { head, tail } = self.waiting;
        let lower = |number: u32| number != NIL && before(self.get(number).start, start);
        if tail == NIL || lower(tail) {
            return NIL;
        }
        let mut place = if lower(self.near) { self.near } else { head };
        while lower(place) {
            place = self.get(place).next;
        }
        place
    }

    /// The first record under way in the order of sending.
    pub(crate) fn oldest(&self) -> Option<u32> {
        (self.flying.head != NIL).then_some(self.flying.head)
    }

    /// The record that is next to be sent again.
    pub(crate) fn next_waiting(&self) -> Option<u32> {
        (self.waiting.head != NIL).then_some(self.waiting.head)
    }

    /// The last record.
    pub(crate) fn back(&self) -> Option<u32> {
        self.records.len().checked_sub(1).map(|index| self.number(index))
    }

    /// The record that holds `seq`.
    pub(crate) fn find(&self, seq: u32) -> Option<u32> {
        let front = self.records.front()?;
        let offset = seq.wrapping_sub(front.start);
        if offset >= self.records.back()?.end.wrapping_sub(front.start) {
            return None;
        }
        // Mostly all segments are of one length.
        let guess = (offset / front.len().max(1)) as usize;
        let holds = |r: &Record| seq.wrapping_sub(r.start) < r.len();
        let index = match self.records.get(guess) {
            Some(record) if holds(record) => guess,
            _ => self.records.partition_point(|r| r.end.wrapping_sub(front.start) <= offset),
        };
        Some(self.number(index))
    }

    /// The first record from `number` on that is not selectively acknowledged, if any is.
    fn skip_sacked(&mut self, mut number: u32) -> u32 {
        let end = self.records.len();
        while self.index(number) < end && self.get(number).is(state::SACKED) {
            let next = self.get(number).next;
            if self.index(next) < end && self.get(next).is(state::SACKED) {
                self.at(number).next = self.get(next).next;
            }
            number = self.get(number).next;
        }
        number
    }

    /// A record has arrived: takes it out of its list and of the sums.
    fn arrive(&mut self, number: u32) {
        self.unlink(number);
        let record = *self.get(number);
        self.lost -= if record.is(state::LOST) { record.len() } else { 0 };
        self.again -= if record.is(state::AGAIN) { record.len() } else { 0 };
    }

    /// Enters a SACK block; `news` is told of every segment in it that was not known to have
    /// arrived.
    pub(crate) fn sack(&mut self, block: SackBlock, mut news: impl FnMut(&Record)) {
        let Some(mut number) = self.find(block.start) else {
            return;
        };
        if self.get(number).start != block.start {
            number = self.number(self.index(number) + 1);
        }
        loop {
            number = self.skip_sacked(number);
            let index = self.index(number);
            if index >= self.records.len() || before(block.end, self.records[index].end) {
                return;
            }
            news(&self.records[index]);
            self.arrive(number);
            let after = self.number(index + 1);
            let counts = index >= self.index(self.edge);
            let record = &mut self.records[index];
            record.state |= state::SACKED;
            record.state &= !(state::LOST | state::AGAIN);
            record.next = after;
            let bytes = record.len();
            self.sacked += bytes;
            self.segments_sacked += 1;
            self.above += if counts { bytes } else { 0 };
            number = after;
        }
    }

    /// Everything before `una` is acknowledged; `news` is told of every segment that was not known
    /// to have arrived.
    pub(crate) fn acknowledge(&mut self, una: u32, mut news: impl FnMut(&Record)) {
        while let Some(record) = self.records.front().copied() {
            if !before(record.start, una) {
                break;
            }
            let number = self.first;
            let whole = !before(una, record.end);
            let taken = if whole { record.len() } else { una.wrapping_sub(record.start) };
            if record.is(state::SACKED) {
                self.sacked -= taken;
                self.segments_sacked -= u32::from(whole);
                self.above -= if self.edge == number { taken } else { 0 };
            } else {
                news(&Record { end: record.start.wrapping_add(taken), ..record });
                self.lost -= if record.is(state::LOST) { taken } else { 0 };
                self.again -= if record.is(state::AGAIN) { taken } else { 0 };
                if whole {
                    self.unlink(number);
                }
            }
            if !whole {
                self.records[0].start = una;
                break;
            }
            let next = self.number(1);
            self.edge = if self.edge == number { next } else { self.edge };
            self.first = next;
            self.records.pop_front();
        }
    }

    /// Takes for lost what has more than two segments' worth of selectively acknowledged data above
    /// it (`IsLost` of RFC 6675 section 4); `found` is told of each.
    pub(crate) fn lose_below(&mut self, mss: u32, mut found: impl FnMut(&Record)) {
        while self.above > 2 * mss {
            let number = self.edge;
            let record = *self.get(number);
            if record.is(state::SACKED) {
                self.above -= record.len();
            } else if !record.is(state::LOST | state::EVER) {
                self.lose(number);
                found(&record);
            }
            self.edge = self.number(self.index(number) + 1);
        }
    }

    /// Everything that is not known to have arrived and for which `lost` holds is lost; `found` is
    /// told of what was not before.
    pub(crate) fn lose_all(
        &mut self,
        lost: impl Fn(usize, &Record) -> bool,
        mut found: impl FnMut(&Record),
    ) {
        for index in 0..self.records.len() {
            let record = self.records[index];
            if lost(index, &record) && self.lose(self.number(index)) {
                found(&record);
            }
        }
    }

    /// Nothing was lost after all: what waits is under way, in its place by time.
    pub(crate) fn forgive(&mut self) {
        let (mut place, mut last) = (self.flying.head, Time::ZERO);
        while let Some(number) = self.next_waiting() {
            self.unlink(number);
            let sent = self.get(number).stamp.sent;
            if sent < last {
                place = self.flying.head;
            }
            last = sent;
            while place != NIL && self.get(place).stamp.sent <= sent {
                place = self.get(place).next;
            }
            self.at(number).state &= !state::LOST;
            self.link(false, number, place);
        }
        for record in &mut self.records {
            record.state &= !state::LOST;
        }
        self.lost = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const MSS: u32 = 3;

    fn stamp(sent: u64) -> Stamp {
        Stamp { sent: Time(sent), ..Stamp::default() }
    }

    /// Everything by definition, segment by segment: start, last sent, state.
    fn check(log: &Log, model: &[(u32, u64, u8)]) {
        let sum = |f: &dyn Fn(u8) -> bool| model.iter().filter(|m| f(m.2)).count() as u32 * MSS;
        assert_eq!(log.sacked, sum(&|s| s & state::SACKED != 0));
        assert_eq!(log.segments_sacked * MSS, log.sacked);
        assert_eq!(log.lost, sum(&|s| s & state::LOST != 0));
        assert_eq!(log.again, sum(&|s| s & state::AGAIN != 0));
        let walk = |list: List| {
            let mut found = Vec::new();
            let (mut number, mut prev) = (list.head, NIL);
            while number != NIL {
                let record = log.get(number);
                assert_eq!(record.prev, prev);
                found.push((record.stamp.sent.0, record.start));
                (prev, number) = (number, record.next);
            }
            assert_eq!(list.tail, prev);
            found
        };
        let under_way = |s: u8| s & (state::SACKED | state::LOST) == 0 || s & state::AGAIN != 0;
        let mut expected: Vec<_> =
            model.iter().filter(|m| under_way(m.2)).map(|m| (m.1, m.0)).collect();
        expected.sort_unstable();
        let flying = walk(log.flying);
        assert!(flying.is_sorted_by_key(|f| f.0), "{flying:?}");
        let mut flying = flying;
        flying.sort_unstable();
        assert_eq!(flying, expected);
        let mut waiting = walk(log.waiting);
        assert!(waiting.is_sorted_by_key(|w| w.1), "{waiting:?}");
        waiting.sort_unstable();
        let lost = |s: u8| s & (state::LOST | state::AGAIN) == state::LOST;
        let mut expected: Vec<_> = model.iter().filter(|m| lost(m.2)).map(|m| (m.1, m.0)).collect();
        expected.sort_unstable();
        assert_eq!(waiting, expected);
        for &(start, ..) in model {
            assert_eq!(log.get(log.find(start + 1).unwrap()).start, start);
        }
    }

    proptest! {
        #[test]
        fn log_sums_and_lists_match_records(
            ops in prop::collection::vec((0u8..9, any::<prop::sample::Index>(), 1usize..9), 1..200),
        ) {
            let mut log = Log::new();
            log.first = NUMBERS - 20;
            log.edge = log.first;
            let mut model: Vec<(u32, u64, u8)> = Vec::new();
            let (mut nxt, mut now) = (0u32, 0u64);
            for (what, at, n) in ops {
                now += 1;
                if what < 3 || model.is_empty() {
                    for _ in 0..n {
                        log.sent(nxt, nxt + MSS, stamp(now), 0);
                        model.push((nxt, now, 0));
                        nxt += MSS;
                        now += 1;
                    }
                    check(&log, &model);
                    continue;
                }
                let i = at.index(model.len());
                let end = (i + n).min(model.len());
                match what {
                    3 | 4 => {
                        let block = SackBlock { start: model[i].0, end: model[end - 1].0 + MSS };
                        let mut news = Vec::new();
                        log.sack(block, |r| news.push(r.start));
                        let fresh = model[i..end].iter().filter(|m| m.2 & state::SACKED == 0);
                        prop_assert_eq!(news, fresh.map(|m| m.0).collect::<Vec<_>>());
                        model[i..end].iter_mut().for_each(|m| m.2 = state::SACKED);
                    }
                    5 => {
                        let mut news = 0;
                        log.acknowledge(model[i].0, |_| news += 1);
                        let fresh = model[..i].iter().filter(|m| m.2 & state::SACKED == 0);
                        prop_assert_eq!(news, fresh.count());
                        model.drain(..i);
                    }
                    6 => {
                        let number = log.find(model[i].0).unwrap();
                        log.lose(number);
                        if model[i].2 & state::SACKED == 0 {
                            model[i].2 = model[i].2 & !state::AGAIN | state::LOST;
                        }
                    }
                    7 => {
                        let Some(number) = log.next_waiting() else { continue };
                        log.sent_again(number, stamp(now), 0);
                        let start = log.get(number).start;
                        let m = model.iter_mut().find(|m| m.0 == start).unwrap();
                        (m.1, m.2) = (now, m.2 | state::AGAIN | state::EVER);
                    }
                    _ if n == 1 => {
                        log.forgive();
                        model.iter_mut().for_each(|m| m.2 &= !state::LOST);
                    }
                    _ => {
                        log.lose_below(MSS, |_| {});
                        for i in 0..model.len() {
                            let above = model[i..].iter().filter(|m| m.2 & state::SACKED != 0);
                            let settled =
                                model[i].2 & (state::SACKED | state::LOST | state::EVER) != 0;
                            let judged = log.index(log.edge) > i;
                            prop_assert!(above.count() < 3 || judged);
                            if !settled && judged && log.records[i].is(state::LOST) {
                                model[i].2 |= state::LOST;
                            }
                        }
                    }
                }
                // What `check` compares of the state.
                for (m, r) in model.iter_mut().zip(&log.records) {
                    m.2 = m.2 & !state::EVER | r.state & state::EVER;
                }
                check(&log, &model);
            }
        }
    }

    #[test]
    fn log_marks_lost_below_three_sacked_segments() {
        let mut log = Log::new();
        for n in 0..10 {
            log.sent(n * MSS, (n + 1) * MSS, stamp(u64::from(n)), 0);
        }
        let lost = |log: &mut Log| {
            let mut found = Vec::new();
            log.lose_below(MSS, |record| found.push(record.start / MSS));
            found
        };
        log.sack(SackBlock { start: 3 * MSS, end: 5 * MSS }, |_| {});
        assert_eq!(lost(&mut log), [0; 0]);
        log.sack(SackBlock { start: 6 * MSS, end: 7 * MSS }, |_| {});
        assert_eq!(lost(&mut log), [0, 1, 2]); // 5 has one above it
        assert_eq!(log.pipe(10 * MSS), 4 * MSS);
        log.sack(SackBlock { start: 7 * MSS, end: 9 * MSS }, |_| {});
        assert_eq!(lost(&mut log), [5]);
    }

    #[test]
    fn log_keeps_rest_of_partly_acked_segment() {
        let mut log = Log::new();
        log.sent(0, 10, stamp(1), 0);
        log.acknowledge(4, |r| assert_eq!(r.len(), 4));
        assert_eq!((log.pipe(6), log.get(log.find(5).unwrap()).start), (6, 4));
    }

    #[test]
    fn log_finds_segments_of_unequal_length() {
        let mut log = Log::new();
        for (start, end) in [(0, 10), (10, 13), (13, 40), (40, 50)] {
            log.sent(start, end, stamp(1), 0);
        }
        let start = |seq| log.find(seq).map(|number| log.get(number).start);
        for (seq, found) in [(0, 0), (9, 0), (10, 10), (12, 10), (13, 13), (39, 13), (40, 40)] {
            assert_eq!(start(seq), Some(found), "{seq}");
        }
        assert_eq!((start(50), Log::new().find(0)), (None, None));
    }

    /// A peer may report any bytes: only segments that have arrived whole count.
    #[test]
    fn log_leaves_out_segments_that_a_sack_block_covers_in_part() {
        let mut log = Log::new();
        for n in 0..4 {
            log.sent(n * 10, (n + 1) * 10, stamp(1), 0);
        }
        let mut arrived = Vec::new();
        log.sack(SackBlock { start: 5, end: 35 }, |r| arrived.push((r.start, r.end)));
        assert_eq!((arrived, log.sacked()), (std::vec![(10, 20), (20, 30)], 20));
    }
}
