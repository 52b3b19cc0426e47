//! DCTCP: a mark takes from the window half the share of bytes that are being marked.
//!
//! RFC 8257. The sender keeps α, a moving average over windows of the share of bytes marked, with
//! gain `g` (section 3.3): α ← (1−g)·α + g·M. Once per window with marks, `cwnd ← cwnd·(1 − α/2)`.
//! Slow start, congestion avoidance and the answer to losses are those of Reno (sections 3.4, 3.5).
//! It needs ECN, and a peer that tells how much was marked.
//!
//! # Differences from the source
//!
//! 1. The observation window is the sender's round trip of data (`SND.UNA` passing what was sent
//!    when the last began), which is that of section 3.3.
//! 2. How marks come back, by the receiver's state machine of section 3.2 or by more accurate ECN,
//!    is not part of this file.
//! 3. The window stays at two segments at least.
//! 4. What is selectively acknowledged counts when it is; section 3.3 step 1 waits for the edge.
//! 5. SYNs and RSTs are not ECN-capable, though section 3.6 wants them so; retransmissions and bare
//!    acknowledgements (section 4) are with `ect_control`.
//!
//! # Differences from Linux
//!
//! 1. Linux counts α in 1/1024, where small averages stop short of zero or drop to it; here it has
//!    32 fraction bits.
//! 2. Linux lets the window shrink to two segments by marks too, but sets `ssthresh` from the whole
//!    window after an acknowledged congestion state; a loss halves the window, here the flight.
//! 3. After a mark Linux does not grow for a round trip and counts towards the next segment anew;
//!    here so with `prr_marks` (but for the count), and without it growth goes on, as section 3.4
//!    has it.
//! 4. Retransmissions are ECN-capable in Linux's DCTCP; that is the sender's matter here.
//! 5. A loss in a window that a mark has already reduced takes no more of it (section 3.5: once per
//!    window of data); Linux halves it too, on entering recovery (`dctcp_react_to_loss`).

use super::{Acked, Congested, Control, Marks, Sample, Window, fixed, reno};
use crate::Invalid;

/// Settings of DCTCP.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "DctcpSettings"))]
pub struct Settings {
    /// Gain of the moving average: 0.0001 to 1 (default 0.0625, RFC 8257 section 4.2).
    pub g: f64,
    /// The average at the start: 0 to 1 (default 1, RFC 8257 section 3.3: the first mark halves).
    pub initial_alpha: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { g: 1.0 / 16.0, initial_alpha: 1.0 }
    }
}

/// The settings in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Gain, Q.32.
    g: u64,
    /// Average at the start, Q.32.
    alpha: u64,
}

/// A moving average of the share of bytes marked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Q.32, from 0 to 1.
    pub(crate) alpha: u64,
    acked: u64,
    marked: u64,
}

impl Share {
    pub(crate) fn new(alpha: u64) -> Self {
        Self { alpha, acked: 0, marked: 0 }
    }

    /// Counts what an acknowledgement reports.
    #[inline]
    pub(crate) fn count(&mut self, sample: &Sample) {
        self.acked += u64::from(sample.acked);
        self.marked += u64::from(sample.marked.min(sample.acked));
    }

    /// The observation window ends: RFC 8257 section 3.3 steps 5, 6 and 8.
    pub(crate) fn end(&mut self, g: u64) {
        if self.acked > 0 {
            let m = u128::from(self.marked) * u128::from(fixed::ONE) / u128::from(self.acked);
            let kept = u128::from(fixed::ONE - g) * u128::from(self.alpha);
            self.alpha = ((kept + u128::from(g) * m) >> fixed::SHARE_BITS) as u64;
        }
        (self.acked, self.marked) = (0, 0);
    }

    /// What marks leave of `bytes`: bytes·(1 − α/2).
    pub(crate) fn after(&self, bytes: u32) -> u32 {
        bytes - fixed::of(bytes, self.alpha / 2)
    }
}

/// State.
#[derive(Clone, Copy, Debug)]
pub struct State {
    reno: reno::State,
    share: Share,
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;
    const SAMPLES: bool = true;

    fn tune(settings: &Settings) -> Result<Tuning, Invalid> {
        let g = fixed::setting("congestion.g", settings.g, 0.0001, 1.0)?;
        let alpha = fixed::setting("congestion.initial_alpha", settings.initial_alpha, 0.0, 1.0)?;
        Ok(Tuning { g, alpha })
    }

    fn new(tuning: &Tuning) -> Self {
        Self { reno: reno::State::default(), share: Share::new(tuning.alpha) }
    }

    fn marks(_: &Tuning) -> Marks {
        Marks::Counted
    }

    #[inline]
    fn on_sample(&mut self, tuning: &Tuning, _: &mut Window, sample: &Sample) {
        self.share.count(sample);
        if sample.round {
            self.share.end(tuning.g);
        }
    }

    #[inline]
    fn on_ack(&mut self, _: &Tuning, window: &mut Window, acked: Acked) {
        self.reno.grow(window, &acked);
    }

    /// Section 3.3: `cwnd` is the window, not the flight.
    fn on_mark(&mut self, _: &Tuning, window: &mut Window, at: Congested) {
        // Growth goes on where it was: with marks in nearly every window it would else stand still.
        window.reduce(self.share.after(window.cwnd), at.mss);
    }

    /// Section 3.5: as any TCP.
    fn on_loss(&mut self, _: &Tuning, window: &mut Window, at: Congested) {
        window.reduce(at.flight / 2, at.mss);
        self.reno = reno::State::default();
    }

    fn on_timeout(&mut self, _: &Tuning, window: &mut Window, at: Congested, first: bool) {
        window.collapse(at.flight / 2, at.mss, first);
        self.reno = reno::State::default();
    }

    fn on_restart(&mut self, _: &Tuning, _: &mut Window, _: Congested) {
        self.reno = reno::State::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::rounds::{MSS, RTT, Rounds, sample};
    use sojourn_base::Time;

    const UNIT: f64 = fixed::ONE as f64;

    /// A round trip in which `marked` of `n` acknowledgements are marked.
    fn round(state: &mut State, tuning: &Tuning, n: u32, marked: u32) {
        let mut w = Window { cwnd: 100 * MSS, ssthresh: 2 };
        for i in 0..n {
            let mut s = sample(Time::ZERO, RTT);
            s.marked = if i < marked { MSS } else { 0 };
            s.round = i + 1 == n;
            state.on_sample(tuning, &mut w, &s);
        }
    }

    #[test]
    fn timeout_halves_the_flight() {
        let tuning = State::tune(&Settings::default()).unwrap();
        let mut window = Window { cwnd: 100 * MSS, ssthresh: u32::MAX };
        let at = Congested { now: Time::ZERO, srtt: RTT, flight: 60 * MSS, mss: MSS };
        State::new(&tuning).on_timeout(&tuning, &mut window, at, true);
        assert_eq!((window.cwnd, window.ssthresh), (MSS, 30 * MSS));
    }

    #[test]
    fn alpha_is_the_moving_average_of_the_share_marked() {
        let tuning = State::tune(&Settings::default()).unwrap();
        let mut state = State::new(&tuning);
        let mut exact = 1.0;
        for (n, marked) in [(100, 0), (100, 30), (7, 7), (1000, 1), (50, 0), (50, 25)] {
            round(&mut state, &tuning, n, marked);
            exact = exact * 15.0 / 16.0 + f64::from(marked) / f64::from(n) / 16.0;
            let ours = state.share.alpha as f64 / UNIT;
            assert!((ours - exact).abs() < 1e-8, "{ours} {exact}");
        }
        // It dies away to nothing, which 10 bits could not.
        for _ in 0..400 {
            round(&mut state, &tuning, 10, 0);
        }
        assert!(state.share.alpha < 16, "{}", state.share.alpha);
    }

    #[test]
    fn the_first_mark_halves_and_later_ones_take_half_of_alpha() {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 100);
        let at = r.at();
        r.control.on_mark(&r.tuning, &mut r.window, at);
        assert_eq!(r.window.cwnd, 50 * MSS);
        for _ in 0..200 {
            round(&mut r.control, &r.tuning, 100, 20);
        }
        let at = r.at();
        r.control.on_mark(&r.tuning, &mut r.window, at);
        assert!((r.segments() - 45.0).abs() < 0.01, "{}", r.segments());
        r.loss();
        assert!((r.segments() - 22.5).abs() < 0.01, "a loss halves");
    }

    /// Section 3.5, as RFC 5681 section 3.1: one segment, and half of what was under way.
    #[test]
    fn a_timeout_leaves_one_segment_whatever_was_marked() {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 100);
        round(&mut r.control, &r.tuning, 100, 20);
        let at = r.at();
        r.control.on_timeout(&r.tuning, &mut r.window, at, true);
        assert_eq!(r.window, Window { cwnd: MSS, ssthresh: 50 * MSS });
    }

    #[test]
    fn under_full_marking_it_keeps_two_segments() {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 100);
        for _ in 0..20 {
            let at = r.at();
            r.control.on_mark(&r.tuning, &mut r.window, at);
        }
        assert_eq!(r.window, Window { cwnd: 2 * MSS, ssthresh: 2 * MSS });
    }
}
