//! Equal times between packets.

use sojourn_base::{NANOS_PER_BYTE, Rate, Size};

/// Nanoseconds between packets at a constant rate, exact in the long run: whole nanoseconds and a
/// remainder over the rate.
#[derive(Clone, Debug)]
pub(crate) struct Spacing {
    pub whole: u64,
    rest: u64,
    rate: u64,
}

impl Spacing {
    pub(crate) fn new(rate: Rate, packet: Size) -> Self {
        let nanos = packet.0 * NANOS_PER_BYTE;
        Self { whole: nanos / rate.0, rest: nanos % rate.0, rate: rate.0 }
    }

    /// The next gap; `carry` is what earlier ones left over.
    #[inline]
    pub(crate) fn next(&self, carry: &mut u64) -> u64 {
        *carry += self.rest;
        if *carry >= self.rate {
            *carry -= self.rate;
            return self.whole + 1;
        }
        self.whole
    }

    pub(crate) fn exact(&self) -> f64 {
        self.whole as f64 + self.rest as f64 / self.rate as f64
    }
}
