//! Window laws: how fast a window grows and how much a loss takes from it.
//!
//! One file a law. It is written once, for any [`Scalar`], and made of the settings of the
//! congestion control that it models.

mod aimd;
mod highspeed;
mod law;
mod reno;
mod scalable;

use law::Law;
use serde::Deserialize;
use sojourn_tcp::Algorithm;
use sojourn_tcp::congestion::reno::Settings;

pub use aimd::Aimd;
pub use highspeed::HighSpeed;
pub use law::Acks;
pub use reno::Reno;
pub use scalable::Scalable;

use crate::Invalid;
use crate::scalar::{Dual, Scalar, derivative};

/// One line makes a law's place in [`WindowLaw`].
macro_rules! laws {
    ($($name:ident,)+) => {
        /// A window law: see its file for its source.
        #[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
        #[serde(try_from = "Algorithm")]
        pub enum WindowLaw {
            $(#[doc = concat!("[`", stringify!($name), "`].")] $name($name),)+
        }

        $(impl From<$name> for WindowLaw {
            fn from(law: $name) -> Self {
                Self::$name(law)
            }
        })+

        impl WindowLaw {
            /// Packets per second that a window `w` grows by without loss, the round trip now being
            /// `round_trip` and packets having been sent at `rate` a round trip ago.
            #[inline]
            pub fn growth<S: Scalar>(&self, w: S, round_trip: S, rate: S) -> S {
                match self {
                    $(Self::$name(law) => law.growth(w, round_trip, rate),)+
                }
            }

            /// Packets that a loss takes from a window `w`.
            #[inline]
            pub fn cut<S: Scalar>(&self, w: S) -> S {
                match self {
                    $(Self::$name(law) => law.cut(w),)+
                }
            }

            /// Whether growth looks at the rate of a round trip ago.
            pub fn clocked(&self) -> bool {
                match self {
                    $(Self::$name(law) => law.clocked(),)+
                }
            }

            fn closed(&self, p: f64) -> Option<f64> {
                match self {
                    $(Self::$name(law) => law.window(p),)+
                }
            }
        }
    };
}

laws! {
    Reno,
    Aimd,
    Scalable,
    HighSpeed,
}

/// A table of a scenario, each packet acknowledged.
impl TryFrom<Algorithm> for WindowLaw {
    type Error = Invalid;

    fn try_from(algorithm: Algorithm) -> Result<Self, Invalid> {
        algorithm.tune()?;
        Self::of(&algorithm, Acks::default()).ok_or_else(|| {
            let remedy = format!("there is no law for it, or not for these settings; use {KINDS}");
            Invalid::new("congestion", format!("\"{}\"", algorithm.name()), remedy)
        })
    }
}

/// The congestion controls that have a law here.
pub const KINDS: &str = "reno, aimd, scalable or highspeed";

impl WindowLaw {
    /// The law of a congestion control; none if there is none for it, or not for its settings.
    pub fn of(algorithm: &Algorithm, acks: Acks) -> Option<Self> {
        match algorithm {
            Algorithm::Reno(settings) => Some(Self::of_reno(settings, acks)),
            Algorithm::Aimd(settings) => Some(Aimd::of(settings, acks).into()),
            Algorithm::Scalable(settings) => Scalable::of(settings, acks).map(Self::from),
            Algorithm::Highspeed(settings) => HighSpeed::of(settings, acks).map(Self::from),
            _ => None,
        }
    }

    /// Where an acknowledgement of two segments counts once Reno grows half as fast; a mark may
    /// leave more of the window (RFC 8511). Both make it an AIMD.
    fn of_reno(settings: &Settings, acks: Acks) -> Self {
        let a = if acks.halved { 0.5 } else { 1.0 };
        let b = if acks.marked { 1.0 - settings.beta_ecn } else { 0.5 };
        if (a, b) == (1.0, 0.5) { Reno.into() } else { Aimd { a, b }.into() }
    }

    /// The law of a sender that does this: its congestion control, and how its peer acknowledges;
    /// `marked`: the queues on its path mark its packets instead of dropping them.
    pub fn of_sender(tcp: &sojourn_tcp::Params, marked: bool) -> Option<Self> {
        // Without byte counting an acknowledgement of two segments counts once.
        let halved = tcp.delayed_ack && tcp.count_limit <= tcp.payload;
        Self::of(&tcp.congestion, Acks { delayed: tcp.delayed_ack, halved, marked })
    }

    /// dW/dt of a flow with window `w` and round trip `round_trip` that sent at `rate` a round trip
    /// ago and loses `losses` packets per second of that (times the spread of its class);
    /// `timeouts`: losses in small windows are timeouts.
    pub fn slope<S: Scalar>(&self, timeouts: bool, w: S, round_trip: S, rate: S, losses: S) -> S {
        let growth = self.growth(w, round_trip, rate);
        if timeouts {
            // Q(w): fewer than three duplicate acknowledgements come back.
            let q = (S::of(3.0) / w.max(S::of(1e-9))).min(S::of(1.0));
            growth - losses * ((-q + 1.0) * self.cut(w) + q * (w - 1.0))
        } else {
            growth - losses * self.cut(w)
        }
    }

    /// The window at which growth and cuts are equal under loss `p`; `timeouts` as in
    /// [`Self::slope`]. Infinite without loss.
    pub fn window(&self, p: f64, timeouts: bool) -> f64 {
        if p <= 0.0 {
            return f64::INFINITY;
        }
        if let Some(window) = self.closed(p).filter(|_| !timeouts) {
            return if window > 1e15 { f64::INFINITY } else { window };
        }
        let surplus = |w: f64| self.slope(timeouts, w, 1.0, w, w * p);
        let mut high = 1.0;
        while surplus(high) > 0.0 {
            high *= 2.0;
            if high > 1e15 {
                return f64::INFINITY;
            }
        }
        let low = 1e-6;
        crate::root::between((low, surplus(low)), (high, surplus(high)), surplus)
    }

    /// I(w): packets for each round trip without loss.
    pub fn increase(&self, w: f64) -> f64 {
        self.growth(w, 1.0, w)
    }

    /// The loss probability that holds a window of `w` packets: I/(D w).
    pub fn loss(&self, w: f64) -> f64 {
        self.increase(w) / (self.cut(w) * w)
    }

    /// dI/dw for each round trip and dD/dw for each loss at a window of `w` packets.
    pub fn slopes(&self, w: f64) -> [f64; 2] {
        [derivative(w, |w| self.growth(w, Dual::of(1.0), w)), derivative(w, |w| self.cut(w))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_tcp::Spec;
    use sojourn_tcp::congestion::reno;

    #[test]
    fn responses_are_the_published_ones() {
        let reno = WindowLaw::from(Reno).window(0.01, false);
        assert!((reno - libm::sqrt(200.0)).abs() < 1e-9, "W² p = 2, not {reno}");
        let aimd = WindowLaw::from(Aimd { a: 2.0, b: 0.25 }).window(0.01, false);
        assert!((aimd - libm::sqrt(2.0 / 0.25 / 0.01)).abs() < 1e-9);
        let window = |p| scalable(16.0, false).window(p, false);
        assert!((window(1e-4) - 0.01 / 0.125 / 1e-4).abs() < 1e-6, "W = a/(b p)");
        // Below 100 packets Linux's is additive: W² p = 1/b.
        let window = |p| scalable(0.0, true).window(p, false);
        assert!((window(0.01) - libm::sqrt(8.0 / 0.01)).abs() < 1e-6, "{}", window(0.01));
        assert!((window(1e-4) - 0.01 / 0.125 / 1e-4).abs() < 1e-6);
        // RFC 3649: W = 0.12/p^0.835 for periodic losses. A window that a loss hits at any time
        // needs 2/(2 − b) times as many.
        let law = highspeed();
        let high = law.window(1e-5, false);
        let b = law.cut(high) / high;
        let rfc = 0.12 / libm::pow(1e-5 * (2.0 - b) / 2.0, 0.835);
        assert!((high / rfc - 1.0).abs() < 0.02, "{high} against {rfc}");
    }

    fn scalable(lwnd: f64, at_least_reno: bool) -> WindowLaw {
        Scalable { a: 0.01, b: 0.125, lwnd, at_least_reno }.into()
    }

    fn highspeed() -> WindowLaw {
        WindowLaw::of(&Algorithm::named("highspeed").unwrap(), Acks::default()).unwrap()
    }

    #[test]
    fn timeouts_make_windows_smaller() {
        let without = WindowLaw::from(Reno).window(0.05, false);
        let with = WindowLaw::from(Reno).window(0.05, true);
        assert!(with < without && with > 0.5 * without, "{with} {without}");
    }

    #[test]
    fn slopes_are_the_derivatives() {
        for law in
            [Reno.into(), Aimd { a: 0.31, b: 0.125 }.into(), scalable(16.0, true), highspeed()]
        {
            for w in [4.0, 30.0, 500.0, 20_000.0] {
                let h = 1e-5 * w;
                let [rise, fall] = law.slopes(w);
                let measured = (law.increase(w + h) - law.increase(w - h)) / (2.0 * h);
                assert!((rise - measured).abs() < 1e-8, "{law:?} {w}: {rise} {measured}");
                let measured = (law.cut(w + h) - law.cut(w - h)) / (2.0 * h);
                assert!((fall - measured).abs() < 1e-8, "{law:?} {w}: {fall} {measured}");
            }
        }
    }
    #[test]
    fn a_window_without_loss_has_no_end() {
        let reno = WindowLaw::from(Reno);
        for p in [0.0, -1.0] {
            assert_eq!(
                (reno.window(p, false), reno.window(p, true)),
                (f64::INFINITY, f64::INFINITY)
            );
        }
        // Up to 1e15 packets windows are what they are.
        assert!((reno.window(2.1e-30, false) / libm::sqrt(2.0 / 2.1e-30) - 1.0).abs() < 1e-12);
        assert_eq!(reno.window(1.9e-30, false), f64::INFINITY);
        assert_eq!(reno.window(1e-40, true), f64::INFINITY);
    }

    #[test]
    fn growth_and_losses_are_equal_at_the_window_of_a_loss() {
        for law in
            [Reno.into(), Aimd { a: 0.31, b: 0.125 }.into(), scalable(16.0, true), highspeed()]
        {
            for w in [4.0, 30.0, 500.0, 20_000.0] {
                let p = law.loss(w);
                assert!((p - law.increase(w) / (law.cut(w) * w)).abs() < 1e-15);
                assert!((law.window(p, false) / w - 1.0).abs() < 1e-9, "{law:?} {w}");
            }
            for p in [1e-4, 0.01, 0.2] {
                let w = law.window(p, true);
                let q = f64::min(3.0 / w, 1.0);
                let lost = p * w * ((1.0 - q) * law.cut(w) + q * (w - 1.0));
                assert!((lost / law.increase(w) - 1.0).abs() < 1e-9, "{law:?} {p}: {w}");
            }
        }
    }

    #[test]
    fn acknowledgements_of_two_segments_count_once_without_byte_counting() {
        let named = |name: &str| Algorithm::named(name).unwrap();
        let law = |name: &str, delayed, halved| {
            WindowLaw::of(&named(name), Acks { delayed, halved, marked: false })
        };
        assert_eq!(law("reno", true, false), Some(Reno.into()));
        assert_eq!(law("reno", true, true), Some(Aimd { a: 0.5, b: 0.5 }.into()));
        let Some(WindowLaw::Aimd(whole)) = law("aimd", true, false) else { panic!() };
        let half = Aimd { a: 0.5 * whole.a, b: whole.b };
        assert_eq!(law("aimd", true, true), Some(half.into()));
        // Scalable has a gain for each acknowledgement, which may be made up for.
        let scalable = |correction, acks| {
            let Algorithm::Scalable(mut settings) = named("scalable") else { panic!() };
            settings.delayed_ack_correction = correction;
            let law = Scalable::of(&settings, acks).unwrap();
            (law.a, law.b)
        };
        let delayed = Acks { delayed: true, ..Acks::default() };
        assert_eq!(scalable(false, delayed), (0.005, 0.125));
        assert_eq!(scalable(true, delayed), (0.01, 0.125));
        assert_eq!(scalable(false, Acks::default()), (0.01, 0.125));
        assert!(law("highspeed", true, false).is_some() && law("highspeed", true, true).is_none());
        assert!(law("cubic", false, false).is_none());
    }

    #[test]
    fn a_sender_counts_by_what_its_peer_acknowledges_and_backs_off_less_from_marks() {
        let sender = |delayed_ack, byte_counting| {
            let spec = Spec {
                congestion: Some(Algorithm::Reno(reno::Settings { beta_ecn: 0.8 })),
                delayed_ack: Some(delayed_ack),
                byte_counting: Some(byte_counting),
                ..Spec::default()
            };
            let tcp = Spec::resolve(&[&spec]).unwrap();
            [false, true].map(|marked| WindowLaw::of_sender(&tcp, marked).unwrap())
        };
        let aimd = |a| WindowLaw::from(Aimd { a, b: 1.0 - 0.8 });
        assert_eq!(sender(true, false), [Aimd { a: 0.5, b: 0.5 }.into(), aimd(0.5)]);
        for counted in [sender(true, true), sender(false, false)] {
            assert_eq!(counted, [Reno.into(), aimd(1.0)]);
        }
    }
}
