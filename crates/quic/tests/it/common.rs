//! Two endpoints over a network that delays datagrams, and does to each what a test says.

use sojourn_base::Time;
use sojourn_quic::{Ecn, Endpoint, Event, HEADERS, Output, Packet, Params, Spec, StreamPacket};
use std::collections::BTreeMap;

pub(crate) fn ms(n: u64) -> Time {
    Time::from_millis(n)
}

pub(crate) fn params(spec: &Spec) -> Params {
    Spec::resolve(&[spec]).unwrap()
}

/// What an endpoint has done in a call, and what it has told so far.
#[derive(Default)]
pub(crate) struct Host {
    pub sent: Vec<(Ecn, Vec<Packet>)>,
    /// Bytes of each stream.
    pub delivered: BTreeMap<u32, u64>,
    pub messages: Vec<u16>,
    pub events: Vec<(Time, Event)>,
    pub rtts: Vec<Time>,
    now: Time,
}

impl Output for Host {
    fn send(&mut self, ecn: Ecn, packets: &[Packet], bytes: u32) {
        assert_eq!(packets.iter().map(Packet::bytes).sum::<u32>(), bytes);
        self.sent.push((ecn, packets.to_vec()));
    }
    fn deliver(&mut self, stream: u32, bytes: u64) {
        *self.delivered.entry(stream).or_default() += bytes;
    }
    fn message(&mut self, bytes: u16) {
        self.messages.push(bytes);
    }
    fn rtt(&mut self, rtt: Time) {
        self.rtts.push(rtt);
    }
    fn event(&mut self, event: Event) {
        self.events.push((self.now, event));
    }
}

/// A datagram on its way, for a test to judge.
pub(crate) struct Flying<'a> {
    /// From the client (0) or the server (1).
    pub from: usize,
    /// How many that end has sent before it.
    pub number: u64,
    pub packets: &'a [Packet],
    pub ecn: Ecn,
}

impl Flying<'_> {
    /// Bytes of UDP payload.
    pub(crate) fn bytes(&self) -> u32 {
        self.packets.iter().map(Packet::bytes).sum()
    }
}

/// What becomes of a datagram: the times after which copies of it arrive, with their ECN fields.
pub(crate) type Verdict = Vec<(Time, Ecn)>;

pub(crate) struct Net<J: FnMut(Flying<'_>) -> Verdict> {
    pub p: Params,
    pub ends: [Endpoint; 2],
    pub hosts: [Host; 2],
    pub now: Time,
    judge: J,
    flying: BTreeMap<(Time, u64), (usize, Ecn, Vec<Packet>)>,
    serial: u64,
    pub sent: [u64; 2],
    /// Bytes of UDP payload sent.
    pub bytes: [u64; 2],
}

impl<J: FnMut(Flying<'_>) -> Verdict> Net<J> {
    pub(crate) fn new(spec: &Spec, judge: J) -> Self {
        let p = params(spec);
        Self {
            ends: [Endpoint::client(&p), Endpoint::server(&p)],
            hosts: [Host::default(), Host::default()],
            p,
            now: Time::ZERO,
            judge,
            flying: BTreeMap::new(),
            serial: 0,
            sent: [0; 2],
            bytes: [0; 2],
        }
    }

    /// Calls an end and takes what it sends.
    pub(crate) fn call(
        &mut self,
        end: usize,
        call: impl FnOnce(&mut Endpoint, &Params, Time, &mut Host),
    ) {
        self.hosts[end].now = self.now;
        call(&mut self.ends[end], &self.p, self.now, &mut self.hosts[end]);
        for (ecn, packets) in std::mem::take(&mut self.hosts[end].sent) {
            let flying = Flying { from: end, number: self.sent[end], packets: &packets, ecn };
            self.sent[end] += 1;
            self.bytes[end] += u64::from(flying.bytes());
            assert!(flying.bytes() + HEADERS <= 1500, "{packets:?}");
            for (delay, ecn) in (self.judge)(flying) {
                self.serial += 1;
                let key = (self.now + delay, self.serial);
                self.flying.insert(key, (1 - end, ecn, packets.clone()));
            }
        }
    }

    pub(crate) fn open(&mut self) {
        self.call(0, |e, p, now, out| e.open(p, now, out));
    }

    /// The client opens a stream and writes.
    pub(crate) fn write(&mut self, bytes: u64) -> u32 {
        let stream = self.ends[0].open_stream(&self.p);
        self.call(0, |e, p, now, out| e.write(p, now, stream, bytes, out));
        stream
    }

    /// The next thing happens; whether there was one until `until`.
    pub(crate) fn step(&mut self, until: Time) -> bool {
        let arrival = self.flying.keys().next().map_or(Time::MAX, |key| key.0);
        let timers = self.ends.each_ref().map(Endpoint::deadline);
        let next = arrival.min(timers[0]).min(timers[1]);
        if next > until {
            return false;
        }
        assert!(next >= self.now, "a timer that lies back: {next} at {}", self.now);
        self.now = next;
        if arrival == next {
            let ((_, _), (to, ecn, packets)) = self.flying.pop_first().unwrap();
            self.call(to, |e, p, now, out| match stream_packet(&packets) {
                Some(packet) => e.on_stream_packet(p, now, ecn, packet, out),
                None => e.on_datagram(p, now, ecn, &packets, out),
            });
        } else {
            let end = usize::from(timers[0] != next);
            self.call(end, |e, p, now, out| e.on_timer(p, now, out));
        }
        true
    }

    /// Runs until nothing happens any more, or `until`.
    pub(crate) fn run(&mut self, until: Time) {
        let mut steps = 0;
        while self.step(until) {
            steps += 1;
            assert!(steps < 3_000_000, "it does not come to rest");
        }
    }

    /// When an end was first told of an event.
    pub(crate) fn told(&self, end: usize, event: Event) -> Option<Time> {
        self.hosts[end].events.iter().find(|told| told.1 == event).map(|told| told.0)
    }
}

/// A datagram's packet, if it has one STREAM frame and nothing else.
fn stream_packet(packets: &[Packet]) -> Option<StreamPacket> {
    let [packet] = packets else { return None };
    let &Packet { number, number_bytes, .. } = packet;
    let of_frame = StreamPacket { number, number_bytes, frame: *packet.streams().next()? };
    (Packet::from(of_frame) == *packet).then_some(of_frame)
}

/// Everything arrives after the same time.
pub(crate) fn arrives(delay: Time) -> impl FnMut(Flying<'_>) -> Verdict {
    move |flying| vec![(delay, flying.ecn)]
}
