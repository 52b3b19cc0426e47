//! Congestion control: how large the window may be. One file per algorithm; one line in the list
//! below makes its module, its name in a scenario and its place in [`Congestion`].
//!
//! The sender decides *when* the network says something, an algorithm decides *what follows*. An
//! algorithm has two parts: its settings, which all connections of a group share ([`Algorithm`]),
//! and its state, one for each connection ([`Congestion`]).

mod list;
mod sample;

pub use sample::{Acked, Congested, Rate, Sample, Window};

use core::fmt::Debug;

/// What an algorithm may react to. What it leaves out does nothing.
pub trait Control: Clone + Debug {
    /// Its settings, as a scenario gives them.
    type Settings: Clone + Default + PartialEq + Debug;

    /// Whether [`Control::on_sample`] is to be called: measuring the path costs time and memory,
    /// which an algorithm that only counts acknowledgements need not pay.
    const SAMPLES: bool = false;

    /// The state at the start of a connection.
    fn new(settings: &Self::Settings) -> Self;

    /// New data were acknowledged while the window was the limit, outside fast recovery: the
    /// window may grow.
    #[inline]
    fn on_ack(&mut self, settings: &Self::Settings, window: &mut Window, acked: Acked) {
        let _ = (settings, window, acked);
    }
    /// Loss was inferred: sets the window for the recovery and after it. Once per recovery.
    fn on_loss(&mut self, settings: &Self::Settings, window: &mut Window, at: Congested) {
        let _ = (settings, window, at);
    }
    /// The peer reports a congestion mark; at most once per window of data.
    fn on_mark(&mut self, settings: &Self::Settings, window: &mut Window, at: Congested) {
        self.on_loss(settings, window, at);
    }
    /// The retransmission timer ran out; `first` unless the same data had timed out before.
    fn on_timeout(
        &mut self,
        settings: &Self::Settings,
        window: &mut Window,
        at: Congested,
        first: bool,
    ) {
        let _ = (settings, window, at, first);
    }
    /// The sender begins again after a pause; the window has been reduced.
    fn on_restart(&mut self, settings: &Self::Settings, window: &mut Window) {
        let _ = (settings, window);
    }
    /// What an acknowledgement shows of the path, whatever the sender's phase, before anything
    /// else is made of it. Only if [`Control::SAMPLES`].
    #[inline]
    fn on_sample(&mut self, settings: &Self::Settings, window: &mut Window, sample: &Sample) {
        let _ = (settings, window, sample);
    }
}

list::algorithms! {
    /// Reno: RFC 5681 with appropriate byte counting, RFC 3465.
    Reno = "reno" in reno;
}
