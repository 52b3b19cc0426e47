//! Open-loop datagrams: constant-rate, Poisson and on/off sources.

use super::app::App;
use crate::end_id::EndId;
use crate::events::Call;
use crate::group::{Group, Member};
use crate::packet::{DATAGRAM, Packet};
use crate::sim::Sim;
use sojourn_base::{Ecn, Time};
use sojourn_traffic::{Invalid, OnOff, OnOffModel, OnOffSource, Udp, UdpModel, UdpSource};

/// The sources of a group, one per member.
#[derive(Clone)]
enum Sources {
    Udp(UdpModel, Vec<UdpSource>),
    OnOff(Box<OnOffModel>, Vec<OnOffSource>),
}

/// The datagrams of a group.
#[derive(Clone)]
struct Datagrams {
    sources: Sources,
    ecn: Ecn,
    /// IP bytes of each member's next packet.
    due: Vec<u32>,
}

impl Datagrams {
    fn app(sources: Sources, ecn: Ecn, group: &mut Group) -> Box<dyn App> {
        group.open_datagrams();
        Box::new(Self { sources, ecn, due: vec![0; group.members as usize] })
    }
}

/// Constant-rate and Poisson sources.
pub(super) fn udp(udp: &Udp, group: &mut Group) -> Result<Box<dyn App>, Invalid> {
    let source = |i| UdpSource::new(group.seed, group.key, i);
    let sources = (0..u64::from(group.members)).map(source).collect();
    let sources = Sources::Udp(udp.compile()?, sources);
    Ok(Datagrams::app(sources, Ecn::from_bits(udp.ecn as u8), group))
}

/// On/off sources.
pub(super) fn on_off(on_off: &OnOff, group: &mut Group) -> Result<Box<dyn App>, Invalid> {
    let source = |i| OnOffSource::new(group.seed, group.key, i);
    let sources = (0..u64::from(group.members)).map(source).collect();
    let sources = Sources::OnOff(Box::new(on_off.compile()?), sources);
    Ok(Datagrams::app(sources, Ecn::from_bits(on_off.ecn as u8), group))
}

impl App for Datagrams {
    /// A member's datagram is due.
    fn wake(&mut self, sim: &mut Sim, now: Time, (group, index): Member, _: Call) {
        let at = index as usize;
        if self.due[at] > 0 {
            let g = &mut sim.groups[group];
            g.book.account(index).sent += 1;
            let member = g.first_member + index;
            let packet = Packet::datagram(member, self.due[at], self.ecn, now);
            sim.send_datagram(now, (group, index), EndId::server(member | DATAGRAM), packet);
        }
        let (gap, bytes) = match &mut self.sources {
            Sources::Udp(model, sources) => sources[at].next_packet(model),
            Sources::OnOff(model, sources) => sources[at].next_packet(model),
        };
        self.due[at] = bytes;
        sim.call_member(now + gap, group, index, Call::GoOn);
    }

    fn datagram(
        &mut self,
        sim: &mut Sim,
        now: Time,
        (group, index): Member,
        _: EndId,
        packet: &Packet,
    ) {
        let g = &mut sim.groups[group];
        let account = g.book.account(index);
        account.received += 1;
        account.delivered += u64::from(packet.segment.len);
        if let Some(first) = g.first_meter {
            sim.probes.delivered(first + index, now, true, packet);
        }
    }
}
