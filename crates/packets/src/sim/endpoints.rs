//! How endpoints are called, and what follows.

use super::Sim;
use crate::connection::{Connection, EndId, NONE};
use crate::end::End;
use crate::events::{Event, Notes};
use crate::group::Group;
use crate::net::Out;
use crate::packet::{NO_SACKS, Packet};
use crate::qlog::{Arrival, Subject};
use sojourn_base::Time;

impl Sim {
    /// A segment reaches its endpoint, whose clock shows `at`.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, at: Time, to: EndId, packet: &Packet) {
        let place = packet.conn;
        let conn = &mut self.conns[place];
        conn.in_flight -= 1;
        conn.last = conn.last.max(at);
        if conn.meter != NONE {
            self.probes.delivered(conn.meter, at, to.end() == 1, packet);
            if self.probes.logs() {
                self.log_arrival(at, to, packet);
            }
        }
        if packet.sacks == NO_SACKS {
            self.with_endpoint(at, to, |end, group, now, out| {
                end.on_segment(group, now, packet, out);
            });
        } else {
            self.deliver_more(at, to, packet);
        }
        if self.conns[place].done {
            self.tidy(at, place);
        }
    }

    /// A packet reaches an end that may be logged.
    #[cold]
    fn log_arrival(&mut self, at: Time, to: EndId, packet: &Packet) {
        let conn = &self.conns[to.conn()];
        let (end, group) = (to.end(), &self.groups[usize::from(conn.group)]);
        let of = Subject { end, generation: conn.generation, endpoint: &conn.ends[end], group };
        let segment = &packet.segment;
        if packet.is_quic() {
            let (packets, count) = self.net.quic.peek(packet.sacks);
            let arrival = Arrival::Datagram(segment.ecn, &packets[..count]);
            self.probes.arrived(conn.meter, at, of, &arrival);
        } else {
            let blocks = self.net.sacks.get(packet);
            let arrival = Arrival::Segment(segment, &blocks[..segment.blocks()]);
            self.probes.arrived(conn.meter, at, of, &arrival);
        }
    }

    /// The same for a packet with something beside it: SACK blocks, or the packets of QUIC.
    #[cold]
    fn deliver_more(&mut self, at: Time, to: EndId, packet: &Packet) {
        self.with_endpoint(at, to, |end, group, now, out| end.on_packet(group, now, packet, out));
    }

    /// Calls an endpoint, and does what follows: timers, and telling the application.
    #[inline(always)]
    pub(crate) fn with_endpoint(
        &mut self,
        at: Time,
        of: EndId,
        call: impl FnOnce(&mut End, &Group, Time, &mut Out<'_>),
    ) {
        let end = of.end();
        let conn = &mut self.conns[of.conn()];
        let group = &mut self.groups[usize::from(conn.group)];
        let Connection { ends, sides, .. } = conn;
        let busy = group.processing > Time::ZERO;
        let mut out = Out {
            net: &mut self.net,
            side: &mut sides[end],
            group,
            at,
            peer: of.peer(),
            serial: conn.generation,
            segments: if busy { ends[end].packets_sent() } else { 0 },
            round_trip: None,
            sent: 0,
            direct: 0,
            delivered: 0,
            notes: Notes::default(),
        };
        call(&mut ends[end], group, at, &mut out);
        let Out { round_trip, sent, direct, delivered, mut notes, .. } = out;
        if let Some(sample) = round_trip
            && group.book.measuring()
        {
            group.book.rtt.record(sample.0);
        }
        conn.in_flight += sent;
        conn.sides[end ^ 1].wait_for(direct);
        let deadline = conn.ends[end].deadline();
        let side = &mut conn.sides[end];
        let entered = side.timer_at;
        if conn.meter != NONE && end == 0 {
            self.probes.sender(conn.meter, at, round_trip, &conn.ends[0]);
        }
        if delivered > 0 && side.expect != u64::MAX {
            if end == 0 && conn.awaits_first {
                conn.awaits_first = false;
                self.exchanges[of.conn() as usize].exchange.first_byte = at;
            }
            side.expect = side.expect.saturating_sub(delivered);
            if side.expect == 0 {
                side.expect = u64::MAX;
                notes |= Notes::COMPLETE;
            }
        }
        if !notes.is_empty() {
            if notes.take(Notes::CONNECTED) {
                self.connected[of.conn() as usize] = at;
            }
            if !notes.is_empty() {
                side.wait_for(1);
                self.net.wheel.push(at, Event::Notify { of, notes });
            }
        }
        if deadline < entered {
            self.timers.take_out(of, entered);
            self.look_at(at, of, deadline);
        }
        if self.net.logs() {
            self.log_call(at, of, round_trip);
        }
    }

    /// An end that may be logged was called.
    #[cold]
    #[inline(never)]
    fn log_call(&mut self, at: Time, of: EndId, round_trip: Option<Time>) {
        let Some(doings) = &mut self.net.doings else { return };
        let conn = &self.conns[of.conn()];
        let (end, group) = (of.end(), &self.groups[usize::from(conn.group)]);
        let subject =
            Subject { end, generation: conn.generation, endpoint: &conn.ends[end], group };
        self.probes.called(conn.meter, at, subject, round_trip, doings);
        doings.clear();
    }
}
