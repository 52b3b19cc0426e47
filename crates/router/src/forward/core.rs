//! The network between two sides, without sockets or clocks: packets in, packets out, all at
//! instants that the caller names or that follow from them.

use super::held::{Beside, Held};
use super::lateness::Lateness;
use super::parse::{facts, set_ce};
use super::plan::Plan;
use super::probes::Probes;
use super::report::{Counts, Report, Snapshot};
use super::routes::Routes;
use super::slab::Slab;
use crate::net::address::Side;
use sojourn_base::{Ecn, Time};
use sojourn_link::{Dropped, Fate, HOST, Link, Paths, Sent, Step, Wake, places};
use sojourn_records::Recorder;
use sojourn_scenario::Network;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where packets go that have come to the end of their path.
pub trait Output {
    /// The packet was due at `due` at the host on `side`. False if it would not have it.
    fn deliver(&mut self, due: Time, side: Side, packet: &[u8]) -> bool;
    /// A look at all queues.
    fn snapshot(&mut self, snapshot: Snapshot) {
        let _ = snapshot;
    }
}

/// What an event does, in the order in which those of one instant are handled: what leaves, what
/// comes, what is delivered, what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A link's transmitter is free, or what it held back is ready.
    Serve { link: u32, why: Wake },
    /// A packet reaches the link of its step.
    Arrive(u32),
    /// A packet reaches its host.
    Deliver(u32),
    /// The measured window begins.
    Window,
    /// The queues are sampled.
    Sample,
    /// Someone wants to see the queues.
    Look,
}

impl What {
    fn rank(self) -> u64 {
        match self {
            Self::Serve { .. } => 0,
            Self::Arrive(_) => 1,
            Self::Deliver(_) => 2,
            Self::Window | Self::Sample | Self::Look => 3,
        }
    }
}

/// The longest that an event which only moves packets within the network is put off: what has
/// gathered by then is done quickly enough not to make the packets behind it late.
const PUT_OFF: Time = Time::from_micros(200);

/// Events are in order of time, then of rank, then of birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: Time,
    order: u64,
    what: What,
}

/// What is to happen.
struct Agenda {
    /// What happens within the network, of which nobody outside learns at once.
    events: BinaryHeap<Reverse<Event>>,
    /// What reaches the hosts.
    deliveries: BinaryHeap<Reverse<Event>>,
    /// From any event within the network to the first delivery that it leads to, at the least.
    ahead: Time,
    born: u64,
}

impl Agenda {
    fn push(&mut self, time: Time, what: What) {
        self.born += 1;
        let order = what.rank() << 60 | self.born;
        let event = Reverse(Event { time, order, what });
        match what {
            What::Deliver(_) => self.deliveries.push(event),
            _ => self.events.push(event),
        }
    }

    /// When something is to be done next for packets to leave in time.
    #[inline]
    fn next(&self) -> Time {
        let time = |event: &Reverse<Event>| event.0.time;
        let within = self.events.peek().map_or(Time::MAX, |e| time(e).saturating_add(self.ahead));
        self.deliveries.peek().map_or(within, |e| time(e).min(within))
    }

    /// The next event up to and including `now`.
    #[inline]
    fn pop(&mut self, now: Time) -> Option<Event> {
        let within = self.events.peek().map(|event| event.0);
        let delivery = self.deliveries.peek().map(|event| event.0);
        let (heap, event) = match (within, delivery) {
            (Some(a), Some(b)) if a < b => (&mut self.events, a),
            (Some(a), None) => (&mut self.events, a),
            (_, Some(b)) => (&mut self.deliveries, b),
            (None, None) => return None,
        };
        if event.time > now {
            return None;
        }
        heap.pop();
        Some(event)
    }
}

/// The network.
pub struct Core {
    network: Network,
    links: Vec<Link<Held>>,
    routes: Routes,
    paths: Paths,
    slab: Slab,
    held: Vec<Held>,
    agenda: Agenda,
    handled: u64,
    dropped: Dropped<Held>,
    probes: Probes,
    counts: Counts,
    mtu: usize,
    /// The time of the last event: nothing may come before.
    now: Time,
    measuring: bool,
    /// Time between two looks, if anyone looks.
    look: Option<Time>,
}

impl Core {
    /// The network of `plan`, for packets of at most `mtu` bytes, of which `buffers` may be under
    /// way. Records go to `recorder`; with `look` a snapshot is given so often.
    ///
    /// # Errors
    /// What cannot be built, in one line.
    pub fn new(
        plan: &Plan,
        recorder: Recorder,
        mtu: u32,
        buffers: u32,
        look: Option<Time>,
    ) -> Result<Self, String> {
        let network = plan.network().clone();
        let links = Link::all(&network, true)?;
        let probes = Probes::new(&network, recorder, links.len());
        let empty = Held::default();
        let (routes, paths) = Routes::new(plan);
        let mut new = Self {
            agenda: Agenda {
                // A packet is in one event at most; a link in three.
                events: BinaryHeap::with_capacity(buffers as usize + 4 * links.len() + 8),
                deliveries: BinaryHeap::with_capacity(buffers as usize),
                ahead: paths.shortest().min(PUT_OFF),
                born: 0,
            },
            routes,
            paths,
            slab: Slab::new(buffers, mtu as usize),
            held: vec![empty; buffers as usize],
            handled: 0,
            dropped: Dropped::default(),
            counts: Counts::default(),
            mtu: mtu as usize,
            now: Time::ZERO,
            measuring: false,
            look: look.map(|look| look.max(Time(1))),
            links,
            probes,
            network,
        };
        new.agenda.push(new.network.warmup, What::Window);
        if let Some(interval) = new.probes.interval() {
            new.agenda.push(interval, What::Sample);
        }
        if let Some(look) = new.look {
            new.agenda.push(look, What::Look);
        }
        Ok(new)
    }

    /// When something is to be done next for packets to leave in time.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Time {
        self.agenda.next()
    }

    /// An event takes place.
    #[inline]
    fn begin(&mut self, at: Time) {
        self.now = at;
        self.handled += 1;
    }

    /// A host on `side` has sent a packet, which is seen at `now`. What was due before is done
    /// before; where no delay lies in its way, the packet goes on at once.
    pub fn packet(&mut self, now: Time, side: Side, bytes: &[u8], out: &mut impl Output) {
        let now = now.max(self.now);
        self.run(now, out);
        self.counts.received += 1;
        if bytes.len() > self.mtu {
            self.counts.too_long += 1;
            return;
        }
        let Some(facts) = facts(bytes) else {
            self.counts.malformed += 1;
            return;
        };
        let Some(start) = self.routes.start(now, side, &facts) else {
            self.counts.unroutable += 1;
            return;
        };
        let at_once = start.at <= now;
        if at_once && start.step == HOST {
            self.begin(start.at);
            self.probes.tap_side(side, now, bytes);
            let (counts, probes) = (&mut self.counts, &mut self.probes);
            hand_over(start.at, side.other(), bytes, out, counts, probes);
            return;
        }
        let Some(handle) = self.slab.keep(bytes) else {
            self.counts.no_buffer += 1;
            return;
        };
        self.held[handle as usize] = Held {
            handle,
            bytes: facts.bytes,
            enqueued: Time::ZERO,
            step: start.step,
            flow: facts.flow,
            label: 0,
            source: facts.source,
            destination: facts.destination,
            ecn: facts.ecn,
            written: facts.ecn,
            dscp: facts.dscp,
            to: side.other(),
            ack: facts.ack,
        };
        self.probes.tap_side(side, now, bytes);
        if at_once {
            self.begin(start.at);
            self.arrive(start.at, handle);
        } else {
            self.go_on(start.at, handle, start.step);
        }
    }

    /// A packet reaches what is next on its path at `at`.
    fn go_on(&mut self, at: Time, handle: u32, step: u32) {
        self.held[handle as usize].step = step;
        self.agenda
            .push(at, if step == HOST { What::Deliver(handle) } else { What::Arrive(handle) });
    }

    /// Does what is due up to and including `now`, each thing at its own time.
    pub fn run(&mut self, now: Time, out: &mut impl Output) {
        while let Some(Event { time, what, .. }) = self.agenda.pop(now) {
            self.begin(time);
            match what {
                What::Serve { link, why } => {
                    self.links[link as usize].woken(time, why);
                    self.serve(time, link);
                }
                What::Arrive(handle) => self.arrive(time, handle),
                What::Deliver(handle) => self.deliver(time, handle, out),
                What::Window => {
                    self.measuring = true;
                    self.probes.start_window();
                    for link in &mut self.links {
                        link.start_window(time);
                    }
                }
                What::Sample => {
                    self.probes.sample(time, &mut self.links);
                    if let Some(interval) = self.probes.interval() {
                        self.agenda.push(time + interval, What::Sample);
                    }
                }
                What::Look => {
                    out.snapshot(self.probes.look(time, &mut self.links, &self.counts));
                    if let Some(look) = self.look {
                        self.agenda.push(time + look, What::Look);
                    }
                }
            }
        }
    }

    fn arrive(&mut self, now: Time, handle: u32) {
        let mut packet = self.held[handle as usize];
        let step = self.paths.step(packet.step);
        self.probes.arrived(now, step.link, packet.bytes);
        let link = &mut self.links[step.link as usize];
        if link.fused() {
            match link.pass(now, packet.bytes, packet.ecn) {
                Fate::Departs(ends, marked) => self.departs(ends, packet, marked, step),
                Fate::Dropped => {
                    self.counts.dropped += 1;
                    self.slab.release(handle);
                }
            }
            return;
        }
        packet.enqueued = now;
        packet.label = step.label;
        // Flows of one machine have addresses of their own; disciplines see the machine's.
        let own = (packet.source, packet.destination);
        (packet.source, packet.destination) = step.machine.addresses(own);
        if link.arrive(now, packet, &mut Beside { dropped: &mut self.dropped, slab: &self.slab }) {
            self.serve(now, step.link);
        }
        self.let_go();
    }

    /// A packet leaves the transmitter of a fused link at `ends`.
    #[inline]
    fn departs(&mut self, ends: Time, packet: Held, marked: bool, step: Step) {
        let Held { handle, bytes, .. } = packet;
        let bytes = self.slab.get(handle, bytes as usize);
        if marked && packet.ecn != Ecn::Ce {
            set_ce(bytes);
            let packet = &mut self.held[handle as usize];
            (packet.ecn, packet.written) = (Ecn::Ce, Ecn::Ce);
        }
        if self.probes.capturing() {
            let begins = self.links[step.link as usize].began(ends, packet.bytes);
            self.probes.tap_link(step.link, begins, bytes);
        }
        self.go_on(ends + step.delay, handle, step.next);
    }

    /// A link that is not fused does what it can, and may begin to send a packet.
    fn serve(&mut self, now: Time, number: u32) {
        let Self { links, dropped, agenda, .. } = self;
        let wake = |at, why| agenda.push(at, What::Serve { link: number, why });
        let sent = links[number as usize].serve(now, dropped, wake);
        if let Some(Sent { standing: mut packet, through, .. }) = sent {
            let handle = packet.handle;
            let bytes = self.slab.get(handle, packet.bytes as usize);
            if packet.ecn != packet.written {
                set_ce(bytes);
                packet.written = packet.ecn;
            }
            self.probes.tap_link(number, now, bytes);
            self.held[handle as usize] = packet;
            match through {
                None => {
                    self.counts.lost += 1;
                    self.slab.release(handle);
                }
                Some(at) => {
                    let step = self.paths.step(packet.step);
                    self.go_on(at + step.delay, handle, step.next);
                }
            }
        }
        self.let_go();
    }

    /// Gives the buffers of dropped packets back.
    fn let_go(&mut self) {
        for packet in self.dropped.0.drain(..) {
            self.counts.dropped += 1;
            self.slab.release(packet.handle);
        }
    }

    fn deliver(&mut self, due: Time, handle: u32, out: &mut impl Output) {
        let Held { to, bytes, .. } = self.held[handle as usize];
        let packet = self.slab.get(handle, bytes as usize);
        hand_over(due, to, packet, out, &mut self.counts, &mut self.probes);
        self.slab.release(handle);
    }

    /// Captures all that the host on `side` sends and receives.
    pub fn capture_side(&mut self, side: Side) {
        self.probes.capture_side(side);
    }

    /// Whether the measured window has begun.
    #[inline]
    #[must_use]
    pub fn measuring(&self) -> bool {
        self.measuring
    }

    /// What has been counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts { held: u64::from(self.slab.used()), ..self.counts }
    }

    /// Ends at `end`, up to which everything has been done: sums up, and gives the recorder back.
    #[must_use]
    pub fn finish(mut self, end: Time, lateness: &Lateness) -> (Report, Recorder) {
        let counts = self.counts();
        let mut links = Vec::new();
        if self.measuring {
            for link in &mut self.links {
                link.settle(end);
            }
            let window = end.saturating_sub(self.network.warmup);
            links = sojourn_link::summaries(&self.network, &self.links, window);
        }
        let bottleneck = places(&self.network)[self.network.bottleneck]
            .map(|place| self.links[place as usize].counters().dequeued.packets);
        let report = Report {
            end_s: end.as_secs_f64(),
            events: self.handled,
            bottleneck_packets: bottleneck.unwrap_or(0),
            links,
            router: counts.summary(lateness),
        };
        (report, self.probes.finish())
    }
}

/// A packet has come to the end of its path.
#[inline]
fn hand_over(
    due: Time,
    side: Side,
    packet: &[u8],
    out: &mut impl Output,
    counts: &mut Counts,
    probes: &mut Probes,
) {
    if out.deliver(due, side, packet) {
        counts.delivered += 1;
        probes.tap_side(side, due, packet);
    } else {
        counts.undeliverable += 1;
    }
}
