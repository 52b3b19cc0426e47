//! Control laws of queues in continuous time: what makes a probability from a queue.
//!
//! Each law has at most one state of its own, and a [`Mode`] in which it is smooth. Laws that
//! routers run at sampling instants are here their limit for short periods.

mod ared;
mod codel;
mod integral;
mod pi2;
mod pie;
mod red;
mod rem;

use serde::Deserialize;

pub use ared::Ared;
pub use codel::Codel;
pub use integral::Pi;
pub use pi2::Pi2;
pub use pie::Pie;
pub use red::Red;
pub use rem::Rem;

use crate::{Invalid, Price};

/// What a law sees of its queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Now, in seconds.
    pub time: f64,
    /// The queue, in the packets that the law counts in.
    pub queue: f64,
    /// How fast it grows, per second.
    pub drift: f64,
    /// Arrivals per second, dropped ones included.
    pub inflow: f64,
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

/// The law of a queue.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Controller {
    /// None: packets are lost when the buffer is full.
    Droptail,
    /// Random early detection.
    Red(Red),
    /// RED that adapts its `max_p`.
    Ared(Ared),
    /// The proportional-integral controller.
    Pi(Pi),
    /// PI on the delay, squared.
    Pi2(Pi2),
    /// Random exponential marking.
    Rem(Rem),
    /// PIE.
    Pie(Pie),
    /// A setpoint for the delay that is enforced ever faster, like CoDel.
    Codel(Codel),
    /// A price on the arrival rate, averaged over `averaging` seconds (0: the present rate).
    Rate {
        /// The price.
        price: Price,
        /// Time constant of a first-order lag, in seconds.
        #[serde(default)]
        averaging: f64,
    },
}

macro_rules! each {
    ($self:expr, $law:ident => $work:expr, $none:expr, $rate:pat => $with_rate:expr) => {
        match $self {
            Controller::Droptail => $none,
            Controller::Red($law) => $work,
            Controller::Ared($law) => $work,
            Controller::Pi($law) => $work,
            Controller::Pi2($law) => $work,
            Controller::Rem($law) => $work,
            Controller::Pie($law) => $work,
            Controller::Codel($law) => $work,
            $rate => $with_rate,
        }
    };
}

impl Controller {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        each!(self, law => law.validate(), Ok(()), Self::Rate { price, averaging } => {
            if !(0.0..=1e6).contains(averaging) {
                return Err(Invalid::new("averaging", averaging, "must be 0 to 1e6 seconds, such as 0"));
            }
            price.validate()
        })
    }

    /// Works out what depends on nothing but the parameters and the link's capacity.
    pub fn prepare(&mut self, capacity: f64) {
        match self {
            Self::Red(law) => law.prepare(capacity),
            Self::Ared(law) => law.red.prepare(capacity),
            _ => {}
        }
    }

    /// Whether it has a state of its own.
    pub fn has_state(&self) -> bool {
        match self {
            Self::Droptail => false,
            Self::Rate { averaging, .. } => *averaging > 0.0,
            _ => true,
        }
    }

    /// Whether its guards or its probability look at arrivals or at how fast the queue grows.
    pub fn looks_at_rate(&self) -> bool {
        !matches!(self, Self::Droptail | Self::Red(_) | Self::Ared(_) | Self::Codel(_))
    }

    /// From which value on a relative error of the state counts.
    pub fn scale(&self) -> f64 {
        match self {
            Self::Red(_) | Self::Ared(_) | Self::Rem(_) | Self::Codel(_) => 1.0,
            Self::Pi(_) | Self::Pie(_) => 1e-4,
            Self::Pi2(_) | Self::Rate { .. } | Self::Droptail => 1e-2,
        }
    }

    /// The queue that it holds in equilibrium, if it holds one whatever the load; given the link's
    /// capacity.
    pub fn setpoint(&self, capacity: f64) -> Option<f64> {
        match self {
            Self::Pi(law) => Some(law.qref),
            Self::Rem(law) => Some(law.qref),
            Self::Pi2(law) => Some(law.target * capacity),
            Self::Pie(law) => Some(law.target * capacity),
            Self::Codel(law) => Some(law.target * capacity),
            Self::Red(_) | Self::Ared(_) | Self::Rate { .. } | Self::Droptail => None,
        }
    }

    /// The state in equilibrium at a queue and a probability, given the link's capacity.
    pub fn state_at(&self, queue: f64, probability: f64, capacity: f64) -> f64 {
        match self {
            Self::Red(_) | Self::Ared(_) => queue,
            Self::Pi(_) | Self::Pie(_) => probability,
            Self::Pi2(_) => libm::sqrt(probability),
            Self::Rem(law) => law.price(probability),
            Self::Codel(_) => probability * capacity,
            Self::Rate { .. } => 1.0,
            Self::Droptail => 0.0,
        }
    }

    /// The mode that fits a state.
    pub fn mode_at(&self, own: f64, view: &View) -> Mode {
        let piece = match self {
            Self::Red(law) => law.piece(own),
            Self::Ared(law) => return law.mode_at(own, view),
            Self::Pi(_) | Self::Pi2(_) => integral::piece(own),
            Self::Pie(_) => pie::piece(own),
            Self::Codel(_) => usize::from(own > 0.0) * codel::DROPPING,
            Self::Rate { price, .. } => self.piece_of_load(price, own, view),
            Self::Rem(_) | Self::Droptail => 0,
        };
        Mode { piece, ..Mode::default() }
    }

    fn load(&self, own: f64, view: &View) -> f64 {
        if self.has_state() { own } else { view.inflow / view.capacity }
    }

    fn piece_of_load(&self, price: &Price, own: f64, view: &View) -> usize {
        let load = self.load(own, view);
        price.bends().iter().filter(|bend| load > **bend).count()
    }

    /// The probability.
    #[inline]
    pub fn probability(&self, mode: &Mode, own: f64, view: &View) -> f64 {
        each!(self, law => law.probability(mode, own, view), 0.0, Self::Rate { price, .. } => {
            match (price, mode.piece) {
                (_, 2) => 1.0,
                (Price::Threshold { clipped: true, .. }, 0) => 0.0,
                _ => price.raw(self.load(own, view)),
            }
        })
    }

    /// How fast the state changes.
    #[inline]
    pub fn slope(&self, mode: &Mode, own: f64, view: &View) -> f64 {
        each!(self, law => law.slope(mode, own, view), 0.0, Self::Rate { averaging, .. } => {
            if *averaging > 0.0 { (view.inflow / view.capacity - own) / averaging } else { 0.0 }
        })
    }

    /// Two guards, above 0 in the present mode.
    pub fn guards(&self, mode: &Mode, own: f64, view: &View) -> [f64; 2] {
        each!(self, law => law.guards(mode, own, view), [1.0, 1.0], Self::Rate { price, .. } => {
            let load = self.load(own, view);
            let bends = price.bends();
            [
                mode.piece.checked_sub(1).map_or(1.0, |below| load - bends[below]),
                bends.get(mode.piece).map_or(1.0, |above| above - load),
            ]
        })
    }

    /// A guard has fallen below 0.
    pub fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, view: &View) {
        each!(self, law => law.crossed(mode, guard, own, view), (), Self::Rate { .. } => {
            step(mode, guard);
        });
    }
}

/// To the piece below for the first guard, above for the second.
fn step(mode: &mut Mode, guard: usize) {
    mode.piece = if guard == 0 { mode.piece - 1 } else { mode.piece + 1 };
}
