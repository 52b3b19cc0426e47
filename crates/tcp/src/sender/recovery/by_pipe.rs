//! Sending without a log while something is lost: RFC 6675 section 5 step C.

use crate::call::Call;
use crate::context::Context;
use crate::segment::{Output, SackBlock};
use crate::sender::state::{Phase, SendState};

/// What knows how much is in the network, and what is lost.
pub(super) trait ByPipe {
    /// Bytes taken to be in the network.
    fn pipe(&self, s: &SendState, c: &Call<'_>) -> u32;

    /// What is next to be sent again of what is not acknowledged before `una`: what is lost, or, if
    /// `any`, whatever may be.
    fn next_lost(&mut self, una: u32, any: bool) -> Option<SackBlock>;

    /// A segment was sent, again up to `again` or for the first time.
    fn sent(&mut self, s: &mut SendState, c: &Call<'_>, again: Option<u32>);
}

/// Sends while less is in the network than the window allows: what is lost, then new data, then
/// what may be lost (`NextSeg` of RFC 6675 section 4). After a timeout everything that was
/// outstanding counts as lost, so this also goes back without SACK. Returns whether there is room
/// in a recovery and nothing else to send.
#[cold]
pub(super) fn transmit_by_pipe<O: Output>(
    holes: &mut dyn ByPipe,
    s: &mut SendState,
    cx: &mut Context<'_, O>,
) -> bool {
    let (mss, ect) = (cx.params.payload, cx.params.ect);
    loop {
        let pipe = holes.pipe(s, &cx.call);
        if pipe + mss > s.window.cwnd && pipe > 0 {
            return false;
        }
        let mut hole = holes.next_lost(cx.conn.snd_una, false);
        if hole.is_none() {
            let new = s.unsent.min(u64::from(mss)) as u32;
            let room = s.peer_window.saturating_sub(cx.conn.in_flight());
            if s.has_new(cx.conn) && room >= new.max(1) {
                s.send_new(cx, new, ect);
                holes.sent(s, &cx.call, None);
                continue;
            }
            if s.phase != Phase::Recovery {
                return false;
            }
            hole = holes.next_lost(cx.conn.snd_una, true);
        }
        let Some(hole) = hole else { return true };
        let end = s.retransmit(cx, hole, ect);
        holes.sent(s, &cx.call, Some(end));
    }
}
