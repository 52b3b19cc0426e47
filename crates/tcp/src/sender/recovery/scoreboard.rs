//! What the sender knows of the data between what is acknowledged and what it has sent: the
//! scoreboard of RFC 6675, with running sums so that `pipe` costs the same at any window.
//!
//! Without SACK no runs are ever entered; the retransmission pointer and the lost range then
//! describe a sender that goes back after a timeout.

use crate::runs::Runs;
use crate::segment::{SackBlock, before, later};

/// Selectively acknowledged data, what is taken for lost, and what was sent again.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    runs: Runs,
    /// Bytes in runs.
    sacked: u32,
    /// Of these, bytes before `rxt`.
    sacked_before_rxt: u32,
    /// Of these, bytes at or after `edge`.
    sacked_after_edge: u32,
    /// What is not in runs before here is lost (`IsLost` of RFC 6675 section 4).
    edge: u32,
    /// Everything before here that is not in runs is lost whatever the runs say: where sending
    /// had got to at a timeout. Never before what is acknowledged.
    floor: u32,
    /// Everything before here that needed it was sent again (`HighRxt` plus one).
    rxt: u32,
    /// No rescue retransmission before everything up to here is acknowledged (`RescueRxt`).
    rescued: u32,
}

impl Scoreboard {
    /// Nothing is known, and nothing was sent again, beyond `una`.
    pub(super) fn reset(&mut self, una: u32) {
        self.runs.clear();
        (self.sacked, self.sacked_before_rxt, self.sacked_after_edge) = (0, 0, 0);
        (self.edge, self.floor, self.rxt) = (una, una, una);
        self.rescued = una;
    }

    /// Retransmission starts afresh: nothing beyond `una` counts as sent again.
    pub(super) fn restart(&mut self, una: u32) {
        self.rxt = una;
        self.sacked_before_rxt = 0;
    }

    /// Everything sent before `end` that is not in runs is lost, and nothing was sent again.
    pub(super) fn lose_all(&mut self, una: u32, end: u32) {
        self.restart(una);
        (self.floor, self.edge) = (end, end);
        self.sacked_after_edge = 0; // no run reaches beyond what was sent
    }

    /// Whether any data are selectively acknowledged.
    #[inline]
    pub(super) fn any(&self) -> bool {
        self.sacked != 0
    }

    /// Enters a SACK block; returns how many of its bytes are news.
    pub(super) fn sack(&mut self, block: SackBlock) -> u32 {
        let SackBlock { start, end } = block;
        if self.runs.hold(start, end) {
            return 0; // as the last acknowledgement reported already, mostly
        }
        let news = end.wrapping_sub(start) - self.runs.covered(start, end);
        if before(start, self.rxt) {
            let end = if before(self.rxt, end) { self.rxt } else { end };
            self.sacked_before_rxt += end.wrapping_sub(start) - self.runs.covered(start, end);
        }
        self.runs.insert(start, end);
        self.sacked += news;
        news
    }

    /// Everything before `una` is acknowledged.
    pub(super) fn acknowledge(&mut self, una: u32) {
        let removed = self.runs.remove_before(una);
        self.sacked -= removed;
        if before(self.rxt, una) {
            self.rxt = una;
            self.sacked_before_rxt = 0;
        } else {
            self.sacked_before_rxt -= removed;
        }
        self.floor = later(self.floor, una);
        self.rescued = later(self.rescued, una);
    }

    /// Works out again what is lost: what is below three runs, or below more than two segments'
    /// worth of them (RFC 6675 section 4, `IsLost`). Looks at the three highest runs at most.
    pub(super) fn update(&mut self, mss: u32) {
        let mut bytes = 0;
        for (i, run) in self.runs.descending().enumerate() {
            if !before(self.floor, run.start) {
                if before(self.floor, run.end) {
                    bytes += run.end.wrapping_sub(self.floor);
                }
                break;
            }
            bytes += run.end.wrapping_sub(run.start);
            if i == 2 || bytes > 2 * mss {
                self.edge = run.start;
                self.sacked_after_edge = bytes;
                return;
            }
        }
        self.edge = self.floor;
        self.sacked_after_edge = bytes;
    }

    /// Bytes taken to be in the network (`pipe` of RFC 6675 section 4), with everything from `una`
    /// to `nxt` outstanding: what is not lost, and what was sent again.
    #[inline]
    pub(super) fn pipe(&self, una: u32, nxt: u32) -> u32 {
        nxt.wrapping_sub(self.edge) - self.sacked_after_edge + self.rxt.wrapping_sub(una)
            - self.sacked_before_rxt
    }

    /// Whether the byte at `una` is lost.
    #[inline]
    pub(super) fn first_is_lost(&self, una: u32) -> bool {
        before(una, self.edge)
    }

    /// The next hole to send again: lost data (`NextSeg` rule 1), or, if `any`, whatever is
    /// below the highest run (rule 3).
    pub(super) fn next_hole(&self, any: bool) -> Option<SackBlock> {
        let mut start = self.rxt;
        let mut at = self.runs.after(start);
        let mut run = self.runs.get(at);
        if let Some(r) = run
            && !before(start, r.start)
        {
            start = r.end;
            at += 1;
            run = self.runs.get(at);
        }
        let end = match run {
            Some(r) if any || !before(self.edge, r.start) => r.start,
            _ => self.edge,
        };
        before(start, end).then_some(SackBlock { start, end })
    }

    /// The data before `end` were sent again.
    pub(super) fn sent_again(&mut self, end: u32) {
        self.sacked_before_rxt += self.runs.covered(self.rxt, end);
        self.rxt = end;
    }

    /// Recovery begins and has sent again what ends at `end`: no rescue before something beyond it
    /// is acknowledged (RFC 6675 section 5 step 4.3).
    pub(super) fn hold_rescue(&mut self, end: u32) {
        self.rescued = end.wrapping_add(1);
    }

    /// The last of what is outstanding and not in runs, of at most `mss` bytes, for the rescue
    /// retransmission (`NextSeg` rule 4): once until `recover` is acknowledged. `None` if the last
    /// byte sent has arrived.
    pub(super) fn rescue(
        &mut self,
        una: u32,
        nxt: u32,
        recover: u32,
        mss: u32,
    ) -> Option<SackBlock> {
        let top = self.runs.descending().next().map_or(una, |run| later(una, run.end));
        if before(una, self.rescued) || !before(top, nxt) {
            return None;
        }
        self.rescued = recover;
        let start = nxt.wrapping_sub(mss);
        Some(SackBlock { start: if before(start, top) { top } else { start }, end: nxt })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const MSS: u32 = 3;

    /// The definitions of RFC 6675 section 4, byte by byte.
    #[derive(Default)]
    struct Model {
        sacked: Vec<bool>,
        una: u32,
        floor: u32,
        rxt: u32,
    }

    impl Model {
        fn lost(&self, byte: u32) -> bool {
            let above = &self.sacked[byte as usize..];
            let bytes = above.iter().filter(|&&b| b).count() as u32;
            let runs = above.windows(2).filter(|w| !w[0] && w[1]).count();
            byte < self.floor || runs >= 3 || bytes > 2 * MSS
        }

        fn holes(&self) -> impl Iterator<Item = u32> {
            (self.una..self.sacked.len() as u32).filter(|&b| !self.sacked[b as usize])
        }

        fn pipe(&self) -> u32 {
            self.holes().map(|b| u32::from(!self.lost(b)) + u32::from(b < self.rxt)).sum()
        }
    }

    proptest! {
        #[test]
        fn scoreboard_pipe_and_holes_match_definition(
            base in prop_oneof![Just(0u32), Just(u32::MAX - 40)],
            ops in prop::collection::vec((0u8..12, 0u32..60, 1u32..12), 1..80),
        ) {
            let at = |n: u32| base.wrapping_add(n);
            let mut board = Scoreboard::default();
            board.reset(base);
            let mut model = Model { sacked: std::vec![false; 60], ..Model::default() };
            for (what, a, n) in ops {
                let nxt = model.sacked.len() as u32;
                let a = model.una + a % (nxt - model.una);
                let end = (a + n).min(nxt);
                match what {
                    0 => model.sacked.resize(nxt as usize + n as usize, false),
                    1 => {
                        board.acknowledge(at(a));
                        model.una = a;
                        model.floor = model.floor.max(a);
                        model.rxt = model.rxt.max(a);
                    }
                    2 => {
                        board.lose_all(at(model.una), at(nxt));
                        (model.floor, model.rxt) = (nxt, model.una);
                    }
                    3 => {
                        board.restart(at(model.una));
                        model.rxt = model.una;
                    }
                    4..8 => {
                        if let Some(hole) = board.next_hole(what == 4) {
                            let end = hole.end.wrapping_sub(base);
                            board.sent_again(hole.end);
                            model.rxt = end;
                        }
                    }
                    _ => {
                        board.sack(SackBlock { start: at(a), end: at(end) });
                        model.sacked[a as usize..end as usize].fill(true);
                    }
                }
                board.update(MSS);
                let nxt = model.sacked.len() as u32;
                prop_assert_eq!(board.pipe(at(model.una), at(nxt)), model.pipe());
                let next = model.holes().find(|&b| b >= model.rxt && model.lost(b));
                let found = board.next_hole(false).map(|hole| hole.start.wrapping_sub(base));
                prop_assert_eq!(found, next);
                // A receiver never acknowledges up to a byte that it holds.
                if model.holes().next() == Some(model.una) {
                    let first = model.lost(model.una);
                    prop_assert_eq!(board.first_is_lost(at(model.una)), first);
                }
            }
        }
    }
}
