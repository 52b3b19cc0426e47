//! Constant window: what a person or a program sets, whatever the network says.
//!
//! There is no law. `cwnd` is the congestion window of RFC 5681 section 2, `pacing_rate` the rate
//! at which it is sent. Both can be set while a simulation runs, so that a learner outside may be
//! the congestion control, and a hand can show what a window of a certain size does to a queue.
//!
//! # Differences from the source
//!
//! 1. RFC 5681 asks for less after a loss or a mark; here nothing follows from either.
//! 2. A timeout sends one segment, as there; the next acknowledgement brings the window back.
//! 3. The first round trip has the initial window of TCP.
//!
//! # Differences from Linux
//!
//! 1. Linux has no such module; `snd_cwnd_clamp`, a route's `cwnd lock`, comes close.

use super::{Congested, Control, Sample, Window};
use crate::Invalid;
use sojourn_base::within;
use sojourn_base::{Rate, Size, Time};

/// Settings of a constant window.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "ConstantSettings"))]
pub struct Settings {
    /// The window, a segment at least: "1B" to "1GB" (default "64KiB", the most without the option
    /// of RFC 7323).
    pub cwnd: Size,
    /// The rate at which it is sent: "1kbit" to "1tbit" (default none: what the window is over a
    /// round trip, with Linux's gains).
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub pacing_rate: Option<Rate>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { cwnd: Size(65_536), pacing_rate: None }
    }
}

/// The settings in integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    cwnd: u32,
    /// Bytes per second; 0 for none.
    pace: u64,
}

/// State: there is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct State;

impl Control for State {
    type Settings = Settings;
    type Tuning = Tuning;

    const SAMPLES: bool = true;
    const RULES_RECOVERY: bool = true;
    const PACED: bool = true;

    fn tune(settings: &Settings) -> Result<Tuning, Invalid> {
        let cwnd = within("congestion.cwnd", settings.cwnd, Size(1), Size(1_000_000_000))?;
        let pace = match settings.pacing_rate {
            None => 0,
            Some(rate) => {
                let (least, most) = (Rate(1_000), Rate(1_000_000_000_000));
                within("congestion.pacing_rate", rate, least, most)?.0 / 8
            }
        };
        Ok(Tuning { cwnd: cwnd.0 as u32, pace })
    }

    fn new(_: &Tuning) -> Self {
        Self
    }

    fn on_loss(&mut self, _: &Tuning, _: &mut Window, _: Congested) {}

    fn on_timeout(&mut self, _: &Tuning, window: &mut Window, at: Congested, _: bool) {
        window.cwnd = at.mss;
    }

    #[inline]
    fn on_sample(&mut self, tuning: &Tuning, window: &mut Window, sample: &Sample) {
        window.cwnd = tuning.cwnd.max(sample.mss);
    }

    #[inline]
    fn pace(&self, tuning: &Tuning, _: &Window, _: Time) -> u64 {
        tuning.pace
    }

    fn mode(&self) -> Option<&'static str> {
        Some("constant")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::rounds::{MSS, congested};

    fn tuned(cwnd: u64) -> Tuning {
        State::tune(&Settings { cwnd: Size(cwnd), ..Settings::default() }).unwrap()
    }

    #[test]
    fn a_loss_takes_nothing_and_a_timeout_all_but_a_segment() {
        let tuning = tuned(50_000);
        let mut w = Window { cwnd: 50_000, ssthresh: u32::MAX };
        State.on_loss(&tuning, &mut w, congested(50_000));
        State.on_mark(&tuning, &mut w, congested(50_000));
        assert_eq!(w.cwnd, 50_000);
        State.on_timeout(&tuning, &mut w, congested(50_000), true);
        assert_eq!(w.cwnd, MSS);
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        for (cwnd, pacing_rate, field) in [
            (Size(0), None, "congestion.cwnd"),
            (Size(1_000_000_001), None, "congestion.cwnd"),
            (Size(1), Some(Rate(999)), "congestion.pacing_rate"),
        ] {
            let error = State::tune(&Settings { cwnd, pacing_rate }).unwrap_err();
            assert_eq!(error.field, field);
        }
    }
}
