//! The network as endpoints see it: the event wheel, links, the steps of every path; and how a
//! segment leaves an endpoint.

use crate::connection::{DIRECT, Side};
use crate::group::Group;
use crate::interface::{Access, Interface, cross};
use crate::packet::{NO_SACKS, Packet, SackPool, Standing};
use crate::wheel::{Event, Wheel};
use sojourn_base::{Dscp, Kind, Time};
use sojourn_link::{Dropped, Link};
use sojourn_tcp::{Output, SackBlock, Segment};

/// Kinds of events, in the order in which simultaneous ones are handled: what leaves, before what
/// comes, before what hosts do about it, before what is measured.
pub mod kind {
    /// A link's transmitter is free, or a packet it held back is ready. Id: the link.
    pub const SERVE: u32 = 0;
    /// A packet reaches the link of its step (`aux`).
    pub const ARRIVE: u32 = 1;
    /// A packet has crossed the last link of its path, on which others may overtake it.
    pub const CROSSED: u32 = 2;
    /// A packet reaches its host.
    pub const DELIVER: u32 = 3;
    /// A timer of an endpoint may be due; `aux` is the connection's generation.
    pub const TIMER: u32 = 4;
    /// Tells an application what its endpoint has to say (`aux`: [`super::note`]).
    pub const NOTIFY: u32 = 5;
    /// A server has thought long enough and answers.
    pub const ANSWER: u32 = 6;
    /// A member of a group acts: a flow starts, a user wakes, a datagram is due. Id: the member.
    pub const MEMBER: u32 = 7;
    /// A connection that is over gives its place back; `aux` is its generation.
    pub const RETIRE: u32 = 8;
    /// The measured window begins, a probe samples. After everything else at its instant.
    pub const PROBE: u32 = 15;
}

/// What an application can be told; bits.
pub mod note {
    /// The bytes it waited for are there.
    pub const COMPLETE: u32 = 1;
    /// The peer sends no more.
    pub const PEER_CLOSED: u32 = 2;
    /// Both directions are closed.
    pub const CLOSED: u32 = 4;
    /// The connection gave up.
    pub const FAILED: u32 = 8;
    /// Everything written has been acknowledged.
    pub const ALL_ACKED: u32 = 16;
}

/// Bits of a tag below its kind.
pub const ID_BITS: u32 = 28;

/// The tag of an event: kind above, whom it concerns below.
#[inline]
pub const fn tag(kind: u32, id: u32) -> u32 {
    kind << ID_BITS | id
}

/// One stage of a path: a link that can contend, and what lies behind it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub link: u32,
    /// The next step, or [`DIRECT`] if the host is next.
    pub next: u32,
    /// Delay from the end of the transmission to whatever is next, ns.
    pub delay: u64,
    /// The hash of the label of the group whose path this is, and its codepoint.
    pub label: u32,
    pub dscp: Dscp,
}

/// A packet without content, for events that carry none.
pub const EMPTY: Packet = Packet { segment: Segment::EMPTY, conn: 0, sacks: NO_SACKS };

/// Everything between the hosts.
pub struct Net {
    pub wheel: Wheel<Packet>,
    pub links: Vec<Link<Standing>>,
    pub steps: Vec<Step>,
    pub sacks: SackPool,
    pub dropped: Dropped<Standing>,
    /// Interfaces of machines that several flows share.
    pub interfaces: Vec<Interface>,
}

impl Net {
    /// Schedules an event that carries no packet.
    #[inline]
    pub fn schedule(&mut self, time: u64, tag: u32, aux: u32) {
        self.wheel.push(Event { time, tag, aux, payload: EMPTY });
    }

    /// Sends a packet out of a host at `now`: over its interface, if that has a rate, and the
    /// delay behind it. Returns whether it goes straight to the peer, so that one more event
    /// waits there. `id` names the connection and the end it goes to.
    #[inline]
    pub fn emit(
        &mut self,
        now: u64,
        id: u32,
        packet: Packet,
        side: &mut Side,
        access: &Access,
    ) -> bool {
        let mut at = match access {
            Access::Private(link) => {
                cross(link, now, packet.ip_bytes(), &mut side.out_free, &mut side.out_carry)
            }
            Access::Unlimited => now,
            Access::Shared(link) => {
                let interface = &mut self.interfaces[side.out_interface()];
                cross(link, now, packet.ip_bytes(), &mut interface.free, &mut interface.carry)
            }
        };
        at += side.delay;
        let direct = side.step == DIRECT;
        let kind = if direct { kind::DELIVER } else { kind::ARRIVE };
        self.wheel.push(Event { time: at, tag: tag(kind, id), aux: side.step, payload: packet });
        direct
    }
}

/// What an endpoint's call may do to the world, and what it has to tell.
pub struct Out<'a> {
    pub net: &'a mut Net,
    pub side: &'a mut Side,
    pub group: &'a Group,
    /// The endpoint's own time, ns: the present, or shortly ahead of it.
    pub at: u64,
    /// The connection, and the end its packets go to.
    pub peer: u32,
    /// The connection's serial number, and how many segments the endpoint has sent.
    pub serial: u32,
    pub segments: u64,
    /// The round trip that was measured, ns.
    pub round_trip: Option<u64>,
    pub sent: u32,
    pub direct: u32,
    pub delivered: u64,
    pub notes: u32,
}

impl Out<'_> {
    /// The random time that the host takes over a segment, ns: drawn from the segment's own name,
    /// so that it is the same whatever else happens.
    #[cold]
    fn processing(&mut self) -> u64 {
        self.segments += 1;
        let end = u64::from(self.serial) << 1 | u64::from(self.peer & 1 ^ 1);
        let index = end << 32 | (self.segments & 0xffff_ffff);
        self.group.stream(Kind::Host, index).below(self.group.processing + 1)
    }
}

impl Output for Out<'_> {
    #[inline]
    fn send(&mut self, mut segment: Segment, sacks: &[SackBlock]) {
        // For delay probes, where there are no timestamps.
        if self.group.stamp {
            segment.tsval = (self.at / 1000) as u32;
        }
        let sacks = if sacks.is_empty() { NO_SACKS } else { self.net.sacks.put(sacks) };
        let packet = Packet { segment, conn: self.peer >> 1, sacks };
        self.sent += 1;
        let mut at = self.at;
        if self.group.processing > 0 {
            at = (at + self.processing()).max(self.side.out_free);
            self.side.out_free = at;
        }
        let direct = self.net.emit(at, self.peer, packet, self.side, &self.group.access);
        self.direct += u32::from(direct);
    }

    #[inline]
    fn has_room(&mut self) -> bool {
        let backlog = self.group.backlog;
        backlog == u64::MAX || self.leaves().0.saturating_sub(self.at) <= backlog
    }

    fn leaves(&mut self) -> Time {
        Time(match self.group.access {
            Access::Unlimited => 0,
            Access::Private(_) => self.side.out_free,
            Access::Shared(_) => self.net.interfaces[self.side.out_interface()].free,
        })
    }

    #[inline]
    fn deliver(&mut self, bytes: u32) {
        self.delivered += u64::from(bytes);
    }

    fn event(&mut self, event: sojourn_tcp::Event) {
        use sojourn_tcp::Event as E;
        self.notes |= match event {
            E::Connected => 0,
            E::PeerClosed => note::PEER_CLOSED,
            E::Closed => note::CLOSED,
            E::Failed => note::FAILED,
            E::AllAcked => note::ALL_ACKED,
        };
    }

    #[inline]
    fn rtt(&mut self, sample: Time) {
        self.round_trip = Some(sample.0);
    }
}
