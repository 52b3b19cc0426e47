//! Acknowledgements: what they tell the sender.

use crate::Params;
use crate::congestion::{Acked, Congested};
use crate::endpoint::{Endpoint, Phase, State, bit};
use crate::receive::Reply;
use crate::segment::{Event, Flags, Output, SackBlock, Segment, before};
use sojourn_base::Time;

impl Endpoint {
    /// New data are acknowledged and nothing is amiss: the usual way.
    #[inline]
    pub(crate) fn expected_ack(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        acked: u32,
        flight: u32,
        out: &mut impl Output,
    ) {
        self.peer_window = params.window_bytes(segment.window, segment.flags);
        self.snd_una = segment.ack;
        self.acked += u64::from(acked);
        self.measure(params, now, segment, out);
        self.grow(params, now, acked, flight);
        self.restart_timer(now);
        if self.snd_una == self.snd_nxt && self.unsent == 0 {
            out.event(Event::AllAcked);
        }
        self.push_new(params, now, out);
    }

    /// Takes a round trip if the acknowledgement gives one. `snd_una` has moved already.
    #[inline]
    pub(crate) fn measure(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        out: &mut impl Output,
    ) {
        let sample = if params.timestamps {
            // RFC 7323 section 4.1: the echoed time is that of whatever caused this.
            Time::from_micros(u64::from(((now.0 / 1000) as u32).wrapping_sub(segment.tsecr)))
        } else if self.bits & bit::TIMED != 0 && !before(segment.ack, self.timed_seq) {
            self.bits &= !bit::TIMED;
            now - self.timed_at
        } else {
            return;
        };
        self.time(params, sample, out);
    }

    /// A round trip was measured.
    #[inline]
    pub(crate) fn time(&mut self, params: &Params, rtt: Time, out: &mut impl Output) {
        let (una, nxt) = (self.snd_una, self.snd_nxt);
        self.rto = match &mut self.tracked {
            Some(t) if params.linux_rto => {
                self.estimator.sample_as_linux(params, rtt, &mut t.held, una, nxt)
            }
            _ => self.estimator.sample(params, rtt),
        };
        out.rtt(rtt);
    }

    /// Grows the window, if it was what held the sender back: `flight` bytes were outstanding
    /// before this acknowledgement.
    #[inline]
    pub(crate) fn grow(&mut self, params: &Params, now: Time, acked: u32, flight: u32) {
        let mss = params.payload;
        if flight + mss > self.window.cwnd {
            let after_timeout = self.phase == Phase::Loss;
            let bytes = acked.min(params.count_limit);
            let (srtt, smooth) = (self.estimator.smoothed(), params.smooth_growth);
            let acked = Acked { now, srtt, bytes, mss, after_timeout, smooth };
            self.control.on_ack(&params.congestion, &mut self.window, acked);
            self.window.cwnd = self.window.cwnd.min(params.max_window);
        }
    }

    /// RFC 6298 rules 5.2 and 5.3.
    #[inline]
    pub(crate) fn restart_timer(&mut self, now: Time) {
        self.backoff = 0;
        self.rto_at = if self.snd_una == self.snd_nxt { Time::MAX } else { now + self.rto };
    }

    /// Any segment that is not one of the two usual ones.
    #[inline(never)]
    pub(crate) fn any_segment(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        sacks: &[SackBlock],
        out: &mut impl Output,
    ) {
        if self.state != State::Established && !self.unestablished(params, now, segment, out) {
            return;
        }
        if segment.flags.any(Flags::SYN | Flags::RST) {
            return self.unexpected(params, now, segment, out);
        }
        if !segment.flags.has(Flags::ACK) {
        } else if params.tracked {
            self.judge(params, now, segment, sacks, out);
        } else {
            self.acknowledged(params, now, segment, sacks, out);
        }
        let sudden = self.count_mark(segment);
        if params.autotune && segment.span() == 0 {
            self.echo_time(params, segment);
        }
        // Data come before the answer to the acknowledgement, so that what is sent acknowledges
        // them too.
        let reply = self.receive(params, now, segment, out);
        let segments = self.segments;
        self.push(params, now, out);
        // SACK blocks travel on bare acknowledgements alone.
        let extra = !self.holds_nothing() || self.saw_duplicate();
        if (reply == Reply::Now || sudden) && (self.segments == segments || extra) {
            self.send_ack(params, now, out);
        }
        let all = bit::PEER_CLOSED | bit::FIN_SENT;
        if self.bits & all == all && self.snd_una == self.snd_nxt {
            self.finish(State::Closed, Event::Closed, out);
        }
    }

    /// The general case of an acknowledgement.
    fn acknowledged(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        sacks: &[SackBlock],
        out: &mut impl Output,
    ) {
        let flight = self.in_flight();
        let acked = segment.ack.wrapping_sub(self.snd_una);
        if acked > flight {
            return; // old, or of something never sent (RFC 9293 section 3.10.7.4)
        }
        self.peer_window = params.window_bytes(segment.window, segment.flags);
        let news = if segment.sacks > 0 { self.enter_sacks(params, sacks) } else { 0 };
        if acked > 0 {
            let fin = self.bits & bit::FIN_SENT != 0;
            let data_left = flight > u32::from(fin);
            self.snd_una = segment.ack;
            let fin_acked = fin && acked == flight;
            self.acked += u64::from(acked - u32::from(fin_acked));
            self.measure(params, now, segment, out);
            if let Some(board) = &mut self.scoreboard {
                board.acknowledge(segment.ack);
                board.update(params.payload);
            }
            let left = flight - acked;
            if data_left && self.unsent == 0 && left <= u32::from(fin) {
                out.event(Event::AllAcked);
            }
        }
        if self.counts_arrivals(params) {
            // A segment has arrived; at a partial acknowledgement the one that was sent again too,
            // which was counted twice.
            let arrived = if acked > 0 { 2 } else { 1 } * params.payload as i32;
            self.inflation = (self.inflation - arrived).max(0);
        }
        let marked = segment.flags.has(Flags::ECE) && self.bits & bit::ECN != 0;
        if marked {
            self.mark(params, now, flight);
        }
        if acked > 0 {
            self.progress(params, now, acked, flight, marked, out);
        } else if flight > 0 && segment.span() == 0 && (news > 0 || !params.sack) {
            // A duplicate: RFC 5681 section 2, with SACK only if it brings news (RFC 6675
            // section 2).
            self.duplicate(params, now, out);
        }
    }

    /// Enters the SACK blocks that make sense; returns how many bytes are news.
    fn enter_sacks(&mut self, params: &Params, sacks: &[SackBlock]) -> u32 {
        let mut news = 0;
        for block in sacks {
            let start = block.start.wrapping_sub(self.snd_una);
            let end = block.end.wrapping_sub(self.snd_una);
            // Blocks below what is acknowledged, or beyond what was sent, are passed over.
            if start < end && end <= self.in_flight() {
                let board = self.board();
                news += board.sack(*block);
            }
        }
        if news > 0 {
            self.board().update(params.payload);
        }
        news
    }

    /// The peer saw a congestion mark (RFC 3168 section 6.1.2): at most one reduction per window.
    /// The acknowledgement of the last data before a reduction still carries the echo: the CWR
    /// comes behind them.
    ///
    /// Returns whether it did reduce.
    pub(crate) fn mark(&mut self, params: &Params, now: Time, flight: u32) -> bool {
        let answered = self.reduced_in_this_window() || self.reduced == self.snd_una;
        let reduces = self.phase < Phase::Recovery && !answered;
        if reduces {
            let at = self.congested(params, now, flight);
            self.control.on_mark(&params.congestion, &mut self.window, at);
            self.note_reduction(params);
        }
        reduces
    }

    /// What congestion finds, with `flight` bytes outstanding.
    pub(crate) fn congested(&self, params: &Params, now: Time, flight: u32) -> Congested {
        let flight = flight.min(self.window.cwnd);
        Congested { now, srtt: self.estimator.smoothed(), flight, mss: params.payload }
    }

    /// Whether the window was reduced and not all that was sent then is acknowledged.
    pub(crate) fn reduced_in_this_window(&self) -> bool {
        self.reduced.wrapping_sub(self.snd_una).wrapping_sub(1) < self.in_flight()
    }

    /// The window has just been reduced.
    pub(crate) fn note_reduction(&mut self, params: &Params) {
        self.window.cwnd = self.window.cwnd.min(params.max_window).max(params.payload);
        self.reduced = self.snd_nxt;
        if self.bits & bit::ECN != 0 {
            self.bits |= bit::CWR;
        }
    }
}
