//! The network and the endpoints of a run: what links, TCP and QUIC do when an event of theirs
//! comes.
//!
//! **Ahead of time.** A packet on its last hop needs no event of its own if nothing can happen to
//! its endpoint before it gets there: no other event waits for that endpoint, no boundary of a
//! measurement lies between, no later packet can overtake it, and its timers are due later or only
//! let it send, so that they can be handled first. Then the endpoint handles it at once, with its
//! own clock set to the packet's time; what it sends lies later still. Results are bit for bit
//! those of handling everything in its turn (`unfused = true`), which the tests compare.

use crate::apps::Member;
use crate::connection::{Connection, Connections, EndId, NONE, Side, Underway};
use crate::end::End;
use crate::events::{Call, Event, Notes};
use crate::group::Group;
use crate::net::{Net, Out};
use crate::packet::{Beside, DATAGRAM, NO_SACKS, Packet, Standing, addresses};
use crate::probes::Probes;
use crate::qlog::{Arrival, Subject};
use crate::tap::Tapped;
use crate::timers::Timers;
use crate::wheel::Place;
use sojourn_base::{Dscp, Ecn, Kind, Time};
use sojourn_link::{Fate, HOST, Machine, Sent, Step, Wake};
use sojourn_records::{Exchange, Outcome};
use sojourn_traffic::{PageEnded, Priority};

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
        if let Event::Arrive { to, packet, .. } | Event::Deliver { to, packet } = soon {
            self.conns.prefetch(*to);
            if !packet.is_quic() {
                self.net.sacks.prefetch(packet);
            } else if self.conns.prefetch_quic(*to, matches!(soon, Event::Deliver { .. })) {
                self.net.quic.prefetch(packet.sacks);
            }
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

    /// Schedules the next event of a member.
    pub(crate) fn call_member(&mut self, at: Time, group: usize, index: u32, call: Call) {
        let member = self.groups[group].first_member + index;
        self.net.wheel.push(at, Event::Member { member, call });
    }

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

    /// A packet reaches the link of its step.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, now: Time, to: EndId, step: u32, mut packet: Packet) {
        let Step { link, next, delay, label, dscp, machine, asks } = self.net.paths.step(step);
        self.probes.links.arrived(now, link, packet.ip_bytes());
        let Net { wheel, links, dropped, sacks, .. } = &mut self.net;
        let l = &mut links[link as usize];
        if l.fused() {
            match l.pass(now, packet.ip_bytes(), packet.segment.ecn) {
                Fate::Departs(at, marked) => {
                    if marked {
                        packet.segment.ecn = Ecn::Ce;
                    }
                    self.tap(link, at, &packet, to, dscp, machine);
                    self.forward(at + delay, to, next, packet);
                }
                Fate::Dropped => self.lost(now, &packet),
            }
        } else {
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
            self.sent(now, link, reorders, sent);
        }
        self.collect_dropped(now);
    }

    /// A link sends a packet, and others may overtake it there if it `reorders`.
    #[inline(always)]
    fn sent(&mut self, now: Time, link: u32, reorders: bool, sent: Sent<Standing>) {
        let Sent { standing, ends, through } = sent;
        let to = standing.to();
        let Standing { packet, step, dscp, .. } = standing;
        let step = self.net.paths.step(step);
        self.tap(link, ends, &packet, to, dscp, step.machine);
        match through {
            None => self.lost(now, &packet),
            Some(at) if reorders && step.next == HOST => {
                self.crossed_later(at + step.delay, to, packet);
            }
            Some(at) => self.forward(at + step.delay, to, step.next, packet),
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
            self.sent(now, link, reorders, sent);
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

    /// A packet's transmission on a link ends at `at`.
    #[inline]
    fn tap(
        &mut self,
        link: u32,
        at: Time,
        packet: &Packet,
        to: EndId,
        dscp: Dscp,
        machine: Machine,
    ) {
        // A fused link knows now what it will send after the end.
        if self.probes.links.capturing() && at <= self.horizon {
            self.capture(link, at, packet, to, dscp, machine);
        }
    }

    #[cold]
    fn capture(
        &mut self,
        link: u32,
        at: Time,
        packet: &Packet,
        to: EndId,
        dscp: Dscp,
        machine: Machine,
    ) {
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

    /// A packet has left a link and reaches whatever is next at `at`.
    #[inline(always)]
    fn forward(&mut self, at: Time, to: EndId, next: u32, packet: Packet) {
        if next != HOST {
            self.net.wheel.push(at, Event::Arrive { to, step: next, packet });
        } else {
            self.end_of_path(at, to, packet, true);
        }
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
    fn crossed_later(&mut self, at: Time, to: EndId, packet: Packet) {
        self.net.wheel.push(at, Event::Crossed { to, packet });
    }

    /// A segment reaches its endpoint, whose clock shows `at`.
    #[inline(always)]
    pub(crate) fn deliver(&mut self, at: Time, to: EndId, packet: &Packet) {
        let place = packet.conn;
        let conn = &mut self.conns[place];
        conn.in_flight -= 1;
        conn.last = conn.last.max(at);
        if conn.meter != NONE {
            self.probes.delivered(conn.meter, at, to.end() == 1, packet);
            if self.probes.logs() {
                self.log_arrival(at, to, packet);
            }
        }
        if packet.sacks == NO_SACKS {
            self.with_endpoint(at, to, |end, group, now, out| {
                end.on_segment(group, now, packet, out);
            });
        } else {
            self.deliver_more(at, to, packet);
        }
        if self.conns[place].done {
            self.tidy(at, place);
        }
    }

    /// A packet reaches an end that may be logged.
    #[cold]
    fn log_arrival(&mut self, at: Time, to: EndId, packet: &Packet) {
        let conn = &self.conns[to.conn()];
        let (end, group) = (to.end(), &self.groups[usize::from(conn.group)]);
        let of = Subject { end, generation: conn.generation, endpoint: &conn.ends[end], group };
        let segment = &packet.segment;
        if packet.is_quic() {
            let (packets, count) = self.net.quic.peek(packet.sacks);
            let arrival = Arrival::Datagram(segment.ecn, &packets[..count]);
            self.probes.arrived(conn.meter, at, of, &arrival);
        } else {
            let blocks = self.net.sacks.get(packet);
            let arrival = Arrival::Segment(segment, &blocks[..segment.blocks()]);
            self.probes.arrived(conn.meter, at, of, &arrival);
        }
    }

    /// The same for a packet with something beside it: SACK blocks, or the packets of QUIC.
    #[cold]
    fn deliver_more(&mut self, at: Time, to: EndId, packet: &Packet) {
        self.with_endpoint(at, to, |end, group, now, out| end.on_packet(group, now, packet, out));
    }

    /// Calls an endpoint, and does what follows: timers, and telling the application.
    #[inline(always)]
    pub(crate) fn with_endpoint(
        &mut self,
        at: Time,
        of: EndId,
        call: impl FnOnce(&mut End, &Group, Time, &mut Out<'_>),
    ) {
        let end = of.end();
        let conn = &mut self.conns[of.conn()];
        let group = &mut self.groups[usize::from(conn.group)];
        let Connection { ends, sides, .. } = conn;
        let mut out = Out {
            net: &mut self.net,
            side: &mut sides[end],
            group,
            at,
            peer: of.peer(),
            serial: conn.generation,
            segments: ends[end].packets_sent(),
            round_trip: None,
            sent: 0,
            direct: 0,
            delivered: 0,
            notes: Notes::default(),
        };
        call(&mut ends[end], group, at, &mut out);
        let Out { round_trip, sent, direct, delivered, mut notes, .. } = out;
        if let Some(sample) = round_trip
            && group.book.measuring()
        {
            group.book.rtt.record(sample.0);
        }
        conn.in_flight += sent;
        conn.sides[end ^ 1].wait_for(direct);
        let deadline = conn.ends[end].deadline();
        let side = &mut conn.sides[end];
        let entered = side.timer_at;
        if conn.meter != NONE && end == 0 {
            self.probes.sender(conn.meter, at, round_trip, &conn.ends[0]);
        }
        if delivered > 0 && side.expect != u64::MAX {
            if end == 0 && conn.awaits_first {
                conn.awaits_first = false;
                self.exchanges[of.conn() as usize].exchange.first_byte = at;
            }
            side.expect = side.expect.saturating_sub(delivered);
            if side.expect == 0 {
                side.expect = u64::MAX;
                notes |= Notes::COMPLETE;
            }
        }
        if !notes.is_empty() {
            if notes.take(Notes::CONNECTED) {
                self.connected[of.conn() as usize] = at;
            }
            if !notes.is_empty() {
                side.wait_for(1);
                self.net.wheel.push(at, Event::Notify { of, notes });
            }
        }
        if deadline < entered {
            self.timers.take_out(of, entered);
            self.look_at(at, of, deadline);
        }
        if self.net.logs() {
            self.log_call(at, of, round_trip);
        }
    }

    /// An end that may be logged was called.
    #[cold]
    #[inline(never)]
    fn log_call(&mut self, at: Time, of: EndId, round_trip: Option<Time>) {
        let Some(doings) = &mut self.net.doings else { return };
        let conn = &self.conns[of.conn()];
        let (end, group) = (of.end(), &self.groups[usize::from(conn.group)]);
        let subject =
            Subject { end, generation: conn.generation, endpoint: &conn.ends[end], group };
        self.probes.called(conn.meter, at, subject, round_trip, doings);
        doings.clear();
    }

    /// A turn of the timers begins: those that are due in it become events, if they have not moved.
    #[cold]
    fn begin_turn(&mut self) {
        let (mut next, begins) = self.timers.begin_turn();
        while let Some(of) = next {
            next = self.timers.behind(of);
            let deadline = self.conns[of.conn()].ends[of.end()].deadline();
            self.look_at(begins, of, deadline);
        }
    }

    /// Has the timers of an endpoint looked at when they are due next; there is no event for that,
    /// nor are they in a list.
    fn look_at(&mut self, now: Time, of: EndId, deadline: Time) {
        let conn = &mut self.conns[of.conn()];
        conn.sides[of.end()].timer_at = deadline;
        if deadline != Time::MAX && !self.timers.enter(now, of, deadline) {
            self.net.wheel.push(deadline, Event::Timer { of, generation: conn.generation });
        }
    }

    /// A timer may be due. Deadlines move with every acknowledgement, events do not: an event that
    /// comes too early looks again later.
    pub(crate) fn timer(&mut self, now: Time, of: EndId, generation: u32) {
        let end = of.end();
        let conn = &mut self.conns[of.conn()];
        if conn.generation != generation || conn.sides[end].timer_at != now {
            return;
        }
        let deadline = conn.ends[end].deadline();
        if deadline > now {
            return self.look_at(now, of, deadline);
        }
        conn.sides[end].timer_at = Time::MAX;
        self.with_endpoint(now, of, End::on_timer);
    }

    /// The queues are sampled.
    pub(crate) fn sample(&mut self, now: Time) {
        if let Some(interval) = self.probes.links.interval() {
            self.probes.links.sample(now, &mut self.net.links);
            self.net.wheel.push(now + interval, Event::Sample);
        }
    }

    /// A boundary of a measurement has been reached.
    pub(crate) fn pass_boundary(&mut self, now: Time) {
        self.boundaries.retain(|&at| at > now);
        self.set_boundary();
    }

    /// Finds the instant that no endpoint may run ahead of.
    pub(crate) fn set_boundary(&mut self) {
        self.boundary = self.boundaries.iter().copied().min().unwrap_or(self.pause).min(self.pause);
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
        if conn.meter != NONE {
            self.probes.lost(conn.meter);
        }
        self.tidy(now, packet.conn);
    }

    /// Has a connection's place given back if nothing refers to it any more. That happens at the
    /// time of the last thing that did, so that places, which order simultaneous events, do not
    /// depend on what was handled ahead of its time.
    pub(crate) fn tidy(&mut self, now: Time, place: u32) {
        let conn = &self.conns[place];
        if conn.over() {
            let (at, generation) = (conn.last.max(now), conn.generation);
            self.net.wheel.push(at, Event::Retire { conn: place, generation });
        }
    }

    /// Keeps what a connection has counted and frees its place, if nothing refers to it.
    pub(crate) fn retire(&mut self, place: u32, generation: u32) {
        let conn = &self.conns[place];
        if conn.generation != generation || !conn.over() {
            return;
        }
        *self.groups[usize::from(conn.group)].book.account(conn.member) += conn.totals();
        for of in [EndId::client(place), EndId::server(place)] {
            self.timers.take_out(of, conn.sides[of.end()].timer_at);
        }
        self.conns.remove(place);
    }

    /// Opens a connection for `member` of `group`; its data come from end `data_from`.
    pub(crate) fn connect(&mut self, group: usize, member: u32, data_from: usize) -> u32 {
        self.connect_to(group, member, data_from, 0)
    }

    /// The same to one of the member's servers.
    pub(crate) fn connect_to(
        &mut self,
        group: usize,
        member: u32,
        data_from: usize,
        server: u8,
    ) -> u32 {
        let g = &self.groups[group];
        self.opened = self.opened.wrapping_add(1);
        // Sequence numbers start anywhere, so that they wrap somewhere in most runs.
        let mut iss = g.stream(Kind::Sequence, u64::from(self.opened));
        let ends = End::pair(g, [iss.next_u32(), iss.next_u32()]);
        let mut sides = g.sides(u64::from(member), data_from, server);
        let meter = g.meter_of(member);
        if self.probes.traces(meter) {
            sides[0].record();
        }
        if self.probes.keeps_log(meter) {
            sides.iter_mut().for_each(Side::record);
        }
        let place = self.conns.insert(Connection {
            in_flight: 0,
            done: false,
            awaits_first: false,
            slot: 0,
            group: group as u16,
            member,
            last: Time::ZERO,
            generation: 0,
            meter,
            sides,
            ends,
        });
        assert!(place < DATAGRAM, "too many connections at once");
        self.timers.make_room(place);
        if self.exchanges.len() <= place as usize {
            self.exchanges.resize(place as usize + 1, Underway::default());
            self.connected.resize(place as usize + 1, Time::ZERO);
        }
        self.connected[place as usize] = Time::ZERO;
        self.exchanges[place as usize] = Underway::default();
        place
    }

    /// The application at one end writes.
    pub(crate) fn write(&mut self, now: Time, of: EndId, bytes: u64) {
        self.with_endpoint(now, of, |e, group, now, out| e.write(group, now, bytes, out));
    }

    /// The application at one end has no more to send.
    pub(crate) fn close(&mut self, now: Time, of: EndId) {
        self.with_endpoint(now, of, End::close);
    }

    /// The client opens.
    pub(crate) fn open(&mut self, now: Time, place: u32) {
        let client = EndId::client(place);
        self.with_endpoint(now, client, End::open);
    }

    /// The application at one end writes all of some streams.
    pub(crate) fn write_all(&mut self, now: Time, of: EndId, whole: &[(u32, u64)]) {
        self.with_endpoint(now, of, |e, group, now, out| e.write_all(group, now, whole, out));
    }

    /// Says when a stream of a QUIC connection is sent among the others of the same end.
    pub(crate) fn prioritise(&mut self, of: EndId, stream: u32, priority: Priority) {
        let conn = &mut self.conns[of.conn()];
        let group = &self.groups[usize::from(conn.group)];
        conn.ends[of.end()].prioritise(group, stream, priority);
    }

    /// Opens a stream of a client's QUIC connection; its ID.
    pub(crate) fn open_stream(&mut self, client: EndId) -> u32 {
        let conn = &mut self.conns[client.conn()];
        conn.ends[client.end()].open_stream(&self.groups[usize::from(conn.group)])
    }

    /// The application at one end waits until so many bytes have come in all, or for none. Of what
    /// has come already, ahead of its time, it is about to be told.
    pub(crate) fn expect(&mut self, of: EndId, in_all: Option<u64>) {
        let conn = &mut self.conns[of.conn()];
        let delivered = conn.ends[of.end()].bytes_delivered();
        let left = in_all.map_or(0, |in_all| in_all.saturating_sub(delivered));
        conn.sides[of.end()].expect = if left == 0 { u64::MAX } else { left };
    }

    /// An exchange or a transfer begins on a connection that has one at a time.
    pub(crate) fn begin_exchange(&mut self, place: u32, exchange: Exchange) {
        self.exchanges[place as usize] = self.begin(place, exchange);
        self.conns[place].awaits_first = true;
    }

    /// An exchange begins, one of those on a connection.
    pub(crate) fn begin(&mut self, place: u32, mut exchange: Exchange) -> Underway {
        let conn = &self.conns[place];
        self.groups[usize::from(conn.group)].book.begin(&mut exchange, conn.totals());
        Underway { exchange, active: true }
    }

    /// The exchange or transfer on a connection ends at `now`, well or not.
    pub(crate) fn end_exchange(&mut self, now: Time, place: u32, outcome: Outcome) {
        let Self { conns, groups, probes, exchanges, connected, .. } = self;
        let at = place as usize;
        end(&conns[place], groups, probes, (now, connected[at]), &mut exchanges[at], outcome);
    }

    /// One of the exchanges on a connection ends, if it is under way.
    pub(crate) fn end(&mut self, now: Time, place: u32, underway: &mut Underway, outcome: Outcome) {
        let Self { conns, groups, probes, connected, .. } = self;
        let times = (now, connected[place as usize]);
        end(&conns[place], groups, probes, times, underway, outcome);
    }

    /// A user's page ends.
    pub(crate) fn page_ends(&mut self, now: Time, (group, user): Member, page: &PageEnded) {
        let recorder = &mut self.probes.links.recorder;
        self.groups[group].book.page_ends(user, page, now, recorder);
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

/// An exchange ends at `now`; its connection was open at `connected`.
fn end(
    conn: &Connection,
    groups: &mut [Group],
    probes: &mut Probes,
    (now, connected): (Time, Time),
    underway: &mut Underway,
    outcome: Outcome,
) {
    if std::mem::take(&mut underway.active) {
        let exchange = &mut underway.exchange;
        exchange.requested = exchange.requested.max(connected);
        let book = &mut groups[usize::from(conn.group)].book;
        let counted = (conn.member, conn.totals());
        book.end(exchange, counted, now, outcome, &mut probes.links.recorder);
    }
}
