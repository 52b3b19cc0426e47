//! AccECN, RFC 9768: what a receiver counts of marks and what a sender reads of it, the handshake
//! that agrees on it, and the option with counts of bytes.
//!
//! A counter of marked packets, modulo 8, stands in three flags of every segment. Where
//! `accecn_option` is on, bare acknowledgements also have the option, with the bytes that came
//! ECN-capable and those that came marked, modulo 2²⁴: then losses and thinning of acknowledgements
//! leave nothing to guess.
//!
//! # Differences from the source
//!
//! 1. Of the option's three counters two are sent, eight bytes in all: that of the codepoint which
//!    the peer uses, and that of marked bytes. The third never moves, as an end uses one codepoint,
//!    and may be left out (section 3.2.3.3). The option is on bare acknowledgements only, as SACK is;
//!    with timestamps it leaves room for two blocks of SACK beside it.
//! 2. The option is not on SYN-ACKs, and a SYN that is sent again asks for the same (section
//!    3.1.4.1). The tests of the path are in `path.rs`.
//! 3. A Prague sender whose peer does not know AccECN goes without ECN: RFC 9331 section 4.1 asks for
//!    accurate feedback.

use crate::endpoint::{Endpoint, bit};
use crate::params::{Feedback, Params};
use crate::path::Path;
use crate::segment::{Flags, Output, SackBlock, Segment};
use sojourn_base::{Ecn, Time};

/// Both counters of packets start here (section 3.2.1).
const START: u8 = 5;

/// The counters of the option go up to here.
const WRAP: u32 = 1 << 24;

/// Marks on bare segments that ask for an acknowledgement, and marks on data (section 3.2.2.5.1).
const MARKS_ON_BARE: u8 = 3;
const MARKS_ON_DATA: u8 = 2;

/// What AccECN counts. Counters of packets are modulo 8, of bytes modulo 2²⁴.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counts {
    /// Marked packets that arrived here (`r.cep`).
    arrived: u8,
    /// Marked packets that the peer has told of (`s.cep`).
    told: u8,
    /// Marked packets that arrived since something was sent.
    untold: u8,
    /// Whether the last packet was marked.
    marked: bool,
    /// The next segment answers the handshake.
    answers: bool,
    /// Whether a counter of bytes has moved since the option was last sent.
    moved: bool,
    /// Bytes that arrived ECN-capable and unmarked (`r.e0b` or `r.e1b`).
    capable_bytes: u32,
    /// Bytes that arrived marked (`r.ceb`).
    marked_bytes: u32,
    /// Marked bytes that the peer has told of (`s.ceb`).
    told_bytes: u32,
    /// The same since the connection began.
    total: u64,
    /// What the path was seen to do to all that.
    path: Path,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            arrived: START,
            told: START,
            untold: 0,
            marked: false,
            answers: false,
            moved: false,
            capable_bytes: 1, // section 3.2.1
            marked_bytes: 0,
            told_bytes: 0,
            total: 0,
            path: Path::default(),
        }
    }
}

/// The flags AE, CWR, ECE, from the highest bit down, for a number below 8.
fn flags(n: u8) -> Flags {
    let bit = |value: u8, flag: Flags| if n & value != 0 { flag } else { Flags::NONE };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

/// The number in those flags.
fn number(flags: Flags) -> u8 {
    let bit = |value: u8, flag: Flags| if flags.has(flag) { value } else { 0 };
    bit(4, Flags::AE) | bit(2, Flags::CWR) | bit(1, Flags::ECE)
}

/// How a handshake tells of the ECN field of the segment that it answers (tables 2 and 3).
const fn handshake(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// Whether the answer to a handshake's segment tells that it came with another codepoint than none.
const fn arrived_capable(field: u8) -> bool {
    matches!(field, 0b011 | 0b100 | 0b110)
}

impl Counts {
    /// A packet of any kind has arrived. Returns whether its mark asks for an acknowledgement at
    /// once: data marked after a packet that was not, and every so many marks; `waiting` if what
    /// came before waits to be acknowledged (section 3.2.2.5.1).
    fn count(&mut self, segment: &Segment, waiting: bool) -> bool {
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
        self.arrived = (self.arrived + 1) & 7;
        self.untold = self.untold.saturating_add(1);
        let enough = if bytes > 0 || waiting { MARKS_ON_DATA } else { MARKS_ON_BARE };
        changed || self.untold >= enough
    }

    /// Whether the option has news.
    pub fn option_due(&self) -> bool {
        self.moved
    }

    /// The counters of the option, in place of a SACK block: bytes that came ECN-capable, and bytes
    /// that came marked.
    pub fn option(&mut self) -> SackBlock {
        self.moved = false;
        SackBlock { start: self.capable_bytes, end: self.marked_bytes }
    }

    /// An acknowledgement brings the peer's counters and delivers `bytes` in segments of `mss`.
    /// Returns how many of them were marked.
    fn told(&mut self, field: u8, option: Option<SackBlock>, bytes: u32, mss: u32) -> u32 {
        let least = u32::from(field.wrapping_sub(self.told) & 7);
        self.told = field;
        let marked = if let Some(SackBlock { end, .. }) = option {
            // Appendix A.1. Below zero where more was taken for marked than was, while no option
            // came.
            let more = end.wrapping_sub(self.told_bytes) % WRAP;
            self.told_bytes = end;
            if more >= WRAP / 2 {
                self.total = self.total.saturating_sub(u64::from(WRAP - more));
                return 0;
            }
            more
        } else {
            // Appendix A.2.1: if the counter may have gone round, the most that it may mean.
            let packets = bytes.div_ceil(mss);
            let most = if packets > 7 { packets - ((packets - least) & 7) } else { least };
            let more = most.saturating_mul(mss).min(bytes);
            self.told_bytes = (self.told_bytes + more) % WRAP;
            more
        };
        self.total += u64::from(marked);
        marked.min(bytes)
    }
}

impl Endpoint {
    /// A server has got a SYN: how are marks told of (table 2, section 3.1.3)?
    pub(crate) fn meet_setup(&mut self, params: &Params, syn: &Segment) {
        let both = Flags::ECE | Flags::CWR;
        self.opening = syn.ecn;
        match (params.feedback, number(syn.flags)) {
            _ if !params.ecn => {}
            (Feedback::Counted, 0b000) => {}
            (Feedback::Counted, 0b011) => self.fall_back(params),
            (Feedback::Counted, _) => self.bits |= bit::ECN,
            // RFC 3168 section 6.1.1.
            _ if syn.flags.has(both) => self.bits |= bit::ECN,
            _ => {}
        }
    }

    /// A client has got the answer to its SYN.
    pub(crate) fn meet_answer(&mut self, params: &Params, answer: &Segment) {
        self.opening = answer.ecn;
        match (params.feedback, number(answer.flags)) {
            _ if !params.ecn => {}
            // None, and a server that sends back what it got.
            (Feedback::Counted, 0b000 | 0b111) => {}
            (Feedback::Counted, 0b001) => self.fall_back(params),
            (Feedback::Counted, _) => self.bits |= bit::ECN,
            _ if answer.flags.has(Flags::ECE) && !answer.flags.has(Flags::CWR) => {
                self.bits |= bit::ECN;
            }
            _ => {}
        }
    }

    /// The peer knows RFC 3168 only.
    fn fall_back(&mut self, params: &Params) {
        if params.ect != Ecn::Ect1 {
            self.feedback = Feedback::Latched;
            self.bits |= bit::ECN;
        }
    }

    /// The flags of a SYN-ACK.
    pub(crate) fn setup_answer(&self) -> Flags {
        match self.feedback {
            _ if self.bits & bit::ECN == 0 => Flags::NONE,
            Feedback::Counted => flags(handshake(self.opening)),
            Feedback::Latched | Feedback::Exact => Flags::ECE,
        }
    }

    /// Acknowledges the SYN-ACK; its field tells how that came (section 3.2.2.1), which a marked one
    /// is counted beside.
    pub(crate) fn answer_handshake(
        &mut self,
        params: &Params,
        now: Time,
        answer: &Segment,
        out: &mut impl Output,
    ) {
        let marked = self.opening == Ecn::Ce;
        if let Some(t) = &mut self.tracked {
            t.counts.arrived = START + u8::from(marked);
            t.counts.path.arrived_capable(arrived_capable(number(answer.flags)));
        }
        self.answer_again(params, now, out);
    }

    fn answers(&mut self, answers: bool) {
        if let Some(t) = &mut self.tracked {
            t.counts.answers = answers;
        }
    }

    /// The SYN-ACK has come again: its acknowledgement was lost.
    pub(crate) fn answer_again(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.answers(true);
        self.send_ack(params, now, out);
        self.answers(false);
    }

    /// The handshake is acknowledged: how did the SYN-ACK come (table 4)?
    pub(crate) fn handshake_answered(&mut self, segment: &Segment) {
        let bare = segment.len == 0 && segment.sacks == 0;
        let field = number(segment.flags);
        if let Some(t) = &mut self.tracked
            && self.feedback == Feedback::Counted
            && bare
        {
            t.counts.told = START + u8::from(field == handshake(Ecn::Ce));
            t.counts.path.arrived_capable(arrived_capable(field));
            t.counts.path.answered(field);
        }
    }

    /// The codepoint of what is sent ECN-capable, unless the path is not to be trusted with it.
    #[inline]
    pub(crate) fn codepoint(&self, params: &Params) -> Ecn {
        let trusted = self.feedback != Feedback::Counted
            || self.tracked.as_ref().is_none_or(|t| t.counts.path.is_trusted());
        if trusted { params.ect } else { Ecn::NotEct }
    }

    /// The counter in the flags of a segment that goes out; none before the connection is
    /// established.
    #[inline]
    pub(crate) fn counter(&mut self, params: &Params) -> Flags {
        // The settings first: they are at hand, the rest of the endpoint need not be.
        if params.feedback != Feedback::Counted || self.bits & bit::ECN == 0 {
            return Flags::NONE;
        }
        self.own_counter()
    }

    fn own_counter(&mut self) -> Flags {
        let opening = self.opening;
        match &mut self.tracked {
            Some(t) if self.feedback == Feedback::Counted => {
                t.counts.untold = 0;
                flags(if t.counts.answers { handshake(opening) } else { t.counts.arrived })
            }
            _ => Flags::NONE,
        }
    }

    /// A packet of any kind has arrived: counts its mark. Returns whether it asks for an
    /// acknowledgement at once.
    pub(crate) fn count_mark(&mut self, segment: &Segment) -> bool {
        let waiting = self.rcv_nxt != self.ack_sent;
        match &mut self.tracked {
            Some(t) if self.feedback == Feedback::Counted => {
                t.counts.path.next();
                t.counts.count(segment, waiting)
            }
            _ => false,
        }
    }

    /// Tests the counter and the option of a segment that has come; returns the option, unless it is
    /// to be passed over.
    pub(crate) fn test_path(
        &mut self,
        segment: &Segment,
        option: Option<SackBlock>,
    ) -> Option<SackBlock> {
        let agreed = self.feedback == Feedback::Counted && self.bits & bit::ECN != 0;
        match &mut self.tracked {
            Some(t) if agreed => t.counts.path.test(number(segment.flags), option),
            _ => option,
        }
    }

    /// How many of the `arrived` bytes that an acknowledgement is for were marked, by the peer's
    /// counters.
    pub(crate) fn counted_bytes(
        &mut self,
        params: &Params,
        segment: &Segment,
        option: Option<SackBlock>,
        arrived: u32,
    ) -> u32 {
        let counts = &mut self.tracked().counts;
        if !counts.path.tells_marks() {
            return 0;
        }
        counts.told(number(segment.flags), option, arrived, params.payload)
    }

    /// Bytes that the peer has told of as marked, by AccECN; 0 without.
    #[must_use]
    pub fn bytes_marked(&self) -> u64 {
        self.tracked.as_ref().map_or(0, |t| t.counts.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::{Kind, Stream};

    const MSS: u32 = 1000;

    fn packet(marked: bool) -> Segment {
        let ecn = if marked { Ecn::Ce } else { Ecn::Ect0 };
        Segment { len: MSS as u16, ecn, ..Segment::EMPTY }
    }

    #[test]
    fn the_counter_wraps() {
        let (mut receiver, mut sender) = (Counts::default(), Counts::default());
        let mut told = 0;
        for n in 1..=50 {
            receiver.count(&packet(true), false);
            if n % 3 == 0 {
                told += sender.told(receiver.arrived, None, 4 * MSS, MSS);
            }
        }
        assert_eq!(told, 48 * MSS);
    }

    /// Appendix A.2.1: with ten segments acknowledged, a difference of 1 may mean 9.
    #[test]
    fn without_the_option_an_acknowledgement_of_many_is_taken_at_its_worst() {
        let mut sender = Counts::default();
        assert_eq!(sender.told((START + 1) & 7, None, 10 * MSS, MSS), 9 * MSS);
        assert_eq!(sender.told((START + 1) & 7, None, 7 * MSS, MSS), 0);
    }

    #[test]
    fn with_the_option_nothing_is_guessed_however_few_acknowledgements_come() {
        let mut coin = Stream::new(1, Kind::Test, 0, 0);
        let (mut receiver, mut sender) = (Counts::default(), Counts::default());
        let (mut marked, mut told, mut waiting) = (0u64, 0u64, 0);
        // 40 MB: the counter of bytes goes round.
        for _ in 0..40_000 {
            let ce = coin.below(3) == 0;
            marked += u64::from(ce) * u64::from(MSS);
            receiver.count(&packet(ce), false);
            waiting += MSS;
            // One in 60 gets through.
            if coin.below(60) == 0 {
                let option = receiver.option();
                told += u64::from(sender.told(receiver.arrived, Some(option), waiting, MSS));
                waiting = 0;
            }
        }
        let option = receiver.option();
        told += u64::from(sender.told(receiver.arrived, Some(option), waiting, MSS));
        assert!(marked > u64::from(WRAP / 2));
        assert_eq!((told, sender.total), (marked, marked));
    }

    #[test]
    fn the_option_takes_back_what_was_guessed_without_it() {
        let (mut receiver, mut sender) = (Counts::default(), Counts::default());
        for n in 0..10 {
            receiver.count(&packet(n == 0), false);
        }
        assert_eq!(sender.told(receiver.arrived, None, 10 * MSS, MSS), 9 * MSS);
        for n in 0..10 {
            receiver.count(&packet(n < 9), false);
        }
        let option = Some(receiver.option());
        assert_eq!(sender.told(receiver.arrived, option, 10 * MSS, MSS), MSS);
    }

    #[test]
    fn every_third_mark_on_bare_segments_asks_for_an_acknowledgement() {
        let mut counts = Counts::default();
        let bare = Segment { ecn: Ecn::Ce, ..Segment::EMPTY };
        let asks: [bool; 3] = core::array::from_fn(|_| counts.count(&bare, false));
        assert_eq!(asks, [false, false, true]);
        assert!(!counts.option_due(), "no bytes");
    }
}
