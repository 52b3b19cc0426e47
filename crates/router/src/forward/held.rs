//! A packet while it is in the router, as links and disciplines see it.

use super::ack::sacks;
use super::slab::Slab;
use crate::net::address::Side;
use sojourn_base::{Ecn, Time};
use sojourn_link::{Dropped, Waiting};
use sojourn_qdisc::{Ack, DropReason, Packet, Sacks, Sink};

/// A packet: the number of the buffer that its bytes lie in, and what disciplines ask for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// The buffer.
    pub handle: u32,
    /// Length of the IP packet.
    pub bytes: u32,
    /// When it came to the queue it stands in.
    pub enqueued: Time,
    /// Where on its path it is.
    pub step: u32,
    /// The hash of its flow.
    pub flow: u32,
    /// The hash of its group's label.
    pub label: u32,
    /// IPv4 addresses.
    pub source: u32,
    /// See `source`.
    pub destination: u32,
    /// Its ECN field.
    pub ecn: Ecn,
    /// The ECN field in its bytes, which is changed when it leaves a link.
    pub written: Ecn,
    /// Its codepoint.
    pub dscp: u8,
    /// Where it goes.
    pub to: Side,
    /// What it acknowledges.
    pub ack: Option<Ack>,
}

impl Default for Held {
    fn default() -> Self {
        Self {
            handle: 0,
            bytes: 0,
            enqueued: Time::ZERO,
            step: 0,
            flow: 0,
            label: 0,
            source: 0,
            destination: 0,
            ecn: Ecn::NotEct,
            written: Ecn::NotEct,
            dscp: 0,
            to: Side::Right,
            ack: None,
        }
    }
}

impl Packet for Held {
    #[inline]
    fn bytes(&self) -> u32 {
        self.bytes
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    #[inline]
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        self.flow
    }
    #[inline]
    fn label(&self) -> u32 {
        self.label
    }
    #[inline]
    fn dscp(&self) -> u8 {
        self.dscp
    }
    #[inline]
    fn ack(&self) -> Option<Ack> {
        self.ack
    }
    #[inline]
    fn source(&self) -> u32 {
        self.source
    }
    #[inline]
    fn destination(&self) -> u32 {
        self.destination
    }
}

impl Waiting for Held {
    #[inline]
    fn enqueued(&self) -> Time {
        self.enqueued
    }
    #[inline]
    fn came(self, now: Time) -> Self {
        Self { enqueued: now, ..self }
    }
}

/// Where links put what their disciplines drop, and where the bytes of packets lie.
pub(super) struct Beside<'a> {
    pub dropped: &'a mut Dropped<Held>,
    pub slab: &'a Slab,
}

impl Sink<Held> for Beside<'_> {
    fn dropped(&mut self, now: Time, packet: Held, reason: DropReason) {
        self.dropped.dropped(now, packet, reason);
    }
    fn sacks(&self, packet: &Held) -> Sacks {
        sacks(self.slab.read(packet.handle, packet.bytes as usize))
    }
}
