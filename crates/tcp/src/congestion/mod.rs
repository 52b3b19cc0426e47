//! Congestion control: how large the window may be. One file per algorithm; one line in the list
//! below makes its module, its name in a scenario and its place in [`Congestion`].
//!
//! The sender decides *when* the network says something, an algorithm decides *what follows*. An
//! algorithm has three parts: its settings as a user writes them ([`Algorithm`]), the integers made
//! of them once, which all connections of a group share ([`Tuning`]), and its state, one for each
//! connection ([`Congestion`]).

mod classic_queue;
mod delivery;
mod fixed;
mod list;
pub mod pacing;
#[cfg(test)]
mod rounds;
mod sample;
mod state;

pub use delivery::{Delivered, Stamp};
pub use sample::{Acked, Congested, Lost, Marks, Rate, Sample, Window};
pub use state::CongestionState;

use crate::{Invalid, Profile};
use core::fmt::Debug;
use sojourn_base::Time;

/// What an algorithm may react to. What it leaves out does nothing.
pub trait Control: Debug {
    /// Its settings, as a scenario gives them.
    type Settings: Clone + Default + PartialEq + Debug;

    /// What it works with: the settings in integers.
    type Tuning: Clone + PartialEq + Debug;

    /// Whether [`Control::on_sample`] is to be called: measuring the path costs time and memory,
    /// which an algorithm that only counts acknowledgements need not pay.
    const SAMPLES: bool = false;

    /// Whether it sets the window during a recovery itself. If not, the sender takes the flight
    /// down to the window that [`Control::on_loss`] left, in its own way.
    const RULES_RECOVERY: bool = false;

    /// Whether it depends on pacing, so that the sender paces whatever its own default is.
    const PACED: bool = false;

    /// Whether [`Control::on_sample`] is to be called, where settings decide.
    #[inline]
    #[must_use]
    fn samples(tuning: &Self::Tuning) -> bool {
        let _ = tuning;
        Self::SAMPLES
    }

    /// Gives settings that are left to the profile their values.
    fn settle(settings: &mut Self::Settings, profile: Profile) {
        let _ = (settings, profile);
    }

    /// Checks the settings and turns them into integers; the only place for floating point. What
    /// is left to the profile is as in the algorithm's source.
    fn tune(settings: &Self::Settings) -> Result<Self::Tuning, Invalid>;

    /// The state at the start of a connection.
    fn new(tuning: &Self::Tuning) -> Self;

    /// How it uses ECN, where both ends agreed on it.
    #[must_use]
    fn marks(tuning: &Self::Tuning) -> Marks {
        let _ = tuning;
        Marks::Classic
    }

    /// New data were acknowledged while the window was the limit, outside fast recovery: the
    /// window may grow.
    #[inline]
    fn on_ack(&mut self, tuning: &Self::Tuning, window: &mut Window, acked: Acked) {
        let _ = (tuning, window, acked);
    }
    /// Loss was inferred: sets the window for the recovery and after it. Once per recovery.
    fn on_loss(&mut self, tuning: &Self::Tuning, window: &mut Window, at: Congested) {
        let _ = (tuning, window, at);
    }
    /// Whether a mark that comes now would be answered. If not, a loss soon after is.
    fn answers_marks(&self, now: Time) -> bool {
        let _ = now;
        true
    }
    /// The peer reports a congestion mark; at most once per window of data.
    fn on_mark(&mut self, tuning: &Self::Tuning, window: &mut Window, at: Congested) {
        self.on_loss(tuning, window, at);
    }
    /// The retransmission timer ran out; `first` unless the same data had timed out before.
    fn on_timeout(
        &mut self,
        tuning: &Self::Tuning,
        window: &mut Window,
        at: Congested,
        first: bool,
    ) {
        let _ = (tuning, window, at, first);
    }
    /// The last loss or timeout proved to be none; the window is what it was before it.
    fn on_undo(&mut self, tuning: &Self::Tuning, window: &mut Window) {
        let _ = (tuning, window);
    }
    /// A reduction after a loss or a mark is over, and was not undone: the window is the threshold
    /// that was set then.
    fn on_recovered(&mut self, tuning: &Self::Tuning, window: &mut Window, mss: u32) {
        let _ = (tuning, window, mss);
    }
    /// The sender begins again after a pause; the window has been reduced.
    fn on_restart(&mut self, tuning: &Self::Tuning, window: &mut Window, at: Congested) {
        let _ = (tuning, window, at);
    }
    /// Nothing is in flight, the application had no more to send, and now it has: called before
    /// the data go out, whatever the length of the pause (`CA_EVENT_TX_START` of Linux). Only if
    /// [`Control::SAMPLES`].
    fn on_tx_start(&mut self, tuning: &Self::Tuning, window: &mut Window, now: Time) {
        let _ = (tuning, window, now);
    }
    /// A packet is taken for lost, by an acknowledgement or by a timer; once for each, before
    /// [`Control::on_sample`] and [`Control::on_loss`], and after [`Control::on_timeout`]. Only if
    /// [`Control::SAMPLES`].
    fn on_lost(&mut self, tuning: &Self::Tuning, window: &Window, lost: &Lost) {
        let _ = (tuning, window, lost);
    }
    /// What an acknowledgement shows of the path, whatever the sender's phase, before anything
    /// else is made of it. Only if [`Control::SAMPLES`].
    #[inline]
    fn on_sample(&mut self, tuning: &Self::Tuning, window: &mut Window, sample: &Sample) {
        let _ = (tuning, window, sample);
    }
    /// The rate in bytes per second at which a sender that paces is to send; 0 leaves it to the
    /// sender. `srtt` is the smoothed round trip, zero before the first sample.
    #[inline]
    #[must_use]
    fn pace(&self, tuning: &Self::Tuning, window: &Window, srtt: Time) -> u64 {
        let _ = (tuning, window, srtt);
        0
    }
    /// Whether the algorithm itself holds back what is sent now, so that samples of it count as
    /// limited by the application.
    #[inline]
    #[must_use]
    fn is_app_limited(&self) -> bool {
        false
    }
    /// The name of its mode, if it is more than slow start or congestion avoidance: for logs.
    #[must_use]
    fn mode(&self) -> Option<&'static str> {
        None
    }
}

/// A state was called with the tuning of another algorithm.
#[cold]
fn mixed() -> ! {
    unreachable!("state and tuning are of one algorithm")
}

list::algorithms! {
    ($)
    /// Reno: RFC 5681 with appropriate byte counting, RFC 3465.
    Reno = "reno" in reno;
    /// Scalable TCP, Kelly (2003): a constant per acknowledgement, a share of the window per loss.
    Scalable = "scalable" in scalable;
    /// AIMD(a, b): `a` segments more per round trip, a share `b` less per loss.
    Aimd = "aimd" in aimd;
    /// HighSpeed TCP, RFC 3649: AIMD whose terms depend on the window.
    Highspeed = "highspeed" in highspeed;
    /// CUBIC, RFC 9438: a cubic function of the time since the last reduction.
    Cubic = "cubic" in cubic boxed;
    /// Westwood+, Grieco and Mascolo (2004): a loss leaves what the path was seen to deliver.
    Westwood = "westwood" in westwood boxed;
    /// DCTCP, RFC 8257: a mark takes half the share of bytes that are being marked.
    Dctcp = "dctcp" in dctcp boxed;
    /// Prague, draft-briscoe-iccrg-prague-congestion-control-04: DCTCP for the Internet.
    Prague = "prague" in prague boxed;
    /// BBR version 3, draft-ietf-ccwg-bbr-05: a model of the path, from delivery rates.
    Bbr = "bbr" in bbr boxed;
    /// A congestion control written in Python: a class that sets the window.
    External = "python" in external boxed;
    /// Vegas, Brakmo and Peterson (1995): a few segments of its own in the queue.
    Vegas = "vegas" in vegas boxed;
    /// LEDBAT, RFC 6817: takes what others leave.
    Ledbat = "ledbat" in ledbat boxed;
    /// A window that is set, by hand or by a learner; nothing follows from losses or marks.
    Constant = "constant" in constant;
}
