//! The event loop: hands every event to the link, the endpoint or the application it concerns.
//!
//! **Ahead of time.** A packet on its last hop needs no event of its own if nothing can happen to
//! its endpoint before it gets there: no other event waits for that endpoint, its timers are due
//! later, no boundary of a measurement lies between, and no later packet can overtake it. Then the endpoint handles it at once,
//! with its own clock set to the packet's time; what it sends lies later still. Results are bit
//! for bit those of handling everything in its turn (`unfused = true`), which the tests compare.

use crate::Control;
use crate::apps::Apps;
use crate::build::probe;
use crate::connection::{Connection, Connections, DIRECT, NONE};
use crate::group::Group;
use crate::interface::{Access, cross};
use crate::net::{ID_BITS, Net, Out, Step, kind, note, tag};
use crate::packet::{DATAGRAM, NO_SACKS, Packet, Standing};
use crate::probes::Probes;
use crate::tap::Tapped;
use crate::wheel::Event;
use sojourn_base::{Dscp, Time};
use sojourn_link::{self as link, Fate, Sent};
use sojourn_qdisc::Ecn;
use std::sync::atomic::Ordering;

/// A whole run while it is under way.
pub struct Sim {
    pub net: Net,
    pub conns: Connections,
    pub groups: Vec<Group>,
    pub apps: Apps,
    pub probes: Probes,
    /// Whether packets may be handled ahead of their time and links run on tokens.
    pub fused: bool,
    /// The next instant at which something is measured that an endpoint running ahead would
    /// disturb, ns.
    pub boundary: u64,
    /// All such instants to come, ns.
    pub boundaries: Vec<u64>,
    /// The end of the run, ns.
    pub horizon: u64,
    /// Whether the measured window has begun.
    pub measuring: bool,
    pub events: u64,
}

impl Sim {
    /// Runs to the end, or until told to stop. Returns the time reached, in nanoseconds.
    pub fn run(&mut self, control: &Control) -> u64 {
        const LOOK_UP: u64 = 1 << 14;
        while let Some(event) = self.net.wheel.pop(self.horizon) {
            let now = event.time;
            self.events += 1;
            if self.events.is_multiple_of(LOOK_UP) {
                control.now.store(now, Ordering::Relaxed);
                control.packets.store(self.probes.bottleneck_packets(&self.net), Ordering::Relaxed);
                if control.stop.load(Ordering::Relaxed) {
                    return now;
                }
            }
            if let Some(soon) = self.net.wheel.hint() {
                self.prefetch(soon);
            }
            self.handle(&event);
        }
        control.now.store(self.horizon, Ordering::Relaxed);
        self.horizon
    }

    /// Asks for the memory that an event will need.
    #[inline]
    fn prefetch(&self, soon: &Event<Packet>) {
        if matches!(soon.tag >> ID_BITS, kind::ARRIVE | kind::DELIVER) {
            self.conns.prefetch(soon.tag & ((1 << ID_BITS) - 1));
            self.net.sacks.prefetch(&soon.payload);
        }
    }

    #[inline(always)]
    fn handle(&mut self, event: &Event<Packet>) {
        let id = event.tag & ((1 << ID_BITS) - 1);
        let now = event.time;
        match event.tag >> ID_BITS {
            kind::ARRIVE => self.arrive(now, id, event.aux, event.payload),
            kind::CROSSED => self.end_of_path(now, id, event.payload, false),
            kind::DELIVER => {
                if event.payload.conn & DATAGRAM == 0 {
                    self.conns[id >> 1].sides[(id & 1) as usize].came();
                    self.deliver(now, id, &event.payload);
                } else {
                    self.deliver_datagram(now, id, &event.payload);
                }
            }
            kind::SERVE => {
                self.net.links[id as usize].woken(now, event.aux);
                self.serve(now, id);
            }
            kind::TIMER => self.timer(now, id, event.aux),
            kind::NOTIFY => {
                self.conns[id >> 1].sides[(id & 1) as usize].came();
                self.notify(now, id, event.aux);
                self.tidy(now, id >> 1);
            }
            kind::ANSWER => {
                self.conns[id >> 1].sides[(id & 1) as usize].came();
                self.answer(now, id >> 1);
                self.tidy(now, id >> 1);
            }
            kind::RETIRE => self.retire(id, event.aux),
            kind::MEMBER => self.member(now, id, event.aux),
            _ => self.probe(now, event.aux),
        }
    }

    /// A packet reaches the link of its step.
    #[inline(always)]
    fn arrive(&mut self, now: u64, id: u32, step: u32, mut packet: Packet) {
        let Step { link, next, delay, label, dscp } = self.net.steps[step as usize];
        self.probes.count_arrival(now, link, &packet);
        let l = &mut self.net.links[link as usize];
        if l.fused() {
            match l.pass(now, packet.ip_bytes(), packet.segment.ecn) {
                Fate::Departs(at, marked) => {
                    if marked {
                        packet.segment.ecn = Ecn::Ce;
                    }
                    self.tap(link, at, &packet, id, dscp);
                    self.forward(at + delay, id, next, packet);
                }
                Fate::Dropped => self.lost(now, &packet),
            }
        } else {
            let standing = Standing { packet, enqueued: now, step, id, label, dscp };
            l.offer(now, standing, &mut self.net.dropped);
            if l.wants() {
                self.serve(now, link);
            }
            self.collect_dropped(now);
        }
    }

    /// A packet's transmission on a link ends at `at`.
    #[inline]
    fn tap(&mut self, link: u32, at: u64, packet: &Packet, id: u32, dscp: Dscp) {
        // A fused link knows now what it will send after the end.
        if self.probes.tapping() && at <= self.horizon {
            self.capture(link, at, packet, id, dscp);
        }
    }

    #[cold]
    fn capture(&mut self, link: u32, at: u64, packet: &Packet, id: u32, dscp: Dscp) {
        let (serial, group) = if packet.conn & DATAGRAM == 0 {
            let conn = &self.conns[packet.conn];
            (conn.generation, usize::from(conn.group))
        } else {
            (0, 0)
        };
        let sacks = self.net.sacks.get(packet);
        let sacks = &sacks[..packet.segment.blocks()];
        let params = &self.groups[group].tcp;
        self.probes.sent(link, &Tapped { at, packet, id, serial, params, sacks, dscp });
    }

    /// A link that is not fused may send its next packet.
    fn serve(&mut self, now: u64, link: u32) {
        let l = &mut self.net.links[link as usize];
        let interrupt = l.interrupt();
        let sent = l.transmit(now, &mut self.net.dropped);
        let ready = if l.wants() { l.wake_at(now) } else { None };
        let reorders = l.reorders();
        for (at, why) in [(interrupt, link::INTERRUPT), (ready, link::READY)] {
            if let Some(at) = at {
                self.net.schedule(at, tag(kind::SERVE, link), why);
            }
        }
        if let Some(Sent { standing: Standing { packet, id, step, dscp, .. }, ends, through }) =
            sent
        {
            self.net.schedule(ends, tag(kind::SERVE, link), link::TRANSMITTED);
            let step = self.net.steps[step as usize];
            self.tap(link, ends, &packet, id, dscp);
            match through {
                None => self.lost(now, &packet),
                Some(at) if reorders && step.next == DIRECT => {
                    self.crossed_later(at + step.delay, id, packet);
                }
                Some(at) => self.forward(at + step.delay, id, step.next, packet),
            }
        }
        self.collect_dropped(now);
    }

    /// A packet has left a link and reaches whatever is next at `at`.
    #[inline(always)]
    fn forward(&mut self, at: u64, id: u32, next: u32, packet: Packet) {
        if next != DIRECT {
            let tag = tag(kind::ARRIVE, id);
            self.net.wheel.push(Event { time: at, tag, aux: next, payload: packet });
        } else {
            self.end_of_path(at, id, packet, true);
        }
    }

    /// A packet has crossed its last link and comes to the end of its path at `at`; `ahead` if
    /// none can overtake it before.
    #[inline(always)]
    fn end_of_path(&mut self, at: u64, id: u32, packet: Packet, ahead: bool) {
        let end = (id & 1) as usize;
        let tag = tag(kind::DELIVER, id);
        if packet.conn & DATAGRAM != 0 {
            match self.apps.reach_host(&self.groups, &mut self.net, at, &packet, end, ahead) {
                Some(at) => self.net.wheel.push(Event { time: at, tag, aux: 0, payload: packet }),
                None => self.crossed_later(at, id, packet),
            }
            return;
        }
        let conn = &mut self.conns[packet.conn];
        let side = &mut conn.sides[end];
        let mut at = at;
        match &self.groups[usize::from(conn.group)].access {
            Access::Private(link) => {
                at = cross(link, at, packet.ip_bytes(), &mut side.in_free, &mut side.in_carry);
            }
            Access::Unlimited => {}
            Access::Shared(_) if ahead => return self.crossed_later(at, id, packet),
            Access::Shared(link) => {
                let interface = &mut self.net.interfaces[side.in_interface()];
                at = cross(link, at, packet.ip_bytes(), &mut interface.free, &mut interface.carry);
            }
        }
        let ahead = ahead && self.fused && at <= self.boundary;
        if ahead && side.free() && conn.ends[end].deadline().0 > at {
            self.deliver(at, id, &packet);
        } else {
            side.wait_for(1);
            self.net.wheel.push(Event { time: at, tag, aux: 0, payload: packet });
        }
    }

    /// A packet crosses its last link at `at`, and others may come to the same machine before.
    #[inline(never)]
    fn crossed_later(&mut self, at: u64, id: u32, packet: Packet) {
        let tag = tag(kind::CROSSED, id);
        self.net.wheel.push(Event { time: at, tag, aux: 0, payload: packet });
    }

    /// A segment reaches its endpoint, whose clock shows `at`.
    #[inline(always)]
    fn deliver(&mut self, at: u64, id: u32, packet: &Packet) {
        let place = packet.conn;
        let conn = &mut self.conns[place];
        conn.in_flight -= 1;
        conn.last = conn.last.max(at);
        if conn.meter != NONE {
            self.probes.delivered(conn.meter, at, id & 1 == 1, packet);
        }
        if packet.sacks == NO_SACKS {
            self.with_endpoint(at, id, |end, params, now, out| {
                end.on_segment(params, now, &packet.segment, &[], out);
            });
        } else {
            self.deliver_sacks(at, id, packet);
        }
        if self.conns[place].done {
            self.tidy(at, place);
        }
    }

    /// The same for a segment with SACK blocks.
    #[cold]
    fn deliver_sacks(&mut self, at: u64, id: u32, packet: &Packet) {
        let blocks = self.net.sacks.get(packet);
        self.net.sacks.release(packet);
        let blocks = &blocks[..packet.segment.blocks()];
        self.with_endpoint(at, id, |end, params, now, out| {
            end.on_segment(params, now, &packet.segment, blocks, out);
        });
    }

    /// Calls an endpoint, and does what follows: timers, and telling the application.
    #[inline(always)]
    pub fn with_endpoint(
        &mut self,
        at: u64,
        id: u32,
        call: impl FnOnce(&mut sojourn_tcp::Endpoint, &sojourn_tcp::Params, Time, &mut Out<'_>),
    ) {
        let end = (id & 1) as usize;
        let conn = &mut self.conns[id >> 1];
        let group = &mut self.groups[usize::from(conn.group)];
        let Connection { ends, sides, .. } = conn;
        let mut out = Out {
            net: &mut self.net,
            side: &mut sides[end],
            group,
            at,
            peer: id ^ 1,
            serial: conn.generation,
            segments: ends[end].segments_sent(),
            round_trip: None,
            sent: 0,
            direct: 0,
            delivered: 0,
            notes: 0,
        };
        call(&mut ends[end], &group.tcp, Time(at), &mut out);
        let Out { round_trip, sent, direct, delivered, mut notes, .. } = out;
        if let Some(sample) = round_trip
            && self.measuring
        {
            group.stats.rtt.record(sample);
        }
        conn.in_flight += sent;
        conn.sides[end ^ 1].wait_for(direct);
        let side = &mut conn.sides[end];
        let deadline = conn.ends[end].deadline().0;
        if deadline < side.timer_at {
            side.timer_at = deadline;
            self.net.schedule(deadline, tag(kind::TIMER, id), conn.generation);
        }
        if conn.meter != NONE && end == 0 {
            self.probes.sender(conn.meter, at, round_trip, &conn.ends[0]);
        }
        if delivered > 0 && side.expect != u64::MAX {
            if group.first_bytes && end == 0 {
                let exchange = &mut self.apps.exchanges[(id >> 1) as usize];
                if exchange.first_byte == 0 {
                    exchange.first_byte = at;
                }
            }
            side.expect = side.expect.saturating_sub(delivered);
            if side.expect == 0 {
                side.expect = u64::MAX;
                notes |= note::COMPLETE;
            }
        }
        if notes != 0 {
            side.wait_for(1);
            self.net.schedule(at, tag(kind::NOTIFY, id), notes);
        }
    }

    /// A timer may be due. Deadlines move with every acknowledgement, events do not: an event that
    /// comes too early looks again later.
    fn timer(&mut self, now: u64, id: u32, generation: u32) {
        let end = (id & 1) as usize;
        let conn = &mut self.conns[id >> 1];
        if conn.generation != generation || conn.sides[end].timer_at != now {
            return;
        }
        conn.sides[end].timer_at = u64::MAX;
        let deadline = conn.ends[end].deadline().0;
        if deadline > now {
            if deadline != u64::MAX {
                conn.sides[end].timer_at = deadline;
                self.net.schedule(deadline, tag(kind::TIMER, id), generation);
            }
            return;
        }
        self.with_endpoint(now, id, |end, params, now, out| end.on_timer(params, now, out));
    }

    /// A probe's time has come.
    fn probe(&mut self, now: u64, what: u32) {
        if what != probe::QUEUES {
            self.boundaries.retain(|&at| at > now);
            self.boundary = self.boundaries.iter().copied().min().unwrap_or(self.horizon);
        }
        if what == probe::WINDOW {
            self.start_window(now);
        } else if what >= probe::STOP {
            self.stop_group(now, (what - probe::STOP) as usize);
        } else if let Some(interval) = self.probes.interval {
            self.probes.sample(now, &mut self.net.links);
            self.net.schedule(now + interval, tag(kind::PROBE, probe::QUEUES), probe::QUEUES);
        }
    }

    /// Packets that a discipline dropped.
    fn collect_dropped(&mut self, now: u64) {
        while let Some(standing) = self.net.dropped.0.pop() {
            self.lost(now, &standing.packet);
        }
    }

    /// A packet is gone.
    #[cold]
    fn lost(&mut self, now: u64, packet: &Packet) {
        self.net.sacks.release(packet);
        if packet.conn & DATAGRAM != 0 {
            return self.lost_datagram(packet);
        }
        let conn = &mut self.conns[packet.conn];
        conn.in_flight -= 1;
        if conn.meter != NONE {
            self.probes.lost(conn.meter);
        }
        self.tidy(now, packet.conn);
    }

    /// Has a connection's place given back if nothing refers to it any more. That happens at the
    /// time of the last thing that did, so that places, which order simultaneous events, do not
    /// depend on what was handled ahead of its time.
    pub fn tidy(&mut self, now: u64, place: u32) {
        let conn = &self.conns[place];
        if conn.over() {
            let at = conn.last.max(now);
            self.net.schedule(at, tag(kind::RETIRE, place), conn.generation);
        }
    }
}
