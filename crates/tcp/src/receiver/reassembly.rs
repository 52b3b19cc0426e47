//! What the receiver holds beyond a hole, and the SACK blocks that report it.

use crate::runs::Runs;
use crate::segment::{SackBlock, before, later};

/// Blocks that every acknowledgement has room for (`TCP_SACK_BLOCKS_EXPECTED` of Linux).
const EXPECTED: usize = 2;

/// Data that arrived beyond the next byte expected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    runs: Runs,
    /// The runs that changed last, most recent first. One that is gone, as it has become part of
    /// another or has been delivered, keeps its place until blocks are written, and is empty.
    recent: [SackBlock; 4],
    /// How many of `recent` are set.
    known: u8,
    /// Where the peer's data and FIN end, once that FIN is held.
    pub fin_end: u32,
}

impl Reassembly {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds the bytes from `start` to `end`.
    pub(super) fn insert(&mut self, start: u32, end: u32) {
        let run = self.runs.insert(start, end);
        self.forget(|old| !before(old.start, run.start) && !before(run.end, old.end));
        self.touch(run);
    }

    /// Whether all bytes from `start` to `end` are held.
    pub(super) fn holds(&self, start: u32, end: u32) -> bool {
        self.runs.hold(start, end)
    }

    /// Whether the bytes from `start` to `end` belong to no run that is one of the two that changed
    /// last, and there are two.
    pub(super) fn displaces(&mut self, start: u32, end: u32) -> bool {
        let mut blocks = [SackBlock::default(); 4];
        let known = self.blocks(&mut blocks);
        let meets = |b: &SackBlock| !before(end, b.start) && !before(b.end, start);
        known >= EXPECTED && !blocks[..EXPECTED].iter().any(meets)
    }

    /// Those of the runs that changed last for which `gone` holds are there no more.
    fn forget(&mut self, gone: impl Fn(&SackBlock) -> bool) {
        for run in self.recent.iter_mut().filter(|run| gone(run)) {
            run.end = run.start;
        }
    }

    /// Notes a run as the one that changed last.
    fn touch(&mut self, run: SackBlock) {
        let known = usize::from(self.known);
        let last = self.recent[..known].iter().position(|old| old.start == run.start);
        let last = last.unwrap_or_else(|| {
            self.known = (self.known + 1).min(4);
            usize::from(self.known) - 1
        });
        self.recent.copy_within(0..last, 1);
        self.recent[0] = run;
    }

    /// The bytes before `next` have all arrived: takes out the runs they reach, and gives the next
    /// byte expected after them.
    pub(super) fn fill(&mut self, mut next: u32) -> u32 {
        while let Some(run) = self.runs.pop_reached(next) {
            next = later(next, run.end);
        }
        self.forget(|run| !before(next, run.start));
        if self.runs.is_empty() {
            self.known = 0;
        }
        next
    }

    /// Writes at most `blocks.len()` SACK blocks, the run that changed last first, and returns
    /// how many (RFC 2018 section 4).
    pub(super) fn blocks(&mut self, blocks: &mut [SackBlock]) -> usize {
        let mut written = 0;
        let mut kept = 0;
        for i in 0..usize::from(self.known) {
            let run = self.recent[i];
            if run.start != run.end {
                self.recent[kept] = run;
                kept += 1;
                if written < blocks.len() {
                    blocks[written] = run;
                    written += 1;
                }
            }
        }
        self.known = kept as u8;
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn blocks(r: &mut Reassembly) -> Vec<(u32, u32)> {
        let mut blocks = [SackBlock::default(); 3];
        let n = r.blocks(&mut blocks);
        blocks[..n].iter().map(|b| (b.start, b.end)).collect()
    }

    #[test]
    fn sack_blocks_come_most_recent_first() {
        let mut r = Reassembly::default();
        for start in [10, 30, 50, 70] {
            r.insert(start, start + 10);
        }
        assert_eq!(blocks(&mut r), [(70, 80), (50, 60), (30, 40)]);
        r.insert(40, 45);
        assert_eq!(blocks(&mut r), [(30, 45), (70, 80), (50, 60)]);
    }

    #[test]
    fn sack_blocks_merge_adjacent_runs() {
        let mut r = Reassembly::default();
        r.insert(10, 20);
        r.insert(30, 40);
        r.insert(20, 30);
        assert_eq!(blocks(&mut r), [(10, 40)]);
        assert_eq!(r.fill(10), 40);
        assert!(r.is_empty());
    }

    #[test]
    fn reassembly_fills_up_to_next_hole() {
        let mut r = Reassembly::default();
        r.insert(u32::MAX, 5);
        r.insert(20, 30);
        assert_eq!(r.fill(u32::MAX - 10), u32::MAX - 10);
        assert_eq!(r.fill(u32::MAX), 5);
        assert_eq!(blocks(&mut r), [(20, 30)]);
    }
}
