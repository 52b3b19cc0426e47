//! Tail loss probes: when nothing has come back for two round trips, something is sent whose
//! acknowledgement shows what was lost, rather than waiting for the timer. RFC 8985 section 7.
//!
//! # Differences from the source
//!
//! 1. The delay of an acknowledgement that may wait (`TLP.max_ack_delay`) is the least timeout, as
//!    in Linux, if that is more than the delay that both ends have in their settings.
//! 2. A probe does not wait for a round trip to have been measured since the last one (section
//!    7.3), as in Linux.

use super::arrival::Ack;
use super::logged::{Logged, Probe};
use crate::call::Call;
use crate::connection::bit;
use crate::context::Context;
use crate::segment::{Output, SackBlock, before};
use crate::sender::state::{Phase, SendState};
use sojourn_base::Time;

/// The timeout of a probe before a round trip is measured (section 7.2).
const UNMEASURED: Time = Time::from_secs(1);

impl Logged {
    /// Sets the probe's timer, if one may be sent: `TLP_calc_PTO` of section 7.2.
    pub(crate) fn arm_probe(&mut self, s: &SendState, c: &Call<'_>) {
        let outstanding = c.conn.in_flight();
        let may = c.params.tlp
            && s.phase == Phase::Open
            && outstanding > 0
            && self.probe.is_none()
            && self.log.sacked() == 0;
        self.probe_at = Time::MAX;
        if may {
            let srtt = s.estimator.smoothed();
            let timeout = match srtt {
                Time::ZERO => UNMEASURED,
                _ if self.log.is_one() => {
                    srtt * 2 + c.params.delayed_ack_time.max(c.params.min_rto)
                }
                _ => srtt * 2,
            };
            self.probe_at = (c.now + timeout).min(s.rto_at);
        }
    }

    /// The probe's timer ran out: sends new data if there are any, else the last segment again
    /// (`TLP_send_probe`, section 7.3). The window may be exceeded by it.
    #[cold]
    pub(crate) fn send_probe<O: Output>(&mut self, s: &mut SendState, cx: &mut Context<'_, O>) {
        let new = s.unsent.min(u64::from(cx.params.payload)) as u32;
        let fits = cx.conn.in_flight() + new.max(1) <= s.peer_window;
        let has_new = s.has_new(cx.conn) && fits;
        self.probe_at = Time::MAX;
        if has_new {
            self.send_new(s, cx, new);
        } else if let Some(last) = self.log.back() {
            self.retransmit(s, cx, last);
        }
        self.probe = Some(Probe { end: cx.conn.snd_nxt, again: !has_new });
        s.rto_at = cx.now + s.rto; // section 7.3: the timer starts with it
    }

    /// An acknowledgement while a probe is out: `TLP_process_ack` of section 7.4. Where the probe
    /// has repaired a loss, which nothing else will show, the window is reduced.
    pub(crate) fn probe_answered(&mut self, s: &mut SendState, c: &mut Call<'_>, ack: &Ack) {
        let repaired = self.probe_repaired(c.conn.snd_una, ack.duplicate, ack.arrived.bytes > 0);
        if repaired && s.phase < Phase::Recovery && !s.reduced_in_this_window(c.conn) {
            s.reduce_for_loss(c);
            s.end_reduction(c.params);
            c.conn.bits &= !bit::TIMED;
        }
    }

    /// Whether the probe has repaired a loss. `news` if the acknowledgement reports anything that
    /// arrived; `duplicate` is what came twice.
    fn probe_repaired(&mut self, una: u32, duplicate: Option<SackBlock>, news: bool) -> bool {
        let Some(probe) = self.probe else {
            return false;
        };
        if before(una, probe.end) {
            return false;
        }
        // The peer got it twice: nothing was lost. So it did if the acknowledgement says nothing.
        let twice = duplicate.is_some_and(|block| block.end == probe.end);
        if probe.again && !twice && una == probe.end && news {
            // Whether the original or the probe was acknowledged is not known yet: an
            // acknowledgement of the other may follow.
            return false;
        }
        self.probe = None;
        probe.again && !twice && una != probe.end
    }
}
