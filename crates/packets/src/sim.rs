//! The network and the endpoints of a run: what links, TCP and QUIC do when an event of theirs
//! comes.

mod asking;
mod endpoints;
mod exchanges;
mod hosts;
mod links;
mod places;
mod timing;

use crate::connection::{Connections, Underway};
use crate::events::{Call, Event};
use crate::group::{Group, Member};
use crate::net::Net;
use crate::packet::{DATAGRAM, Packet};
use crate::prefetch;
use crate::probes::Probes;
use crate::qlog::CallEvents;
use crate::starts::Starts;
use crate::timers::Timers;
use crate::wheel::Place;
use sojourn_base::Time;

/// Everything of a run but its applications.
#[derive(Clone)]
pub(crate) struct Sim {
    pub net: Net,
    pub conns: Connections,
    /// What is under way on each connection, by its place. It lies beside the connection, because
    /// endless flows have none.
    pub exchanges: Vec<Underway>,
    /// When the client's handshake was over, likewise; zero before.
    pub connected: Vec<Time>,
    pub groups: Vec<Group>,
    pub probes: Probes,
    pub timers: Timers,
    pub starts: Starts,
    /// Connections that have been opened.
    pub opened: u32,
    /// Whether packets may be handled ahead of their time and links run on tokens.
    pub fused: bool,
    /// The next instant at which something is measured that an endpoint running ahead would
    /// disturb.
    pub boundary: Time,
    /// All such instants to come.
    pub boundaries: Vec<Time>,
    /// The end of the run.
    pub horizon: Time,
    /// How far it is to go for now: nothing runs ahead of that.
    pub pause: Time,
}

impl Sim {
    /// Takes the next event and its time, unless that lies after the pause. Turns of the timers
    /// begin on the way.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Option<(Time, Place)> {
        loop {
            let quiet = self.timers.quiet_until();
            let next = self.net.wheel.pop(quiet.min(self.pause));
            if next.is_some() || quiet >= self.pause {
                return next;
            }
            self.begin_turn();
        }
    }

    /// Asks for the memory that an event will need.
    #[inline]
    pub(crate) fn prefetch(&self, soon: &Event) {
        match *soon {
            Event::Arrive { to, ref packet, .. } | Event::Deliver { to, ref packet } => {
                self.conns.prefetch(to);
                if !packet.is_quic() {
                    self.net.sacks.prefetch(packet);
                } else if self.conns.prefetch_quic(to, matches!(soon, Event::Deliver { .. })) {
                    self.net.quic.prefetch(packet.sacks);
                }
            }
            Event::Timer { of, .. } => self.conns.prefetch(of),
            Event::Notify { of, .. } | Event::Answer { server: of } => {
                self.conns.prefetch_whole(of.conn());
                if let Some(underway) = self.exchanges.get(of.conn() as usize) {
                    prefetch::lines(underway, size_of_val(underway));
                }
            }
            Event::Retire { conn, .. } => self.conns.prefetch_whole(conn),
            _ => {}
        }
    }

    /// The group of a member, by the members' numbers.
    pub(crate) fn group_of(&self, member: u32) -> usize {
        group_of(&self.groups, member)
    }

    /// The group and the number in it of a packet's datagram flow.
    pub(crate) fn flow_of(&self, packet: &Packet) -> Member {
        flow_of(&self.groups, packet)
    }

    /// The log of a call, if it has one.
    pub(crate) fn call_log(&mut self, (group, index): Member) -> Option<CallEvents<'_>> {
        self.probes.call_log(self.groups[group].meter_of(index))
    }

    /// Schedules the next event of a member.
    pub(crate) fn call_member(&mut self, at: Time, group: usize, index: u32, call: Call) {
        let member = self.groups[group].first_member + index;
        self.net.wheel.push(at, Event::Member { member, call });
    }
}

/// The group of a member, by the members' numbers.
fn group_of(groups: &[Group], member: u32) -> usize {
    groups.partition_point(|group| group.first_member <= member) - 1
}

/// The group and the number in it of a packet's datagram flow.
fn flow_of(groups: &[Group], packet: &Packet) -> Member {
    let member = packet.conn & !DATAGRAM;
    let group = group_of(groups, member);
    (group, member - groups[group].first_member)
}
