//! Recovery with selective acknowledgements and a scoreboard: RFC 6675.

use super::arrival::{Ack, Arrived, Lost};
use super::by_pipe::ByPipe;
use super::newreno::{DUP_THRESH, count_duplicate};
use super::scoreboard::Scoreboard;
use crate::call::Call;
use crate::context::Context;
use crate::params::Params;
use crate::segment::{Output, SackBlock};
use crate::sender::state::{Phase, SendState};
use alloc::boxed::Box;

/// The scoreboard, made at the first loss.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sack(Option<Box<Scoreboard>>);

/// Whether what is in the network is what was sent less what arrived: "Simulation-based
/// comparisons of Tahoe, Reno, and SACK TCP", Fall and Floyd, 1996, section 3.
fn counts_arrivals(s: &SendState, params: &Params) -> bool {
    params.simple_pipe && s.phase == Phase::Recovery
}

impl Sack {
    fn board(&mut self, una: u32) -> &mut Scoreboard {
        self.0.get_or_insert_with(|| {
            let mut board = Box::<Scoreboard>::default();
            board.reset(una);
            board
        })
    }

    /// Whether any data are selectively acknowledged.
    pub(crate) fn any_sacked(&self) -> bool {
        self.0.as_ref().is_some_and(|board| board.any())
    }

    /// Enters the SACK blocks that make sense and what is acknowledged before `ack`.
    pub(crate) fn arrived(
        &mut self,
        s: &mut SendState,
        c: &Call<'_>,
        ack: u32,
        sacks: &[SackBlock],
    ) -> Arrived {
        let (una, flight) = (c.conn.snd_una, c.conn.in_flight());
        let mut bytes = 0;
        if let Some(board) = &mut self.0
            && s.phase < Phase::Recovery
            && !board.any()
        {
            // What it holds may be of long ago: acknowledgements in order do not come by here.
            board.reset(una);
        }
        for block in sacks {
            let start = block.start.wrapping_sub(una);
            let end = block.end.wrapping_sub(una);
            // Blocks below what is acknowledged, or beyond what was sent, are passed over.
            if start < end && end <= flight {
                bytes += self.board(una).sack(*block);
            }
        }
        let acked = ack != una;
        if let Some(board) = &mut self.0 {
            if acked {
                board.acknowledge(ack);
            }
            if acked || bytes > 0 {
                board.update(c.params.payload);
            }
        }
        if counts_arrivals(s, c.params) {
            // A segment has arrived; at a partial acknowledgement the one that was sent again too,
            // which was counted twice.
            let segments = if acked { 2 } else { 1 };
            s.inflation = (s.inflation - segments * c.params.payload as i32).max(0);
        }
        Arrived { bytes, ..Arrived::default() }
    }

    /// Whether duplicates or the scoreboard show a loss.
    pub(crate) fn lost(&self, s: &mut SendState, params: &Params, ack: &Ack) -> Lost {
        let mut found = false;
        if ack.is_duplicate() && ack.arrived.bytes > 0 && s.phase <= Phase::Disorder {
            let first = self.0.as_ref().is_some_and(|board| board.first_is_lost(ack.segment.ack));
            found = count_duplicate(s, params, first);
        }
        Lost { found, ..Lost::default() }
    }

    /// Recovery begins: RFC 6675 section 5 step 4.
    pub(crate) fn begin<O: Output>(&mut self, s: &mut SendState, cx: &mut Context<'_, O>) {
        let (una, nxt) = (cx.conn.snd_una, cx.conn.snd_nxt);
        // Read with `simple_pipe` only: as many have arrived as there were duplicates.
        let arrived = u32::from(DUP_THRESH) * cx.params.payload;
        s.inflation = cx.conn.in_flight().saturating_sub(arrived) as i32;
        let board = self.board(una);
        board.restart(una);
        let hole = board.next_hole(true).unwrap_or(SackBlock { start: una, end: nxt });
        let end = s.retransmit(cx, hole, cx.params.ect);
        board.sent_again(end);
        if !cx.params.early_rescue {
            board.hold_rescue(end);
        }
    }

    /// A timeout: everything that has not arrived is lost.
    pub(crate) fn timeout(&mut self, una: u32, nxt: u32) {
        self.board(una).lose_all(una, nxt);
    }

    /// Sends the last of what is outstanding again, once in a recovery: without it the loss of the
    /// end of a transfer, or of what was sent in recovery, needs the timer (`NextSeg` rule 4).
    pub(super) fn rescue<O: Output>(&mut self, s: &mut SendState, cx: &mut Context<'_, O>) {
        let (una, nxt) = (cx.conn.snd_una, cx.conn.snd_nxt);
        if let Some(block) = self.board(una).rescue(una, nxt, s.recover, cx.params.payload) {
            s.retransmit(cx, block, cx.params.ect);
        }
    }
}

impl ByPipe for Sack {
    fn pipe(&self, s: &SendState, c: &Call<'_>) -> u32 {
        match &self.0 {
            _ if counts_arrivals(s, c.params) => s.inflation as u32,
            Some(board) => board.pipe(c.conn.snd_una, c.conn.snd_nxt),
            None => c.conn.in_flight(),
        }
    }

    fn next_lost(&mut self, una: u32, any: bool) -> Option<SackBlock> {
        self.board(una).next_hole(any)
    }

    fn sent(&mut self, s: &mut SendState, c: &Call<'_>, again: Option<u32>) {
        if let (Some(end), Some(board)) = (again, &mut self.0) {
            board.sent_again(end);
        }
        if counts_arrivals(s, c.params) {
            s.inflation += c.params.payload as i32;
        }
    }
}
