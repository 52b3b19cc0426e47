//! Recovery without selective acknowledgements: NewReno, RFC 6582.

use super::arrival::{Ack, Lost};
use super::by_pipe::ByPipe;
use crate::call::Call;
use crate::context::Context;
use crate::params::Params;
use crate::segment::{Output, SackBlock, before, later};
use crate::sender::state::{Phase, SendState};

/// Duplicate acknowledgements that mean a loss (`DupThresh`, RFC 5681 section 3.2).
pub(super) const DUP_THRESH: u8 = 3;

/// How far a sender that goes back after a timeout has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewReno {
    /// Everything before here was sent again.
    rxt: u32,
    /// Everything before here is lost: where sending had got to at the timeout.
    lost: u32,
}

/// An acknowledgement that may be a duplicate: counts it. Returns whether the count, or
/// `first_is_lost`, means a loss; if not, a new segment may follow (RFC 3042).
pub(super) fn count_duplicate(s: &mut SendState, params: &Params, first_is_lost: bool) -> bool {
    s.dupacks = s.dupacks.saturating_add(1);
    let lost = s.dupacks >= DUP_THRESH || first_is_lost;
    if params.limited_transmit && !lost {
        s.inflation = i32::from(s.dupacks) * params.payload as i32;
    }
    lost
}

impl NewReno {
    /// Everything before `una` is acknowledged.
    pub(crate) fn arrived(&mut self, una: u32) {
        self.rxt = later(self.rxt, una);
        self.lost = later(self.lost, una);
    }

    /// Whether duplicates show a loss.
    pub(crate) fn lost(&self, s: &mut SendState, params: &Params, ack: &Ack) -> Lost {
        let mut found = false;
        if ack.is_duplicate() {
            match s.phase {
                Phase::Open | Phase::Disorder => {
                    // RFC 6582 section 3.2 step 2: perhaps duplicates of what was sent again.
                    let stale = ack.segment.ack == s.recover;
                    found = count_duplicate(s, params, false) && !stale;
                }
                // RFC 5681 section 3.2 step 4: another segment has left the network.
                Phase::Recovery => s.inflation += params.payload as i32,
                Phase::Loss => {}
            }
        }
        Lost { found, ..Lost::default() }
    }

    /// Recovery begins: RFC 6582 section 3.2 step 2.
    pub(crate) fn begin<O: Output>(&self, s: &mut SendState, cx: &mut Context<'_, O>) {
        s.inflation = i32::from(DUP_THRESH) * cx.params.payload as i32;
        retransmit_first(s, cx);
    }

    /// A partial acknowledgement of `acked` bytes: RFC 6582 section 3.2 step 3. Returns whether the
    /// timer restarts: at the first one only.
    pub(crate) fn partial<O: Output>(
        &self,
        s: &mut SendState,
        cx: &mut Context<'_, O>,
        acked: u32,
    ) -> bool {
        let mss = cx.params.payload;
        retransmit_first(s, cx);
        s.inflation -= acked as i32;
        if acked >= mss {
            s.inflation += mss as i32;
        }
        s.backoff = 0;
        core::mem::take(&mut s.dupacks) != 0
    }

    /// The window after a recovery: RFC 6582 section 3.2 step 3, full acknowledgement, option 1, so
    /// that no burst follows.
    pub(crate) fn window_after(&self, s: &SendState, mss: u32, in_flight: u32) -> u32 {
        s.window.ssthresh.min(in_flight.max(mss) + mss)
    }

    /// A timeout: everything before `nxt` is lost.
    pub(crate) fn timeout(&mut self, una: u32, nxt: u32) {
        *self = Self { rxt: una, lost: nxt };
    }
}

/// After a timeout.
impl ByPipe for NewReno {
    fn pipe(&self, _: &SendState, c: &Call<'_>) -> u32 {
        c.conn.snd_nxt.wrapping_sub(self.lost) + self.rxt.wrapping_sub(c.conn.snd_una)
    }

    fn next_lost(&mut self, _una: u32, _any: bool) -> Option<SackBlock> {
        let Self { rxt: start, lost: end } = *self;
        before(start, end).then_some(SackBlock { start, end })
    }

    fn sent(&mut self, _: &mut SendState, _: &Call<'_>, again: Option<u32>) {
        self.rxt = again.unwrap_or(self.rxt);
    }
}

/// Sends the first segment that is outstanding again.
fn retransmit_first<O: Output>(s: &mut SendState, cx: &mut Context<'_, O>) {
    let whole = SackBlock { start: cx.conn.snd_una, end: cx.conn.snd_nxt };
    s.retransmit(cx, whole, cx.params.ect);
}
