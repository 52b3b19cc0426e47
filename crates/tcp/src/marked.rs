//! A mark brings the window down over a round trip: proportional rate reduction (RFC 9937) after marks
//! as after losses, which is what Linux does (`TCP_CA_CWR`). Until what was outstanding is
//! acknowledged the window does not grow.

use crate::Params;
use crate::endpoint::Endpoint;
use crate::prr::Prr;
use crate::segment::before;
use sojourn_base::Time;

impl Endpoint {
    /// The peer saw a mark, or the own interface is full: the window is reduced, at most once a
    /// window; `arrived` bytes are newly acknowledged.
    pub(crate) fn reduce_for_mark(
        &mut self,
        params: &Params,
        now: Time,
        flight: u32,
        arrived: u32,
    ) {
        let before = self.window.cwnd;
        if self.mark(params, now, flight) && params.prr_marks {
            // Only the threshold comes down now; the window follows with what arrives.
            self.window.cwnd = before;
            let outstanding = self.in_flight();
            if let Some(t) = &mut self.tracked {
                t.prr = Prr::start(outstanding - t.log.sacked() + arrived);
                t.reducing = true;
            }
        }
    }

    /// New data are acknowledged: the reduction ends with what was sent after it, or when nothing
    /// is left (`tcp_end_cwnd_reduction` of Linux).
    pub(crate) fn end_reduction(&mut self, params: &Params) {
        let past = before(self.reduced, self.snd_una) || self.snd_una == self.snd_nxt;
        if let Some(t) = &mut self.tracked
            && t.reducing
            && past
        {
            t.reducing = false;
            self.window.cwnd = self.window.ssthresh;
            self.reduced_well(params);
        }
    }

    /// A reduction is over.
    pub(crate) fn reduced_well(&mut self, params: &Params) {
        self.control.on_recovered(&params.congestion, &mut self.window, params.payload);
        self.window.cwnd = self.window.cwnd.min(params.max_window).max(params.payload);
    }
}
