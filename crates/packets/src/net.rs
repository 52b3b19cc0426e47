//! The network as endpoints see it: the queue of events, links, the steps of every path; and how a
//! segment leaves an endpoint.

use crate::connection::{EndId, Side};
use crate::events::{Event, Notes};
use crate::group::Group;
use crate::interface::{Access, Interface};
use crate::packet::{NO_SACKS, Packet, SackPool, Standing};
use crate::qlog::Doing;
use crate::quic::{self, QuicPool};
use crate::wheel::Wheel;
use sojourn_base::{Ecn, Kind, Time};
use sojourn_link::{Aired, Dropped, HOST, Link, Medium, Paths};
use sojourn_records::FILES;
use sojourn_tcp::{Output, SackBlock, Segment};

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
    pub doings: Option<Vec<Doing>>,
}

impl Net {
    /// Whether any flow is logged.
    #[inline]
    pub(crate) fn logs(&self) -> bool {
        FILES && self.doings.is_some()
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

    #[inline(never)]
    fn emit_apart(
        &mut self,
        now: Time,
        to: EndId,
        packet: Packet,
        side: &mut Side,
        access: &Access,
    ) -> bool {
        self.emit(now, to, packet, side, access)
    }
}

/// What an endpoint's call may do to the world, and what it has to tell.
pub(crate) struct Out<'a> {
    pub net: &'a mut Net,
    pub side: &'a mut Side,
    pub group: &'a Group,
    /// The endpoint's own time: the present, or shortly ahead of it.
    pub at: Time,
    /// The end that its packets go to.
    pub peer: EndId,
    /// The connection's serial number, and how many segments the endpoint has sent: for the time
    /// that a host takes, if it takes any.
    pub serial: u32,
    pub segments: u64,
    /// The round trip that was measured.
    pub round_trip: Option<Time>,
    pub sent: u32,
    pub direct: u32,
    pub delivered: u64,
    pub notes: Notes,
}

impl Out<'_> {
    /// The random time that the host takes over a segment: drawn from the segment's own name, so
    /// that it is the same whatever else happens.
    #[cold]
    fn processing(&mut self) -> Time {
        self.segments += 1;
        let end = u64::from(self.serial) << 1 | self.peer.peer().end() as u64;
        let index = end << 32 | (self.segments & 0xffff_ffff);
        Time(self.group.stream(Kind::Host, index).below(self.group.processing.0 + 1))
    }
}

impl Out<'_> {
    /// Something is done that may go into a log.
    #[cold]
    #[inline(never)]
    fn note(&mut self, doing: Doing) {
        self.net.doings.get_or_insert_default().push(doing);
    }

    /// The same for a segment, which is put together here: not where most are sent.
    #[cold]
    #[inline(never)]
    fn note_segment(&mut self, segment: Segment, sacks: &[SackBlock]) {
        self.note(Doing::Segment(segment, sacks.to_vec()));
    }

    /// Something of a stream has come, or all of it.
    fn tell(&mut self, stream: u32, all: bool) {
        self.net.told.push((self.peer.peer(), stream, all));
        self.notes |= Notes::COMPLETE;
    }

    /// The handshake is over: noted of clients, for which requests wait.
    fn connected(&self) -> Notes {
        let early = self.group.quic.as_ref().is_some_and(|quic| quic.zero_rtt);
        if self.peer.is_server() && !early { Notes::CONNECTED } else { Notes::default() }
    }

    /// A packet leaves the host.
    #[inline(always)]
    fn emit(&mut self, packet: Packet) {
        let at = self.leaves_at();
        let direct = self.net.emit(at, self.peer, packet, self.side, &self.group.access);
        self.direct += u32::from(direct);
    }

    /// The same where it is not worth its code: TCP sends in many places, QUIC two thirds of its
    /// packets in one.
    #[inline(always)]
    fn emit_apart(&mut self, packet: Packet) {
        let at = self.leaves_at();
        let direct = self.net.emit_apart(at, self.peer, packet, self.side, &self.group.access);
        self.direct += u32::from(direct);
    }

    /// One more packet is sent: when it comes to the host's interface.
    #[inline(always)]
    fn leaves_at(&mut self) -> Time {
        self.sent += 1;
        if self.group.processing == Time::ZERO {
            return self.at;
        }
        self.side.out_free = (self.at + self.processing()).max(self.side.out_free);
        self.side.out_free
    }
}

impl Output for Out<'_> {
    #[inline]
    fn send(&mut self, mut segment: Segment, sacks: &[SackBlock]) {
        // For delay probes, where there are no timestamps.
        if self.group.stamp {
            segment.tsval = (self.at.0 / 1000) as u32;
        }
        if self.net.logs() {
            self.note_segment(segment, sacks);
        }
        let sacks = if sacks.is_empty() { NO_SACKS } else { self.net.sacks.put(sacks) };
        self.emit_apart(Packet { segment, conn: self.peer.conn(), sacks });
    }

    #[inline]
    fn has_room(&mut self) -> bool {
        let backlog = self.group.backlog;
        backlog == Time::MAX || self.leaves().saturating_sub(self.at) <= backlog
    }

    fn leaves(&mut self) -> Time {
        match self.group.access {
            Access::Unlimited => Time::ZERO,
            Access::Private(_) => self.side.out_free,
            Access::Shared(_) => self.net.interfaces[self.side.out_interface()].free,
        }
    }

    #[inline]
    fn deliver(&mut self, bytes: u32) {
        self.delivered += u64::from(bytes);
    }

    fn event(&mut self, event: sojourn_tcp::Event) {
        use sojourn_tcp::Event as E;
        if self.net.logs() && matches!(event, E::Closed | E::Failed) {
            self.note(Doing::Ends { well: event == E::Closed });
        }
        self.notes |= match event {
            E::PeerClosed if self.peer.is_server() => return,
            E::AllAcked => return,
            E::Connected => self.connected(),
            E::PeerClosed => Notes::PEER_CLOSED,
            E::Closed => Notes::CLOSED,
            E::Failed => Notes::FAILED,
        };
    }

    #[inline]
    fn rtt(&mut self, sample: Time) {
        self.round_trip = Some(sample);
    }
}

impl sojourn_quic::Output for Out<'_> {
    #[inline(always)]
    fn send(&mut self, ecn: Ecn, packets: &[sojourn_quic::Packet], bytes: u32) {
        if self.net.logs() {
            self.note(Doing::Datagram(ecn, packets.to_vec()));
        }
        let segment = quic::segment(self.at, bytes, ecn);
        let sacks = self.net.quic.put(packets);
        self.emit_apart(Packet { segment, conn: self.peer.conn(), sacks });
    }

    #[inline(always)]
    fn send_stream(&mut self, ecn: Ecn, packet: sojourn_quic::StreamPacket, bytes: u32) {
        let header = quic::segment(self.at, bytes, ecn);
        let datagram = Packet::of_stream(header, self.peer.conn(), packet);
        match datagram.filter(|_| !self.net.logs()) {
            Some(datagram) => self.emit(datagram),
            None => sojourn_quic::Output::send(self, ecn, &[packet.into()], bytes),
        }
    }

    fn deliver(&mut self, _: u32, bytes: u64) {
        self.delivered += bytes;
    }

    fn rtt(&mut self, rtt: Time) {
        self.round_trip = Some(rtt);
    }

    fn read(&mut self, packet: &sojourn_quic::Packet) {
        if self.net.logs() {
            self.note(Doing::Reads(*packet));
        }
    }

    #[inline]
    fn read_stream(&mut self, packet: sojourn_quic::StreamPacket) {
        if self.net.logs() {
            self.note(Doing::Reads(packet.into()));
        }
    }

    fn unread(&mut self, packet: &sojourn_quic::Packet, why: sojourn_quic::Unread) {
        if self.net.logs() {
            self.note(Doing::Drops(*packet, why));
        }
    }

    fn lost(&mut self, packet: sojourn_quic::Lost) {
        if self.net.logs() {
            self.note(Doing::Lost(packet));
        }
    }

    fn event(&mut self, event: sojourn_quic::Event) {
        use sojourn_quic::Event as E;
        if self.net.logs() && matches!(event, E::Closed | E::Failed) {
            self.note(Doing::Ends { well: event == E::Closed });
        }
        self.notes |= match event {
            E::Begun { stream } if self.group.streams && self.peer.is_server() => {
                return self.tell(stream, false);
            }
            E::Begun { .. } => return,
            E::Finished { stream } if self.group.streams => return self.tell(stream, true),
            E::Connected => self.connected(),
            E::Finished { .. } => Notes::PEER_CLOSED,
            E::Closed => Notes::CLOSED,
            E::Failed => Notes::FAILED,
        };
    }
}
