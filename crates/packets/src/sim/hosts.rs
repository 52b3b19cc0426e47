//! What hosts do: packets leave them, cross the last stretch of their paths, and are delivered.
//!
//! **Ahead of time.** A packet on its last hop needs no event of its own if nothing can happen to
//! its endpoint before it gets there: no other event waits for that endpoint, no boundary of a
//! measurement lies between, no later packet can overtake it, and its timers are due later or only
//! let it send, so that they can be handled first. Then the endpoint handles it at once, with its
//! own clock set to the packet's time; what it sends lies later still. Results are bit for bit
//! those of handling everything in its turn (`unfused = true`), which the tests compare.

use super::Sim;
use crate::apps::Member;
use crate::connection::EndId;
use crate::end::End;
use crate::events::Event;
use crate::group::Group;
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

    /// A packet has crossed its last link and comes to the end of its path at `at`; `ahead` if
    /// none can overtake it before.
    #[inline(always)]
    pub(crate) fn end_of_path(&mut self, at: Time, to: EndId, packet: Packet, ahead: bool) {
        if packet.is_datagram() {
            return self.datagram_ends(at, to, packet, ahead);
        }
        let end = to.end();
        let conn = &mut self.conns[packet.conn];
        let side = &mut conn.sides[end];
        let access = &self.groups[usize::from(conn.group)].access;
        let Some(at) = access.enter(at, &packet, side, &mut self.net.interfaces, ahead) else {
            return self.crossed_later(at, to, packet);
        };
        let ahead = ahead && self.fused && at <= self.boundary;
        let free = ahead && side.free();
        if free && (conn.ends[end].deadline() > at || self.timers_before(at, to)) {
            self.deliver(at, to, &packet);
        } else {
            self.conns.side(to).wait_for(1);
            self.net.wheel.push(at, Event::Deliver { to, packet });
        }
    }

    /// Runs the timers of an endpoint that let it send and are due before a packet comes to it at
    /// `at`; whether the packet may be handled at once then. Pacing would make an event of nearly
    /// every packet otherwise.
    #[inline(never)]
    fn timers_before(&mut self, at: Time, to: EndId) -> bool {
        loop {
            let conn = &self.conns[to.conn()];
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
            self.with_endpoint(deadline, to, End::on_timer);
        }
    }

    /// The same for a datagram.
    fn datagram_ends(&mut self, at: Time, to: EndId, packet: Packet, ahead: bool) {
        let (group, index) = self.flow_of(&packet);
        let Group { access, datagrams, .. } = &mut self.groups[group];
        let side = &mut datagrams[index as usize][to.end()];
        match access.enter(at, &packet, side, &mut self.net.interfaces, ahead) {
            Some(at) => self.net.wheel.push(at, Event::Deliver { to, packet }),
            None => self.crossed_later(at, to, packet),
        }
    }

    /// A packet crosses its last link at `at`, and others may come to the same machine before.
    #[inline(never)]
    pub(super) fn crossed_later(&mut self, at: Time, to: EndId, packet: Packet) {
        self.net.wheel.push(at, Event::Crossed { to, packet });
    }
}
