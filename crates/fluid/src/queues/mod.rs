//! Queue laws in continuous time: what makes a probability from a queue.
//!
//! One file a law. It is written once, for any [`Scalar`], and made of the parameters of the queue
//! discipline that it models, whose defaults and ranges are the only ones. Each law has at most one
//! state of its own, and a [`Mode`] in which it is smooth. Laws that routers run at sampling
//! instants are here their limit for short periods; what sampling adds follows from [`Law::hold`].

mod clamped;
mod delay_pi;

use sojourn_base::Rate as BitRate;
use sojourn_qdisc::{ByteMode, Config, EcnMarking};
use sojourn_scenario::NetworkLink;

pub use delay_pi::DelayPi;

use crate::Invalid;
use crate::scalar::Scalar;

/// What a law sees of its queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct View<S> {
    /// Now, in seconds.
    pub time: f64,
    /// The queue, in the packets that the law counts in.
    pub queue: S,
    /// How fast it grows, per second.
    pub drift: S,
    /// Arrivals per second, dropped ones included.
    pub inflow: S,
    /// Packets per second that the link sends.
    pub capacity: f64,
}

/// In which of its smooth pieces a law is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mode {
    /// The piece; each law numbers its own.
    pub piece: usize,
    /// When something began that is being waited for, or was left.
    pub since: f64,
    /// What a law remembers from one piece to the next.
    pub memory: [f64; 2],
}

/// The link that a law is at, and how it is to be modelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Env {
    /// The link's rate in bits per second.
    pub rate: f64,
    /// Bytes of a data packet.
    pub packet: f64,
    /// Bytes that it takes on the link.
    pub frame: f64,
    /// Mean packet in bytes for disciplines that are not given their own.
    pub mean_packet: u32,
    /// Greatest rate per second at which an average needs to be followed.
    pub fastest: f64,
    /// Whether RED's drops are spaced.
    pub spaced: bool,
    /// Amplitude in seconds for CoDel's describing function; none: its target.
    pub amplitude: Option<f64>,
}

impl Env {
    /// A link that sends `capacity` packets of `mean_packet` bytes per second, as the papers model
    /// it.
    pub fn packets(capacity: f64, mean_packet: u32) -> Self {
        let packet = f64::from(mean_packet);
        Self {
            rate: capacity * 8.0 * packet,
            packet,
            frame: packet,
            mean_packet,
            fastest: f64::INFINITY,
            spaced: false,
            amplitude: None,
        }
    }

    /// A scenario's link, with data packets of so many bytes; none if it has no rate. As in the
    /// discipline itself RED's drops are spaced.
    pub fn of_link(link: &NetworkLink, packet: u32) -> Option<Self> {
        link.rate.map(|rate| Self {
            rate: rate.as_f64(),
            packet: f64::from(packet),
            frame: f64::from(link.frame(packet)),
            mean_packet: link.mean_packet,
            fastest: f64::INFINITY,
            spaced: true,
            amplitude: None,
        })
    }

    /// What the link sends, in data packets per second.
    pub fn capacity(&self) -> f64 {
        self.rate / (8.0 * self.frame)
    }

    fn mean(&self, own: Option<u32>) -> f64 {
        f64::from(own.unwrap_or(self.mean_packet))
    }

    /// The rate in mean packets per second: what disciplines that reckon in packets take the link
    /// to send, whatever its packets are and its frames cost.
    fn packets_per_second(&self, own: Option<u32>) -> f64 {
        self.rate / 8.0 / self.mean(own)
    }
}

/// A law, and what stands around it in its discipline.
#[derive(Clone, Debug, PartialEq)]
pub struct Made<L> {
    /// The law.
    pub law: L,
    /// Most packets in the queue.
    pub buffer: f64,
    /// Which packets it marks instead of dropping them.
    pub ecn: EcnMarking,
    /// How many of the packets that the law counts in one packet is.
    pub unit: f64,
    /// What the law's probability is multiplied by.
    pub weight: f64,
}

impl<L> Made<L> {
    fn new(law: L, limit: u32, ecn: EcnMarking) -> Self {
        Self { law, buffer: f64::from(limit), ecn, unit: 1.0, weight: 1.0 }
    }

    /// A law without a limit around it.
    pub(crate) fn bare<M>(law: L) -> Made<M>
    where
        M: From<L>,
    {
        Made::new(law, u32::MAX, EcnMarking::On).map(M::from)
    }

    /// Counts a packet by its bytes over the mean packet: in the queue, in the probability.
    fn counting(self, env: &Env, bytes: ByteMode) -> Self {
        let size = |used: bool| if used { env.packet / env.mean(bytes.mean_packet) } else { 1.0 };
        Self { unit: size(bytes.queue_in_bytes), weight: size(bytes.scale_by_size), ..self }
    }

    fn map<M>(self, to: impl FnOnce(L) -> M) -> Made<M> {
        let Self { law, buffer, ecn, unit, weight } = self;
        Made { law: to(law), buffer, ecn, unit, weight }
    }
}

/// What every law says.
pub trait Law: Sized {
    /// The parameters of its discipline.
    type Params;

    /// The law of a discipline on a link.
    fn of(params: &Self::Params, env: &Env) -> Result<Made<Self>, Invalid>;

    /// Works out what depends on nothing but the parameters and the link's capacity, in packets of
    /// the traffic: so often it samples.
    fn prepare(&mut self, _capacity: f64) {}

    /// Whether it has a state of its own.
    fn has_state(&self) -> bool {
        true
    }

    /// Whether its guards or its probability look at arrivals or at how fast the queue grows.
    fn looks_at_rate(&self) -> bool {
        true
    }

    /// From which value on a relative error of the state counts.
    fn scale(&self) -> f64;

    /// Seconds between two samples; 0 where it acts at every packet.
    fn hold(&self) -> f64 {
        0.0
    }

    /// Between two samples of the queue, the one that its integral sees.
    fn between<S: Scalar>(&self, now: S, _before: S) -> S {
        now
    }

    /// The queue that it holds in equilibrium, if it holds one whatever the load; given the link's
    /// capacity. Below 0 if it would hold less than the link sends.
    fn setpoint(&self, _capacity: f64) -> Option<f64> {
        None
    }

    /// The same if it drops the share `dropped` of the arrivals.
    fn setpoint_dropping(&self, capacity: f64, _dropped: f64) -> Option<f64> {
        self.setpoint(capacity)
    }

    /// The arrivals per second that it lets come whatever the queue, in the packets that it counts.
    fn admits(&self) -> f64 {
        f64::INFINITY
    }

    /// Where its probability begins to rise with the queue and where it has reached, or jumps to,
    /// 1, for a law whose probability in equilibrium follows from the queue, in packets.
    fn rises(&self) -> Option<[f64; 2]> {
        None
    }

    /// The probability in equilibrium at a queue, for a law with a profile.
    fn at_rest(&self, queue: f64) -> f64 {
        let view = View { queue, ..View::default() };
        let own = self.state_at(queue, 0.0, 0.0);
        self.probability(&self.mode_at(own, &view), own, &view)
    }

    /// The state in equilibrium at a queue and a probability, given the link's capacity.
    fn state_at(&self, queue: f64, probability: f64, capacity: f64) -> f64;

    /// For a law that adapts itself: what it is where it rests, `needed` being the probability that
    /// holds a queue.
    fn resting(&self, _needed: &dyn Fn(f64) -> f64) -> Option<QueueLaw> {
        None
    }

    /// The mode that fits a state.
    fn mode_at(&self, own: f64, view: &View<f64>) -> Mode;

    /// The same for the linear model, where another one stands for what is not smooth.
    fn smooth_mode(&self, own: f64, view: &View<f64>) -> Mode {
        self.mode_at(own, view)
    }

    /// The probability.
    fn probability<S: Scalar>(&self, mode: &Mode, own: S, view: &View<S>) -> S;

    /// How fast the state changes.
    fn slope<S: Scalar>(&self, mode: &Mode, own: S, view: &View<S>) -> S;

    /// Two guards, above 0 in the present mode.
    fn guards(&self, mode: &Mode, own: f64, view: &View<f64>) -> [f64; 2];

    /// A guard has fallen below 0.
    fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, view: &View<f64>);
}

/// One line makes a law's module and its place in [`QueueLaw`].
macro_rules! laws {
    ($dollar:tt $($name:ident in $module:ident,)+) => {
        $(
            mod $module;
            pub use $module::$name;
        )+

        /// The law of a queue: see its file for its source.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueLaw {
            $(#[doc = concat!("[`", stringify!($name), "`].")] $name($name),)+
        }

        $(impl From<$name> for QueueLaw {
            fn from(law: $name) -> Self {
                Self::$name(law)
            }
        })+

        /// The same work on whichever law it is.
        macro_rules! each {
            ($dollar itself:expr, $dollar law:ident => $dollar work:expr) => {
                match $dollar itself {
                    $(QueueLaw::$name($dollar law) => $dollar work,)+
                }
            };
        }

        /// The names of the disciplines that have a law.
        const KINDS: &[&str] = &[$(stringify!($name)),+];

        /// Whether there is a law for a discipline.
        pub(crate) fn has_law(config: &Config) -> bool {
            matches!(config, $(Config::$name(_))|+)
        }

        fn made(config: &Config, env: &Env) -> Result<Made<QueueLaw>, Invalid> {
            match config {
                $(Config::$name(params) => Ok($name::of(params, env)?.map(QueueLaw::$name)),)+
                other => Err(no_law(other, |_| true)),
            }
        }
    };
}

laws! { $
    Droptail in droptail,
    Red in red,
    Ared in ared,
    Proportional in proportional,
    Pi in pi,
    Pi2 in pi2,
    Rem in rem,
    Pie in pie,
    Codel in codel,
    Rate in rate,
}

/// There is no law for a discipline, but for those of the others that are `fit`.
pub(crate) fn no_law(config: &Config, fit: impl Fn(&str) -> bool) -> Invalid {
    let kinds = KINDS.iter().map(|kind| kind.to_ascii_lowercase());
    let kinds: Vec<String> = kinds.filter(|kind| fit(kind)).collect();
    let remedy = format!("there is no law for it; use one of {}", kinds.join(", "));
    Invalid::new("kind", format!("\"{}\"", config.name()), remedy)
}

impl Law for QueueLaw {
    type Params = Config;

    /// # Errors
    /// If a parameter is wrong, or there is no law for the discipline; names the first.
    fn of(config: &Config, env: &Env) -> Result<Made<Self>, Invalid> {
        let rate = BitRate((env.rate + 0.5) as u64);
        config.validate(&sojourn_qdisc::Env { rate, mean_packet: env.mean_packet })?;
        made(config, env)
    }

    fn prepare(&mut self, capacity: f64) {
        each!(self, law => law.prepare(capacity));
    }

    fn has_state(&self) -> bool {
        each!(self, law => law.has_state())
    }

    fn looks_at_rate(&self) -> bool {
        each!(self, law => law.looks_at_rate())
    }

    fn scale(&self) -> f64 {
        each!(self, law => law.scale())
    }

    fn hold(&self) -> f64 {
        each!(self, law => law.hold())
    }

    fn between<S: Scalar>(&self, now: S, before: S) -> S {
        each!(self, law => law.between(now, before))
    }

    fn setpoint(&self, capacity: f64) -> Option<f64> {
        each!(self, law => law.setpoint(capacity))
    }

    fn setpoint_dropping(&self, capacity: f64, dropped: f64) -> Option<f64> {
        each!(self, law => law.setpoint_dropping(capacity, dropped))
    }

    fn admits(&self) -> f64 {
        each!(self, law => law.admits())
    }

    fn rises(&self) -> Option<[f64; 2]> {
        each!(self, law => law.rises())
    }

    fn at_rest(&self, queue: f64) -> f64 {
        each!(self, law => law.at_rest(queue))
    }

    fn state_at(&self, queue: f64, probability: f64, capacity: f64) -> f64 {
        each!(self, law => law.state_at(queue, probability, capacity))
    }

    fn resting(&self, needed: &dyn Fn(f64) -> f64) -> Option<QueueLaw> {
        each!(self, law => law.resting(needed))
    }

    fn mode_at(&self, own: f64, view: &View<f64>) -> Mode {
        each!(self, law => law.mode_at(own, view))
    }

    fn smooth_mode(&self, own: f64, view: &View<f64>) -> Mode {
        each!(self, law => law.smooth_mode(own, view))
    }

    #[inline]
    fn probability<S: Scalar>(&self, mode: &Mode, own: S, view: &View<S>) -> S {
        each!(self, law => law.probability(mode, own, view))
    }

    #[inline]
    fn slope<S: Scalar>(&self, mode: &Mode, own: S, view: &View<S>) -> S {
        each!(self, law => law.slope(mode, own, view))
    }

    #[inline]
    fn guards(&self, mode: &Mode, own: f64, view: &View<f64>) -> [f64; 2] {
        each!(self, law => law.guards(mode, own, view))
    }

    fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, view: &View<f64>) {
        each!(self, law => law.crossed(mode, guard, own, view));
    }
}

impl QueueLaw {
    /// The law of a discipline whose parameters have been checked.
    pub(crate) fn unchecked(config: &Config, env: &Env) -> Result<Made<Self>, Invalid> {
        made(config, env)
    }
}

/// To the piece below for the first guard, above for the second.
fn step(mode: &mut Mode, guard: usize) {
    mode.piece = if guard == 0 { mode.piece - 1 } else { mode.piece + 1 };
}

#[cfg(test)]
mod tests;
