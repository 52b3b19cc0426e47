//! A congestion control from outside this program: a [`Decider`] is told of acknowledgements,
//! losses, marks and timeouts, and sets the window.
//!
//! This is how a congestion control written in Python runs. When to slow down, recover and send is
//! the sender's business, as for all others; what is outside only says how large the window is.
//! Whoever embeds this crate says with [`install`] how a decider is made.
//!
//! # Differences from the source
//!
//! There is no source but the class itself. Every connection has an object of its own at each end.
//! Whatever the class sets, the window is at least one segment.
//!
//! # Differences from Linux
//!
//! Linux has BPF programs for the same purpose (struct_ops `tcp_congestion_ops`); they see the
//! kernel's whole state of a connection, a class here what the other algorithms see.

use super::{Acked, Congested, Control, Lost, Sample, Window};
use crate::Invalid;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;
use once_cell::race::OnceBox;
use sojourn_base::{Time, Value};

/// Which class, and its parameters.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", schemars(rename = "PythonSettings"))]
pub struct Settings {
    /// The class: "FILE.py:NAME" with the file's path from the scenario's folder, or
    /// "PACKAGE.MODULE:NAME", or the name under which it was registered in this program.
    pub class: String,
    /// Its parameters, by name: those that differ from the class's own defaults.
    pub with: BTreeMap<String, Value>,
    /// Measure the path and tell the class what each acknowledgement shows of it: `on_sample`. The
    /// sender then keeps a log of its segments (default false).
    pub samples: bool,
}

/// What sets the window. Calls come in order of time; what is left out does nothing.
pub trait Decider: Send {
    /// See [`Control::on_ack`].
    fn on_ack(&mut self, _window: &mut Window, _acked: Acked) {}
    /// See [`Control::on_loss`]. Whether it has set the threshold, to which the window is then
    /// taken; if not, the window that it left is the threshold.
    fn on_loss(&mut self, _window: &mut Window, _at: Congested) -> bool {
        false
    }
    /// See [`Control::on_mark`]; returns what [`Decider::on_loss`] does.
    fn on_mark(&mut self, _window: &mut Window, _at: Congested) -> bool {
        false
    }
    /// See [`Control::on_timeout`].
    fn on_timeout(&mut self, _window: &mut Window, _at: Congested, _first: bool) {}
    /// See [`Control::on_restart`].
    fn on_restart(&mut self, _window: &mut Window, _at: Congested) {}
    /// See [`Control::on_tx_start`].
    fn on_tx_start(&mut self, _window: &mut Window, _now: Time) {}
    /// See [`Control::on_lost`].
    fn on_lost(&mut self, _window: &Window, _lost: &Lost) {}
    /// See [`Control::on_sample`].
    fn on_sample(&mut self, _window: &mut Window, _sample: &Sample) {}
    /// See [`Control::pace`].
    fn pace(&self) -> u64 {
        0
    }
}

/// Makes the decider of one end of a connection. It cannot fail: what is wrong with a class is
/// found before a run, or ends it.
pub type Maker = dyn Fn(&Settings) -> Box<dyn Decider> + Send + Sync;

static MAKER: OnceBox<Box<Maker>> = OnceBox::new();

/// Says how deciders are made, once for the whole program; whether it was the first to say so.
pub fn install(maker: Box<Maker>) -> bool {
    MAKER.set(Box::new(maker)).is_ok()
}

/// The state of one end of a connection.
pub struct State {
    decider: Box<dyn Decider>,
}

/// Whoever copies an endpoint looks first whether its window is set outside.
impl Clone for State {
    fn clone(&self) -> Self {
        unreachable!("what decides outside cannot be copied")
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State")
    }
}

/// After a loss or a mark window and threshold are one, as other algorithms leave them. The sender
/// sees to no more than how the flight comes down, and not all senders do.
fn reduced(window: &mut Window, at: Congested, decide: impl FnOnce(&mut Window) -> bool) {
    let bytes = if decide(window) { window.ssthresh } else { window.cwnd };
    window.cwnd = bytes.max(at.mss);
    window.ssthresh = window.cwnd;
}

impl Control for State {
    type Settings = Settings;
    type Tuning = Settings;

    fn samples(settings: &Settings) -> bool {
        settings.samples
    }

    fn tune(settings: &Settings) -> Result<Settings, Invalid> {
        let wrong = |remedy: &str| {
            Invalid::new("congestion.class", alloc::format!("\"{}\"", settings.class), remedy)
        };
        if settings.class.trim().is_empty() {
            return Err(wrong("name the class, for example \"my_tcp.py:Gentle\""));
        }
        Ok(settings.clone())
    }

    fn new(settings: &Settings) -> Self {
        let decider = match MAKER.get() {
            Some(maker) => maker(settings),
            None => Box::new(Fixed),
        };
        Self { decider }
    }

    #[inline]
    fn on_ack(&mut self, _: &Settings, window: &mut Window, acked: Acked) {
        self.decider.on_ack(window, acked);
        window.cwnd = window.cwnd.max(acked.mss);
    }

    fn on_loss(&mut self, _: &Settings, window: &mut Window, at: Congested) {
        reduced(window, at, |window| self.decider.on_loss(window, at));
    }

    fn on_mark(&mut self, _: &Settings, window: &mut Window, at: Congested) {
        reduced(window, at, |window| self.decider.on_mark(window, at));
    }

    fn on_timeout(&mut self, _: &Settings, window: &mut Window, at: Congested, first: bool) {
        self.decider.on_timeout(window, at, first);
        window.cwnd = window.cwnd.max(at.mss);
    }

    fn on_restart(&mut self, _: &Settings, window: &mut Window, at: Congested) {
        self.decider.on_restart(window, at);
        window.cwnd = window.cwnd.max(at.mss);
    }

    fn on_tx_start(&mut self, _: &Settings, window: &mut Window, now: Time) {
        self.decider.on_tx_start(window, now);
    }

    fn on_lost(&mut self, _: &Settings, window: &Window, lost: &Lost) {
        self.decider.on_lost(window, lost);
    }

    fn on_sample(&mut self, _: &Settings, window: &mut Window, sample: &Sample) {
        self.decider.on_sample(window, sample);
        window.cwnd = window.cwnd.max(sample.mss);
    }

    fn pace(&self, _: &Settings, _: &Window, _: Time) -> u64 {
        self.decider.pace()
    }
}

/// Where no classes can be run: the window stays.
struct Fixed;

impl Decider for Fixed {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{Congestion, Tuning};

    struct Halves;

    impl Decider for Halves {
        fn on_ack(&mut self, window: &mut Window, acked: Acked) {
            window.cwnd += acked.bytes;
        }
        fn on_loss(&mut self, window: &mut Window, _: Congested) -> bool {
            window.cwnd /= 2;
            false
        }
        fn on_mark(&mut self, window: &mut Window, _: Congested) -> bool {
            window.ssthresh = 1750;
            true
        }
        fn on_timeout(&mut self, window: &mut Window, _: Congested, _: bool) {
            window.cwnd = 0;
        }
        fn on_restart(&mut self, window: &mut Window, at: Congested) {
            window.ssthresh = 5 * at.mss;
        }
        fn on_sample(&mut self, window: &mut Window, sample: &Sample) {
            window.cwnd = sample.delivered as u32;
        }
        fn pace(&self) -> u64 {
            7
        }
    }

    #[test]
    fn external_decider_sets_cwnd_of_one_segment_at_least() {
        install(Box::new(|_| Box::new(Halves)));
        let settings = Settings { class: "a.py:A".into(), ..Settings::default() };
        let tuning = Tuning::External(State::tune(&settings).unwrap());
        let mut control = Congestion::new(&tuning);
        let mut w = Window { cwnd: 3000, ssthresh: u32::MAX };
        let (now, srtt, mss) = (Time::ZERO, Time::ZERO, 1000);
        let acked = Acked { now, srtt, bytes: 500, mss, after_timeout: false, smooth: false };
        control.on_ack(&tuning, &mut w, acked);
        assert_eq!(w.cwnd, 3500);
        let at = Congested { now, srtt, flight: 3000, mss };
        control.on_mark(&tuning, &mut w, at);
        assert_eq!((w.cwnd, w.ssthresh), (1750, 1750), "the window goes to the threshold");
        w.cwnd = 3000;
        control.on_mark(&tuning, &mut w, at);
        assert_eq!((w.cwnd, w.ssthresh), (1750, 1750), "to one that is as before, too");
        control.on_loss(&tuning, &mut w, at);
        assert_eq!((w.cwnd, w.ssthresh), (1000, 1000), "875 are less than a segment");
        control.on_restart(&tuning, &mut w, at);
        assert_eq!(w.ssthresh, 5000);
        let mut shown = |delivered| {
            let sample = Sample {
                now,
                rtt: None,
                srtt,
                mss,
                acked: 0,
                lost: 0,
                marked: 0,
                flight: 0,
                delivered,
                round: false,
                recovering: false,
                rate: None,
            };
            control.on_sample(&tuning, &mut w, &sample);
            w.cwnd
        };
        assert_eq!((shown(8000), shown(10)), (8000, 1000));
        control.on_timeout(&tuning, &mut w, at, true);
        assert_eq!((w.cwnd, control.pace(&tuning, &w, srtt)), (1000, 7));
    }

    #[test]
    fn external_class_is_shown_samples_only_if_it_asks() {
        for samples in [false, true] {
            let settings = Settings { class: "a.py:A".into(), samples, ..Settings::default() };
            assert_eq!(Tuning::External(settings).samples(), samples);
        }
    }

    #[test]
    fn a_class_must_be_named() {
        assert_eq!(State::tune(&Settings::default()).unwrap_err().field, "congestion.class");
    }
}
