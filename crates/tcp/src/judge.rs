//! What an acknowledgement means to a sender that logs its segments. The order is that of Linux:
//! what has arrived, what is lost, what the connection's phase makes of it, what may be sent.

use crate::congestion::{Acked, Sample, Window};
use crate::endpoint::{Endpoint, Phase, bit};
use crate::hybrid::{Hybrid, Seen};
use crate::log::{Record, state};
use crate::params::{Feedback, Params};
use crate::prr::Prr;
use crate::segment::{Event, Flags, Output, SackBlock, Segment, before};
use crate::tracked::{Arrived, Tracked};
use sojourn_base::Time;

/// What is found to be lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    /// Its bytes.
    bytes: u32,
    /// Whether any of it had been sent again.
    again: bool,
}

impl Endpoint {
    /// An acknowledgement, with its SACK blocks.
    pub(crate) fn judge(
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
        let (option, sacks) = segment.split_counters(sacks);
        let option = self.test_path(segment, option);
        let (duplicate, sacks) = split(segment.ack, sacks);
        let arrived = self.enter_arrivals(params, now, segment, sacks);
        if acked == 0 {
            self.measure_sacked(params, now, &arrived, out);
        } else {
            let fin = self.bits & bit::FIN_SENT != 0;
            let data_left = flight > u32::from(fin);
            let fin_acked = fin && acked == flight;
            self.snd_una = segment.ack;
            self.acked += u64::from(acked - u32::from(fin_acked));
            self.measure(params, now, segment, out);
            if data_left && self.unsent == 0 && flight - acked <= u32::from(fin) {
                out.event(Event::AllAcked);
            }
        }
        if let Some(block) = duplicate {
            let (una, nxt) = (self.snd_una, self.snd_nxt);
            let t = self.tracked();
            t.rack.on_dsack(una, nxt);
            t.undo.twice(block);
        }
        let lost = self.find_losses(params, now);
        let marked = self.sample(params, now, segment, option, &arrived, lost.bytes);
        let repaired = self.probe_answered(duplicate, arrived.bytes > 0);
        if repaired {
            self.reduce_for_probe(params, now);
        }
        if acked > 0 {
            self.end_reduction(params);
        }
        if marked {
            self.reduce_for_mark(params, now, flight, arrived.bytes);
            self.tracked().undo.forget();
        }
        self.decide(params, now, segment, &arrived, acked, marked, lost);
        if acked > 0 || self.phase != Phase::Open {
            self.arm_probe(params, now);
        }
    }

    /// Enters what has arrived into the log.
    fn enter_arrivals(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        sacks: &[SackBlock],
    ) -> Arrived {
        let mut arrived = Arrived::default();
        let (una, flight, recover) = (self.snd_una, self.in_flight(), self.recover);
        let tsecr = params.timestamps.then_some(segment.tsecr);
        let Tracked { log, rack, min_rtt, .. } = self.tracked();
        let least = min_rtt.get();
        let mut see = |record: &Record, tsecr: Option<u32>| {
            arrived.see(now, record, recover);
            rack.see(now, record, tsecr, least);
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
            min_rtt.see(now, rtt);
        }
        arrived
    }

    /// A round trip by what is selectively acknowledged, as Linux has it: while a hole stands there
    /// are no others. If the first segment was sent later than what has arrived now, its timer
    /// starts again (`tcp_clean_rtx_queue`); if earlier, the timer must not be put off any further.
    fn measure_sacked(
        &mut self,
        params: &Params,
        now: Time,
        arrived: &Arrived,
        out: &mut impl Output,
    ) {
        let Some(rtt) = arrived.rtt else { return };
        self.time(params, rtt, out);
        if self.tracked().log.first_sent().is_some_and(|sent| now - sent < rtt) {
            self.rto_at = now + self.rto;
        }
    }

    /// Marks what is lost by now.
    pub(crate) fn find_losses(&mut self, params: &Params, now: Time) -> Lost {
        let recovering = self.phase >= Phase::Recovery;
        let srtt = self.estimator.smoothed();
        let t = self.tracked();
        let (mss, again) = (params.payload, t.log.again());
        let bytes = if params.rack {
            let least = t.min_rtt.get();
            let (lost, again_at) = t.rack.detect(&mut t.log, now, mss, recovering, least, srtt);
            t.reorder_at = again_at;
            lost
        } else {
            t.log.lose_below(mss)
        };
        t.delivered.lost = t.delivered.lost.wrapping_add(bytes);
        Lost { bytes, again: t.log.again() < again }
    }

    /// Tells the algorithm what the acknowledgement shows, if it wants to know. Returns whether the
    /// acknowledgement reports a mark.
    fn sample(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        option: Option<SackBlock>,
        arrived: &Arrived,
        lost: u32,
    ) -> bool {
        let marked = self.marked_bytes(params, segment, option, arrived.bytes);
        let echo = marked > 0
            || self.feedback != Feedback::Counted
                && segment.flags.has(Flags::ECE)
                && self.bits & bit::ECN != 0;
        let srtt = self.estimator.smoothed();
        let outstanding = self.in_flight();
        let recovering = self.phase >= Phase::Recovery;
        let t = self.tracked();
        let least = t.min_rtt.get();
        let (round, rate) = t.delivered.arrived(now, arrived.bytes, arrived.newest, least);
        if params.congestion.samples() {
            let sample = Sample {
                now,
                rtt: arrived.rtt,
                srtt,
                mss: params.payload,
                acked: arrived.bytes,
                lost,
                marked,
                flight: t.log.pipe(outstanding),
                delivered: t.delivered.bytes,
                round,
                recovering,
                rate,
            };
            self.control.on_sample(&params.congestion, &mut self.window, &sample);
            self.window.cwnd = self.window.cwnd.min(params.max_window).max(params.payload);
        }
        echo
    }

    /// What the phase makes of it.
    #[expect(clippy::too_many_arguments, reason = "all that an acknowledgement says")]
    fn decide(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        arrived: &Arrived,
        acked: u32,
        marked: bool,
        lost: Lost,
    ) {
        let over = !before(self.snd_una, self.recover);
        match self.phase {
            Phase::Open | Phase::Disorder => {
                if acked > 0 && !marked && !self.tracked().reducing {
                    self.grow_tracked(params, now, acked, arrived);
                }
                // All that was sent again in a recovery that is over has come twice.
                if self.tracked().undo.all_twice() && self.was_spurious(params, segment) {
                    self.undo(params);
                }
            }
            Phase::Recovery => {
                let looks = acked > 0 || over;
                if looks && self.was_spurious(params, segment) {
                    self.undo(params);
                } else if over {
                    if !params.congestion.rules_recovery() {
                        self.window.cwnd = self.window.ssthresh.max(params.payload);
                    }
                    self.reduced_well(params);
                    self.end_recovery();
                }
            }
            Phase::Loss => self.after_timeout(params, now, segment, arrived, acked, marked),
        }
        if acked > 0 {
            self.restart_timer(now);
        }
        let wary = self.tracked().log.sacked() > 0;
        if self.phase < Phase::Recovery {
            self.phase = if wary { Phase::Disorder } else { Phase::Open };
        }
        // What a recovery that is over has sent again already is a loss of the next window, which
        // is to be reduced too (`tcp_time_to_recover` of Linux); so is a retransmission that is
        // lost after a timeout (RFC 5681 section 4.3).
        let begins = match self.phase {
            Phase::Open | Phase::Disorder => self.tracked().log.any_lost(),
            Phase::Loss => lost.again,
            Phase::Recovery => false,
        };
        if begins {
            self.begin_recovery(params, now, arrived.bytes);
        }
        let proportional = if self.phase == Phase::Recovery {
            params.prr && !params.congestion.rules_recovery()
        } else {
            self.tracked().reducing
        };
        if proportional && arrived.bytes > 0 {
            let (outstanding, ssthresh) = (self.in_flight(), self.window.ssthresh);
            let (safe, mss) = (acked > 0 && lost.bytes == 0, params.payload);
            let t = self.tracked();
            let pipe = t.log.pipe(outstanding);
            let more = t.prr.on_ack(arrived.bytes, pipe, ssthresh, mss, safe);
            self.window.cwnd = (pipe + more).max(mss).min(params.max_window.max(mss));
        }
    }

    /// A recovery has ended well.
    fn end_recovery(&mut self) {
        let t = self.tracked();
        t.rack.on_recovered();
        t.new_first = false;
        t.frto = false;
        self.phase = Phase::Open;
    }

    /// An acknowledgement after a timeout: is it spurious (RFC 5682 section 3, as in Linux's
    /// `tcp_process_loss`)?
    fn after_timeout(
        &mut self,
        params: &Params,
        now: Time,
        segment: &Segment,
        arrived: &Arrived,
        acked: u32,
        marked: bool,
    ) {
        let over = !before(self.snd_una, self.recover);
        if acked > 0 && self.was_spurious(params, segment) {
            return self.undo(params);
        }
        if self.tracked().frto {
            // Step 3b: what was sent only before the timeout has arrived.
            if arrived.original {
                return self.undo(params);
            }
            let (new, nxt) = (before(self.recover, self.snd_nxt), self.snd_nxt);
            let room = self.in_flight() < self.peer_window;
            let more = (self.unsent > 0 || self.fin_is_due()) && room;
            let recover = &mut self.recover;
            let t = self.tracked.as_deref_mut().expect("it logs");
            t.new_first = false;
            if new {
                // Step 3a: a duplicate, or what was lost before: the loss was real.
                t.frto = acked > 0 && arrived.bytes <= acked;
            } else if acked > 0 && !over {
                // Step 2b: two new segments first, and see.
                *recover = nxt;
                t.frto = more;
                t.new_first = more;
            }
        }
        if acked > 0 && !marked {
            let outstanding = self.in_flight();
            let pipe = self.tracked().log.pipe(outstanding) + acked;
            if !params.hystart_css && self.window.cwnd < self.window.ssthresh {
                self.watch_slow_start(params, now, acked, arrived.rtt);
            }
            self.grow(params, now, acked, pipe);
        }
        if over {
            self.end_recovery();
        }
    }

    /// Something is lost: fast recovery (RFC 6675 section 5, RFC 8985 section 6.2).
    pub(crate) fn begin_recovery(&mut self, params: &Params, now: Time, arrived: u32) {
        let reduces = self.phase == Phase::Loss || !self.reduced_in_this_window();
        self.phase = Phase::Recovery;
        self.recover = self.snd_nxt;
        let (window, una, outstanding) = (self.window, self.snd_una, self.in_flight());
        let t = self.tracked();
        t.hystart.stop();
        t.probe_at = Time::MAX;
        // A reduction that a mark began goes on.
        if reduces || !t.reducing {
            t.prr = Prr::start(outstanding - t.log.sacked() + arrived);
        }
        t.reducing = false;
        if reduces {
            t.undo.start(window, una);
            let at = self.congested(params, now, outstanding);
            self.control.on_loss(&params.congestion, &mut self.window, at);
            self.note_reduction(params);
        } else {
            t.undo.forget();
        }
        self.rto_at = now + self.rto; // RFC 6675 section 6
    }

    /// Grows the window, if it is what holds the sender back.
    fn grow_tracked(&mut self, params: &Params, now: Time, acked: u32, arrived: &Arrived) {
        let mss = params.payload;
        let Window { cwnd, ssthresh } = self.window;
        let slow_start = cwnd < ssthresh;
        let limited = self.tracked().window_limits(cwnd, slow_start);
        let mut bytes = acked.min(params.count_limit);
        if slow_start {
            bytes = self.watch_slow_start(params, now, bytes, arrived.rtt);
        }
        if limited && bytes > 0 {
            let (srtt, smooth) = (self.estimator.smoothed(), params.smooth_growth);
            let acked = Acked { now, srtt, bytes, mss, after_timeout: false, smooth };
            self.control.on_ack(&params.congestion, &mut self.window, acked);
            self.window.cwnd = self.window.cwnd.min(params.max_window);
        }
    }

    /// Ends slow start when a queue is seen to form, or slows it: returns what `bytes` that were
    /// acknowledged count for.
    fn watch_slow_start(
        &mut self,
        params: &Params,
        now: Time,
        bytes: u32,
        rtt: Option<Time>,
    ) -> u32 {
        if !params.hystart || params.congestion.rules_recovery() {
            return bytes;
        }
        let (una, nxt, mss) = (self.snd_una, self.snd_nxt, params.payload);
        let (cwnd, srtt) = (self.window.cwnd, self.estimator.smoothed());
        let paced = params.pacing;
        let t = self.tracked();
        let over = if params.hystart_css {
            t.hystart.on_ack(una, nxt, rtt)
        } else {
            rtt.is_some_and(|rtt| {
                t.hybrid.on_ack(&Seen { now, una, nxt, rtt, srtt, cwnd, mss, paced })
            })
        };
        if over {
            self.window.ssthresh = cwnd;
        } else if params.hystart_css {
            return t.hystart.counts(bytes, mss, paced);
        }
        bytes
    }

    /// The retransmission timer ran out: RFC 6298 rules 5.4 to 5.6. What is not overdue by time is
    /// still under way (RFC 8985 section 6.3).
    #[cold]
    pub(crate) fn timeout_tracked(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.backoff == params.retries {
            return self.finish(crate::endpoint::State::Failed, Event::Failed, out);
        }
        self.timeouts += 1;
        let (window, una, nxt) = (self.window, self.snd_una, self.snd_nxt);
        let (at, first) = (self.congested(params, now, self.in_flight()), self.backoff == 0);
        let fresh = self.phase < Phase::Recovery;
        let recovered = !before(una, self.recover);
        let outstanding = self.in_flight();
        self.control.on_timeout(&params.congestion, &mut self.window, at, first);
        self.note_reduction(params);
        self.backoff += 1;
        self.back_off(params, now);
        self.phase = Phase::Loss;
        self.recover = nxt;
        let t = self.tracked.as_deref_mut().expect("it logs");
        if fresh || recovered {
            t.undo.start(window, una);
        }
        t.reducing = false;
        t.frto = params.frto && (fresh || !first);
        (t.new_first, t.probe, t.probe_at, t.reorder_at) = (false, None, Time::MAX, Time::MAX);
        t.hystart.stop();
        t.hybrid = Hybrid::new(now, nxt);
        let rack = t.rack;
        let lost = t.log.lose_all(|index, record| {
            let overdue = !params.rack || !rack.still_due(now, record.stamp.sent);
            (index == 0 || overdue) && !record.is(state::SACKED)
        });
        t.delivered.lost = t.delivered.lost.wrapping_add(lost);
        // The first is sent again even if others are still under way (`tcp_enter_loss` of Linux).
        let pipe = t.log.pipe(outstanding);
        self.window.cwnd = self.window.cwnd.max(pipe + params.payload);
        self.push(params, now, out);
    }

    /// One of the timers of a connection that logs may be due.
    #[cold]
    pub(crate) fn tracked_timer(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        self.enter();
        let t = self.tracked();
        let (pace, reorder, probe) = (t.pace_at <= now, t.reorder_at <= now, t.probe_at <= now);
        if reorder {
            t.reorder_at = Time::MAX;
            let lost = self.find_losses(params, now);
            if self.phase != Phase::Recovery && lost.bytes > 0 {
                self.begin_recovery(params, now, 0);
                let outstanding = self.in_flight();
                let pipe = self.tracked().log.pipe(outstanding);
                if params.prr && !params.congestion.rules_recovery() {
                    self.window.cwnd = pipe + params.payload; // the first retransmission
                }
            }
        }
        if pace || reorder {
            self.push(params, now, out);
        }
        if probe {
            self.send_probe(params, now, out);
        } else if self.rto_at <= now {
            self.timeout_tracked(params, now, out);
        }
        self.leave();
    }
}

/// Takes a report of data that came twice off the blocks: the first one, if it lies below what is
/// acknowledged or within the second (RFC 2883 section 4).
fn split(ack: u32, sacks: &[SackBlock]) -> (Option<SackBlock>, &[SackBlock]) {
    let Some((first, rest)) = sacks.split_first() else { return (None, sacks) };
    let inside =
        |second: &SackBlock| !before(first.start, second.start) && !before(second.end, first.end);
    let twice = before(first.start, first.end) && !before(ack, first.end)
        || rest.first().is_some_and(inside);
    if twice { (Some(*first), rest) } else { (None, sacks) }
}
