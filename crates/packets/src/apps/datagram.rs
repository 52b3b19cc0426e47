//! Datagrams: constant-rate, Poisson and on/off sources, and probes that are echoed.

use super::App;
use crate::connection::Side;
use crate::net::EMPTY;
use crate::packet::{DATAGRAM, DATAGRAM_HEADER, Packet};
use crate::sim::Sim;
use sojourn_base::{Ecn, Time};
use sojourn_records::{GroupId, Outcome, TransferRow};
use sojourn_traffic::{OnOffModel, OnOffSource, UdpModel, UdpSource};

/// The sources of a group, one per member.
pub enum Sources {
    Udp(UdpModel, Vec<UdpSource>),
    OnOff(Box<OnOffModel>, Vec<OnOffSource>),
}

/// What the receivers of a group's members have seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Received {
    pub sent: u64,
    pub received: u64,
    pub bytes: u64,
}

/// Datagrams that nobody answers.
pub struct Datagrams {
    pub sources: Sources,
    pub ecn: Ecn,
    pub sides: Vec<[Side; 2]>,
    /// IP bytes of each member's next packet.
    pub due: Vec<u32>,
    pub members: Vec<Received>,
    pub at_start: Vec<Received>,
    pub first_meter: Option<u32>,
    /// Payload bytes that arrived, over all members.
    pub delivered: u64,
}

/// Small requests, answered at once by packets of the same size.
pub struct Probe {
    pub interval: u64,
    pub ip_bytes: u32,
    pub ecn: Ecn,
    pub sides: Vec<[Side; 2]>,
    /// Requests sent and answers received in the window.
    pub sent: u64,
    pub answered: u64,
}

impl Datagrams {
    /// When a member's next packet comes after the one at `now`.
    pub fn schedule_next(&mut self, index: usize) -> u64 {
        let (gap, bytes) = match &mut self.sources {
            Sources::Udp(model, sources) => sources[index].next_packet(model),
            Sources::OnOff(model, sources) => sources[index].next_packet(model),
        };
        self.due[index] = bytes;
        gap.0
    }
}

/// A datagram of `ip_bytes` from `member`, sent at `now`. Its time of sending travels in the
/// fields that TCP would use for sequence numbers (whole) and timestamps (microseconds).
fn datagram(member: u32, ip_bytes: u32, ecn: Ecn, now: u64) -> Packet {
    let mut packet = EMPTY;
    packet.conn = member | DATAGRAM;
    packet.segment.len = (ip_bytes - DATAGRAM_HEADER) as u16;
    packet.segment.ecn = ecn;
    packet.segment.seq = now as u32;
    packet.segment.ack = (now >> 32) as u32;
    packet.segment.tsval = (now / 1000) as u32;
    packet
}

/// The row of a request that was answered.
fn answered(group: usize, member: usize, bytes: u16, sent: u64, now: u64) -> TransferRow {
    TransferRow {
        group: GroupId(group as u32),
        index: member as u64,
        started_s: Time(sent),
        finished_s: Some(Time(now)),
        bytes: u64::from(bytes),
        duration_s: Some(Time(now - sent)),
        timeouts: 0,
        retransmissions: 0,
        syn_retries: 0,
        outcome: Outcome::Finished,
    }
}

impl Sim {
    /// A member's datagram is due.
    pub fn send_datagram(&mut self, now: u64, group: usize, index: u32) {
        let g = &self.groups[group];
        let App::Datagrams(app) = &mut self.apps.apps[group] else { unreachable!() };
        let at = index as usize;
        if app.due[at] > 0 {
            let member = g.first_member + index;
            let packet = datagram(member, app.due[at], app.ecn, now);
            app.members[at].sent += 1;
            let side = &mut app.sides[at][0];
            self.net.emit(now, packet.conn << 1 | 1, packet, side, &g.access);
        }
        let gap = app.schedule_next(at);
        self.call_member(now + gap, group, index, super::GO_ON);
    }

    /// A member's next request is due.
    pub fn send_probe(&mut self, now: u64, group: usize, index: u32) {
        let g = &self.groups[group];
        let App::Probe(app) = &mut self.apps.apps[group] else { unreachable!() };
        let packet = datagram(g.first_member + index, app.ip_bytes, app.ecn, now);
        app.sent += u64::from(self.measuring);
        let side = &mut app.sides[index as usize][0];
        self.net.emit(now, packet.conn << 1 | 1, packet, side, &g.access);
        let interval = app.interval;
        self.call_member(now + interval, group, index, super::GO_ON);
    }

    /// A datagram is gone.
    pub fn lost_datagram(&mut self, packet: &Packet) {
        let member = packet.conn & !DATAGRAM;
        let group = super::Apps::group_of(&self.groups, member);
        if let App::Datagrams(app) = &self.apps.apps[group]
            && let Some(first) = app.first_meter
        {
            self.probes.lost(first + member - self.groups[group].first_member);
        }
    }

    /// A datagram reaches its host.
    pub fn deliver_datagram(&mut self, now: u64, id: u32, packet: &Packet) {
        let member = packet.conn & !DATAGRAM;
        let group = super::Apps::group_of(&self.groups, member);
        let g = &mut self.groups[group];
        let at = (member - g.first_member) as usize;
        match &mut self.apps.apps[group] {
            App::Datagrams(app) => {
                app.members[at].received += 1;
                app.members[at].bytes += u64::from(packet.segment.len);
                app.delivered += u64::from(packet.segment.len);
                if let Some(first) = app.first_meter {
                    self.probes.delivered(first + at as u32, now, true, packet);
                }
            }
            App::Probe(app) if id & 1 == 1 => {
                let side = &mut app.sides[at][1];
                let mut answer = *packet;
                answer.segment.ecn = app.ecn;
                self.net.emit(now, packet.conn << 1, answer, side, &g.access);
            }
            App::Probe(app) => {
                let sent = u64::from(packet.segment.ack) << 32 | u64::from(packet.segment.seq);
                if self.measuring {
                    app.answered += 1;
                    g.stats.response.record(now - sent);
                    g.stats.rtt.record(now - sent);
                }
                self.probes.recorder.push(answered(group, at, packet.segment.len, sent, now));
            }
            _ => {}
        }
    }
}
