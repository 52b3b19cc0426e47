//! What links do: packets come to them, are sent, tapped, handed on, or lost.

use super::{Sim, flow_of};
use crate::connection::Connections;
use crate::end_id::EndId;
use crate::events::Event;
use crate::group::{Group, NO_METER};
use crate::net::Net;
use crate::packet::{Beside, Packet, Standing, addresses};
use crate::tap::Tapped;
use sojourn_base::{Ecn, Time};
use sojourn_link::{Fate, HOST, Sent, Step, Wake};

impl Sim {
    /// A packet reaches the link of its step.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, now: Time, to: EndId, step: u32, mut packet: Packet) {
        let Step { link, next, delay, .. } = self.net.paths.step(step);
        let bytes = packet.ip_bytes();
        self.probes.links.arrived(now, link, bytes);
        let Net { wheel, links, paths, dropped, sacks, .. } = &mut self.net;
        let l = &mut links[link as usize];
        if l.fused() {
            match l.pass(now, bytes, packet.segment.ecn) {
                Fate::Departs(ends, marked) => {
                    if marked {
                        packet.segment.ecn = Ecn::Ce;
                    }
                    if self.probes.links.capturing() {
                        let begins = self.net.links[link as usize].began(ends, bytes);
                        self.capture(begins, &packet, to, step);
                    }
                    self.forward(ends + delay, to, next, packet, bytes);
                }
                Fate::Dropped => self.lost(now, &packet),
            }
        } else {
            let Step { label, dscp, machine, asks, .. } = paths.step(step);
            let number = if asks { machine_number(&self.groups, &self.conns, &packet) } else { 0 };
            let to_server = to.is_server();
            let standing =
                Standing { packet, enqueued: now, step, to_server, label, dscp, machine, number };
            if let Some(ends) = l.look_back(now) {
                wheel.push(ends, Event::Serve { link, why: Wake::Transmitted });
            }
            if l.arrive(now, standing, &mut Beside { dropped, sacks }) {
                self.serve(now, link);
            }
            self.collect_dropped(now);
        }
    }

    /// A link that is not fused does what it can, and may begin to send a packet.
    pub(crate) fn serve(&mut self, now: Time, link: u32) {
        let Net { wheel, links, dropped, .. } = &mut self.net;
        let l = &mut links[link as usize];
        let sent = l.serve(now, dropped, |at, why| wheel.push(at, Event::Serve { link, why }));
        let reorders = l.reorders();
        if let Some(sent) = sent {
            self.sent(now, reorders, sent);
        }
        self.collect_dropped(now);
    }

    /// A link sends a packet, and others may overtake it there if it `reorders`.
    #[inline(always)]
    fn sent(&mut self, now: Time, reorders: bool, sent: Sent<Standing>) {
        let Sent { standing, through, .. } = sent;
        let to = standing.to();
        let Standing { packet, step, .. } = standing;
        if self.probes.links.capturing() {
            self.capture(now, &packet, to, step);
        }
        let Step { next, delay, .. } = self.net.paths.step(step);
        match through {
            None => self.lost(now, &packet),
            Some(at) if reorders && next == HOST => {
                self.net.cross_later(at + delay, to, packet);
            }
            Some(at) => self.forward(at + delay, to, next, packet, packet.ip_bytes()),
        }
    }

    /// The medium that a link shares does what it can.
    #[inline(never)]
    pub(crate) fn air(&mut self, now: Time, link: u32) {
        let Some(number) = self.net.links[link as usize].medium() else { return };
        let Net { wheel, links, dropped, media, aired, .. } = &mut self.net;
        let medium = &mut media[number as usize];
        if let Some(at) = medium.serve(now, links, dropped, aired) {
            wheel.push(at, Event::Serve { link: medium.speaker(), why: Wake::Air });
        }
        let mut aired = std::mem::take(&mut self.net.aired);
        for (link, sent) in aired.drain(..) {
            let reorders = self.net.links[link as usize].reorders();
            self.sent(now, reorders, sent);
        }
        self.net.aired = aired;
        self.collect_dropped(now);
    }

    /// Packets that a discipline dropped.
    #[inline]
    fn collect_dropped(&mut self, now: Time) {
        while let Some(standing) = self.net.dropped.0.pop() {
            self.lost(now, &standing.packet);
        }
    }

    /// A packet's transmission on the link of its step begins at `at`.
    #[cold]
    #[inline(never)]
    fn capture(&mut self, at: Time, packet: &Packet, to: EndId, step: u32) {
        if at > self.horizon {
            return; // a fused link knows now what it will send after the end
        }
        let Step { link, dscp, machine, .. } = self.net.paths.step(step);
        let (serial, group) = if packet.is_datagram() {
            (0, 0)
        } else {
            let conn = &self.conns[packet.conn];
            (conn.generation, usize::from(conn.group))
        };
        let number = machine_number(&self.groups, &self.conns, packet);
        let addresses = machine.addresses(addresses(number, to.is_server()));
        // What lies beside a datagram of QUIC are its packets.
        let blocks = if packet.is_quic() { None } else { Some(self.net.sacks.get(packet)) };
        let sacks = blocks.as_ref().map_or(&[][..], |all| &all[..packet.segment.blocks()]);
        let params = &self.groups[group].tcp;
        self.probes.sent(link, &Tapped { at, packet, to, serial, params, sacks, dscp, addresses });
    }

    /// A packet of `bytes` has left a link and reaches whatever is next at `at`.
    #[inline(always)]
    fn forward(&mut self, at: Time, to: EndId, next: u32, packet: Packet, bytes: u32) {
        if next != HOST {
            self.net.wheel.push(at, Event::Arrive { to, step: next, packet });
        } else {
            self.end_of_path(at, to, packet, bytes, true);
        }
    }

    /// A packet is gone.
    #[cold]
    fn lost(&mut self, now: Time, packet: &Packet) {
        if packet.is_quic() {
            self.net.quic.release(packet.sacks);
        } else {
            self.net.sacks.release(packet);
        }
        if packet.is_datagram() {
            let (group, index) = self.flow_of(packet);
            if let Some(first) = self.groups[group].first_meter {
                self.probes.lost(first + index);
            }
            return;
        }
        let conn = &mut self.conns[packet.conn];
        conn.in_flight -= 1;
        if conn.meter != NO_METER {
            self.probes.lost(conn.meter);
        }
        self.tidy(now, packet.conn);
    }
}

/// The number of the machines that a packet's member has at either end.
#[cold]
fn machine_number(groups: &[Group], conns: &Connections, packet: &Packet) -> u32 {
    if packet.is_datagram() {
        let (group, member) = flow_of(groups, packet);
        return groups[group].machine_number(member, 0);
    }
    let conn = &conns[packet.conn];
    groups[usize::from(conn.group)].machine_number(conn.member, packet.conn)
}
