//! LEDBAT: takes what others leave, by keeping the queueing delay below a target.
//!
//! RFC 6817. From each measured delay the least of the last minutes is subtracted; what remains is
//! queueing delay, and the window follows its distance from the target (section 2.4.2):
//! cwnd += GAIN·off_target·bytes·MSS/cwnd, off_target = (TARGET − queueing delay)/TARGET. Other
//! traffic that fills the queue beyond the target thus pushes it down to two segments.
//!
//! # Differences from the source
//!
//! 1. Delays are round trips, not one-way delays (section 2.2): queueing of acknowledgements
//!    counts.
//! 2. The sender's window starts as the connection does, and grows by slow start until three
//!    quarters of the target are queued (RFC 6817 section 2.2 leaves slow start open; the three
//!    quarters are those of draft-irtf-iccrg-ledbat-plus-plus section 4.4).
//! 3. The window shrinks with every acknowledgement that shows too much delay, but grows only when
//!    it is what limits the sender, in place of ALLOWED_INCREASE.
//! 4. A pause does not clear the delay filters.
//!
//! # Differences from Linux
//!
//! Linux has no LEDBAT in its main tree.

use super::{Acked, Congested, Control, Sample, Window, fixed};
use crate::Invalid;
use sojourn_base::Time;
use sojourn_base::within;

/// Settings of LEDBAT.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "LedbatSettings"))]
pub struct Settings {
    /// Queueing delay aimed at: "1ms" to "100ms" (default "100ms", RFC 6817 section 2.5).
    pub target: Time,
    /// Segments that an empty queue adds per round trip: 0.01 to 1 (default 1, RFC 6817 section
    /// 2.5).
    pub gain: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { target: Time::from_millis(100), gain: 1.0 }
    }
}

/// The settings in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    target: Time,
    /// Q.32.
    gain: u64,
}

/// BASE_HISTORY: minutes that the least delay is remembered (section 2.5).
const BASE_HISTORY: usize = 10;
/// CURRENT_FILTER: samples of which the least is the present delay (sections 2.4.2, 2.5).
const CURRENT_FILTER: usize = 4;

/// State.
#[derive(Clone, Copy, Debug)]
pub struct State {
    base: [Time; BASE_HISTORY],
    minute: u64,
    current: [Time; CURRENT_FILTER],
    newest: usize,
    fraction: u32,
}

impl State {
    fn measure(&mut self, now: Time, rtt: Time) {
        let minute = now.0 / 60_000_000_000;
        let passed = minute.saturating_sub(self.minute).min(BASE_HISTORY as u64) as usize;
        if passed > 0 {
            self.base.rotate_right(passed % BASE_HISTORY);
            self.base[..passed].fill(Time::MAX);
            self.minute = minute;
        }
        self.base[0] = self.base[0].min(rtt);
        self.newest = (self.newest + 1) % CURRENT_FILTER;
        self.current[self.newest] = rtt;
    }

    /// Queueing delay; none before the first sample.
    fn queueing(&self) -> Option<Time> {
        let least = |list: &[Time]| list.iter().copied().min().unwrap_or(Time::MAX);
        let (current, base) = (least(&self.current), least(&self.base));
        (base < Time::MAX).then(|| current.saturating_sub(base))
    }
}

/// gain·`off`/target·MSS/cwnd per byte acknowledged, Q.32.
fn share(tuning: &Tuning, off: Time, cwnd: u32, mss: u32) -> u64 {
    let share = u128::from(tuning.gain) * u128::from(off.0) / u128::from(tuning.target.0.max(1));
    u64::try_from(share * u128::from(mss) / u128::from(cwnd.max(1))).unwrap_or(u64::MAX)
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;
    const SAMPLES: bool = true;

    fn tune(s: &Settings) -> Result<Tuning, Invalid> {
        let (least, most) = (Time::from_millis(1), Time::from_millis(100));
        let target = within("congestion.target", s.target, least, most)?;
        Ok(Tuning { target, gain: fixed::setting("congestion.gain", s.gain, 0.01, 1.0)? })
    }

    fn new(_: &Tuning) -> Self {
        Self {
            base: [Time::MAX; BASE_HISTORY],
            minute: 0,
            current: [Time::MAX; CURRENT_FILTER],
            newest: 0,
            fraction: 0,
        }
    }

    fn on_sample(&mut self, tuning: &Tuning, window: &mut Window, sample: &Sample) {
        if let Some(rtt) = sample.rtt {
            self.measure(sample.now, rtt);
        }
        let Some(queueing) = self.queueing() else { return };
        if window.cwnd < window.ssthresh {
            if queueing.0 >= tuning.target.0 / 4 * 3 && !sample.recovering {
                window.ssthresh = window.cwnd.max(2 * sample.mss);
            }
        } else if queueing > tuning.target && !sample.recovering {
            let off = queueing - tuning.target;
            let down = share(tuning, off, window.cwnd, sample.mss);
            let cut = fixed::of(sample.acked, down);
            // MIN_CWND, section 2.5.
            window.cwnd = window.cwnd.saturating_sub(cut).max(2 * sample.mss);
            window.ssthresh = window.ssthresh.min(window.cwnd);
        }
    }

    fn on_ack(&mut self, tuning: &Tuning, window: &mut Window, acked: Acked) {
        if window.slow_start(&acked) {
            return;
        }
        if let Some(queueing) = self.queueing() {
            let off = tuning.target.saturating_sub(queueing);
            let up = share(tuning, off, window.cwnd, acked.mss);
            fixed::add(&mut window.cwnd, &mut self.fraction, acked.bytes, up);
        }
    }

    fn on_loss(&mut self, _: &Tuning, window: &mut Window, at: Congested) {
        window.reduce((window.cwnd / 2).min(at.flight), at.mss);
    }

    fn on_timeout(&mut self, _: &Tuning, window: &mut Window, at: Congested, first: bool) {
        window.collapse(at.flight / 2, at.mss, first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::rounds::{MSS, Rounds, congested, sample};

    /// Round trips over a path that holds `pipe` segments at 100 ms, of which others use `taken`.
    fn run(r: &mut Rounds<State>, pipe: f64, taken: f64, rounds: u32) {
        for _ in 0..rounds {
            let stretch = ((r.segments() + taken) / pipe).max(1.0);
            r.rtt = Time((1e8 * stretch) as u64);
            r.round();
        }
    }

    #[test]
    fn the_queueing_delay_comes_to_the_target() {
        let s = Settings { target: Time::from_millis(25), gain: 1.0 };
        let mut r: Rounds<State> = Rounds::new(&s, 10);
        run(&mut r, 100.0, 0.0, 800);
        let delay = r.rtt.as_secs_f64() - 0.1;
        assert!((delay - 0.025).abs() < 0.003, "{delay}");
    }

    #[test]
    fn ledbat_yields_to_others_and_returns() {
        let s = Settings { target: Time::from_millis(25), gain: 1.0 };
        let mut r: Rounds<State> = Rounds::new(&s, 10);
        run(&mut r, 100.0, 0.0, 400);
        run(&mut r, 100.0, 180.0, 400);
        // MIN_CWND, section 2.5.
        assert!((2.0..3.0).contains(&r.segments()), "{}", r.segments());
        run(&mut r, 100.0, 0.0, 400);
        assert!(r.segments() > 100.0, "{}", r.segments());
    }

    /// Section 2.4.2: `off_target` has no lower bound.
    #[test]
    fn far_above_the_target_it_gives_way_by_more_than_a_segment_a_round_trip() {
        let s = Settings { target: Time::from_millis(25), gain: 1.0 };
        let mut r: Rounds<State> = Rounds::new(&s, 100);
        run(&mut r, 100.0, 0.0, 10);
        let before = r.segments();
        run(&mut r, 100.0, 100.0, 1); // about 100 ms of queue: three targets too much
        let lost = before - r.segments();
        assert!((2.5..3.5).contains(&lost), "{lost}");
    }

    #[test]
    fn slow_start_ends_at_three_quarters_of_the_target() {
        let settings = Settings { target: Time::from_millis(20), gain: 1.0 };
        let tuning = State::tune(&settings).unwrap();
        for (waits, threshold) in [(14, u32::MAX), (15, 10 * MSS)] {
            let mut state = State::new(&tuning);
            let mut window = Window { cwnd: 10 * MSS, ssthresh: u32::MAX };
            for (n, rtt) in
                [100, 100 + waits, 100 + waits, 100 + waits, 100 + waits].into_iter().enumerate()
            {
                let now = Time::from_millis(200 + n as u64);
                state.on_sample(&tuning, &mut window, &sample(now, Time::from_millis(rtt)));
            }
            assert_eq!((window.cwnd, window.ssthresh), (10 * MSS, threshold), "{waits} ms");
        }
    }

    /// Section 2.4.2, but no more than was under way.
    #[test]
    fn ledbat_halves_window_on_loss() {
        let tuning = State::tune(&Settings::default()).unwrap();
        for (flight, left) in [(10 * MSS, 5 * MSS), (4 * MSS, 4 * MSS)] {
            let mut window = Window { cwnd: 10 * MSS, ssthresh: u32::MAX };
            State::new(&tuning).on_loss(&tuning, &mut window, congested(flight));
            assert_eq!((window.cwnd, window.ssthresh), (left, left));
        }
    }

    /// CURRENT_FILTER, section 2.4.2 and appendix A.
    #[test]
    fn current_delay_is_least_of_last_four() {
        let mut state = State::new(&State::tune(&Settings::default()).unwrap());
        state.measure(Time::ZERO, Time::from_millis(50));
        for rtt in [80, 90, 90] {
            state.measure(Time::ZERO, Time::from_millis(rtt));
            assert_eq!(state.queueing(), Some(Time::ZERO));
        }
        for waits in [30, 40] {
            state.measure(Time::ZERO, Time::from_millis(90));
            assert_eq!(state.queueing(), Some(Time::from_millis(waits)));
        }
    }

    #[test]
    fn base_delay_expires_after_ten_minutes() {
        let mut state = State::new(&State::tune(&Settings::default()).unwrap());
        let (short, long) = (Time::from_millis(50), Time::from_millis(80));
        state.measure(Time::from_secs(30), short);
        for minute in 1..10 {
            (0..4).for_each(|_| state.measure(Time::from_secs(60 * minute + 1), long));
            assert_eq!(state.queueing(), Some(Time::from_millis(30)), "minute {minute}");
        }
        state.measure(Time::from_secs(601), long);
        assert_eq!(state.queueing(), Some(Time::ZERO));
        state.measure(Time::from_secs(9000), short);
        assert_eq!(state.queueing(), Some(Time::ZERO), "after a long pause");
    }
}
