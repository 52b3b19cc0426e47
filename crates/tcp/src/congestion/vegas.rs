//! Vegas: keeps a few segments of its own in the queue, by comparing round trips.
//!
//! Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE
//! JSAC 13(8), 1995. Once per round trip it reckons how many of its segments wait somewhere,
//! cwnd·(RTT − BaseRTT)/RTT with BaseRTT the least round trip seen (section III-B): below `alpha`
//! the window grows by a segment, above `beta` it shrinks by one. In slow start it doubles every
//! other round trip only, and stops when more than `gamma` segments wait (section III-C).
//!
//! # Differences from the source
//!
//! 1. The round trip compared is the least of those measured in the last round trip, not that of
//!    one segment, so that delayed acknowledgements do not count as queueing.
//! 2. Losses are found by the sender's own rules, not by a clock checked at each duplicate (section
//!    III-A), and halve what is outstanding, as Reno's do.
//! 3. A window that leaves slow start gives up an eighth (as the authors' own code does; the paper
//!    does not say).
//! 4. BaseRTT is never raised: after a change of route to a longer path it stays too low.
//!
//! # Differences from Linux
//!
//! 1. Linux has 2, 4 and 1 segments for `alpha`, `beta` and `gamma`; the paper, and so this, 1, 3
//!    and 1.
//! 2. Linux doubles in every round trip of slow start, and on leaving it sets the window to what
//!    the path holds and one more.
//! 3. Linux falls back to Reno with fewer than three samples in a round trip, and forgets BaseRTT
//!    after a loss or a pause.

use super::{Acked, Congested, Control, Sample, Window};
use crate::Invalid;
use sojourn_base::Time;
use sojourn_base::within;

/// Settings of Vegas.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "VegasSettings"))]
pub struct Settings {
    /// Segments waiting below which the window grows: 1 to 1000 (default 1, Brakmo and Peterson
    /// 1995 section III-B).
    pub alpha: u32,
    /// Segments waiting above which it shrinks: `alpha` to 1000 (default 3, the same).
    pub beta: u32,
    /// Segments waiting above which slow start ends: 1 to 1000 (default 1, section III-C).
    pub gamma: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { alpha: 1, beta: 3, gamma: 1 }
    }
}

/// The settings, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    alpha: u32,
    beta: u32,
    gamma: u32,
}

/// State.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Least round trip of all, and of this round trip.
    base: Time,
    least: Time,
    /// A segment may be added.
    grows: bool,
    /// Of two round trips of slow start, the one that doubles.
    doubles: bool,
}

impl State {
    /// Bytes of ours that wait in queues.
    fn waiting(&self, window: &Window) -> u64 {
        let over = self.least.saturating_sub(self.base);
        let bytes = u128::from(window.cwnd) * u128::from(over.0) / u128::from(self.least.0.max(1));
        bytes as u64
    }

    fn new_round(&mut self, tuning: &Tuning, window: &mut Window, mss: u32) {
        let waiting = self.waiting(window);
        let above = |segments: u32| waiting > u64::from(segments) * u64::from(mss);
        if window.cwnd < window.ssthresh {
            self.doubles = !self.doubles;
            if above(tuning.gamma) {
                window.reduce(window.cwnd - window.cwnd / 8, mss);
            }
        } else if above(tuning.beta) {
            window.cwnd = window.cwnd.saturating_sub(mss).max(2 * mss);
            // Else it would be below the threshold, in slow start again.
            window.ssthresh = window.ssthresh.min(window.cwnd);
        }
        self.grows = !above(tuning.alpha);
        self.least = Time::MAX;
    }
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;
    const SAMPLES: bool = true;

    fn tune(s: &Settings) -> Result<Tuning, Invalid> {
        Ok(Tuning {
            alpha: within("congestion.alpha", s.alpha, 1, 1000)?,
            beta: within("congestion.beta", s.beta, s.alpha, 1000)?,
            gamma: within("congestion.gamma", s.gamma, 1, 1000)?,
        })
    }

    fn new(_: &Tuning) -> Self {
        Self { base: Time::MAX, least: Time::MAX, grows: false, doubles: true }
    }

    fn on_sample(&mut self, tuning: &Tuning, window: &mut Window, sample: &Sample) {
        if let Some(rtt) = sample.rtt {
            self.least = self.least.min(rtt);
            self.base = self.base.min(rtt);
        }
        if sample.round && self.least < Time::MAX && !sample.recovering {
            self.new_round(tuning, window, sample.mss);
        }
    }

    fn on_ack(&mut self, _: &Tuning, window: &mut Window, acked: Acked) {
        if window.cwnd < window.ssthresh {
            if self.doubles || acked.after_timeout {
                window.slow_start(&acked);
            }
        } else if self.grows {
            self.grows = false;
            window.cwnd = window.cwnd.saturating_add(acked.mss);
        }
    }

    fn on_loss(&mut self, _: &Tuning, window: &mut Window, at: Congested) {
        window.reduce(at.flight / 2, at.mss);
        self.grows = false;
    }

    fn on_timeout(&mut self, _: &Tuning, window: &mut Window, at: Congested, first: bool) {
        window.collapse(at.flight / 2, at.mss, first);
        self.grows = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::rounds::{MSS, Rounds};

    /// Round trips over a path that holds `pipe` segments at 100 ms: what is more waits.
    fn run(r: &mut Rounds<State>, pipe: f64, rounds: u32) {
        for _ in 0..rounds {
            let stretch = (r.segments() / pipe).max(1.0);
            r.rtt = Time((1e8 * stretch) as u64);
            r.round();
        }
    }

    #[test]
    fn between_alpha_and_beta_segments_wait_in_the_end() {
        for start in [5, 50, 120] {
            let mut r: Rounds<State> = Rounds::new(&Settings::default(), start);
            r.control.base = Time::from_millis(100);
            run(&mut r, 50.0, 200);
            let waiting = r.segments() - 50.0;
            assert!((1.0..=4.0).contains(&waiting), "{start}: {waiting}");
            let before = r.window.cwnd;
            run(&mut r, 50.0, 50);
            assert_eq!(r.window.cwnd, before, "and there it stays");
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round_trip_and_ends_early() {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 4);
        r.window.ssthresh = u32::MAX;
        let mut sizes = std::vec::Vec::new();
        while r.window.cwnd < r.window.ssthresh && sizes.len() < 40 {
            sizes.push(r.window.cwnd / MSS);
            run(&mut r, 100.0, 1);
        }
        let doubled = sizes.windows(2).filter(|w| w[1] >= 2 * w[0] - 1).count();
        assert!(doubled >= 3 && sizes.len() >= 2 * doubled, "{sizes:?}");
        assert!(r.segments() < 210.0, "{}", r.segments());
        run(&mut r, 100.0, 200);
        assert!((100.0..105.0).contains(&r.segments()), "{}", r.segments());
    }

    /// Slow start ends where the window is at the threshold: from there a segment a round trip.
    #[test]
    fn vegas_grows_by_one_segment_at_threshold() {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 10);
        r.window.ssthresh = r.window.cwnd;
        r.control.base = Time::from_millis(100);
        run(&mut r, 50.0, 4);
        assert!((12..=14).contains(&(r.window.cwnd / MSS)), "{}", r.segments());
    }

    #[test]
    fn exactly_beta_segments_waiting_are_not_too_many() {
        let tuning = State::tune(&Settings::default()).unwrap();
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 30);
        r.window.ssthresh = 20 * MSS;
        r.control.base = Time(900);
        r.control.least = Time(1000); // a tenth of 30 segments waits
        r.control.new_round(&tuning, &mut r.window, MSS);
        assert_eq!(r.window.cwnd, 30 * MSS);
    }

    #[test]
    fn two_segments_are_left_however_many_wait() {
        let settings = Settings { alpha: 1, beta: 1, ..Settings::default() };
        let mut r: Rounds<State> = Rounds::new(&settings, 4);
        r.window.ssthresh = 2 * MSS;
        for _ in 0..5 {
            // Nine of ten parts wait.
            (r.control.base, r.control.least) = (Time(100), Time(1000));
            r.control.new_round(&r.tuning, &mut r.window, MSS);
        }
        assert_eq!(r.window.cwnd, 2 * MSS);
    }

    #[test]
    fn beta_below_alpha_is_refused() {
        let error = State::tune(&Settings { alpha: 5, ..Settings::default() }).unwrap_err();
        assert_eq!(error.field, "congestion.beta");
    }
}
