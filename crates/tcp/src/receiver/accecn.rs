//! AccECN, RFC 9768: what a receiver counts of marks, in packets and in bytes.
//!
//! A counter of marked packets, modulo 8, is in three flags of every segment. With `accecn_option`
//! bare acknowledgements also have the option, with the bytes that came ECN-capable and those that
//! came marked, modulo 2²⁴: then losses and thinning of acknowledgements leave nothing to guess.
//!
//! # Differences from the source
//!
//! 1. Of the option's three counters two are sent, eight bytes in all: that of the codepoint which
//!    the peer uses, and that of marked bytes. The third never moves, as an end uses one codepoint,
//!    and may be left out (section 3.2.3.3). The option is on bare acknowledgements only, as SACK
//!    is; with timestamps it leaves room for two blocks of SACK beside it.
//! 2. The option is not on SYN-ACKs, and a SYN that is sent again asks for the same (section
//!    3.1.4.1).

use crate::ecn::{self, FIRST_COUNT, WRAP};
use crate::segment::{Flags, SackBlock, Segment};
use sojourn_base::Ecn;

/// Marks on bare segments that ask for an acknowledgement, and marks on data (section 3.2.2.5.1).
const MARKS_ON_BARE: u8 = 3;
const MARKS_ON_DATA: u8 = 2;

/// What has arrived here. Counters of packets are modulo 8, of bytes modulo 2²⁴.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkCounters {
    /// Marked packets (`r.cep`).
    packets: u8,
    /// Marked packets that arrived since something was sent.
    untold: u8,
    /// Whether the last packet was marked.
    marked: bool,
    /// What the next segment reports of the handshake, if it does.
    handshake: Option<Ecn>,
    /// Whether a counter of bytes has moved since the option was last sent.
    moved: bool,
    /// Bytes that arrived ECN-capable and unmarked (`r.e0b` or `r.e1b`).
    capable_bytes: u32,
    /// Bytes that arrived marked (`r.ceb`).
    marked_bytes: u32,
}

impl Default for MarkCounters {
    fn default() -> Self {
        Self {
            packets: FIRST_COUNT,
            untold: 0,
            marked: false,
            handshake: None,
            moved: false,
            capable_bytes: 1, // section 3.2.1
            marked_bytes: 0,
        }
    }
}

impl MarkCounters {
    /// The answer to the SYN has come, `marked` or not.
    pub(crate) fn begin(&mut self, marked: bool) {
        self.packets = FIRST_COUNT + u8::from(marked);
    }

    /// Whether what is sent reports how the handshake's segment arrived.
    pub(crate) fn report_handshake(&mut self, arrived: Option<Ecn>) {
        self.handshake = arrived;
    }

    /// The flags of a segment that goes out.
    pub(crate) fn tell(&mut self) -> Flags {
        self.untold = 0;
        ecn::flags(self.handshake.map_or(self.packets, ecn::handshake))
    }

    /// A packet of any kind has arrived. Returns whether its mark asks for an acknowledgement at
    /// once: data marked after a packet that was not, and every so many marks; `waiting` if what
    /// came before waits to be acknowledged (section 3.2.2.5.1).
    pub(crate) fn count(&mut self, segment: &Segment, waiting: bool) -> bool {
        let (marked, bytes) = (segment.ecn == Ecn::Ce, u32::from(segment.len));
        let changed = marked && !self.marked && bytes > 0;
        self.marked = marked;
        if segment.ecn.capable() && bytes > 0 {
            let counter = if marked { &mut self.marked_bytes } else { &mut self.capable_bytes };
            *counter = (*counter + bytes) % WRAP;
            self.moved = true;
        }
        if !marked {
            return false;
        }
        self.packets = (self.packets + 1) & 7;
        self.untold = self.untold.saturating_add(1);
        let enough = if bytes > 0 || waiting { MARKS_ON_DATA } else { MARKS_ON_BARE };
        changed || self.untold >= enough
    }

    /// Whether the option has news.
    pub(crate) fn moved(&self) -> bool {
        self.moved
    }

    /// The counters of the option, in place of a SACK block: bytes that came ECN-capable, and bytes
    /// that came marked.
    pub(crate) fn option(&mut self) -> SackBlock {
        self.moved = false;
        SackBlock { start: self.capable_bytes, end: self.marked_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mark_counter_asks_for_ack_on_every_third_mark_on_bare_acks() {
        let mut counters = MarkCounters::default();
        let bare = Segment { ecn: Ecn::Ce, ..Segment::EMPTY };
        let asks: [bool; 3] = core::array::from_fn(|_| counters.count(&bare, false));
        assert_eq!(asks, [false, false, true]);
        assert!(!counters.moved(), "no bytes");
    }
}
