//! Lognormal rates: a Gaussian process of the first order, and the rate that a value of it stands
//! for.

use sojourn_base::{Stream, Time};

/// 10 Tbit/s, more than any link may have.
pub(crate) const MOST_RATE: u64 = 10_000_000_000_000;

/// A Gaussian process of the first order.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    /// Weights of the last value and of a new draw.
    keep: f64,
    draw: f64,
    pub x: f64,
}

impl Process {
    /// One of mean 0, in steps of `step`, as if it had been going on for ever.
    pub(crate) fn new(sigma: f64, step: Time, memory: Time, stream: &mut Stream) -> Self {
        let keep = match memory {
            Time::ZERO => 0.0,
            memory => libm::exp(-(step.0 as f64) / memory.0 as f64),
        };
        let draw = sigma * libm::sqrt(1.0 - keep * keep);
        Self { keep, draw, x: sigma * normal(stream) }
    }

    pub(crate) fn step(&mut self, stream: &mut Stream) {
        self.x = self.keep * self.x + self.draw * normal(stream);
    }
}

/// The rate in bits per second whose logarithm is `x` above that of `median`.
pub(crate) fn rate_at(median: f64, x: f64) -> u64 {
    // A float too large for an integer becomes the largest.
    (median * libm::exp(x) + 0.5) as u64
}

/// A draw from the standard normal distribution (Box and Muller, 1958; one of the two).
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(stream.uniform()));
    radius * libm::cos(core::f64::consts::TAU * stream.uniform())
}
