//! How endpoints are called, and what follows.

use super::Sim;
use crate::connection::{Connection, Underway};
use crate::end::End;
use crate::end_id::EndId;
use crate::events::{Event, Notes};
use crate::group::{Group, NO_METER};
use crate::net::Net;
use crate::out::{Done, Out};
use crate::packet::{NO_SACKS, Packet};
use crate::probes::Probes;
use crate::qlog::{Arrival, Subject};
use crate::timers::Timers;
use sojourn_base::Time;
use sojourn_tcp::Expected;

/// What a call of an endpoint may change beside its connection and its group. It is handed on by
/// value: of what is handed on by its address the compiler keeps nothing in registers.
pub(super) struct Around<'a> {
    pub net: &'a mut Net,
    pub probes: &'a mut Probes,
    pub timers: &'a mut Timers,
    exchanges: &'a mut Vec<Underway>,
    connected: &'a mut Vec<Time>,
}

impl Sim {
    /// A connection, its group, and what is around.
    #[inline(always)]
    pub(super) fn connection(&mut self, place: u32) -> (&mut Connection, &mut Group, Around<'_>) {
        let Self { net, conns, exchanges, connected, groups, probes, timers, .. } = self;
        let conn = &mut conns[place];
        let group = &mut groups[usize::from(conn.group)];
        (conn, group, Around { net, probes, timers, exchanges, connected })
    }

    /// A segment reaches its endpoint in its turn.
    #[inline(never)]
    pub(crate) fn deliver(&mut self, now: Time, to: EndId, packet: &Packet) {
        let (conn, group, around) = self.connection(to.conn());
        conn.sides[to.end()].came();
        around.deliver(conn, group, now, to, packet);
    }

    /// Calls an endpoint, and does what follows.
    #[inline(always)]
    pub(crate) fn with_endpoint(
        &mut self,
        at: Time,
        of: EndId,
        call: impl FnOnce(&mut End, &Group, Time, &mut Out<'_>),
    ) {
        let (conn, group, around) = self.connection(of.conn());
        around.call(conn, group, at, of, call);
    }
}

impl Around<'_> {
    /// The same for a function that is seldom needed.
    #[inline(always)]
    pub(super) fn again(&mut self) -> Around<'_> {
        Around {
            net: self.net,
            probes: self.probes,
            timers: self.timers,
            exchanges: self.exchanges,
            connected: self.connected,
        }
    }

    /// A segment reaches its endpoint, whose clock shows `at`.
    #[inline(always)]
    pub(super) fn deliver(
        mut self,
        conn: &mut Connection,
        group: &mut Group,
        at: Time,
        to: EndId,
        packet: &Packet,
    ) {
        conn.in_flight -= 1;
        conn.last = conn.last.max(at);
        if conn.meter != NO_METER {
            self.again().meter(conn, group, at, to, packet);
        }
        let expected = match &conn.ends[to.end()] {
            End::Tcp(end) if packet.sacks == NO_SACKS => end.expects(&group.tcp, &packet.segment),
            _ => None,
        };
        // Each by itself: what only the other one does is then not asked for.
        match expected {
            Some(Expected::Acknowledgement) => {
                let expected = Expected::Acknowledgement;
                self.again().deliver_expected(conn, group, at, to, packet, expected);
            }
            Some(Expected::Data) => {
                let expected = Expected::Data;
                self.again().deliver_expected(conn, group, at, to, packet, expected);
            }
            None => self.again().deliver_other(conn, group, at, to, packet),
        }
        if conn.done {
            self.net.tidy(at, packet.conn, conn);
        }
    }

    /// An expected segment, as [`Self::call`] does: through its closure dumbbell-100 takes 3 % more
    /// instructions.
    #[inline(always)]
    fn deliver_expected(
        self,
        conn: &mut Connection,
        group: &mut Group,
        at: Time,
        to: EndId,
        packet: &Packet,
        expected: Expected,
    ) {
        let Connection { ends, sides, generation, .. } = conn;
        let end = &mut ends[to.end()];
        let mut out = Out::of(self.net, &mut sides[to.end()], group, at, to, *generation, end);
        if let End::Tcp(end) = end {
            end.on_expected(&group.tcp, at, &packet.segment, expected, &mut out);
        }
        let done = out.done();
        self.follow(conn, group, at, to, done);
    }

    /// The same for any other packet, with what lies beside it: SACK blocks, or packets of QUIC.
    #[cold]
    #[inline(never)]
    fn deliver_other(
        self,
        conn: &mut Connection,
        group: &mut Group,
        at: Time,
        to: EndId,
        packet: &Packet,
    ) {
        self.call(conn, group, at, to, |end, group, now, out| {
            end.on_packet(group, now, packet, out);
        });
    }

    /// A packet of a metered flow reaches an end, which may be logged.
    #[cold]
    #[inline(never)]
    fn meter(self, conn: &Connection, group: &Group, at: Time, to: EndId, packet: &Packet) {
        let end = to.end();
        self.probes.delivered(conn.meter, at, end == 1, packet);
        if !self.probes.logs() {
            return;
        }
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

    /// Calls an endpoint, and does what follows.
    #[inline(always)]
    pub(super) fn call(
        self,
        conn: &mut Connection,
        group: &mut Group,
        at: Time,
        of: EndId,
        call: impl FnOnce(&mut End, &Group, Time, &mut Out<'_>),
    ) {
        let Connection { ends, sides, generation, .. } = conn;
        let end = &mut ends[of.end()];
        let mut out = Out::of(self.net, &mut sides[of.end()], group, at, of, *generation, end);
        call(end, group, at, &mut out);
        let done = out.done();
        self.follow(conn, group, at, of, done);
    }

    /// What follows a call of an endpoint: timers, and telling the application.
    #[inline(always)]
    fn follow(mut self, conn: &mut Connection, group: &mut Group, at: Time, of: EndId, done: Done) {
        let end = of.end();
        let Done { round_trip, sent, direct, delivered, mut notes } = done;
        if let Some(sample) = round_trip
            && group.book.measuring()
        {
            group.book.rtt.record(sample.0);
        }
        conn.in_flight += sent;
        conn.sides[end ^ 1].wait_for(direct);
        if conn.meter != NO_METER && end == 0 {
            self.probes.sender(conn.meter, at, round_trip, &conn.ends[0]);
        }
        let side = &mut conn.sides[end];
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
        let deadline = conn.ends[end].deadline();
        if deadline < conn.sides[end].timer_at {
            self.again().move_timer(conn, at, of, deadline);
        }
        if self.net.logs() {
            self.again().log_call(conn, group, at, of, round_trip);
        }
    }

    /// An endpoint's timers are due before they would be looked at.
    #[inline(never)]
    fn move_timer(self, conn: &mut Connection, at: Time, of: EndId, deadline: Time) {
        self.timers.take_out(of, conn.sides[of.end()].timer_at);
        self.look_at(conn, at, of, deadline);
    }

    /// An end that may be logged was called.
    #[cold]
    #[inline(never)]
    fn log_call(
        self,
        conn: &Connection,
        group: &Group,
        at: Time,
        of: EndId,
        round_trip: Option<Time>,
    ) {
        let Some(actions) = &mut self.net.actions else { return };
        let end = of.end();
        let subject =
            Subject { end, generation: conn.generation, endpoint: &conn.ends[end], group };
        self.probes.called(conn.meter, at, subject, round_trip, actions);
        actions.clear();
    }
}
