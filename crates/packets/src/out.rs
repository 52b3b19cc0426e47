//! What a call of an endpoint does: packets that leave the host, and what it has to tell.

use crate::end::End;
use crate::end_id::EndId;
use crate::events::Notes;
use crate::group::Group;
use crate::interface::Access;
use crate::net::Net;
use crate::packet::{NO_SACKS, Packet};
use crate::qlog::Action;
use crate::quic;
use crate::side::Side;
use sojourn_base::{Ecn, Kind, Time};
use sojourn_tcp::{Output, SackBlock, Segment};

/// What an endpoint's call may do to the world, and what it has to tell.
pub(crate) struct Out<'a> {
    pub net: &'a mut Net,
    side: &'a mut Side,
    group: &'a Group,
    /// The endpoint's own time: the present, or shortly ahead of it.
    at: Time,
    /// The end that its packets go to.
    peer: EndId,
    /// The connection's serial number, and how many segments the endpoint has sent: for the time
    /// that a host takes, if it takes any.
    serial: u32,
    segments: u64,
    /// The round trip that was measured.
    round_trip: Option<Time>,
    sent: u32,
    direct: u32,
    delivered: u64,
    notes: Notes,
}

/// What a call of an endpoint has done.
pub(crate) struct Done {
    pub round_trip: Option<Time>,
    pub sent: u32,
    pub direct: u32,
    pub delivered: u64,
    pub notes: Notes,
}

impl<'a> Out<'a> {
    /// Of the call of `end`, which is the end `of` a connection of this serial number.
    #[inline(always)]
    pub(crate) fn of(
        net: &'a mut Net,
        side: &'a mut Side,
        group: &'a Group,
        at: Time,
        of: EndId,
        serial: u32,
        end: &End,
    ) -> Self {
        let busy = group.processing > Time::ZERO;
        Self {
            net,
            side,
            group,
            at,
            peer: of.peer(),
            serial,
            segments: if busy { end.packets_sent() } else { 0 },
            round_trip: None,
            sent: 0,
            direct: 0,
            delivered: 0,
            notes: Notes::default(),
        }
    }

    /// What it has done.
    #[inline(always)]
    pub(crate) fn done(self) -> Done {
        let Self { round_trip, sent, direct, delivered, notes, .. } = self;
        Done { round_trip, sent, direct, delivered, notes }
    }
}

impl Out<'_> {
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
        self.sent += 1;
        let mut at = self.at;
        if self.group.processing > Time::ZERO {
            self.segments += 1;
            let from = u64::from(self.serial) << 1 | self.peer.peer().end() as u64;
            at = (at + processing(self.group, from, self.segments)).max(self.side.out_free);
            self.side.out_free = at;
        }
        let direct = self.net.emit(at, self.peer, packet, self.side, &self.group.access);
        self.direct += u32::from(direct);
    }

    /// The same where it is not worth its code: for what QUIC sends beside full packets.
    #[inline(never)]
    fn emit_apart(&mut self, packet: Packet) {
        self.emit(packet);
    }
}

/// The random time that the host takes over the segment of this number of an end: drawn from the
/// segment's own name, so that it is the same whatever else happens.
#[cold]
#[inline(never)]
fn processing(group: &Group, from: u64, number: u64) -> Time {
    let index = from << 32 | (number & 0xffff_ffff);
    Time(group.stream(Kind::Host, index).below(group.processing.0 + 1))
}

impl Output for Out<'_> {
    #[inline(always)]
    fn send(&mut self, mut segment: Segment, sacks: &[SackBlock]) {
        // For delay probes, where there are no timestamps.
        if self.group.stamp {
            segment.tsval = (self.at.0 / 1000) as u32;
        }
        if self.net.logs() {
            self.net.note_segment(segment, sacks);
        }
        let sacks = if sacks.is_empty() { NO_SACKS } else { self.net.sacks.put(sacks) };
        self.emit(Packet { segment, conn: self.peer.conn(), sacks });
    }

    #[inline(always)]
    fn has_room(&mut self) -> bool {
        let backlog = self.group.backlog;
        backlog == Time::MAX || self.leaves().saturating_sub(self.at) <= backlog
    }

    #[inline]
    fn leaves(&mut self) -> Time {
        match self.group.access {
            Access::Unlimited => Time::ZERO,
            Access::Private(_) => self.side.out_free,
            Access::Shared(_) => self.net.interfaces[self.side.out_interface()].free,
        }
    }

    #[inline(always)]
    fn deliver(&mut self, bytes: u32) {
        self.delivered += u64::from(bytes);
    }

    #[inline(always)]
    fn event(&mut self, event: sojourn_tcp::Event) {
        use sojourn_tcp::Event as E;
        if self.net.logs() && matches!(event, E::Closed | E::Failed) {
            self.net.note(Action::ConnectionClosed { well: event == E::Closed });
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

    #[inline(always)]
    fn rtt(&mut self, sample: Time) {
        self.round_trip = Some(sample);
    }
}

impl sojourn_quic::Output for Out<'_> {
    #[inline(always)]
    fn send(&mut self, ecn: Ecn, packets: &[sojourn_quic::Packet], bytes: u32) {
        if self.net.logs() {
            self.net.note(Action::DatagramSent(ecn, packets.to_vec()));
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

    #[inline(always)]
    fn send_ack(&mut self, ecn: Ecn, fill: impl FnOnce(&mut sojourn_quic::Packet) -> u32) {
        let (packet, sacks) = self.net.quic.place();
        let bytes = fill(packet);
        if self.net.logs() {
            let (packets, _) = self.net.quic.peek(sacks);
            self.net.note(Action::DatagramSent(ecn, packets[..1].to_vec()));
        }
        let segment = quic::segment(self.at, bytes, ecn);
        self.emit_apart(Packet { segment, conn: self.peer.conn(), sacks });
    }

    fn deliver(&mut self, _: u32, bytes: u64) {
        self.delivered += bytes;
    }

    fn rtt(&mut self, rtt: Time) {
        self.round_trip = Some(rtt);
    }

    fn read(&mut self, packet: &sojourn_quic::Packet) {
        if self.net.logs() {
            self.net.note(Action::PacketReceived(*packet));
        }
    }

    #[inline]
    fn read_stream(&mut self, packet: sojourn_quic::StreamPacket) {
        if self.net.logs() {
            self.net.note(Action::PacketReceived(packet.into()));
        }
    }

    fn unread(&mut self, packet: &sojourn_quic::Packet, why: sojourn_quic::Unread) {
        if self.net.logs() {
            self.net.note(Action::PacketDropped(*packet, why));
        }
    }

    fn lost(&mut self, packet: sojourn_quic::Lost) {
        if self.net.logs() {
            self.net.note(Action::PacketLost(packet));
        }
    }

    fn event(&mut self, event: sojourn_quic::Event) {
        use sojourn_quic::Event as E;
        if self.net.logs() && matches!(event, E::Closed | E::Failed) {
            self.net.note(Action::ConnectionClosed { well: event == E::Closed });
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
