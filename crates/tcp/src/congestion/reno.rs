//! Reno: slow start and congestion avoidance of RFC 5681, counting bytes as RFC 3465 does.
//!
//! In slow start the window grows by what is acknowledged, in congestion avoidance by a segment per
//! window. A loss halves it; so does a mark, unless `beta_ecn` says otherwise: a mark comes from a
//! queue that an AQM keeps short, where half is more than is needed (RFC 8511, ABE).
//!
//! # Differences from the source
//!
//! 1. At the crossing from slow start to congestion avoidance the acknowledgement that crosses
//!    counts wholly as slow start.
//! 2. The window is at least two segments after a mark, so a sender never waits for its timer to
//!    send a single segment (RFC 3168 section 6.1.2 lets it, at a window of one).
//! 3. `beta_ecn` holds in slow start too; RFC 8511 section 4 recommends it in congestion avoidance.
//!
//! # Differences from Linux
//!
//! 1. A reduction starts from the bytes outstanding (RFC 5681 equation 4), Linux's from the window.
//! 2. Windows are in bytes, Linux's in segments: a reduction there drops the fraction of a segment.
//! 3. Linux has no ABE.
//! 4. Linux's slow start has no limit for an acknowledgement (`tcp_slow_start`), this has two
//!    segments, and one after a timeout (RFC 3465): where acknowledgements are thinned out on their
//!    way, windows rise more slowly here.

use super::{Acked, Congested, Control, Window, fixed};
use crate::Invalid;

/// Settings of Reno.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "RenoSettings"))]
pub struct Settings {
    /// Share of the window that a mark leaves: 0.5 to 0.95 (default 0.5, RFC 3168 section 6.1.2;
    /// RFC 8511 section 3.1 has 0.8).
    pub beta_ecn: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { beta_ecn: 0.5 }
    }
}

/// The settings in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Share that a mark leaves, Q.32.
    beta_ecn: u64,
}

/// State: bytes acknowledged since the window last grew in congestion avoidance.
#[derive(Clone, Copy, Debug, Default)]
pub struct State {
    acked: u32,
}

impl State {
    /// Slow start or congestion avoidance.
    #[inline]
    pub(crate) fn grow(&mut self, window: &mut Window, acked: &Acked) {
        if !window.slow_start(acked) {
            self.avoid(window, acked);
        }
    }

    /// Congestion avoidance: a segment per window.
    #[inline]
    pub(crate) fn avoid(&mut self, window: &mut Window, acked: &Acked) {
        if acked.smooth {
            // RFC 5681 equation 3; `acked` holds the fraction of a byte, Q.20.
            let fraction = (u64::from(acked.mss) * u64::from(acked.bytes)) << 20;
            let sum = u64::from(self.acked) + fraction / u64::from(window.cwnd.max(1));
            window.cwnd = window.cwnd.saturating_add((sum >> 20) as u32);
            self.acked = sum as u32 & ((1 << 20) - 1);
        } else {
            // RFC 3465 section 2.1: one segment for a window of bytes; nothing is divided.
            self.acked = self.acked.saturating_add(acked.bytes);
            if self.acked >= window.cwnd {
                self.acked -= window.cwnd;
                window.cwnd = window.cwnd.saturating_add(acked.mss);
            }
        }
    }
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;

    fn tune(settings: &Settings) -> Result<Tuning, Invalid> {
        let beta_ecn = fixed::setting("congestion.beta_ecn", settings.beta_ecn, 0.5, 0.95)?;
        Ok(Tuning { beta_ecn })
    }

    fn new(_: &Tuning) -> Self {
        Self::default()
    }

    #[inline]
    fn on_ack(&mut self, _: &Tuning, window: &mut Window, acked: Acked) {
        self.grow(window, &acked);
    }

    fn on_loss(&mut self, _: &Tuning, window: &mut Window, at: Congested) {
        window.reduce(at.flight / 2, at.mss); // RFC 5681 equation 4
        self.acked = 0;
    }

    fn on_mark(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
        window.reduce(fixed::of(at.flight, tuning.beta_ecn), at.mss); // RFC 8511 section 3
        self.acked = 0;
    }

    fn on_timeout(&mut self, _: &Tuning, window: &mut Window, at: Congested, first: bool) {
        window.collapse(at.flight / 2, at.mss, first);
        self.acked = 0;
    }

    fn on_restart(&mut self, _: &Tuning, _: &mut Window, _: Congested) {
        self.acked = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Time;

    const MSS: u32 = 1000;

    fn tuning() -> Tuning {
        State::tune(&Settings::default()).unwrap()
    }

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

    /// RFC 3465 section 2.1: what was acknowledged beyond a window counts for the next one.
    #[test]
    fn congestion_avoidance_carries_bytes_beyond_a_window() {
        let (mut reno, mut w) = (State::default(), Window { cwnd: 10 * MSS, ssthresh: 10 * MSS });
        let mut after = |acks: u32| {
            (0..acks).for_each(|_| reno.on_ack(&tuning(), &mut w, acked(3 * MSS)));
            w.cwnd / MSS
        };
        assert_eq!((after(3), after(1)), (10, 11)); // two are left over
        assert_eq!((after(2), after(1)), (11, 12)); // 2 + 9 = 11
        assert_eq!((after(3), after(1)), (12, 13)); // nothing was left over
    }

    #[test]
    fn slow_start_adds_acked_bytes_up_to_two_segments() {
        let (mut reno, mut w) = (State::default(), Window { cwnd: 4 * MSS, ssthresh: u32::MAX });
        reno.on_ack(&tuning(), &mut w, acked(MSS));
        assert_eq!(w.cwnd, 5 * MSS);
        reno.on_ack(&tuning(), &mut w, acked(2 * MSS));
        assert_eq!(w.cwnd, 7 * MSS);
        reno.on_ack(&tuning(), &mut w, acked(5 * MSS));
        assert_eq!(w.cwnd, 9 * MSS);
        reno.on_ack(&tuning(), &mut w, Acked { after_timeout: true, ..acked(5 * MSS) });
        assert_eq!(w.cwnd, 10 * MSS);
    }

    #[test]
    fn congestion_avoidance_adds_one_segment_per_window() {
        let (mut reno, mut w) = (State::default(), Window { cwnd: 10 * MSS, ssthresh: 10 * MSS });
        for _ in 0..4 {
            reno.on_ack(&tuning(), &mut w, acked(2 * MSS));
            assert_eq!(w.cwnd, 10 * MSS);
        }
        reno.on_ack(&tuning(), &mut w, acked(2 * MSS));
        assert_eq!(w.cwnd, 11 * MSS);
    }

    #[test]
    fn smooth_growth_is_a_segment_per_window_whatever_the_window() {
        for segments in [2, 10, 300, 20_000] {
            let start = Window { cwnd: segments * 1448, ssthresh: 2 };
            let (mut reno, mut w) = (State::default(), start);
            for _ in 0..segments {
                let acked = Acked { bytes: 1448, mss: 1448, smooth: true, ..acked(0) };
                reno.on_ack(&tuning(), &mut w, acked);
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
        reno.on_loss(&tuning(), &mut w, at(18 * MSS));
        assert_eq!(w, Window { cwnd: 9 * MSS, ssthresh: 9 * MSS });
        reno.on_loss(&tuning(), &mut w, at(3 * MSS));
        assert_eq!(w, Window { cwnd: 2 * MSS, ssthresh: 2 * MSS });
    }

    #[test]
    fn repeated_timeouts_hold_ssthresh() {
        let (mut reno, mut w) = (State::default(), Window { cwnd: 20 * MSS, ssthresh: u32::MAX });
        reno.on_timeout(&tuning(), &mut w, at(20 * MSS), true);
        assert_eq!(w, Window { cwnd: MSS, ssthresh: 10 * MSS });
        reno.on_timeout(&tuning(), &mut w, at(MSS), false);
        assert_eq!(w, Window { cwnd: MSS, ssthresh: 10 * MSS });
    }
    #[test]
    fn a_mark_halves_unless_told_otherwise() {
        let (mut reno, mut w) = (State::default(), Window { cwnd: 20 * MSS, ssthresh: u32::MAX });
        reno.on_mark(&tuning(), &mut w, at(20 * MSS));
        assert_eq!(w.cwnd, 10 * MSS);
        let abe = State::tune(&Settings { beta_ecn: 0.8 }).unwrap();
        reno.on_mark(&abe, &mut w, at(10 * MSS));
        assert_eq!(w.cwnd, 8 * MSS);
        reno.on_loss(&abe, &mut w, at(8 * MSS));
        assert_eq!(w.cwnd, 4 * MSS);
    }
}
