//! Packets with the time they came, for disciplines that look at the sojourn time.

use crate::{Ack, DropReason, Ecn, Packet, Sink};
use core::marker::PhantomData;
use sojourn_base::Time;

/// How a queue keeps packets `P`: as they are, or with the time they came.
pub trait Kept<P: Packet>: Packet {
    /// Whether it is kept with the time it came.
    const STAMPED: bool;
    /// `packet`, which comes `now`, as it is kept.
    fn keep(packet: P, now: Time) -> Self;
    /// The packet.
    fn packet(self) -> P;
    /// The packet where it is.
    fn packet_ref(&self) -> &P;
    /// When it came, if that is kept.
    fn came(&self) -> Option<Time>;
}

impl<P: Packet> Kept<P> for P {
    const STAMPED: bool = false;

    #[inline]
    fn keep(packet: P, _: Time) -> Self {
        packet
    }
    #[inline]
    fn packet(self) -> P {
        self
    }
    #[inline]
    fn packet_ref(&self) -> &P {
        self
    }
    #[inline]
    fn came(&self) -> Option<Time> {
        None
    }
}

impl<P: Packet> Kept<P> for Stamped<P> {
    const STAMPED: bool = true;

    #[inline]
    fn keep(packet: P, at: Time) -> Self {
        Self { packet, at }
    }
    #[inline]
    fn packet(self) -> P {
        self.packet
    }
    #[inline]
    fn packet_ref(&self) -> &P {
        &self.packet
    }
    #[inline]
    fn came(&self) -> Option<Time> {
        Some(self.at)
    }
}

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
    #[inline]
    fn label(&self) -> u32 {
        self.packet.label()
    }
    #[inline]
    fn dscp(&self) -> u8 {
        self.packet.dscp()
    }
    #[inline]
    fn ack(&self) -> Option<Ack> {
        self.packet.ack()
    }
    #[inline]
    fn source(&self) -> u32 {
        self.packet.source()
    }
    #[inline]
    fn destination(&self) -> u32 {
        self.packet.destination()
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

/// Passes packets on as they came, however they were kept.
#[derive(Debug)]
pub struct Unkept<'a, P, S>(&'a mut S, PhantomData<P>);

impl<'a, P: Packet, S: Sink<P>> Unkept<'a, P, S> {
    /// Passes them on to `sink`.
    pub fn new(sink: &'a mut S) -> Self {
        Self(sink, PhantomData)
    }
}

impl<P: Packet, K: Kept<P>, S: Sink<P>> Sink<K> for Unkept<'_, P, S> {
    #[inline]
    fn dropped(&mut self, now: Time, packet: K, reason: DropReason) {
        self.0.dropped(now, packet.packet(), reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet of which no two things that it tells are the same.
    #[derive(Clone, Copy)]
    struct Told;

    impl Packet for Told {
        fn bytes(&self) -> u32 {
            2
        }
        fn ecn(&self) -> Ecn {
            Ecn::Ect1
        }
        fn set_ce(&mut self) {}
        fn flow_hash(&self) -> u32 {
            3
        }
        fn label(&self) -> u32 {
            4
        }
        fn dscp(&self) -> u8 {
            5
        }
        fn source(&self) -> u32 {
            6
        }
        fn destination(&self) -> u32 {
            7
        }
    }

    #[test]
    fn a_stamp_changes_nothing_of_a_packet() {
        let it = Stamped { packet: Told, at: Time(9) };
        let told = (it.bytes(), it.flow_hash(), it.label(), it.dscp());
        assert_eq!(told, (2, 3, 4, 5));
        assert_eq!((it.ecn(), it.source(), it.destination()), (Ecn::Ect1, 6, 7));
    }
}
