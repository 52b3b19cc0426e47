//! Where flows over one link come to rest: one equation in one unknown, for each kind of law.
//!
//! W₀ = R₀C/N, p₀ = I(W₀)/(D(W₀) W₀), R₀ = T_p + q₀/C (Hollot, Misra, Towsley and Gong, INFOCOM
//! 2001, equation 3). All that is sent arrives: laws mark.

use crate::queues::Law;
use crate::root::between;
use crate::{Price, QueueLaw, WindowLaw};

/// Flows over a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flows {
    pub count: f64,
    /// Packets per second.
    pub capacity: f64,
    pub round_trip: RoundTrip,
    pub law: WindowLaw,
}

/// A round trip time in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) enum RoundTrip {
    /// With the wait in the queue.
    Whole(f64),
    /// Without.
    Propagation(f64),
}

/// An equilibrium; the queue is not a number where the law never gives the probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rest {
    pub window: f64,
    pub p: f64,
    pub queue: f64,
    pub rtt: f64,
    pub propagation: f64,
}

impl Flows {
    /// A full link with so many packets waiting.
    pub(super) fn full(&self, queue: f64) -> Rest {
        let wait = queue / self.capacity;
        let (rtt, propagation) = match self.round_trip {
            RoundTrip::Whole(rtt) => (rtt, rtt - wait),
            RoundTrip::Propagation(propagation) => (propagation + wait, propagation),
        };
        let window = rtt * self.capacity / self.count;
        Rest { window, p: self.law.loss(window), queue, rtt, propagation }
    }

    /// Under a law of the queue that says `weight` times its probability, and counts a packet as
    /// `unit`. A law that adapts itself is changed into what it is at rest.
    pub(super) fn under(&self, law: &mut QueueLaw, unit: f64, weight: f64) -> Rest {
        if let Some(resting) = law.resting(&|queue| self.full(queue / unit).p / weight) {
            *law = resting;
        }
        match law.rises() {
            Some(ends) => self.on_profile(law, ends, unit, weight),
            None => self.full(law.setpoint(self.capacity * unit).unwrap_or(f64::NAN) / unit),
        }
    }

    fn on_profile(&self, law: &QueueLaw, ends: [f64; 2], unit: f64, weight: f64) -> Rest {
        // The longer the queue, the larger the windows and the smaller the p that they need.
        let surplus = |queue: f64| law.at_rest(queue) * weight - self.full(queue / unit).p;
        let [low, high] = ends;
        let ends = ((low, surplus(low)), (high, surplus(high)));
        if ends.0.1 >= 0.0 || ends.1.1 < 0.0 {
            return Rest { queue: f64::NAN, ..self.full(high / unit) };
        }
        self.full(between(ends.0, ends.1, surplus) / unit)
    }

    /// At a load, without a queue.
    fn at_load(&self, load: f64) -> Rest {
        let (RoundTrip::Whole(rtt) | RoundTrip::Propagation(rtt)) = self.round_trip;
        let window = load * rtt * self.capacity / self.count;
        Rest { window, p: self.law.loss(window), queue: 0.0, rtt, propagation: rtt }
    }

    /// All equilibria under a price that counts `weight` times, by window. Loads are looked at by
    /// their logarithm, in which a power's p is straight.
    pub(super) fn priced(&self, price: &Price, weight: f64) -> Vec<Rest> {
        const LEAST: f64 = -40.0;
        const MOST: f64 = 7.0;
        let surplus = |log: f64| {
            let load = libm::exp(log);
            libm::log((price.raw(load) * weight).max(1e-300)) - libm::log(self.at_load(load).p)
        };
        let root = |from: f64, to: f64| {
            let log = between((from, surplus(from)), (to, surplus(to)), surplus);
            self.at_load(libm::exp(log))
        };
        if let Price::Ramp { clipped: false, start, .. } = *price {
            // It falls before it rises: looked through on either side of where it turns.
            const LOOKS: i32 = 2000;
            let log = |look: i32| {
                let share = f64::from(look) / f64::from(LOOKS);
                libm::log(if look < 0 {
                    start * (1.0 + share)
                } else {
                    start + 2.0 * share * share
                })
            };
            return (1 - LOOKS..LOOKS)
                .map(|look| (log(look), log(look + 1)))
                .filter(|(from, to)| from.is_finite() && to > from)
                .filter(|(from, to)| (surplus(*from) > 0.0) != (surplus(*to) > 0.0))
                .map(|(from, to)| root(from, to))
                .collect();
        }
        if surplus(LEAST) < 0.0 && surplus(MOST) > 0.0 {
            vec![root(LEAST, MOST)]
        } else {
            Vec::new()
        }
    }
}
