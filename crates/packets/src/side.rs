//! What lies between an end of a connection and the network.

use sojourn_base::Time;

/// Set in [`Side::waiting`] while the application may write at any time: then nothing is handled
/// ahead of its time.
const HELD: u32 = 1 << 31;
/// The same while all that happens to the end is recorded, which is to be in order.
const RECORDED: u32 = 1 << 30;

/// What lies between one end and the network: one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Side {
    /// Bytes until the application wants to be told; `u64::MAX` for never.
    pub expect: u64,
    /// When the endpoint's timers will be looked at; [`Time::MAX`] if they will not.
    pub timer_at: Time,
    /// Delay from the host to the first link on its packets' way.
    pub delay: Time,
    /// When the private link towards the network is free, and that link's fraction; with a
    /// shared interface instead of the fraction that interface's number.
    pub out_free: Time,
    pub out_carry: u64,
    /// The same for the private link from the network.
    pub in_free: Time,
    pub in_carry: u64,
    /// First step of its packets' way, or [`HOST`](sojourn_link::HOST).
    pub step: u32,
    /// Events in the wheel that concern this end and must be handled in order, [`HELD`] and
    /// [`RECORDED`].
    waiting: u32,
}

impl Side {
    /// A side whose packets take `delay` to the first link, at `step`.
    pub(crate) fn new(delay: Time, step: u32) -> Self {
        Self {
            expect: u64::MAX,
            timer_at: Time::MAX,
            delay,
            out_free: Time::ZERO,
            out_carry: 0,
            in_free: Time::ZERO,
            in_carry: 0,
            step,
            waiting: 0,
        }
    }

    /// The same with the interfaces of a machine that it shares, out and in.
    pub(crate) fn shares(mut self, [out, into]: [u32; 2]) -> Self {
        (self.out_carry, self.in_carry) = (u64::from(out), u64::from(into));
        self
    }

    /// The shared interface towards the network.
    #[inline]
    pub(crate) fn out_interface(&self) -> usize {
        self.out_carry as usize
    }

    /// The shared interface from the network.
    #[inline]
    pub(crate) fn in_interface(&self) -> usize {
        self.in_carry as usize
    }

    /// `n` more events are on their way to this end.
    #[inline]
    pub(crate) fn wait_for(&mut self, n: u32) {
        self.waiting += n;
    }

    /// One of them has come.
    #[inline]
    pub(crate) fn came(&mut self) {
        self.waiting -= 1;
    }

    /// From now on the application may write at any time.
    pub(crate) fn hold(&mut self) {
        self.waiting |= HELD;
    }

    /// The application will not write before it is told something.
    pub(crate) fn release(&mut self) {
        self.waiting &= !HELD;
    }

    /// Whatever happens to it is recorded at its own time.
    pub(crate) fn record(&mut self) {
        self.waiting |= RECORDED;
    }

    /// Whether events are on their way to this end.
    #[inline]
    pub(crate) fn awaits(&self) -> bool {
        self.waiting & !(HELD | RECORDED) != 0
    }

    /// Whether a packet may be handled ahead of its time as far as events and application go.
    #[inline]
    pub(crate) fn free(&self) -> bool {
        self.waiting == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_takes_a_cache_line() {
        assert_eq!(size_of::<Side>(), 64);
    }
}
