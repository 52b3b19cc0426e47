//! Recovery by a log of segments, as Linux: what arrived, losses by time (RFC 8985) or by what is
//! selectively acknowledged above them (RFC 6675), spurious retransmissions, proportional rate
//! reduction; and what else needs to know when each segment was sent. Segments are sent in
//! `transmit.rs`, tail loss probes in `tlp.rs`.

use super::arrival::{Ack, Arrived, Lost};
use super::log::{Log, Record, state};
use super::rack::{MinRtt, Rack};
use crate::call::Call;
use crate::congestion::pacing::Pacer;
use crate::congestion::{self, Delivered, Sample, Window};
use crate::connection::{Connection, bit};
use crate::ecn::Feedback;
use crate::params::Params;
use crate::segment::{Flags, SackBlock, Segment, before};
use crate::sender::accecn::Reported;
use crate::sender::cwnd_validation::{CwndLimited, Unused};
use crate::sender::hystart::HyStart;
use crate::sender::hystart_linux::{HyStartLinux, Seen};
use crate::sender::offload::Offload;
use crate::sender::prr::Prr;
use crate::sender::rtt::LinuxDeviation;
use crate::sender::state::{Phase, SendState};
use crate::sender::undo::Undo;
use sojourn_base::{Ecn, Time};

/// What a sender keeps that logs its segments.
#[derive(Clone, Debug)]
pub(crate) struct Logged {
    pub log: Log,
    pub delivered: Delivered,
    pub min_rtt: MinRtt,
    pub rack: Rack,
    pub prr: Prr,
    /// The window comes down after a mark (`TCP_CA_CWR` of Linux).
    pub reducing: bool,
    pub hystart: HyStart,
    pub hystart_linux: HyStartLinux,
    pub undo: Undo,
    pub pacer: Pacer,
    /// A tail loss probe is out.
    pub probe: Option<Probe>,
    /// When a tail loss probe is due.
    pub probe_at: Time,
    /// When to look for losses again.
    pub reorder_at: Time,
    /// When the pace lets more be sent that the window allows already.
    pub pace_at: Time,
    /// Whether it is open if the last timeout was spurious (F-RTO).
    pub frto: bool,
    /// New data are sent before what is lost: F-RTO's test.
    pub new_first: bool,
    /// Whether the window is what holds the sender back.
    pub cwnd_limited: CwndLimited,
    /// What of the window goes unused.
    pub unused: Unused,
    /// What is at the host's interface.
    pub offload: Offload,
    pub deviation: LinuxDeviation,
    /// Marks that the peer has reported by AccECN.
    pub reported: Reported,
}

/// A tail loss probe that is out (RFC 8985 section 7.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Where sending had got to (`TLP.end_seq`).
    pub end: u32,
    /// Whether it was a retransmission.
    pub again: bool,
}

/// What a timeout found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BeforeTimeout {
    pub window: Window,
    /// Neither a recovery nor a timeout was under way.
    pub fresh: bool,
    /// What an earlier one was for has been acknowledged.
    pub recovered: bool,
    /// Nothing had timed out since data were last acknowledged.
    pub first: bool,
}

/// A segment is lost: counts it, and tells the algorithm if it wants to know. `arrived` bytes are
/// newly known to have arrived.
#[inline(never)]
fn lose(delivered: &mut Delivered, s: &mut SendState, c: &Call<'_>, arrived: u32, record: &Record) {
    let bytes = record.len();
    let lost_since = delivered.lose(bytes, &record.stamp);
    if c.params.tuning.samples() {
        let lost = congestion::Lost {
            now: c.now,
            bytes,
            start: u64::from(record.start),
            end: u64::from(record.end),
            flight_then: record.stamp.flight,
            lost_since,
            app_limited: record.is(state::APP_LIMITED),
            delivered: delivered.bytes + u64::from(arrived),
        };
        s.control.on_lost(&c.params.tuning, &s.window, &lost);
    }
}

impl Logged {
    /// For a connection that has just been established.
    pub(crate) fn new(c: &Call<'_>, s: &SendState) -> Self {
        let nxt = c.conn.snd_nxt;
        let mut hystart = HyStart::new();
        hystart.start(nxt);
        Self {
            log: Log::new(),
            delivered: Delivered::default(),
            min_rtt: MinRtt::default(),
            rack: Rack::default(),
            prr: Prr::default(),
            reducing: false,
            hystart,
            hystart_linux: HyStartLinux::new(c.now, nxt),
            undo: Undo::default(),
            pacer: Pacer::new(c.params.initial_cwnd),
            probe: None,
            probe_at: Time::MAX,
            reorder_at: Time::MAX,
            pace_at: Time::MAX,
            frto: false,
            new_first: false,
            cwnd_limited: CwndLimited::new(nxt),
            unused: Unused::new(c.now),
            offload: Offload::default(),
            deviation: s.estimator.deviation(c.params, nxt),
            reported: Reported::default(),
        }
    }

    /// When the earliest of the sender's timers runs out. While a probe is due the retransmission
    /// timer waits (RFC 8985 section 8).
    #[inline]
    pub(crate) fn deadline(&self, rto_at: Time) -> Time {
        let rto = if self.probe_at == Time::MAX { rto_at } else { self.probe_at };
        rto.min(self.reorder_at).min(self.pace_at)
    }

    /// When pacing lets it send on.
    pub(crate) fn pace_at(&self) -> Time {
        self.pace_at
    }

    /// Bytes taken to be in the network.
    #[inline]
    pub(crate) fn pipe(&self, conn: &Connection) -> u32 {
        self.log.pipe(conn.in_flight())
    }

    /// The codepoint of what is sent ECN-capable, unless the path is not to be trusted with it.
    #[inline]
    pub(crate) fn codepoint(&self, params: &Params, conn: &Connection) -> Ecn {
        let trusted = conn.feedback != Feedback::Counted || self.reported.path.is_trusted();
        if trusted { params.ect } else { Ecn::NotEct }
    }

    /// Tests AccECN's counter and option; returns the option, unless it is to be passed over.
    pub(crate) fn test_path(
        &mut self,
        conn: &Connection,
        segment: &Segment,
        option: Option<SackBlock>,
    ) -> Option<SackBlock> {
        if !conn.counts_marks() {
            return option;
        }
        self.reported.path.test(crate::ecn::number(segment.flags), option)
    }

    /// Enters what has arrived into the log.
    pub(crate) fn arrived(
        &mut self,
        s: &SendState,
        c: &Call<'_>,
        segment: &Segment,
        sacks: &[SackBlock],
    ) -> Arrived {
        let mut arrived = Arrived::default();
        let (una, flight, recover) = (c.conn.snd_una, c.conn.in_flight(), s.recover);
        let tsecr = c.params.timestamps.then_some(segment.tsecr);
        let Self { log, rack, min_rtt, .. } = self;
        let (least, fack) = (min_rtt.get(), rack.fack());
        let mut see = |record: &Record, tsecr: Option<u32>| {
            arrived.see(c.now, record, recover);
            rack.see(c.now, record, tsecr, least, fack);
        };
        for block in sacks {
            let (start, end) = (block.start.wrapping_sub(una), block.end.wrapping_sub(una));
            if start < end && end <= flight {
                // Above a hole the time of the last segment in order is echoed (RFC 7323 section
                // 4.3): it says nothing of this one.
                log.sack(*block, |record| see(record, None));
            }
        }
        log.acknowledge(segment.ack, |record| see(record, tsecr));
        if let Some(rtt) = arrived.rtt {
            min_rtt.see(c.now, rtt);
        }
        arrived
    }

    /// The peer got something twice.
    pub(crate) fn on_duplicate(&mut self, s: &SendState, conn: &Connection, block: SackBlock) {
        self.rack.on_dsack(s.acked, s.acked_at(conn, conn.snd_nxt));
        self.undo.twice(block);
    }

    /// Marks what is lost by now, when `arrived` bytes are newly known to have arrived.
    pub(crate) fn lost(&mut self, s: &mut SendState, c: &Call<'_>, arrived: u32) -> Lost {
        let recovering = s.phase >= Phase::Recovery;
        let (least, srtt) = (self.min_rtt.get(), s.estimator.smoothed());
        let Self { log, delivered, rack, .. } = self;
        let (again, mut bytes) = (log.again(), 0);
        let found = |record: &Record| {
            bytes += record.len();
            lose(delivered, s, c, arrived, record);
        };
        if c.params.rack {
            self.reorder_at = rack.detect(log, c.now, recovering, least, srtt, found);
        } else {
            log.lose_below(c.params.payload, found);
        }
        Lost { found: false, bytes, again: self.log.again() < again }
    }

    /// Tells the algorithm what an acknowledgement shows, if it wants to know. Returns whether the
    /// acknowledgement reports a mark.
    pub(crate) fn sample(&mut self, s: &mut SendState, c: &Call<'_>, ack: &Ack, lost: u32) -> bool {
        let Arrived { bytes, rtt, newest, .. } = ack.arrived;
        let echoed = ack.segment.flags.has(Flags::ECE) && c.conn.has(bit::ECN);
        let marked = if bytes == 0 || !c.conn.has(bit::ECN) {
            0
        } else if c.conn.feedback == Feedback::Counted {
            self.reported.read(&ack.segment, ack.option, bytes, c.params.payload)
        } else if echoed {
            bytes
        } else {
            0
        };
        let (round, rate) = self.delivered.arrived(c.now, bytes, newest.get(), self.min_rtt.get());
        if c.params.tuning.samples() {
            let sample = Sample {
                now: c.now,
                rtt,
                srtt: s.estimator.smoothed(),
                mss: c.params.payload,
                acked: bytes,
                lost,
                marked,
                flight: self.pipe(c.conn),
                delivered: self.delivered.bytes,
                round,
                recovering: s.phase >= Phase::Recovery,
                rate,
            };
            s.control.on_sample(&c.params.tuning, &mut s.window, &sample);
            s.clamp_window(c.params);
            if s.control.is_app_limited() {
                self.delivered.limit(sample.flight);
            }
        }
        marked > 0 || c.conn.feedback != Feedback::Counted && echoed
    }

    /// The window was reduced from `cwnd` after a mark. With `prr_marks` only the threshold comes
    /// down at once, the window over a round trip: proportional rate reduction (RFC 9937) as after
    /// losses, and no growth until what was outstanding is acknowledged (`TCP_CA_CWR` of Linux).
    pub(crate) fn on_marked(&mut self, s: &mut SendState, c: &Call<'_>, cwnd: u32, arrived: u32) {
        if c.params.prr_marks {
            s.window.cwnd = cwnd;
            self.prr = Prr::start(c.conn.in_flight() - self.log.sacked() + arrived);
            self.reducing = true;
        } else {
            s.end_reduction(c.params);
        }
    }

    /// New data are acknowledged: the reduction after a mark ends with what was sent after it, or
    /// when nothing is left (`tcp_end_cwnd_reduction` of Linux).
    pub(crate) fn end_reduction(&mut self, s: &mut SendState, c: &Call<'_>) {
        let past = before(s.reduced, c.conn.snd_una) || c.conn.in_flight() == 0;
        if self.reducing && past {
            self.reducing = false;
            s.window.cwnd = s.window.ssthresh;
            s.end_reduction(c.params);
        }
    }

    /// Whether the window has to follow what arrives, down to the threshold.
    fn follows_arrivals(&self, s: &SendState, params: &Params) -> bool {
        if s.phase == Phase::Recovery {
            params.prr && !params.tuning.rules_recovery()
        } else {
            self.reducing
        }
    }

    /// Proportional rate reduction: RFC 9937.
    pub(crate) fn reduce_proportionally(
        &mut self,
        s: &mut SendState,
        c: &Call<'_>,
        ack: &Ack,
        lost: u32,
    ) {
        let (bytes, mss) = (ack.arrived.bytes, c.params.payload);
        if bytes > 0 && self.follows_arrivals(s, c.params) {
            let pipe = self.pipe(c.conn);
            let safe = ack.acked > 0 && lost == 0;
            let more = self.prr.on_ack(bytes, pipe, s.window.ssthresh, mss, safe);
            s.window.cwnd = (pipe + more).max(mss).min(c.params.max_cwnd.max(mss));
        }
    }

    /// Whether an acknowledgement shows that the last reduction was spurious: it answers something
    /// sent before anything was sent again (RFC 3522 section 3.2 step 4), or everything that was
    /// sent again has come twice.
    pub(crate) fn was_spurious(&self, params: &Params, segment: &Segment) -> bool {
        let older = params.timestamps && self.undo.precedes_retransmissions(segment.tsecr);
        params.undo && (older || self.undo.all_twice())
    }

    /// What was taken for lost is not; gives the windows before the last reduction, if that may be
    /// taken back.
    pub(crate) fn undo(&mut self) -> Option<Window> {
        self.log.forgive();
        self.new_first = false;
        self.frto = false;
        self.reducing = false;
        self.undo.take()
    }

    /// An acknowledgement after a timeout, and how F-RTO's test goes on (RFC 5682 section 3, as in
    /// `tcp_process_loss` of Linux). Returns whether the timeout was spurious.
    pub(crate) fn timeout_was_spurious(
        &mut self,
        s: &mut SendState,
        c: &Call<'_>,
        ack: &Ack,
    ) -> bool {
        if ack.acked > 0 && self.was_spurious(c.params, &ack.segment) {
            return true;
        }
        if !self.frto {
            return false;
        }
        // Step 3b: what was sent only before the timeout has arrived.
        if ack.arrived.original {
            return true;
        }
        self.new_first = false;
        if before(s.recover, c.conn.snd_nxt) {
            // Step 3a: a duplicate, or what was lost before: the loss was real.
            self.frto = ack.acked > 0 && ack.arrived.bytes <= ack.acked;
        } else if ack.acked > 0 && before(c.conn.snd_una, s.recover) {
            // Step 2b: two new segments first, and see.
            let more = s.has_new(c.conn) && c.conn.in_flight() < s.peer_window;
            s.recover = c.conn.snd_nxt;
            self.frto = more;
            self.new_first = more;
        }
        false
    }

    /// A recovery has ended well.
    pub(crate) fn end(&mut self) {
        self.rack.on_recovered();
        self.new_first = false;
        self.frto = false;
    }

    /// Recovery begins: the window, before it `window`, is reduced for it if `reduces`.
    pub(crate) fn begin(
        &mut self,
        s: &SendState,
        conn: &Connection,
        window: Window,
        reduces: bool,
        arrived: u32,
    ) {
        self.hystart.stop();
        self.probe_at = Time::MAX;
        // A reduction that a mark began goes on.
        if reduces || !self.reducing {
            self.prr = Prr::start(conn.in_flight() - self.log.sacked() + arrived);
        }
        self.reducing = false;
        self.undo.start(reduces.then_some(window), conn.snd_una, s.acked);
    }

    /// The reordering timer has run out and recovery begins: room for the first retransmission.
    pub(crate) fn make_room(&self, s: &mut SendState, c: &Call<'_>) {
        if c.params.prr && !c.params.tuning.rules_recovery() {
            s.window.cwnd = self.pipe(c.conn) + c.params.payload;
        }
    }

    /// A timeout. What is not overdue by time is still under way (RFC 8985 section 6.3).
    #[cold]
    pub(crate) fn timeout(&mut self, s: &mut SendState, c: &Call<'_>, was: BeforeTimeout) {
        if was.fresh || was.recovered {
            self.undo.start(Some(was.window), c.conn.snd_una, s.acked);
        }
        self.reducing = false;
        self.frto = c.params.frto && (was.fresh || !was.first);
        self.new_first = false;
        (self.probe, self.probe_at, self.reorder_at) = (None, Time::MAX, Time::MAX);
        self.hystart.stop();
        self.hystart_linux = HyStartLinux::new(c.now, c.conn.snd_nxt);
        let Self { log, delivered, rack, .. } = self;
        let is_lost = |index, record: &Record| {
            let overdue = !c.params.rack || !rack.still_due(c.now, record.stamp.sent);
            (index == 0 || overdue) && !record.is(state::SACKED)
        };
        log.lose_all(is_lost, |record| lose(delivered, s, c, 0, record));
        // The first is sent again even if others are still under way (`tcp_enter_loss` of Linux).
        s.window.cwnd = s.window.cwnd.max(self.pipe(c.conn) + c.params.payload);
    }

    /// Ends slow start when a queue is seen to form, or slows it: returns what `bytes` that were
    /// acknowledged count for.
    pub(crate) fn watch_slow_start(
        &mut self,
        s: &mut SendState,
        c: &Call<'_>,
        bytes: u32,
        rtt: Option<Time>,
    ) -> u32 {
        if !c.params.hystart || c.params.tuning.rules_recovery() || !s.in_slow_start() {
            return bytes;
        }
        let (una, nxt, mss) = (c.conn.snd_una, c.conn.snd_nxt, c.params.payload);
        let (cwnd, srtt, paced) = (s.window.cwnd, s.estimator.smoothed(), c.params.pacing);
        let over = if c.params.hystart_css {
            self.hystart.on_ack(una, nxt, rtt)
        } else {
            rtt.is_some_and(|rtt| {
                self.hystart_linux.on_ack(&Seen {
                    now: c.now,
                    una,
                    nxt,
                    rtt,
                    srtt,
                    cwnd,
                    mss,
                    paced,
                })
            })
        };
        if over {
            s.window.ssthresh = cwnd;
        } else if c.params.hystart_css {
            return self.hystart.counts(bytes, mss, paced);
        }
        bytes
    }

    /// The window starts again after a pause.
    pub(crate) fn restart_after_idle(&mut self, now: Time) {
        self.unused = Unused::new(now);
        self.reducing = false;
    }
}
