//! A window that is not used says little of the path, and decays: RFC 2861, as Linux has it
//! (`tcp_cwnd_restart`, `tcp_cwnd_application_limited`). RFC 7661 has taken its place among the RFCs
//! and keeps the window for five minutes; Linux has stayed with the older rule.
//!
//! # Differences from Linux
//!
//! 1. An application counts as the limit when it has written nothing more; Linux asks whether it
//!    waits for room in the send buffer.

use crate::Params;
use crate::endpoint::{Endpoint, Phase};
use sojourn_base::Time;

/// How much of the window was used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unused {
    /// The most that was outstanding since.
    used: u32,
    /// The window was full, or was brought down.
    since: Time,
}

impl Unused {
    pub fn new(now: Time) -> Self {
        Self { used: 0, since: now }
    }
}

impl Endpoint {
    /// The window after a `pause` longer than the timeout: the initial one (RFC 5681 section 4.1),
    /// or half for each timeout (RFC 2861 section 3.1).
    #[cold]
    pub(crate) fn restart(&mut self, params: &Params, now: Time, pause: Time) {
        if params.idle_decay {
            self.remember_window();
            let halvings = (pause.0 - 1) / self.rto.0.max(1);
            let left = self.window.cwnd.checked_shr(halvings.min(32) as u32).unwrap_or(0);
            self.window.cwnd = left.max(params.initial_window);
        } else {
            self.window.cwnd = params.initial_window;
        }
        if let Some(t) = &mut self.tracked {
            t.unused = Unused::new(now);
            t.reducing = false;
        }
        self.control.on_restart(&params.congestion, &mut self.window);
    }

    /// The threshold keeps three quarters of a window that comes down (`tcp_current_ssthresh`).
    fn remember_window(&mut self) {
        let Self { window, .. } = self;
        window.ssthresh = window.ssthresh.max(window.cwnd - window.cwnd / 4);
    }

    /// Something was sent: brings the window down if the application has left part of it unused for a
    /// timeout (RFC 2861 section 3.2).
    pub(crate) fn decay_unused(&mut self, params: &Params, now: Time) {
        let (cwnd, outstanding) = (self.window.cwnd, self.in_flight());
        let slow_start = cwnd < self.window.ssthresh;
        let idle = self.unsent == 0 && self.phase == Phase::Open;
        let rto = self.rto;
        let t = self.tracked();
        if t.window_limits(cwnd, slow_start) {
            t.unused = Unused::new(now);
            return;
        }
        t.unused.used = t.unused.used.max(outstanding);
        if now - t.unused.since < rto {
            return;
        }
        let used = t.unused.used.max(params.initial_window);
        let calm = idle && !t.reducing;
        t.unused = Unused::new(now);
        if calm && used < cwnd {
            self.remember_window();
            self.window.cwnd = used + (cwnd - used) / 2;
        }
    }
}
