//! Tail loss probes: when nothing has come back for two round trips, something is sent whose
//! acknowledgement shows what was lost, rather than waiting for the timer. RFC 8985 section 7.
//!
//! # Differences from the source
//!
//! 1. The delay of an acknowledgement that may wait (`TLP.max_ack_delay`) is the least timeout, as
//!    in Linux, if that is more than the delay that both ends have in their settings.
//! 2. A probe does not wait for a round trip to have been measured since the last one (section 7.3),
//!    as in Linux.

use crate::Params;
use crate::endpoint::{Endpoint, Phase, bit};
use crate::segment::{Output, SackBlock, before};
use sojourn_base::Time;

/// The timeout of a probe before a round trip is measured (section 7.2).
const UNMEASURED: Time = Time::from_secs(1);

/// A probe that is out (section 7.3).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probe {
    /// Where sending had got to (`TLP.end_seq`).
    pub end: u32,
    /// Whether it was a retransmission.
    pub again: bool,
}

impl Endpoint {
    /// Sets the probe's timer, if one may be sent: `TLP_calc_PTO` of section 7.2.
    pub(crate) fn arm_probe(&mut self, params: &Params, now: Time) {
        let (outstanding, open) = (self.in_flight(), self.phase == Phase::Open);
        let srtt = self.estimator.smoothed();
        let rto_at = self.rto_at;
        let t = self.tracked();
        let may = params.tlp && open && outstanding > 0 && t.probe.is_none() && t.log.sacked() == 0;
        t.probe_at = Time::MAX;
        if may {
            let timeout = match srtt {
                Time::ZERO => UNMEASURED,
                _ if outstanding <= params.payload => {
                    srtt * 2 + params.delayed_ack_time.max(params.min_rto)
                }
                _ => srtt * 2,
            };
            t.probe_at = (now + timeout).min(rto_at);
        }
    }

    /// The probe's timer ran out: sends new data if there are any, else the last segment again
    /// (`TLP_send_probe`, section 7.3). The window may be exceeded by it.
    #[cold]
    pub(crate) fn send_probe(&mut self, params: &Params, now: Time, out: &mut impl Output) {
        let new = self.unsent.min(u64::from(params.payload)) as u32;
        let outstanding = self.in_flight();
        let fits = outstanding + new.max(1) <= self.peer_window;
        let has_new = (new > 0 || self.fin_is_due()) && fits;
        let again = !has_new;
        self.tracked().probe_at = Time::MAX;
        if has_new {
            self.send_new(params, now, new, out);
        } else if let Some(last) = self.tracked().log.back() {
            self.resend(params, now, last, out);
        }
        let end = self.snd_nxt;
        self.tracked().probe = Some(Probe { end, again });
        self.rto_at = now + self.rto; // section 7.3: the timer starts with it
    }

    /// An acknowledgement while a probe is out: `TLP_process_ack` of section 7.4. `news` if it tells
    /// of anything that arrived; `duplicate` is what came twice. Returns whether the probe has
    /// repaired a loss, which nothing else will show.
    pub(crate) fn probe_answered(&mut self, duplicate: Option<SackBlock>, news: bool) -> bool {
        let una = self.snd_una;
        let t = self.tracked();
        let Some(probe) = t.probe else { return false };
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
        t.probe = None;
        probe.again && !twice && una != probe.end
    }

    /// Nothing but the tail probe's answer shows that a loss happened: the window is reduced.
    pub(crate) fn reduce_for_probe(&mut self, params: &Params, now: Time) {
        if self.phase < Phase::Recovery && !self.reduced_in_this_window() {
            let at = self.congested(params, now, self.in_flight());
            self.control.on_loss(&params.congestion, &mut self.window, at);
            self.note_reduction(params);
            self.bits &= !bit::TIMED;
        }
    }
}
