//! Westwood+: Reno, but a loss sets the threshold to what the path was seen to deliver.
//!
//! Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
//! congestion control", ACM CCR 34(2), 2004. Once per round trip Δ a sample of the bandwidth is
//! taken, the bytes acknowledged in it by its length, and filtered (section 2.2):
//! b̂ ← ((2τ−Δ)·b̂ + Δ·(b + b′))/(2τ+Δ), b′ the sample before. On a loss `ssthresh` becomes
//! max(2, b̂·RTTmin/MSS) segments (section 2.1) and the window at most that, so random losses take
//! little and a full queue is emptied.
//!
//! # Differences from the source
//!
//! 1. Where Δ > 2τ, so that the filter would swing, the new sample is taken for the estimate.
//! 2. Before the first sample a loss halves, as Reno's.
//! 3. Marks count as losses. Growth is that of Reno here.
//!
//! # Differences from Linux
//!
//! 1. Linux filters by two exponential averages with gain 1/8 at most every 50 ms, whatever Δ.
//! 2. Linux estimates from cumulative acknowledgements, guessing what duplicates delivered; here
//!    the sender knows what SACK reports, too.
//! 3. In Linux the threshold also replaces the window on a timeout's end; here as in the paper a
//!    timeout leaves one segment.

use super::{Acked, Congested, Control, Sample, Window, reno};
use crate::Invalid;
use crate::spec::within;
use sojourn_base::Time;

/// Settings of Westwood+.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "WestwoodSettings"))]
pub struct Settings {
    /// Time constant of the bandwidth filter: "1ms" to "100s" (default "500ms", Grieco and Mascolo
    /// 2004 section 2.2).
    pub tau: Time,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tau: Time::from_millis(500) }
    }
}

/// The settings in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    tau: Time,
}

/// State.
#[derive(Clone, Copy, Debug)]
pub struct State {
    reno: reno::State,
    /// The estimate and the sample before, bytes per second; no estimate before the first sample.
    estimate: Option<u64>,
    last: u64,
    /// Least round trip; [`Time::MAX`] before the first.
    min_rtt: Time,
    /// When the present sample began, and the bytes acknowledged since.
    since: Option<Time>,
    acked: u64,
}

/// Bytes per second above which nothing is told apart: 2⁴⁴, 140 Tb/s.
const RATE_MOST: u128 = 1 << 44;

impl State {
    /// Takes a sample of the bandwidth over `delta`, which is not zero.
    fn sample(&mut self, tuning: &Tuning, delta: Time) {
        let rate = u128::from(self.acked) * 1_000_000_000 / u128::from(delta.0);
        let rate = rate.min(RATE_MOST) as u64;
        let twice = 2 * tuning.tau.0;
        self.estimate = Some(match self.estimate {
            Some(old) if delta.0 <= twice => {
                let kept = u128::from(twice - delta.0) * u128::from(old);
                let news = u128::from(delta.0) * (u128::from(rate) + u128::from(self.last));
                ((kept + news) / u128::from(twice + delta.0)) as u64
            }
            _ => rate,
        });
        self.last = rate;
    }

    /// What the path holds: b̂·RTTmin in bytes; half the flight before it is known.
    fn threshold(&self, at: &Congested) -> u32 {
        match self.estimate {
            Some(rate) if self.min_rtt < Time::MAX => {
                let bytes = u128::from(rate) * u128::from(self.min_rtt.0) / 1_000_000_000;
                u32::try_from(bytes).unwrap_or(u32::MAX - 1)
            }
            _ => at.flight / 2,
        }
    }
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;
    const SAMPLES: bool = true;

    fn tune(settings: &Settings) -> Result<Tuning, Invalid> {
        let (least, most) = (Time::from_millis(1), Time::from_secs(100));
        Ok(Tuning { tau: within("congestion.tau", settings.tau, least, most)? })
    }

    fn new(_: &Tuning) -> Self {
        Self {
            reno: reno::State::default(),
            estimate: None,
            last: 0,
            min_rtt: Time::MAX,
            since: None,
            acked: 0,
        }
    }

    fn on_sample(&mut self, tuning: &Tuning, _: &mut Window, sample: &Sample) {
        self.min_rtt = self.min_rtt.min(sample.rtt.unwrap_or(Time::MAX));
        let Some(since) = self.since else {
            self.since = Some(sample.now);
            return;
        };
        self.acked += u64::from(sample.acked);
        let delta = sample.now.saturating_sub(since);
        if delta >= sample.srtt && delta > Time::ZERO {
            self.sample(tuning, delta);
            (self.since, self.acked) = (Some(sample.now), 0);
        }
    }

    #[inline]
    fn on_ack(&mut self, _: &Tuning, window: &mut Window, acked: Acked) {
        self.reno.grow(window, &acked);
    }

    fn on_loss(&mut self, _: &Tuning, window: &mut Window, at: Congested) {
        window.ssthresh = self.threshold(&at).max(2 * at.mss);
        window.cwnd = window.cwnd.min(window.ssthresh);
        self.reno = reno::State::default();
    }

    fn on_timeout(&mut self, _: &Tuning, window: &mut Window, at: Congested, first: bool) {
        window.collapse(self.threshold(&at), at.mss, first);
        self.reno = reno::State::default();
    }

    fn on_restart(&mut self, _: &Tuning, _: &mut Window) {
        // The pause says nothing of the path.
        (self.since, self.acked) = (None, 0);
        self.reno = reno::State::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::rounds::{MSS, RTT, Rounds, congested, sample};

    /// Acknowledgements of a segment every `gap` for `time`; every round trip is `rtt`.
    fn path(r: &mut Rounds<State>, gap: Time, time: Time, rtt: Time) {
        let end = r.now + time;
        while r.now < end {
            r.now += gap;
            r.ack(&sample(r.now, rtt));
        }
    }

    #[test]
    fn a_loss_leaves_what_the_path_delivers_in_the_least_round_trip() {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 300);
        // 1000 segments per second over 200 ms, then the same with a queue of 100 ms.
        path(&mut r, Time::from_millis(1), Time::from_secs(5), RTT);
        path(&mut r, Time::from_millis(1), Time::from_secs(5), Time::from_millis(300));
        r.loss();
        let segments = r.segments();
        assert!((segments - 200.0).abs() < 1.0, "{segments}");
        assert_eq!(r.window.cwnd, r.window.ssthresh);
    }

    #[test]
    fn a_window_below_the_estimate_is_kept() {
        let mut r: Rounds<State> = Rounds::new(&Settings::default(), 10);
        path(&mut r, Time::from_millis(1), Time::from_secs(5), RTT);
        r.window.cwnd = 50 * MSS;
        r.loss();
        assert_eq!(r.window.cwnd, 50 * MSS);
        assert!(r.window.ssthresh > 190 * MSS);
    }

    #[test]
    fn the_filter_is_the_paper_s() {
        let tuning = State::tune(&Settings::default()).unwrap();
        let mut state = State::new(&tuning);
        let (mut exact, mut before) = (0.0, 0.0);
        for (n, segments) in [100u64, 100, 300, 50, 0, 800, 800].into_iter().enumerate() {
            state.acked = segments * 1000;
            state.sample(&tuning, RTT);
            let b = segments as f64 * 1000.0 / 0.2;
            exact = if n == 0 { b } else { (0.8 * exact + 0.2 * (b + before)) / 1.2 };
            before = b;
            let ours = state.estimate.unwrap() as f64;
            assert!((ours - exact).abs() < 5.0, "{n}: {ours} {exact}");
        }
        state.acked = 1000;
        state.sample(&tuning, Time::from_secs(2));
        assert_eq!(state.estimate, Some(500), "a sample longer than the filter");
    }

    #[test]
    fn without_an_estimate_a_loss_halves() {
        let tuning = State::tune(&Settings::default()).unwrap();
        let mut w = Window { cwnd: 20 * MSS, ssthresh: u32::MAX };
        State::new(&tuning).on_loss(&tuning, &mut w, congested(20 * MSS));
        assert_eq!(w, Window { cwnd: 10 * MSS, ssthresh: 10 * MSS });
    }
}
