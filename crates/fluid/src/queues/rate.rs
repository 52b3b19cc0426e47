//! A price on the arrival rate: Kelly, "Models for a self-managed Internet", Phil. Trans. R. Soc. A
//! 358, 2000. The load is the arrivals over the capacity, as they are or through a first-order lag.
//! The capacity is the discipline's own: the rate over its mean packet.

use sojourn_qdisc::rate::Params;

use super::{Env, Law, Made, Mode, QueueLaw, View, step};
use crate::scalar::Scalar;
use crate::{Invalid, Price};

/// Feedback on the rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// The price.
    pub price: Price,
    /// Time constant of a first-order lag, in seconds; 0: the present rate.
    pub averaging: f64,
    /// What it takes the link to send, in packets per second: a load of 1.
    pub capacity: f64,
}

impl Rate {
    /// From a price of any kind.
    ///
    /// # Errors
    /// If a parameter is wrong.
    pub fn made(price: Price, averaging: f64, capacity: f64) -> Result<Made<QueueLaw>, Invalid> {
        if !(0.0..=1e6).contains(&averaging) {
            let remedy = "must be 0 to 1e6 seconds, such as 0";
            return Err(Invalid::new("averaging", averaging, remedy));
        }
        price.validate()?;
        Ok(Made::bare(Self { price, averaging, capacity }))
    }

    /// The load that is charged for.
    fn load<S: Scalar>(&self, own: S, view: &View<S>) -> S {
        if self.has_state() { own } else { view.inflow / self.capacity }
    }
}

impl Law for Rate {
    type Params = Params;

    fn of(p: &Params, env: &Env) -> Result<Made<Self>, Invalid> {
        let exponent = f64::from(p.exponent);
        let price = if p.start > 0.0 {
            Price::Ramp { start: p.start, exponent, clipped: true }
        } else {
            Price::Power { exponent }
        };
        // Counting over a period and holding the result for one lag by half of it each.
        let averaging = p.averaging.as_secs_f64() + p.period.as_secs_f64();
        let capacity = env.packets_per_second(p.byte_mode.mean_packet);
        let made = Made::new(Self { price, averaging, capacity }, p.limit, p.ecn);
        Ok(made.counting(env, p.byte_mode))
    }

    fn has_state(&self) -> bool {
        self.averaging > 0.0
    }

    fn scale(&self) -> f64 {
        1e-2
    }

    /// The load.
    fn state_at(&self, _: f64, _: f64, _: f64) -> f64 {
        1.0
    }

    fn mode_at(&self, own: f64, view: &View<f64>) -> Mode {
        Mode { piece: self.price.piece(self.load(own, view)), ..Mode::default() }
    }

    #[inline]
    fn probability<S: Scalar>(&self, mode: &Mode, own: S, view: &View<S>) -> S {
        self.price.within(mode.piece, self.load(own, view))
    }

    fn slope<S: Scalar>(&self, _: &Mode, own: S, view: &View<S>) -> S {
        if self.has_state() {
            (view.inflow / self.capacity - own) / self.averaging
        } else {
            S::of(0.0)
        }
    }

    fn guards(&self, mode: &Mode, own: f64, view: &View<f64>) -> [f64; 2] {
        self.price.guards(mode.piece, self.load(own, view))
    }

    fn crossed(&self, mode: &mut Mode, guard: usize, _: &mut f64, _: &View<f64>) {
        step(mode, guard);
    }
}
