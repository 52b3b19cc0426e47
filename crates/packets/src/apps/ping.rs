//! Pings: small requests, echoed at once by packets of the same size.

use super::app::App;
use crate::end_id::EndId;
use crate::events::Call;
use crate::group::{Group, Member};
use crate::packet::{DATAGRAM, DATAGRAM_HEADER, Packet};
use crate::sim::Sim;
use sojourn_base::{Ecn, Time};
use sojourn_traffic::Ping;

/// The pings of a group.
#[derive(Clone)]
struct Pings {
    interval: Time,
    ip_bytes: u32,
    ecn: Ecn,
}

/// The pings of a group.
pub(super) fn app(ping: &Ping, group: &mut Group) -> Box<dyn App> {
    group.open_datagrams();
    Box::new(Pings {
        interval: ping.interval,
        ip_bytes: (ping.size.0 as u32).max(DATAGRAM_HEADER),
        ecn: Ecn::from_bits(ping.ecn as u8),
    })
}

impl App for Pings {
    /// A member's next request is due.
    fn wake(&mut self, sim: &mut Sim, now: Time, (group, index): Member, _: Call) {
        let g = &mut sim.groups[group];
        g.book.ask();
        let member = g.first_member + index;
        let packet = Packet::datagram(member, self.ip_bytes, self.ecn, now);
        sim.send_datagram(now, (group, index), EndId::server(member | DATAGRAM), packet);
        sim.call_member(now + self.interval, group, index, Call::GoOn);
    }

    fn datagram(&mut self, sim: &mut Sim, now: Time, member: Member, to: EndId, packet: &Packet) {
        if to.is_server() {
            let mut answer = *packet;
            answer.segment.ecn = self.ecn;
            sim.send_datagram(now, member, to.peer(), answer);
        } else {
            let (group, index) = member;
            let bytes = u64::from(packet.segment.len);
            let recorder = &mut sim.probes.links.recorder;
            sim.groups[group].book.echoed(index, bytes, packet.sent(), now, recorder);
            for &link in &sim.groups[group].followers {
                sim.net.links[link as usize].heard(now, index, now - packet.sent());
            }
        }
    }
}
