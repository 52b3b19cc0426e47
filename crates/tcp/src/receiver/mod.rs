//! Receiving: data in order and out of order, delayed acknowledgements, the echo of marks.

pub(crate) mod accecn;
mod rcvbuf;
mod reassembly;
mod sack_compression;

use crate::call::Call;
use crate::connection::{Connection, bit};
use crate::ecn::Feedback;
use crate::params::Params;
use crate::segment::{Event, Flags, Output, SackBlock, Segment, before};
use accecn::MarkCounters;
use alloc::boxed::Box;
use rcvbuf::RcvBuf;
use reassembly::Reassembly;
use sack_compression::Compression;
use sojourn_base::{Ecn, Time};

/// What is owed for a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// Nothing, or an acknowledgement that may wait.
    Later,
    /// An acknowledgement at once.
    Now,
}

/// The receiving half of an endpoint.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Receiver {
    /// Bytes given to the application.
    delivered: u64,
    /// Made with the connection where settings need it, else with the first hole.
    rest: Option<Box<Rest>>,
}

/// What a receiver of data in order without further options does without.
#[derive(Clone, Debug)]
struct Rest {
    reassembly: Reassembly,
    rcvbuf: RcvBuf,
    compression: Compression,
    counters: MarkCounters,
    /// Data that came twice and are yet to be reported (RFC 2883).
    duplicate: Option<SackBlock>,
    /// Segments to be acknowledged at once since a mark came.
    quick: u8,
}

/// Segments that are acknowledged at once when a mark comes (`tcp_enter_quickack_mode` of Linux).
const QUICK: u8 = 2;

impl Rest {
    fn new(c: &Call<'_>) -> Box<Self> {
        Box::new(Self {
            reassembly: Reassembly::default(),
            rcvbuf: RcvBuf::new(c),
            compression: Compression::default(),
            counters: MarkCounters::default(),
            duplicate: None,
            quick: 0,
        })
    }
}

impl Receiver {
    /// The connection is established.
    pub(crate) fn establish(&mut self, c: &Call<'_>) {
        if c.params.keeps_log {
            self.rest = Some(Rest::new(c));
        }
    }

    /// No memory from now on.
    pub(crate) fn finish(&mut self) {
        self.rest = None;
    }

    /// Bytes given to the application.
    #[inline]
    pub(crate) fn bytes_delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether nothing is held beyond a hole.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        match &self.rest {
            None => true,
            Some(rest) => rest.reassembly.is_empty(),
        }
    }

    /// Whether the next acknowledgement has to report data that came twice.
    #[inline]
    pub(crate) fn saw_duplicate(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.duplicate.is_some())
    }

    /// Whether an acknowledgement carries SACK blocks.
    #[inline]
    pub(crate) fn has_sacks(&self, params: &Params) -> bool {
        params.sack && (!self.is_in_order() || params.dsack && self.saw_duplicate())
    }

    /// Writes the SACK blocks of an acknowledgement, and returns how many.
    pub(crate) fn sack_blocks(&mut self, blocks: &mut [SackBlock]) -> usize {
        let Some(rest) = &mut self.rest else { return 0 };
        let mut count = 0;
        if let Some(duplicate) = rest.duplicate.take() {
            // RFC 2883 section 4: first, once, before the run that contains it.
            (blocks[0], count) = (duplicate, 1);
        }
        count + rest.reassembly.blocks(&mut blocks[count..])
    }

    /// The receive window as a segment tells it.
    #[inline]
    pub(crate) fn window_field(&self, params: &Params) -> u16 {
        match &self.rest {
            Some(rest) if params.autotune => (rest.rcvbuf.window() >> params.window_scale) as u16,
            _ => params.window_field,
        }
    }

    /// The next data in order, and nothing else: the usual way. `srtt` is the sender's smoothed
    /// round trip. Returns whether to acknowledge at once.
    #[inline(always)]
    pub(crate) fn expected_data(
        &mut self,
        c: &mut Call<'_>,
        segment: &Segment,
        srtt: Time,
        out: &mut impl Output,
    ) -> bool {
        let len = u32::from(segment.len);
        if c.params.timestamps && c.conn.ack_sent == c.conn.rcv_nxt {
            c.conn.ts_recent = segment.tsval;
        }
        c.conn.rcv_nxt = c.conn.rcv_nxt.wrapping_add(len);
        self.delivered += u64::from(len);
        out.deliver(len);
        let grows = c.params.autotune && self.adjust_window(&c.again(), segment, srtt);
        grows || self.reply_in_order(c) == Reply::Now
    }

    /// Data have arrived in order. An acknowledgement is owed at once for every second full
    /// segment, and may wait for less (RFC 5681 section 4.2), but not at the beginning of a
    /// connection, where the sender's window is small (`tcp_incr_quickack` of Linux).
    #[inline(always)]
    fn reply_in_order(&self, c: &mut Call<'_>) -> Reply {
        let second = c.conn.rcv_nxt.wrapping_sub(c.conn.ack_sent) > c.params.payload;
        if second || !c.params.delayed_ack || self.delivered <= c.params.quick_bytes {
            return Reply::Now;
        }
        if !c.conn.ack_is_delayed() {
            c.conn.ack_at = c.now + c.params.delayed_ack_time;
        }
        Reply::Later
    }

    /// A bare acknowledgement brings its time to be echoed too (RFC 7323 section 4.3), or a
    /// receiver to which data alone come would see no round trip.
    pub(crate) fn on_bare(&self, c: &mut Call<'_>, segment: &Segment) {
        let (next, told) = (c.conn.rcv_nxt, c.conn.ack_sent);
        if c.params.autotune && c.params.timestamps && segment.seq == next && told == next {
            c.conn.ts_recent = segment.tsval;
        }
    }

    /// Whether the acknowledgement that is delayed must go out before a segment is received:
    /// because the marks change that it echoes, or because the segment displaces a SACK block that
    /// it has not reported (`tcp_sack_compress_send_ack`).
    pub(crate) fn must_acknowledge_first(&mut self, c: &Call<'_>, segment: &Segment) -> bool {
        let end = segment.seq.wrapping_add(segment.span());
        if segment.span() == 0 || !c.conn.ack_is_delayed() || !is_acceptable(c, end) {
            return false;
        }
        if exact_echo_changes(c.conn, segment) {
            return true;
        }
        before(c.conn.rcv_nxt, segment.seq)
            && self.rest.as_mut().is_some_and(|rest| {
                rest.compression.is_waiting() && rest.reassembly.displaces(segment.seq, end)
            })
    }

    /// The general case of a segment with data or a FIN. `srtt` is the sender's smoothed round
    /// trip.
    pub(crate) fn receive(
        &mut self,
        c: &mut Call<'_>,
        segment: &Segment,
        srtt: Time,
        out: &mut impl Output,
    ) -> Reply {
        let span = segment.span();
        if span == 0 {
            return Reply::Later;
        }
        let end = segment.seq.wrapping_add(span);
        if !is_acceptable(c, end) {
            if !before(c.conn.rcv_nxt, end) {
                self.note_duplicate(c.params, segment.seq, end);
            }
            return Reply::Now;
        }
        let echoed = c.conn.has(bit::ECHO);
        let mark_changed = echo_marks(c.conn, segment) || self.quickens(c, segment, echoed);
        // RFC 7323 section 4.3, with the condition of RFC 1323 section 3.4.
        if c.params.timestamps
            && !before(c.conn.ack_sent, segment.seq)
            && before(c.conn.ack_sent, end)
        {
            c.conn.ts_recent = segment.tsval;
        }
        if segment.flags.has(Flags::FIN) {
            c.conn.bits |= bit::FIN_SEEN;
        }
        if before(c.conn.rcv_nxt, segment.seq) {
            let at_once = self.hold(c, segment, end) || mark_changed;
            return if at_once { Reply::Now } else { self.reply_above_hole(c, srtt) };
        }
        let had_hole = !self.is_in_order();
        let fills = self.deliver(c, segment, srtt, out);
        // RFC 5681 section 4.2: at once when a hole is filled, wholly or in part.
        if had_hole || fills || mark_changed { Reply::Now } else { self.reply_in_order(c) }
    }

    /// Whether data are to be acknowledged at once lest the delay stop a sender whose window was
    /// reduced (`tcp_ecn_check_ce` and `tcp_ecn_accept_cwr` of Linux). `echoed`: whether a mark was
    /// echoed before they came.
    fn quickens(&mut self, c: &Call<'_>, segment: &Segment, echoed: bool) -> bool {
        let Some(rest) = &mut self.rest else { return false };
        if !c.params.quick_marks || c.conn.feedback != Feedback::Latched || !c.conn.has(bit::ECN) {
            return false;
        }
        let reduced = segment.flags.has(Flags::CWR);
        if segment.ecn == Ecn::Ce && (reduced || !echoed) {
            rest.quick = QUICK;
        }
        let quick = rest.quick > 0;
        rest.quick = rest.quick.saturating_sub(1);
        quick || reduced && segment.len > 0
    }

    /// Holds a segment that came beyond a hole. Returns whether it is to be acknowledged at once:
    /// it came twice, or the window grows.
    fn hold(&mut self, c: &Call<'_>, segment: &Segment, end: u32) -> bool {
        let rest = self.rest.get_or_insert_with(|| Rest::new(c));
        let held = &mut rest.reassembly;
        if segment.flags.has(Flags::FIN) {
            held.fin_end = end;
        }
        let twice = c.params.dsack && held.holds(segment.seq, end);
        held.insert(segment.seq, end);
        let grows = c.params.autotune && rest.rcvbuf.grow(c.params);
        if twice {
            self.note_duplicate(c.params, segment.seq, end);
        }
        grows || twice
    }

    /// Delivers a segment that continues what has arrived, and what it reaches beyond a hole.
    /// Returns whether it is to be acknowledged at once: it ends the data, or the window grows.
    fn deliver(
        &mut self,
        c: &mut Call<'_>,
        segment: &Segment,
        srtt: Time,
        out: &mut impl Output,
    ) -> bool {
        let end = segment.seq.wrapping_add(segment.span());
        let (mut next, mut fin_end) = (end, end);
        if let Some(rest) = &mut self.rest {
            let had_hole = !rest.reassembly.is_empty();
            next = rest.reassembly.fill(end);
            // It is in this segment, or beyond it above what was a hole.
            if !segment.flags.has(Flags::FIN) {
                fin_end = rest.reassembly.fin_end;
            }
            if had_hole {
                rest.compression.moved(next);
            }
        }
        let mut bytes = next.wrapping_sub(c.conn.rcv_nxt);
        c.conn.rcv_nxt = next;
        let closed = c.conn.has(bit::FIN_SEEN) && next == fin_end;
        bytes -= u32::from(closed);
        self.delivered += u64::from(bytes);
        let mut grows = false;
        if bytes > 0 {
            out.deliver(bytes);
            grows = c.params.autotune && self.adjust_window(c, segment, srtt);
        }
        if closed {
            c.conn.bits |= bit::PEER_CLOSED;
            out.event(Event::PeerClosed);
        }
        closed || grows
    }

    /// A segment came beyond a hole, and nothing else asks for an acknowledgement at once.
    fn reply_above_hole(&mut self, c: &mut Call<'_>, srtt: Time) -> Reply {
        let delayed = c.conn.ack_is_delayed();
        let Some(rest) = self.rest.as_mut().filter(|_| c.params.sack_compression) else {
            return Reply::Now;
        };
        if !rest.compression.waits(c.conn.rcv_nxt, delayed) {
            return Reply::Now;
        }
        if !delayed {
            c.conn.ack_at = c.now + sack_compression::delay(rest.rcvbuf.round_trip(), srtt);
        }
        Reply::Later
    }

    /// The application has taken what a segment brought. Returns whether the window grows.
    #[inline(never)]
    fn adjust_window(&mut self, c: &Call<'_>, segment: &Segment, srtt: Time) -> bool {
        let delivered = self.delivered;
        let Some(rest) = &mut self.rest else {
            return false;
        };
        rest.rcvbuf.adjust(c, segment, srtt, delivered)
    }

    /// Data have come twice: the next acknowledgement says so (RFC 2883).
    fn note_duplicate(&mut self, params: &Params, start: u32, end: u32) {
        if params.dsack
            && let Some(rest) = &mut self.rest
        {
            rest.duplicate = Some(SackBlock { start, end });
        }
    }
}

/// AccECN's counters.
impl Receiver {
    /// A packet of any kind has arrived: counts its mark. Returns whether it asks for an
    /// acknowledgement at once.
    pub(crate) fn count_mark(&mut self, conn: &Connection, segment: &Segment) -> bool {
        match &mut self.rest {
            Some(rest) if conn.feedback == Feedback::Counted => {
                rest.counters.count(segment, conn.rcv_nxt != conn.ack_sent)
            }
            _ => false,
        }
    }

    /// The counter of marked packets for the flags of a segment that goes out; none before the
    /// connection is established.
    pub(crate) fn mark_counter(&mut self) -> Flags {
        self.rest.as_mut().map_or(Flags::NONE, |rest| rest.counters.tell())
    }

    /// A marked SYN-ACK is counted (RFC 9768 section 3.2.2.1).
    pub(crate) fn count_handshake(&mut self, answer: Ecn) {
        if let Some(rest) = &mut self.rest {
            rest.counters.begin(answer == Ecn::Ce);
        }
    }

    /// Whether the flags of what is sent report how the handshake's segment arrived.
    pub(crate) fn report_handshake(&mut self, arrived: Option<Ecn>) {
        if let Some(rest) = &mut self.rest {
            rest.counters.report_handshake(arrived);
        }
    }

    /// Whether AccECN's option has news.
    #[inline]
    pub(crate) fn counters_moved(&self) -> bool {
        self.rest.as_ref().is_some_and(|rest| rest.counters.moved())
    }

    /// The counters of AccECN's option, in place of a SACK block.
    pub(crate) fn accecn_option(&mut self) -> SackBlock {
        self.rest.as_mut().map_or(SackBlock::default(), |rest| rest.counters.option())
    }
}

/// Whether a segment that ends at `end` has something new and is in the window (RFC 9293 section
/// 3.10.7.4); if not, it is acknowledged and forgotten.
fn is_acceptable(c: &Call<'_>, end: u32) -> bool {
    let limit = c.conn.rcv_nxt.wrapping_add(c.params.rcv_window);
    before(c.conn.rcv_nxt, end) && !before(limit, end)
}

/// Whether the exact echo changes with a segment: DCTCP, RFC 8257 section 3.2.
fn exact_echo_changes(conn: &Connection, segment: &Segment) -> bool {
    conn.feedback == Feedback::Exact
        && conn.has(bit::ECN)
        && (segment.ecn == Ecn::Ce) != conn.has(bit::ECHO)
}

/// Data are about to be accepted. Returns whether they are to be acknowledged at once for what
/// their mark tells.
fn echo_marks(conn: &mut Connection, segment: &Segment) -> bool {
    if conn.feedback == Feedback::Latched && conn.has(bit::ECN) {
        // RFC 3168 section 6.1.3: CWR ends the echo of earlier marks.
        if segment.flags.has(Flags::CWR) {
            conn.bits &= !bit::ECHO;
        }
        if segment.ecn == Ecn::Ce {
            conn.bits |= bit::ECHO;
        }
    }
    let changed = exact_echo_changes(conn, segment);
    if changed {
        conn.bits ^= bit::ECHO;
    }
    changed
}
