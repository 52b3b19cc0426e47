//! What a receiver tells of marks, and what a sender reads of it: the latched echo of RFC 3168, the
//! exact echo of DCTCP (RFC 8257 section 3.2), and the counter of AccECN (RFC 9768).
//!
//! # Differences from the sources
//!
//! 1. AccECN without its option: the counter of three bits tells all that matters as long as
//!    acknowledgements are of a few segments. If one is of more than seven, the most that the
//!    counter may mean is taken (RFC 9768 section 3.2.2.5.2, as Linux does).
//! 2. Both ends have the same settings, so neither need fall back to what the other can do. SYNs
//!    are never ECN-capable, so their answers always tell of one that is not.
//! 3. The exact echo acknowledges at once what waited when the marks change, as DCTCP's paper has
//!    it; RFC 8257 section 3.2 acknowledges the packet that changed at once as well.
//! 4. AccECN: a second mark alone is no cause for an acknowledgement (RFC 9768 section 3.2.2.5.1),
//!    as every second segment is acknowledged anyway. Bare acknowledgements between data are not
//!    looked at for whether the packet before was marked.

use crate::endpoint::{Endpoint, bit};
use crate::params::{Feedback, Params};
use crate::segment::{Flags, Output, Segment};
use sojourn_base::{Ecn, Time};

/// The counter's field in a handshake that answers a segment without ECN (RFC 9768 tables 2
/// and 3).
pub(crate) const NOT_ECT: Flags = Flags::CWR;

/// Both counters start here (RFC 9768 section 3.2.1).
const START: u8 = 5;

/// What AccECN counts, modulo 8.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    /// Marked packets that arrived here (`r.cep`).
    arrived: u8,
    /// Marked packets that the peer has told of (`s.cep`).
    told: u8,
    /// Whether the last data were marked.
    marked: bool,
    /// The next segment answers the handshake.
    answers: bool,
}

impl Default for Counts {
    fn default() -> Self {
        Self { arrived: START, told: START, marked: false, answers: false }
    }
}

impl Counts {
    /// The field of a segment: AE, CWR, ECE from the highest bit down.
    fn field(self) -> Flags {
        if self.answers {
            return NOT_ECT;
        }
        let bit = |n: u8, flag: Flags| if self.arrived & n != 0 { flag } else { Flags::NONE };
        bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
    }

    /// The peer's field came with an acknowledgement of `packets` segments; returns how many more
    /// were marked (RFC 9768 appendix A.2).
    fn more(&mut self, flags: Flags, packets: u32) -> u32 {
        let bit = |n: u32, flag: Flags| if flags.has(flag) { n } else { 0 };
        let field = bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE);
        let more = field.wrapping_sub(u32::from(self.told)) & 7;
        self.told = field as u8;
        if packets > 7 { packets - ((packets - more) & 7) } else { more }
    }
}

impl Endpoint {
    /// The counter in the flags of a segment; none before the connection is established.
    #[inline]
    pub(crate) fn counter(&self, params: &Params) -> Flags {
        // The settings first: they are at hand, the rest of the endpoint need not be.
        if params.feedback != Feedback::Counted || self.bits & bit::ECN == 0 {
            return Flags::NONE;
        }
        self.tracked.as_ref().map_or(Flags::NONE, |t| t.counts.field())
    }

    /// Acknowledges the SYN-ACK; its field tells how that came (RFC 9768 section 3.2.2.1).
    pub(crate) fn answer_handshake(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.set_answering(true);
        self.send_ack(params, now, out);
        self.set_answering(false);
    }

    fn set_answering(&mut self, answers: bool) {
        if let Some(t) = &mut self.tracked {
            t.counts.answers = answers;
        }
    }

    /// A packet of any kind has arrived: counts its mark.
    pub(crate) fn count_mark(&mut self, params: &Params, segment: &Segment) {
        if params.feedback == Feedback::Counted
            && segment.ecn == Ecn::Ce
            && let Some(t) = &mut self.tracked
        {
            t.counts.arrived = t.counts.arrived.wrapping_add(1) & 7;
        }
    }

    /// Data are about to be accepted. Returns whether they are to be acknowledged at once for what
    /// their mark tells.
    pub(crate) fn note_marks(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        out: &mut impl Output,
    ) -> bool {
        if self.bits & bit::ECN == 0 {
            return false;
        }
        let marked = segment.ecn == Ecn::Ce;
        match params.feedback {
            Feedback::Latched => {
                // RFC 3168 section 6.1.3: CWR ends the echo of earlier marks.
                if segment.flags.has(Flags::CWR) {
                    self.bits &= !bit::ECHO;
                }
                if marked {
                    self.bits |= bit::ECHO;
                }
                false
            }
            Feedback::Exact => {
                if marked != (self.bits & bit::ECHO != 0) {
                    // RFC 8257 section 3.2: what waits is acknowledged as it came.
                    if self.ack_at != Time::MAX {
                        self.send_ack(params, now, out);
                    }
                    self.bits ^= bit::ECHO;
                }
                false
            }
            Feedback::Counted => {
                // RFC 9768 section 3.2.2.5.1: at the first mark after none.
                let Some(t) = &mut self.tracked else { return false };
                let first = marked && !t.counts.marked;
                t.counts.marked = marked;
                first
            }
        }
    }

    /// How many of the `arrived` bytes that an acknowledgement is for were marked, as it says.
    pub(crate) fn marked_bytes(&mut self, params: &Params, segment: &Segment, arrived: u32) -> u32 {
        if self.bits & bit::ECN == 0 || arrived == 0 {
            return 0;
        }
        if params.feedback == Feedback::Counted {
            let packets = arrived.div_ceil(params.payload);
            let more = self.tracked().counts.more(segment.flags, packets);
            more.saturating_mul(params.payload).min(arrived)
        } else if segment.flags.has(Flags::ECE) {
            arrived
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_wraps() {
        let (mut receiver, mut sender) = (Counts::default(), Counts::default());
        let mut told = 0;
        for n in 1..=50 {
            receiver.arrived = (receiver.arrived + 1) & 7;
            if n % 3 == 0 {
                told += sender.more(receiver.field(), 4);
            }
        }
        assert_eq!(told, 48);
    }

    /// RFC 9768 appendix A.2.1: with ten segments acknowledged, a difference of 1 may mean 9.
    #[test]
    fn an_acknowledgement_of_many_is_taken_at_its_worst() {
        let mut sender = Counts::default();
        let receiver = Counts { arrived: (START + 1) & 7, ..Counts::default() };
        assert_eq!(sender.more(receiver.field(), 10), 9);
        assert_eq!(sender.more(receiver.field(), 7), 0);
    }
}
