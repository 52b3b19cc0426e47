//! What hosts do: packets leave them, cross the last stretch of their paths, and are delivered.
//!
//! **Ahead of time.** A packet on its last hop needs no event of its own if nothing can happen to
//! its endpoint before it gets there: no other event waits for that endpoint, no boundary of a
//! measurement lies between, no later packet can overtake it, and its timers are due later or only
//! let it send, so that they can be handled first. Then the endpoint handles it at once, with its
//! own clock set to the packet's time; what it sends lies later still. Results are bit for bit
//! those of handling everything in its turn (`unfused = true`), which the tests compare.

use super::Sim;
use super::endpoints::Around;
use crate::connection::Connection;
use crate::end::End;
use crate::end_id::EndId;
use crate::events::Event;
use crate::group::{Group, Member};
use crate::packet::Packet;
use sojourn_base::Time;

impl Sim {
    /// A member's host sends a datagram to the host at the other end.
    pub(crate) fn send_datagram(
        &mut self,
        now: Time,
        (group, index): Member,
        to: EndId,
        packet: Packet,
    ) {
        let Group { access, datagrams, .. } = &mut self.groups[group];
        let side = &mut datagrams[index as usize][to.peer().end()];
        self.net.emit(now, to, packet, side, access);
    }

    /// A packet of `bytes` has crossed its last link and comes to the end of its path at `at`;
    /// `ahead` if none can overtake it before.
    #[inline(always)]
    pub(crate) fn end_of_path(
        &mut self,
        at: Time,
        to: EndId,
        packet: Packet,
        bytes: u32,
        ahead: bool,
    ) {
        if packet.is_datagram() {
            return self.datagram_ends(at, to, packet, ahead);
        }
        let boundary = self.boundary;
        let (conn, group, mut around) = self.connection(packet.conn);
        let side = &mut conn.sides[to.end()];
        let interfaces = &mut around.net.interfaces;
        let Some(at) = group.access.enter(at, bytes, side, interfaces, ahead) else {
            return around.net.cross_later(at, to, packet);
        };
        // Timers are looked at when they are due, or before.
        if ahead
            && at <= boundary
            && side.free()
            && (side.timer_at > at || around.again().timers_before(conn, group, at, to))
        {
            around.deliver(conn, group, at, to, &packet);
        } else {
            conn.sides[to.end()].wait_for(1);
            around.net.wheel.push(at, Event::Deliver { to, packet });
        }
    }

    /// The same for a datagram.
    fn datagram_ends(&mut self, at: Time, to: EndId, packet: Packet, ahead: bool) {
        let (group, index) = self.flow_of(&packet);
        let Group { access, datagrams, .. } = &mut self.groups[group];
        let side = &mut datagrams[index as usize][to.end()];
        let bytes = packet.ip_bytes();
        match access.enter(at, bytes, side, &mut self.net.interfaces, ahead) {
            Some(at) => self.net.wheel.push(at, Event::Deliver { to, packet }),
            None => self.net.cross_later(at, to, packet),
        }
    }
}

impl Around<'_> {
    /// Runs the timers of an endpoint that let it send and are due before a packet comes to it at
    /// `at`; whether the packet may be handled at once then. Pacing would make an event of nearly
    /// every packet otherwise.
    #[inline(never)]
    fn timers_before(
        mut self,
        conn: &mut Connection,
        group: &mut Group,
        at: Time,
        to: EndId,
    ) -> bool {
        loop {
            let endpoint = &conn.ends[to.end()];
            let deadline = endpoint.deadline();
            let free = conn.sides[to.end()].free();
            if deadline > at || !free {
                return free;
            }
            // A packet comes before what timers do at the same instant. What is counted when a
            // timer says that something is lost is counted at its own time.
            if deadline == at || deadline != endpoint.sends_at() {
                return false;
            }
            self.again().call(conn, group, deadline, to, End::on_timer);
        }
    }
}
