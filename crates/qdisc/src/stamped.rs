//! Packets with the time they came, for disciplines that look at the sojourn time.

use crate::{DropReason, Ecn, Packet, Sink};
use sojourn_base::Time;

/// A packet and when it came to this queue. The queue stamps it itself, so what a discipline
/// takes for the sojourn time is the time in *its* queue, whatever lies before or behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped<P> {
    /// The packet.
    pub packet: P,
    /// When it came.
    pub at: Time,
}

impl<P: Packet> Packet for Stamped<P> {
    #[inline]
    fn bytes(&self) -> u32 {
        self.packet.bytes()
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }
    #[inline]
    fn set_ce(&mut self) {
        self.packet.set_ce();
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        self.packet.flow_hash()
    }
}

/// Passes packets on without their stamps.
#[derive(Debug)]
pub struct Unstamp<'a, S>(pub &'a mut S);

impl<P: Packet, S: Sink<P>> Sink<Stamped<P>> for Unstamp<'_, S> {
    #[inline]
    fn dropped(&mut self, now: Time, packet: Stamped<P>, reason: DropReason) {
        self.0.dropped(now, packet.packet, reason);
    }
}
