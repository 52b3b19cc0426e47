//! Connections are opened, and give their places back.

use super::Sim;
use crate::connection::{Connection, Underway};
use crate::end::End;
use crate::end_id::EndId;
use crate::packet::DATAGRAM;
use crate::side::Side;
use sojourn_base::{Kind, Time};

impl Sim {
    /// Opens a connection for `member` of `group`; its data come from end `data_from`.
    pub(crate) fn connect(&mut self, group: usize, member: u32, data_from: usize) -> u32 {
        self.connect_to(group, member, data_from, 0)
    }

    /// The same to one of the member's servers.
    pub(crate) fn connect_to(
        &mut self,
        group: usize,
        member: u32,
        data_from: usize,
        server: u8,
    ) -> u32 {
        let draw = self.groups[group].next_draw(member);
        let g = &self.groups[group];
        self.opened = self.opened.wrapping_add(1);
        // Sequence numbers start anywhere, so that they wrap somewhere in most runs.
        let mut iss = g.stream(Kind::Sequence, u64::from(self.opened));
        let ends = End::pair(g, [iss.next_u32(), iss.next_u32()]);
        let mut sides = g.sides(u64::from(member), data_from, server, draw);
        let meter = g.meter_of(member);
        if self.probes.traces(meter) {
            sides[0].record();
        }
        if self.probes.keeps_log(meter) {
            sides.iter_mut().for_each(Side::record);
        }
        let place = self.conns.insert(Connection {
            in_flight: 0,
            done: false,
            awaits_first: false,
            tls: false,
            slot: 0,
            group: group as u16,
            member,
            last: Time::ZERO,
            generation: 0,
            meter,
            sides,
            ends,
        });
        assert!(place < DATAGRAM, "too many connections at once");
        self.timers.make_room(place);
        if self.connected.len() <= place as usize {
            self.connected.resize(place as usize + 1, Time::ZERO);
        }
        self.connected[place as usize] = Time::ZERO;
        if let Some(last) = self.exchanges.get_mut(place as usize) {
            *last = Underway::default();
        }
        place
    }

    /// Has a connection's place given back if nothing refers to it any more.
    pub(crate) fn tidy(&mut self, now: Time, place: u32) {
        self.net.tidy(now, place, &self.conns[place]);
    }

    /// Keeps what a connection has counted and frees its place, if nothing refers to it.
    pub(crate) fn retire(&mut self, place: u32, generation: u32) {
        let conn = &self.conns[place];
        if conn.generation != generation || !conn.over() {
            return;
        }
        *self.groups[usize::from(conn.group)].book.account(conn.member) += conn.totals();
        for of in [EndId::client(place), EndId::server(place)] {
            self.timers.take_out(of, conn.sides[of.end()].timer_at);
        }
        self.conns.remove(place);
    }
}
