//! Timers: loss by time, probe timeouts, idleness (RFC 9002 section 6 and appendix A, RFC 9000
//! section 10.1).

use super::{Endpoint, Event, Lost, Output, Overdue, SpaceState, State, state_of};
use crate::control::Shown;
use crate::packet::Space;
use crate::params::Params;
use crate::sent::{Beside, Frame, PACKET_THRESHOLD, SentLog};
use sojourn_base::Time;

/// `kPersistentCongestionThreshold` (RFC 9002 section 7.6.1).
pub const PERSISTENT: u64 = 3;

/// Most packets that a probe timeout sends (RFC 9002 section 6.2.4).
const PROBES: u8 = 2;

/// The timeout doubles this often at most; it is days by then.
const MOST_BACKOFF: u32 = 20;

impl Endpoint {
    pub(super) fn backed_off(&self, timeout: Time) -> Time {
        Time(timeout.0.saturating_mul(1 << self.backoff.min(MOST_BACKOFF)))
    }

    /// Packets of a space that are lost now, and what all that was shown means for congestion
    /// control.
    pub(super) fn detect(
        &mut self,
        params: &Params,
        now: Time,
        space: Space,
        shown: &mut Shown,
        largest_sent: Option<Time>,
        out: &mut impl Output,
    ) {
        let first_sample = self.rtt.first_sample;
        let delay = self.rtt.loss_delay();
        let Self { data, early, control, streams, progress, ecn, counters, .. } = self;
        let state = state_of(data, early, space);
        let (log, buffer) = (&mut state.log, &mut state.out);
        let overtaken = log.largest_acked.and_then(|largest| largest.checked_sub(PACKET_THRESHOLD));
        // The longest time over which nothing arrived.
        let (mut began, mut longest) = (None, Time::ZERO);
        log.detect(now, delay, |number, sent, beside, run| {
            let by_number = overtaken.is_some_and(|overtaken| number <= overtaken);
            let why = if by_number { Overdue::Overtaken } else { Overdue::Late };
            out.lost(Lost { space, early: sent.early, number, why });
            if sent.capable {
                ecn.lost();
            }
            if !run {
                began = None;
            }
            control.lost(params, now, shown, number, sent, beside.stamped);
            counters.retransmissions += u64::from(sent.eliciting);
            send_again(beside, streams, &mut progress.done_due, buffer);
            if sent.eliciting && first_sample.is_some_and(|first| sent.at > first) {
                longest = longest.max(sent.at - *began.get_or_insert(sent.at));
            }
        });
        self.control.settle(params, now, &self.rtt, shown, largest_sent);
        // RFC 9002 section 7.6.
        let duration = (self.rtt.probe_timeout() + params.max_ack_delay) * PERSISTENT;
        if longest > duration {
            self.control.persistent(params, now, self.rtt.smoothed());
        }
    }

    /// Nothing of a space is needed any more (RFC 9002 section 6.4).
    pub(super) fn discard(&mut self, space: Space) {
        let state = self.space_mut(space);
        if !state.seals && !state.opens {
            return;
        }
        (state.seals, state.opens, state.probes) = (false, false, 0);
        state.received.due = Time::MAX;
        let in_flight = state.log.discard();
        self.control.in_flight -= in_flight;
        self.backoff = 0;
    }

    /// `GetPtoTimeAndSpace` (RFC 9002 appendix A.8).
    fn probe_at(&self, params: &Params, now: Time) -> (Time, Space) {
        let timeout = self.rtt.probe_timeout();
        if !self.awaits() {
            // A server that may send no more must hear from the client (section 6.2.2.1).
            return (now + self.backed_off(timeout), self.deadlock_space());
        }
        let due = |log: &SentLog, delay| {
            log.last_eliciting.saturating_add(self.backed_off(timeout + delay))
        };
        if self.progress.confirmed {
            return (due(&self.data.log, params.max_ack_delay), Space::Data);
        }
        let early = [Space::Initial, Space::Handshake].into_iter();
        let waiting = early.filter(|&space| self.space(space).log.eliciting > 0);
        let due = waiting.map(|space| (due(&self.space(space).log, Time::ZERO), space));
        due.min().unwrap_or((Time::MAX, Space::Initial))
    }

    /// The space in which a client probes with nothing in flight.
    fn deadlock_space(&self) -> Space {
        if self.early[1].seals { Space::Handshake } else { Space::Initial }
    }

    /// `SetLossDetectionTimer` (RFC 9002 appendix A.8), and all other timers.
    pub(super) fn set_timers(&mut self, params: &Params, now: Time) {
        let eliciting = self.awaits();
        let known = self.is_server || self.progress.validated;
        let by_time = self.first(|space| space.log.loss_at);
        let at_limit = self.is_server && !self.progress.validated && self.amplification.left() == 0;
        self.loss_at = if by_time != Time::MAX {
            by_time
        } else if at_limit || !eliciting && known {
            Time::MAX
        } else {
            self.probe_at(params, now).0
        };
        self.set_deadline(params, now, eliciting);
    }

    /// The timers of acknowledgements, pacing and idleness, and when the first of all is due;
    /// `eliciting` says whether an acknowledgement is awaited.
    #[inline]
    pub(super) fn set_deadline(&mut self, params: &Params, now: Time, eliciting: bool) {
        let ack_at = |space: &SpaceState| if space.seals { space.received.due } else { Time::MAX };
        let ack_at = self.first(ack_at);
        // Due since before there was room for it: when more comes, not by a timer.
        let ack_at = if ack_at <= now { Time::MAX } else { ack_at };
        self.sends_at = self.pace_at.min(ack_at);
        // What a timer waited for may be over already when it is set.
        let first = self.sends_at.min(self.loss_at).min(self.idle_at(params, eliciting));
        self.deadline = first.max(now);
    }

    /// When the idle timeout runs out, three probe timeouts at least (RFC 9000 section 10.1).
    fn idle_at(&self, params: &Params, eliciting: bool) -> Time {
        let awaits = !self.progress.complete || eliciting || self.closing && self.is_over();
        if !awaits {
            return Time::MAX;
        }
        self.active.saturating_add(params.idle_timeout.max(self.rtt.probe_timeout() * 3))
    }

    fn is_over(&self) -> bool {
        self.progress.complete && self.streams.all_over()
    }

    /// The time of [`Endpoint::deadline`] has come. Too early a call does nothing.
    #[cold]
    pub fn on_timer(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        if self.state != State::Open || now < self.deadline {
            return;
        }
        if self.idle_at(params, self.awaits()) <= now {
            let over = self.closing && self.is_over();
            let (state, event) =
                if over { (State::Closed, Event::Closed) } else { (State::Failed, Event::Failed) };
            return self.end(state, event, out);
        }
        if self.loss_at <= now {
            self.on_loss_timer(params, now, out);
        }
        self.transmit(params, now, out);
    }

    /// `OnLossDetectionTimeout` (RFC 9002 appendix A.9).
    fn on_loss_timer(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let by_time = |&space: &Space| self.space(space).log.loss_at;
        let live = if self.progress.confirmed { &Space::ALL[2..] } else { &Space::ALL };
        if let Some(&space) = live.iter().min_by_key(|space| by_time(space))
            && by_time(&space) != Time::MAX
        {
            return self.detect(params, now, space, &mut Shown::default(), None, out);
        }
        if self.progress.complete {
            self.counters.timeouts += 1;
        } else {
            self.counters.handshake_timeouts += 1;
        }
        if Space::ALL.iter().all(|&space| self.space(space).log.eliciting == 0) {
            let space = self.deadlock_space();
            self.space_mut(space).probes = 1;
        } else {
            let (_, due) = self.probe_at(params, now);
            for space in Space::ALL {
                // Section 6.2.4: other spaces with something in flight too.
                let waits = self.space(space).log.eliciting > 0;
                if space == due || waits && space != Space::Data {
                    self.probe(space);
                }
            }
        }
        self.backoff += 1;
    }

    /// Probes a space: with new data, or with the oldest again (RFC 9002 section 6.2.4).
    fn probe(&mut self, space: Space) {
        let state = state_of(&mut self.data, &mut self.early, space);
        state.probes = PROBES;
        let new = match space {
            Space::Data => self.streams.can_send(),
            _ => state.out.offset(u64::MAX).is_some(),
        };
        if let Some(oldest) = state.log.oldest().filter(|_| !new) {
            self.counters.retransmissions += 1;
            let done = &mut self.progress.done_due;
            send_again(oldest, &mut self.streams, done, &mut state.out);
        }
    }
}

/// The frames of a packet are to be sent again, as far as they need to be (RFC 9000 section 13.3).
fn send_again(
    sent: Beside<'_>,
    streams: &mut crate::streams::Streams,
    done_due: &mut bool,
    buffer: &mut crate::buffer::SendBuffer,
) {
    for frame in sent.frames() {
        match frame {
            Frame::Stream(frame) => streams.lose(frame),
            Frame::Crypto(frame) => {
                let start = u64::from(frame.offset);
                buffer.lose(start, start + u64::from(frame.len));
            }
            Frame::Done => *done_due = true,
            Frame::MaxData => streams.grant_all = true,
            &Frame::MaxStreamData(id) => streams.lose_grant(id),
        }
    }
}
