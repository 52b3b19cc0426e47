//! The network as endpoints see it: the queue of events, links, the steps of every path.

use crate::connection::Connection;
use crate::end_id::EndId;
use crate::events::Event;
use crate::interface::{Access, Interface};
use crate::packet::{Packet, SackPool, Standing};
use crate::qlog::Action;
use crate::quic::QuicPool;
use crate::side::Side;
use crate::wheel::Wheel;
use sojourn_base::Time;
use sojourn_link::{Aired, Dropped, HOST, Link, Medium, Paths};
use sojourn_records::FILES;
use sojourn_tcp::{SackBlock, Segment};

/// Everything between the hosts.
#[derive(Clone)]
pub(crate) struct Net {
    pub wheel: Wheel<Event>,
    pub links: Vec<Link<Standing>>,
    pub paths: Paths,
    pub sacks: SackPool,
    pub quic: QuicPool,
    /// Streams of QUIC of which something came that their application is about to be told of: the
    /// end, the stream, and whether it is all there.
    pub told: Vec<(EndId, u32, bool)>,
    pub dropped: Dropped<Standing>,
    /// Media that links share, and what one of them has just sent.
    pub media: Vec<Medium>,
    pub aired: Aired<Standing>,
    /// Interfaces of machines that several flows share.
    pub interfaces: Vec<Interface>,
    /// What the endpoint that is being called has done so far, if any flow is logged.
    pub actions: Option<Vec<Action>>,
}

impl Net {
    /// Whether any flow is logged.
    #[inline]
    pub(crate) fn logs(&self) -> bool {
        FILES && self.actions.is_some()
    }

    /// Sends a packet out of a host at `now`: over its interface, if that has a rate, and the
    /// delay behind it. Returns whether it goes straight to the peer, so that one more event
    /// waits there. It is part of where it is called: the processor would wait for the packet's
    /// fields before it could copy them from there.
    #[inline(always)]
    pub(crate) fn emit(
        &mut self,
        now: Time,
        to: EndId,
        packet: Packet,
        side: &mut Side,
        access: &Access,
    ) -> bool {
        let bytes = packet.ip_bytes();
        let mut at = match access {
            Access::Private(link) => {
                link.cross(now, bytes, &mut side.out_free, &mut side.out_carry)
            }
            Access::Unlimited => now,
            Access::Shared(link) => self.interfaces[side.out_interface()].cross(link, now, bytes),
        };
        at += side.delay;
        let direct = side.step == HOST;
        let event = if direct {
            Event::Deliver { to, packet }
        } else {
            Event::Arrive { to, step: side.step, packet }
        };
        self.wheel.push(at, event);
        direct
    }

    /// A packet crosses its last link at `at`, and others may come to the same machine before.
    #[inline(never)]
    pub(crate) fn cross_later(&mut self, at: Time, to: EndId, packet: Packet) {
        self.wheel.push(at, Event::Crossed { to, packet });
    }

    /// Has a connection's place given back if nothing refers to it any more. That happens at the
    /// time of the last thing that did, so that places, which order simultaneous events, do not
    /// depend on what was handled ahead of its time.
    pub(crate) fn tidy(&mut self, now: Time, place: u32, conn: &Connection) {
        if conn.over() {
            let (at, generation) = (conn.last.max(now), conn.generation);
            self.wheel.push(at, Event::Retire { conn: place, generation });
        }
    }

    /// Something is done that may go into a log.
    #[cold]
    #[inline(never)]
    pub(crate) fn note(&mut self, action: Action) {
        self.actions.get_or_insert_default().push(action);
    }

    /// The same for a segment, which is put together here: not where most are sent.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_segment(&mut self, segment: Segment, sacks: &[SackBlock]) {
        self.note(Action::SegmentSent(segment, sacks.to_vec()));
    }
}
