//! Two endpoints and a network between them that does as it is told.
#![allow(dead_code)] // every test file uses its own part

pub(crate) mod closed;
pub(crate) mod script;

use sojourn_base::Time;
use sojourn_tcp::{Ecn, Endpoint, Event, Flags, Output, Params, Profile, SackBlock, Segment, Spec};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Hosts of 2003: what a test is not about stays simple.
pub(crate) fn classic() -> Spec {
    Spec { profile: Some(Profile::Classic), ..Spec::default() }
}

pub(crate) fn params(spec: &Spec) -> Params {
    Spec::resolve(&[spec]).expect("valid")
}

pub(crate) fn ms(n: u64) -> Time {
    Time::from_millis(n)
}

/// What happens to one packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fate {
    pub drop: bool,
    pub twice: bool,
    pub extra: Time,
    pub ecn: Option<Ecn>,
    /// Flags that do not arrive.
    pub clear: Flags,
    /// AccECN's option does not arrive.
    pub strip: bool,
}

/// A packet on its way, in order of arrival.
#[derive(Debug, PartialEq, Eq)]
struct Packet {
    at: Time,
    number: u64,
    to: usize,
    segment: Segment,
    sacks: Vec<SackBlock>,
}

impl Ord for Packet {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}
impl PartialOrd for Packet {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// What came out of an endpoint in one call.
#[derive(Default)]
pub(crate) struct Record {
    /// The interface takes no new data.
    pub full: bool,
    /// When what was sent last leaves the interface.
    pub leaves: Time,
    pub sent: Vec<(Segment, Vec<SackBlock>)>,
    pub delivered: u64,
    pub events: Vec<Event>,
    pub rtts: Vec<Time>,
}

impl Output for Record {
    fn send(&mut self, segment: Segment, sacks: &[SackBlock]) {
        assert_eq!(segment.blocks(), sacks.len());
        self.sent.push((segment, sacks.to_vec()));
    }
    fn has_room(&mut self) -> bool {
        !self.full
    }
    fn leaves(&mut self) -> Time {
        self.leaves
    }
    fn deliver(&mut self, bytes: u32) {
        assert!(bytes > 0);
        self.delivered += u64::from(bytes);
    }
    fn event(&mut self, event: Event) {
        self.events.push(event);
    }
    fn rtt(&mut self, sample: Time) {
        self.rtts.push(sample);
    }
}

/// One end with its books.
pub(crate) struct Host {
    pub end: Endpoint,
    iss: u32,
    /// Right edge of the window that the peer has told, relative to `iss`; 0 before.
    edge: u32,
    /// Which of the peer's payload bytes have come, in order of sequence.
    arrived: Vec<bool>,
    /// Length of the part without holes.
    prefix: usize,
    pub delivered: u64,
    pub events: Vec<Event>,
    pub rtts: Vec<Time>,
}

/// Decides on a packet by its number, its sender, and what it is.
type Fates = dyn FnMut(u64, usize, &Segment) -> Fate;

/// Two hosts, a client (0) and a server (1), and what is between them.
pub(crate) struct World {
    pub params: Params,
    pub now: Time,
    pub delay: Time,
    pub hosts: [Host; 2],
    packets: BinaryHeap<Reverse<Packet>>,
    number: u64,
    /// Every segment sent: when, by whom, and whether it was dropped.
    pub log: Vec<(Time, usize, Segment, bool)>,
    pub keep_log: bool,
    fate: Box<Fates>,
}

impl World {
    pub(crate) fn new(
        params: Params,
        iss: [u32; 2],
        delay: Time,
        fate: impl FnMut(u64, usize, &Segment) -> Fate + 'static,
    ) -> Self {
        let host = |end, iss| Host {
            end,
            iss,
            edge: 0,
            arrived: Vec::new(),
            prefix: 0,
            delivered: 0,
            events: Vec::new(),
            rtts: Vec::new(),
        };
        let hosts = [
            host(Endpoint::client(&params, iss[0]), iss[0]),
            host(Endpoint::server(&params, iss[1]), iss[1]),
        ];
        Self {
            params,
            now: Time::ZERO,
            delay,
            hosts,
            packets: BinaryHeap::new(),
            number: 0,
            log: Vec::new(),
            keep_log: true,
            fate: Box::new(fate),
        }
    }

    /// Calls an endpoint and sees to what comes out.
    pub(crate) fn with(
        &mut self,
        who: usize,
        call: impl FnOnce(&mut Endpoint, &Params, Time, &mut Record),
    ) {
        let mut out = Record::default();
        call(&mut self.hosts[who].end, &self.params, self.now, &mut out);
        for (segment, sacks) in out.sent {
            self.check_sent(who, &segment);
            let fate = (self.fate)(self.number, who, &segment);
            self.number += 1;
            if self.keep_log {
                self.log.push((self.now, who, segment, fate.drop));
            }
            if fate.drop {
                continue;
            }
            for copy in 0..1 + u64::from(fate.twice) {
                let mut segment = segment;
                let mut sacks = sacks.clone();
                if let Some(ecn) = fate.ecn {
                    segment.ecn = ecn;
                }
                segment.flags = Flags(segment.flags.0 & !fate.clear.0);
                if fate.strip && segment.split_counters(&sacks).0.is_some() {
                    segment.sacks -= Segment::COUNTERS;
                    sacks.pop();
                }
                self.number += 1;
                self.packets.push(Reverse(Packet {
                    at: self.now + self.delay + fate.extra * (copy + 1),
                    number: self.number,
                    to: 1 - who,
                    segment,
                    sacks,
                }));
            }
        }
        let host = &mut self.hosts[who];
        host.delivered += out.delivered;
        host.events.extend(out.events);
        host.rtts.extend(out.rtts);
        assert_eq!(host.delivered, host.end.bytes_delivered());
        assert!(host.end.cwnd() >= self.params.payload, "cwnd {}", host.end.cwnd());
        assert!(host.end.in_flight() <= host.edge.max(1), "beyond the window");
        assert!(host.delivered <= host.prefix as u64, "delivered what never came");
        if host.end.is_connected() {
            assert_eq!(host.delivered, host.prefix as u64, "held back what is in order");
        }
    }

    fn check_sent(&self, who: usize, segment: &Segment) {
        let host = &self.hosts[who];
        let from = segment.seq.wrapping_sub(host.iss);
        if segment.flags.has(Flags::SYN) {
            assert_eq!(from, 0);
            return;
        }
        assert!(u32::from(segment.len) <= self.params.payload);
        assert!(from + segment.span() <= host.edge, "{segment:?} beyond {}", host.edge);
        if segment.len == 0 && !self.params.ect_control {
            assert_eq!(segment.ecn, Ecn::NotEct);
        }
    }

    fn arrive(&mut self, packet: Packet) {
        let Packet { to, segment, sacks, .. } = packet;
        let peer_iss = self.hosts[1 - to].iss;
        let host = &mut self.hosts[to];
        if segment.flags.has(Flags::ACK) {
            let syn = segment.flags.has(Flags::SYN);
            let scale = if syn { 0 } else { self.params.window_scale };
            let edge = segment.ack.wrapping_sub(host.iss) + (u32::from(segment.window) << scale);
            host.edge = host.edge.max(edge);
        }
        if segment.len > 0 {
            let from = segment.seq.wrapping_sub(peer_iss).wrapping_sub(1) as usize;
            let to = from + usize::from(segment.len);
            if host.arrived.len() < to {
                host.arrived.resize(to, false);
            }
            host.arrived[from..to].fill(true);
            while host.prefix < host.arrived.len() && host.arrived[host.prefix] {
                host.prefix += 1;
            }
        }
        self.with(to, |end, params, now, out| end.on_segment(params, now, &segment, &sacks, out));
    }

    /// The next thing to happen: its time, and the host if it is a timer.
    fn next(&self) -> Option<(Time, Option<usize>)> {
        let packet = self.packets.peek().map(|p| (p.0.at, None));
        let timers = (0..2).map(|i| (self.hosts[i].end.deadline(), Some(i)));
        packet.into_iter().chain(timers).filter(|n| n.0 != Time::MAX).min_by_key(|n| n.0)
    }

    /// Runs until nothing happens any more, or until `end`.
    pub(crate) fn run(&mut self, end: Time) {
        let mut steps = 0;
        while let Some((at, who)) = self.next() {
            if at > end {
                self.now = end;
                return;
            }
            steps += 1;
            assert!(steps < 20_000_000, "no end at {at}");
            assert!(at >= self.now, "a deadline in the past");
            self.now = at;
            match who {
                Some(who) => {
                    self.with(who, |end, params, now, out| end.on_timer(params, now, out));
                    assert!(self.hosts[who].end.deadline() > self.now, "timer did not move");
                }
                None => {
                    let packet = self.packets.pop().expect("peeked").0;
                    self.arrive(packet);
                }
            }
        }
    }

    pub(crate) fn open(&mut self) {
        self.with(0, |end, params, now, out| end.open(params, now, out));
    }
    pub(crate) fn write(&mut self, who: usize, bytes: u64) {
        self.with(who, |end, params, now, out| end.write(params, now, bytes, out));
    }
    pub(crate) fn close(&mut self, who: usize) {
        self.with(who, |end, params, now, out| end.close(params, now, out));
    }
}
