//! Westwood+: Reno, but a loss sets the threshold to what the path was seen to deliver.
//!
//! Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
//! congestion control", ACM CCR 34(2), 2004. Once per round trip Δ a sample of the bandwidth is
//! taken, the bytes acknowledged in it by its length, and filtered (section 2.2):
//! b̂ ← ((2τ−Δ)·b̂ + Δ·(b + b′))/(2τ+Δ), b′ the sample before. On a loss `ssthresh` becomes
//! max(2, b̂·RTTmin/MSS) segments (section 2.1) and the window at most that, so random losses take
//! little and a full queue is emptied.
//!
//! With `linux_filter` the estimate is that of Linux's `tcp_westwood.c`: a sample once in the last
//! round trip, but at most every 50 ms; two exponential averages with a gain of 1/8 one behind the
//! other, filled by the first sample; the least round trip in ticks of 4 ms, rounded up, and begun
//! anew with a timeout; thresholds in whole segments. With `estimate_after` a loss halves the
//! window, rounded down to whole segments, and when the recovery is over the window is what the
//! path then was seen to deliver, as there.
//!
//! # Differences from the source
//!
//! 1. Where Δ > 2τ, so that the filter would swing, the new sample is taken for the estimate.
//! 2. Before the first sample a loss halves, as Reno's.
//! 3. Marks count as losses. Growth is that of Reno here.
//!
//! # Differences from Linux
//!
//! 1. Linux's filter is another one, `linux_filter`. There a tick is a jiffy, of 1, 4 or 10 ms as
//!    the kernel was built; here 4 ms, as distributions have it.
//! 2. Linux estimates from cumulative acknowledgements, guessing what duplicates delivered; here
//!    the sender knows what SACK reports, too.
//! 3. Linux halves for the time of a recovery, and takes the estimate for the window when that is
//!    over, even if it is above the window at the loss, as this with `estimate_after`; without, the
//!    window is at most what it was at the loss.

use super::{Acked, Congested, Control, Sample, Window, fixed, reno};
use crate::{Invalid, Profile};
use sojourn_base::Time;
use sojourn_base::within;

/// Settings of Westwood+.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "WestwoodSettings"))]
pub struct Settings {
    /// Time constant of the bandwidth filter: "1ms" to "100s" (default "500ms", Grieco and Mascolo
    /// 2004 section 2.2).
    pub tau: Time,
    /// Whether the filter is that of Linux, which has no `tau`: two averages with a gain of 1/8, a
    /// sample every 50 ms at most (default false, Grieco and Mascolo 2004; in modern true,
    /// `tcp_westwood.c`).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub linux_filter: Option<bool>,
    /// Whether the estimate becomes the window when a recovery is over, half the window being used
    /// until then (default false, Grieco and Mascolo 2004: at once; in modern true,
    /// `tcp_westwood.c`).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub estimate_after: Option<bool>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tau: Time::from_millis(500), linux_filter: None, estimate_after: None }
    }
}

/// The settings in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    tau: Time,
    linux_filter: bool,
    estimate_after: bool,
}

/// State.
#[derive(Clone, Copy, Debug)]
pub struct State {
    reno: reno::State,
    /// The estimate, bytes per second; none before the first sample.
    estimate: Option<u64>,
    /// The sample before; Linux's filter: the first of its averages.
    last: u64,
    /// Least round trip; [`Time::MAX`] before the first.
    min_rtt: Time,
    /// The last round trip; zero before the first.
    rtt: Time,
    /// When the present sample began, and the bytes acknowledged since.
    since: Option<Time>,
    acked: u64,
}

/// Bytes per second above which nothing is told apart: 2⁴⁴, 140 Tb/s.
const RATE_MOST: u128 = 1 << 44;

/// Linux: the least time of a sample (`TCP_WESTWOOD_RTT_MIN`), and its unit of time.
const LEAST_SAMPLE: Time = Time::from_millis(50);
const TICK: Time = Time::from_millis(4);

impl State {
    /// Takes a sample of the bandwidth over `delta`, which is not zero.
    fn sample(&mut self, tuning: &Tuning, delta: Time) {
        let rate = u128::from(self.acked) * 1_000_000_000 / u128::from(delta.0);
        let rate = rate.min(RATE_MOST) as u64;
        if tuning.linux_filter {
            // `westwood_filter`.
            (self.last, self.estimate) = match self.estimate {
                Some(old) => {
                    let first = (7 * self.last + rate) / 8;
                    (first, Some((7 * old + first) / 8))
                }
                None => (rate, Some(rate)),
            };
            return;
        }
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

    /// What the path holds, b̂·RTTmin in bytes, once it is known.
    fn held(&self, tuning: &Tuning, mss: u32) -> Option<u32> {
        let rate = self.estimate.filter(|_| self.min_rtt < Time::MAX)?;
        let linux = tuning.linux_filter;
        let unit = if linux { TICK.0 } else { 1 };
        let rtt = u128::from(self.min_rtt.0.div_ceil(unit)) * u128::from(unit);
        let bytes = u128::from(rate) * rtt / 1_000_000_000;
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX - 1);
        Some(if linux { fixed::whole(bytes, mss) } else { bytes })
    }

    /// What the path holds; half the flight before it is known.
    fn threshold(&self, tuning: &Tuning, at: &Congested) -> u32 {
        self.held(tuning, at.mss).unwrap_or(at.flight / 2)
    }
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;
    const SAMPLES: bool = true;

    fn tune(settings: &Settings) -> Result<Tuning, Invalid> {
        let (least, most) = (Time::from_millis(1), Time::from_secs(100));
        let tau = within("congestion.tau", settings.tau, least, most)?;
        Ok(Tuning {
            tau,
            linux_filter: settings.linux_filter.unwrap_or(false),
            estimate_after: settings.estimate_after.unwrap_or(false),
        })
    }

    fn settle(settings: &mut Settings, profile: Profile) {
        settings.linux_filter.get_or_insert(profile == Profile::Modern);
        settings.estimate_after.get_or_insert(profile == Profile::Modern);
    }

    fn new(_: &Tuning) -> Self {
        Self {
            reno: reno::State::default(),
            estimate: None,
            last: 0,
            min_rtt: Time::MAX,
            rtt: Time::ZERO,
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
        let delta = sample.now.saturating_sub(since);
        if tuning.linux_filter {
            // `westwood_update_window`: before the round trip and the bytes of this one count.
            if self.rtt > Time::ZERO && delta > self.rtt.max(LEAST_SAMPLE) {
                self.sample(tuning, delta);
                (self.since, self.acked) = (Some(sample.now), 0);
            }
            self.acked += u64::from(sample.acked);
            self.rtt = sample.rtt.unwrap_or(self.rtt);
            return;
        }
        self.acked += u64::from(sample.acked);
        if delta >= sample.srtt && delta > Time::ZERO {
            self.sample(tuning, delta);
            (self.since, self.acked) = (Some(sample.now), 0);
        }
    }

    #[inline]
    fn on_ack(&mut self, _: &Tuning, window: &mut Window, acked: Acked) {
        self.reno.grow(window, &acked);
    }

    fn on_loss(&mut self, tuning: &Tuning, window: &mut Window, at: Congested) {
        let left = if tuning.estimate_after {
            fixed::whole(window.cwnd / 2, at.mss)
        } else {
            self.threshold(tuning, &at)
        };
        window.ssthresh = left.max(2 * at.mss);
        window.cwnd = window.cwnd.min(window.ssthresh);
        self.reno = reno::State::default();
    }

    fn on_recovered(&mut self, tuning: &Tuning, window: &mut Window, mss: u32) {
        if tuning.estimate_after
            && let Some(held) = self.held(tuning, mss)
        {
            window.ssthresh = held.max(2 * mss);
            window.cwnd = window.ssthresh;
        }
    }

    fn on_timeout(&mut self, tuning: &Tuning, window: &mut Window, at: Congested, first: bool) {
        window.collapse(self.threshold(tuning, &at), at.mss, first);
        self.reno = reno::State::default();
        if tuning.linux_filter && first {
            self.min_rtt = Time::MAX; // `reset_rtt_min`
        }
    }

    fn on_restart(&mut self, _: &Tuning, _: &mut Window, _: Congested) {
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
    fn linux_s_filter_is_two_averages_one_behind_the_other() {
        let settings = Settings { linux_filter: Some(true), ..Settings::default() };
        let tuning = State::tune(&settings).unwrap();
        let mut state = State::new(&tuning);
        let (mut first, mut second) = (0.0, 0.0);
        for (n, segments) in [100u64, 100, 300, 50, 0, 800, 800].into_iter().enumerate() {
            state.acked = segments * 1000;
            state.sample(&tuning, RTT);
            let b = segments as f64 * 1000.0 / 0.2;
            (first, second) = if n == 0 {
                (b, b)
            } else {
                let first = (7.0 * first + b) / 8.0;
                (first, (7.0 * second + first) / 8.0)
            };
            let ours = state.estimate.unwrap() as f64;
            assert!((ours - second).abs() < 20.0, "{n}: {ours} {second}");
        }
    }

    #[test]
    fn linux_takes_a_sample_every_50_ms_at_most_and_counts_the_round_trip_in_ticks() {
        let settings = Settings { linux_filter: Some(true), ..Settings::default() };
        let mut r: Rounds<State> = Rounds::new(&settings, 300);
        // 1000 segments per second over 10 ms: 51 of them make the first sample.
        path(&mut r, Time::from_millis(1), Time::from_millis(51), Time::from_millis(10));
        assert_eq!(r.control.estimate, None);
        path(&mut r, Time::from_millis(1), Time::from_millis(1), Time::from_millis(10));
        let rate = r.control.estimate.unwrap();
        assert!(rate.abs_diff(1000 * u64::from(MSS)) < 30_000, "{rate}");
        path(&mut r, Time::from_millis(1), Time::from_secs(5), Time::from_millis(10));
        r.loss();
        assert_eq!(r.segments(), 11.0, "12 ms, less what the sample's length lacks");
        // A timeout has the least round trip measured again.
        let at = r.at();
        r.control.on_timeout(&r.tuning, &mut r.window, at, true);
        assert_eq!(r.window.ssthresh, 11 * MSS);
        path(&mut r, Time::from_millis(1), Time::from_secs(5), Time::from_millis(100));
        r.window.cwnd = 300 * MSS;
        r.loss();
        assert!((98.0..=100.0).contains(&r.segments()), "{}", r.segments());
    }

    #[test]
    fn the_estimate_may_wait_for_the_end_of_the_recovery() {
        let settings = Settings { estimate_after: Some(true), ..Settings::default() };
        let mut r: Rounds<State> = Rounds::new(&settings, 300);
        r.control.on_recovered(&r.tuning, &mut r.window, MSS);
        assert_eq!(r.window.cwnd, 300 * MSS, "nothing is known yet");
        path(&mut r, Time::from_millis(1), Time::from_secs(5), RTT);
        r.window.cwnd = 51 * MSS;
        r.loss();
        assert_eq!((r.window.cwnd, r.window.ssthresh), (25 * MSS, 25 * MSS));
        r.control.on_recovered(&r.tuning, &mut r.window, MSS);
        assert_eq!(r.window.cwnd, r.window.ssthresh);
        assert!((r.segments() - 200.0).abs() < 1.0, "{}", r.segments());
    }

    #[test]
    fn two_segments_are_left_however_little_the_path_delivers() {
        let settings = Settings { estimate_after: Some(true), ..Settings::default() };
        let mut r: Rounds<State> = Rounds::new(&settings, 10);
        path(&mut r, Time::from_secs(1), Time::from_secs(60), RTT);
        r.loss();
        r.control.on_recovered(&r.tuning, &mut r.window, MSS);
        assert_eq!((r.window.cwnd, r.window.ssthresh), (2 * MSS, 2 * MSS));
    }

    #[test]
    fn without_an_estimate_a_loss_halves() {
        let tuning = State::tune(&Settings::default()).unwrap();
        let mut w = Window { cwnd: 20 * MSS, ssthresh: u32::MAX };
        State::new(&tuning).on_loss(&tuning, &mut w, congested(20 * MSS));
        assert_eq!(w, Window { cwnd: 10 * MSS, ssthresh: 10 * MSS });
    }
}
