//! Loss detection by time: RACK, RFC 8985 section 6. What was sent before something that has
//! arrived, by more than a round trip and the time that packets may be out of order, is lost.
//!
//! # Differences from the source
//!
//! 1. The reordering timer waits for the segment that RACK goes by, not for the last one sent
//!    before it (section 6.2 step 5): a gap between two segments later, and nothing to search for.
//! 2. The least round trip is that of the last 5 to 10 minutes, as in Linux.
//! 3. The round trip that RACK goes by is that of the segment sent last of those that have arrived.
//!    In section 6.2 step 2 it is that of the one that this acknowledgement reports, which is
//!    longer if that was overtaken.
//! 4. At a timeout what was sent a round trip ago is overdue, as in Linux; section 6.3 adds the
//!    reordering window.
//! 5. Section 6.2 step 2 takes a retransmission for the original if the peer echoes an earlier
//!    time. Above a hole every echo is earlier (RFC 7323 section 4.3), so there the echo is not
//!    asked; Linux never asks it.

use super::delivery_rate::sent_after;
use super::log::{Log, Record, state};
use crate::segment::before;
use sojourn_base::Time;

/// Segments selectively acknowledged that mean a loss while no reordering was seen (`DupThresh`).
const DUP_THRESH: u32 = 3;

/// Recoveries that a wider window survives (`RACK.reo_wnd_persist`).
const PERSIST: u8 = 16;

/// How long a least round trip counts (`tcp_min_rtt_wlen` of Linux).
const LEAST: Time = Time::from_secs(300);

/// The least round trip of the present and the previous period.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRtt {
    present: Time,
    before: Time,
    ends: Time,
}

impl Default for MinRtt {
    fn default() -> Self {
        Self { present: Time::MAX, before: Time::MAX, ends: Time::ZERO }
    }
}

impl MinRtt {
    pub(crate) fn see(&mut self, now: Time, rtt: Time) {
        if now >= self.ends {
            // Nothing of a period that is long over.
            let recent = self.ends > Time::ZERO && now < self.ends + LEAST;
            self.before = if recent { self.present } else { Time::MAX };
            (self.present, self.ends) = (Time::MAX, now + LEAST);
        }
        self.present = self.present.min(rtt);
    }

    /// The least round trip; `Time::MAX` before there is one.
    pub(crate) fn get(&self) -> Time {
        self.present.min(self.before)
    }
}

/// State of RACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rack {
    /// When the segment was sent that was sent last of those that have arrived, where it ends, and
    /// its round trip.
    sent: Time,
    end: u32,
    rtt: Time,
    /// See [`Self::fack`].
    fack: Option<u32>,
    /// Whether packets were seen out of order.
    reordering: bool,
    /// The window is this many quarters of the least round trip, and one.
    widened: u8,
    /// For so many more recoveries.
    persist: u8,
    /// The window is not widened again before so many bytes are acknowledged.
    dsack_round: u64,
}

impl Rack {
    /// The highest sequence number that has arrived, once there is one.
    pub(crate) fn fack(&self) -> Option<u32> {
        self.fack
    }

    /// A segment has arrived (steps 2 and 3), by an acknowledgement before which [`Self::fack`] was
    /// `fack`: what one acknowledgement reports has no order. `tsecr` is the echoed time, if it can
    /// tell which one.
    pub(crate) fn see(
        &mut self,
        now: Time,
        record: &Record,
        tsecr: Option<u32>,
        min_rtt: Time,
        fack: Option<u32>,
    ) {
        let again = record.is(state::EVER);
        let rtt = now - record.stamp.sent;
        self.reordering |= !again && fack.is_some_and(|fack| before(record.end, fack));
        if self.fack.is_none_or(|highest| before(highest, record.end)) {
            self.fack = Some(record.end);
        }
        if again {
            // Which one has arrived? Not the retransmission, if the peer echoes an earlier time, or
            // if it would have been too fast.
            let sent_us = (record.stamp.sent.0 / 1000) as u32;
            let older = tsecr.is_some_and(|echo| before(echo, sent_us));
            if older || min_rtt != Time::MAX && rtt < min_rtt {
                return;
            }
        }
        if self.rtt == Time::ZERO || sent_after(record.stamp.sent, record.end, self.sent, self.end)
        {
            (self.sent, self.end, self.rtt) = (record.stamp.sent, record.end, rtt.max(Time(1)));
        }
    }

    /// The peer got something twice: a retransmission was needless (step 4). At most once in a
    /// round trip. `acked` bytes are acknowledged by now, `sent` have been sent.
    pub(crate) fn on_dsack(&mut self, acked: u64, sent: u64) {
        if acked >= self.dsack_round {
            self.dsack_round = sent;
            self.widened = self.widened.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// A recovery is over (step 4).
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.widened = 0;
        }
    }

    /// How long a segment may be overtaken (`RACK_update_reo_wnd`).
    fn window(&self, log: &Log, recovering: bool, min_rtt: Time, srtt: Time) -> Time {
        let sure = recovering || log.segments_sacked() >= DUP_THRESH;
        if !self.reordering && sure {
            return Time::ZERO;
        }
        let quarter = if min_rtt == Time::MAX { 0 } else { min_rtt.0 / 4 };
        Time((u64::from(self.widened) + 1) * quarter).min(srtt)
    }

    /// Finds what is lost (`RACK_detect_loss`), of which `found` is told. Returns when to look
    /// again.
    pub(crate) fn detect(
        &self,
        log: &mut Log,
        now: Time,
        recovering: bool,
        min_rtt: Time,
        srtt: Time,
        mut found: impl FnMut(&Record),
    ) -> Time {
        if self.rtt == Time::ZERO {
            return Time::MAX;
        }
        let allowed = self.rtt + self.window(log, recovering, min_rtt, srtt);
        while let Some(number) = log.oldest() {
            let record = log.get(number);
            let sent = record.stamp.sent;
            if !sent_after(self.sent, self.end, sent, record.end) {
                break;
            }
            if sent + allowed > now {
                return self.sent + allowed;
            }
            let record = *record;
            log.lose(number);
            found(&record);
        }
        Time::MAX
    }

    /// Whether a segment sent at `sent` is not overdue at a timeout (section 6.3).
    pub(crate) fn still_due(&self, now: Time, sent: Time) -> bool {
        sent + self.rtt > now
    }
}
