//! Reno: slow start and congestion avoidance of RFC 5681, counting bytes as RFC 3465 does.
//!
//! # Differences from the source
//!
//! 1. At the crossing from slow start to congestion avoidance the acknowledgement that crosses
//!    counts wholly as slow start.
//! 2. The window is at least two segments after a mark, so a sender never waits for its timer to
//!    send a single segment (RFC 3168 section 6.1.2 lets it, at a window of one).

use super::{Acked, Congested, Control, Window};

/// Reno has nothing to set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct Settings {}

/// State: bytes acknowledged since the window last grew in congestion avoidance.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    acked: u32,
}

impl Control for State {
    type Settings = Settings;

    fn new(_: &Settings) -> Self {
        Self::default()
    }

    #[inline]
    fn on_ack(&mut self, _: &Settings, window: &mut Window, acked: Acked) {
        if window.cwnd < window.ssthresh {
            // RFC 3465 section 2.2, L = 2; section 2.3, L = 1 after a timeout.
            let limit = if acked.after_timeout { acked.mss } else { 2 * acked.mss };
            window.cwnd += acked.bytes.min(limit);
        } else if acked.smooth {
            // RFC 5681 equation 3; `acked` holds the fraction of a byte, Q.20.
            let fraction = (u64::from(acked.mss) * u64::from(acked.bytes)) << 20;
            let sum = u64::from(self.acked) + fraction / u64::from(window.cwnd.max(1));
            window.cwnd += (sum >> 20) as u32;
            self.acked = sum as u32 & ((1 << 20) - 1);
        } else {
            // RFC 3465 section 2.1: one segment for a window of bytes; nothing is divided.
            self.acked += acked.bytes;
            if self.acked >= window.cwnd {
                self.acked -= window.cwnd;
                window.cwnd += acked.mss;
            }
        }
    }

    fn on_loss(&mut self, _: &Settings, window: &mut Window, at: Congested) {
        window.ssthresh = (at.flight / 2).max(2 * at.mss); // RFC 5681 equation 4
        window.cwnd = window.ssthresh;
        self.acked = 0;
    }

    fn on_timeout(&mut self, _: &Settings, window: &mut Window, at: Congested, first: bool) {
        // RFC 5681 section 3.1: ssthresh stays when the same segment times out again.
        if first {
            window.ssthresh = (at.flight / 2).max(2 * at.mss);
        }
        window.cwnd = at.mss;
        self.acked = 0;
    }

    fn on_restart(&mut self, _: &Settings, _: &mut Window) {
        self.acked = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Time;

    const MSS: u32 = 1000;

    fn at(flight: u32) -> Congested {
        Congested { now: Time::ZERO, srtt: Time::ZERO, flight, mss: MSS }
    }

    fn acked(bytes: u32) -> Acked {
        Acked {
            now: Time::ZERO,
            srtt: Time::ZERO,
            bytes,
            mss: MSS,
            after_timeout: false,
            smooth: false,
        }
    }

    #[test]
    fn slow_start_adds_what_was_acked_but_at_most_two_segments() {
        let (mut reno, mut w) = (State::default(), Window { cwnd: 4 * MSS, ssthresh: u32::MAX });
        reno.on_ack(&Settings {}, &mut w, acked(MSS));
        assert_eq!(w.cwnd, 5 * MSS);
        reno.on_ack(&Settings {}, &mut w, acked(2 * MSS));
        assert_eq!(w.cwnd, 7 * MSS);
        reno.on_ack(&Settings {}, &mut w, acked(5 * MSS));
        assert_eq!(w.cwnd, 9 * MSS);
        reno.on_ack(&Settings {}, &mut w, Acked { after_timeout: true, ..acked(5 * MSS) });
        assert_eq!(w.cwnd, 10 * MSS);
    }

    #[test]
    fn congestion_avoidance_adds_one_segment_per_window() {
        let (mut reno, mut w) = (State::default(), Window { cwnd: 10 * MSS, ssthresh: 10 * MSS });
        for _ in 0..4 {
            reno.on_ack(&Settings {}, &mut w, acked(2 * MSS));
            assert_eq!(w.cwnd, 10 * MSS);
        }
        reno.on_ack(&Settings {}, &mut w, acked(2 * MSS));
        assert_eq!(w.cwnd, 11 * MSS);
    }

    #[test]
    fn smooth_growth_is_a_segment_per_window_whatever_the_window() {
        for segments in [2, 10, 300, 20_000] {
            let start = Window { cwnd: segments * 1448, ssthresh: 2 };
            let (mut reno, mut w) = (State::default(), start);
            for _ in 0..segments {
                let acked = Acked { bytes: 1448, mss: 1448, smooth: true, ..acked(0) };
                reno.on_ack(&Settings {}, &mut w, acked);
            }
            // A little less than a segment, since the window grows meanwhile.
            let grown = w.cwnd - start.cwnd;
            let least = 1447 - 1448 / (segments + 1);
            assert!((least..=1448).contains(&grown), "{segments}: {grown}");
        }
    }

    #[test]
    fn loss_halves_the_flight_and_keeps_two_segments() {
        let (mut reno, mut w) = (State::default(), Window { cwnd: 20 * MSS, ssthresh: u32::MAX });
        reno.on_loss(&Settings {}, &mut w, at(18 * MSS));
        assert_eq!(w, Window { cwnd: 9 * MSS, ssthresh: 9 * MSS });
        reno.on_loss(&Settings {}, &mut w, at(3 * MSS));
        assert_eq!(w, Window { cwnd: 2 * MSS, ssthresh: 2 * MSS });
    }

    #[test]
    fn repeated_timeouts_hold_ssthresh() {
        let (mut reno, mut w) = (State::default(), Window { cwnd: 20 * MSS, ssthresh: u32::MAX });
        reno.on_timeout(&Settings {}, &mut w, at(20 * MSS), true);
        assert_eq!(w, Window { cwnd: MSS, ssthresh: 10 * MSS });
        reno.on_timeout(&Settings {}, &mut w, at(MSS), false);
        assert_eq!(w, Window { cwnd: MSS, ssthresh: 10 * MSS });
    }
}
