//! The echo of marks: the latched one of RFC 3168, the exact one of DCTCP (RFC 8257 section 3.2).
//! The counters of AccECN are in `accecn.rs`.

use crate::endpoint::{Endpoint, bit};
use crate::params::{Feedback, Params};
use crate::segment::{Flags, Output, SackBlock, Segment};
use sojourn_base::{Ecn, Time};

impl Endpoint {
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
        match self.feedback {
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
                let changed = marked != (self.bits & bit::ECHO != 0);
                if changed {
                    // RFC 8257 section 3.2: two acknowledgements, one for what waits, as it came,
                    // and one at once for the packet that changed.
                    if self.ack_at != Time::MAX {
                        self.send_ack(params, now, out);
                    }
                    self.bits ^= bit::ECHO;
                }
                changed
            }
            Feedback::Counted => false,
        }
    }

    /// How many of the `arrived` bytes that an acknowledgement is for were marked, as it says.
    pub(crate) fn marked_bytes(
        &mut self,
        params: &Params,
        segment: &Segment,
        option: Option<SackBlock>,
        arrived: u32,
    ) -> u32 {
        if self.bits & bit::ECN == 0 || arrived == 0 {
            return 0;
        }
        if self.feedback == Feedback::Counted {
            return self.counted_bytes(params, segment, option, arrived);
        }
        if segment.flags.has(Flags::ECE) { arrived } else { 0 }
    }
}
