//! Applications: who opens connections, writes, and is told of what arrives.
//!
//! A member of a group is a flow, a user, or a source of transfers. Members act when an event of
//! theirs comes; connections tell of their progress by notes ([`crate::net::note`]).

mod datagram;
mod transfer;
mod web;

pub use datagram::{Datagrams, Probe, Received, Sources};
pub use transfer::{Feed, Flows, Paced, Transfers, Written};
pub use web::Users;

use crate::connection::{Connection, NONE};
use crate::group::{Group, Totals};
use crate::interface::{Access, cross};
use crate::net::{ID_BITS, Net, kind, note, tag};
use crate::sim::Sim;
use sojourn_base::Time;
use sojourn_records::{ExchangeRow, GroupId, Outcome, TransferRow};
use sojourn_tcp::Endpoint;

/// Why a member's event was scheduled: the member starts.
pub const START: u32 = 0;
/// Why a member's event was scheduled: a time that it asked for.
pub const GO_ON: u32 = 1;
/// Why a member's event was scheduled: its application writes.
pub const WRITE: u32 = 2;

/// What a group runs.
#[expect(clippy::large_enum_variant, reason = "a scenario has a handful of groups")]
pub enum App {
    /// Endless, finite or repeated transfers, one after another per member.
    Flows(Flows),
    /// Transfers that arrive whatever the network does: drawn, or read from a file.
    Transfers(Transfers),
    /// Web users.
    Users(Users),
    /// Datagrams that nobody answers.
    Datagrams(Datagrams),
    /// Small requests that are answered at once.
    Probe(Probe),
}

/// An exchange or a transfer under way on a connection. It lies beside the connection, because
/// endless flows have none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exchange {
    pub active: bool,
    /// Whether it began in the measured window.
    pub counts: bool,
    /// Which of the user's connections.
    pub slot: u8,
    pub started: u64,
    /// When the first byte of the response came; 0 before.
    pub first_byte: u64,
    pub request: u32,
    pub response: u64,
    pub server_delay: u64,
    /// Retransmissions, timeouts and SYN retries of the connection when it began.
    before: [u32; 3],
}

fn troubles(ends: &[Endpoint; 2]) -> [u32; 3] {
    let sum = |f: fn(&Endpoint) -> u64| (f(&ends[0]) + f(&ends[1])) as u32;
    [sum(Endpoint::retransmissions), sum(Endpoint::timeouts), sum(Endpoint::syn_retries)]
}

/// All applications, and the exchanges on connections by their place.
#[derive(Default)]
pub struct Apps {
    pub apps: Vec<App>,
    pub exchanges: Vec<Exchange>,
    opened: u32,
}

impl Apps {
    /// The group of a member, by the members' numbers.
    fn group_of(groups: &[Group], member: u32) -> usize {
        groups.partition_point(|group| group.first_member <= member) - 1
    }

    /// A datagram reaches its host's interface at `at`; when it has crossed it. None if that cannot
    /// be told yet, `ahead` of its time.
    pub fn reach_host(
        &mut self,
        groups: &[Group],
        net: &mut Net,
        at: u64,
        packet: &crate::packet::Packet,
        end: usize,
        ahead: bool,
    ) -> Option<u64> {
        let member = packet.conn & !crate::packet::DATAGRAM;
        let group = Self::group_of(groups, member);
        let index = (member - groups[group].first_member) as usize;
        let side = match &mut self.apps[group] {
            App::Datagrams(app) => &mut app.sides[index][end],
            App::Probe(app) => &mut app.sides[index][end],
            _ => return Some(at),
        };
        let bytes = packet.ip_bytes();
        match &groups[group].access {
            Access::Unlimited => Some(at),
            Access::Private(link) => {
                Some(cross(link, at, bytes, &mut side.in_free, &mut side.in_carry))
            }
            Access::Shared(_) if ahead => None,
            Access::Shared(link) => {
                let interface = &mut net.interfaces[side.in_interface()];
                Some(cross(link, at, bytes, &mut interface.free, &mut interface.carry))
            }
        }
    }
}

impl Sim {
    /// Opens a connection for `member` of `group`; its data come from end `data_from`.
    pub fn connect(&mut self, group: usize, member: u32, data_from: usize) -> u32 {
        let g = &self.groups[group];
        self.apps.opened = self.apps.opened.wrapping_add(1);
        // Sequence numbers start anywhere, so that they wrap somewhere in most runs.
        let mut iss = g.stream(sojourn_base::Kind::Sequence, u64::from(self.apps.opened));
        let ends =
            [Endpoint::client(&g.tcp, iss.next_u32()), Endpoint::server(&g.tcp, iss.next_u32())];
        let place = self.conns.insert(Connection {
            in_flight: 0,
            done: false,
            group: group as u16,
            member,
            last: 0,
            generation: 0,
            meter: NONE,
            sides: g.sides(u64::from(member), data_from),
            ends,
        });
        assert!(place < crate::packet::DATAGRAM, "too many connections at once");
        if self.apps.exchanges.len() <= place as usize {
            self.apps.exchanges.resize(place as usize + 1, Exchange::default());
        }
        self.apps.exchanges[place as usize] = Exchange::default();
        place
    }

    /// An event of a member.
    pub fn member(&mut self, now: u64, member: u32, aux: u32) {
        let group = Apps::group_of(&self.groups, member);
        if self.groups[group].stopped {
            return;
        }
        let index = member - self.groups[group].first_member;
        match &self.apps.apps[group] {
            App::Flows(_) if aux == WRITE => self.write_flow(now, group, index),
            App::Flows(_) => self.start_flow(now, group, index),
            App::Transfers(_) => self.start_transfers(now, group),
            App::Users(_) => self.wake_user(now, group, index, aux),
            App::Datagrams(_) => self.send_datagram(now, group, index),
            App::Probe(_) => self.send_probe(now, group, index),
        }
    }

    /// A group's time is over: flows send what is under way and no more.
    pub fn stop_group(&mut self, now: u64, group: usize) {
        self.groups[group].stopped = true;
        if matches!(self.apps.apps[group], App::Flows(_)) {
            for place in self.conns.places() {
                if usize::from(self.conns[place].group) == group {
                    self.with_endpoint(now, place << 1, |e, params, now, out| {
                        e.cut(params, now, out);
                    });
                }
            }
        }
    }

    /// Schedules the next event of a member.
    pub fn call_member(&mut self, at: u64, group: usize, index: u32, aux: u32) {
        let member = self.groups[group].first_member + index;
        debug_assert!(member < 1 << ID_BITS);
        self.net.schedule(at, tag(kind::MEMBER, member), aux);
    }

    /// An endpoint has something to tell its application.
    pub fn notify(&mut self, now: u64, id: u32, notes: u32) {
        let (place, end) = (id >> 1, (id & 1) as usize);
        let group = usize::from(self.conns[place].group);
        if notes & (note::CLOSED | note::FAILED) != 0 {
            let conn = &mut self.conns[place];
            conn.done = notes & note::FAILED != 0 || conn.ends.iter().all(Endpoint::is_closed);
        }
        match &self.apps.apps[group] {
            App::Flows(_) | App::Transfers(_) => self.transfer_note(now, place, end, notes),
            App::Users(_) => self.web_note(now, place, end, notes),
            App::Datagrams(_) | App::Probe(_) => {}
        }
    }

    /// The application at one end writes.
    pub fn write(&mut self, now: u64, place: u32, end: usize, bytes: u64) {
        self.with_endpoint(now, place << 1 | end as u32, |e, params, now, out| {
            e.write(params, now, bytes, out);
        });
    }

    /// The application at one end has no more to send.
    pub fn close(&mut self, now: u64, place: u32, end: usize) {
        self.with_endpoint(now, place << 1 | end as u32, |e, params, now, out| {
            e.close(params, now, out);
        });
    }

    /// The client opens.
    pub fn open(&mut self, now: u64, place: u32) {
        self.with_endpoint(now, place << 1, |e, params, now, out| e.open(params, now, out));
    }

    /// An exchange or a transfer begins on a connection.
    pub fn begin_exchange(&mut self, place: u32, mut exchange: Exchange) {
        let conn = &self.conns[place];
        exchange.active = true;
        exchange.counts = self.measuring;
        exchange.before = troubles(&conn.ends);
        self.groups[usize::from(conn.group)].stats.started += u64::from(self.measuring);
        self.apps.exchanges[place as usize] = exchange;
    }

    /// The exchange or transfer on a connection ends at `now`, well or not.
    pub fn end_exchange(&mut self, now: u64, place: u32, outcome: Outcome) {
        let exchange = &mut self.apps.exchanges[place as usize];
        if !std::mem::take(&mut exchange.active) {
            return;
        }
        let exchange = *exchange;
        let conn = &self.conns[place];
        let group = u32::from(conn.group);
        let stats = &mut self.groups[group as usize].stats;
        let took = now - exchange.started;
        match outcome {
            Outcome::Finished => {
                stats.finished += u64::from(self.measuring);
                if exchange.counts {
                    stats.response.record(took);
                }
            }
            Outcome::Failed => stats.failed += u64::from(self.measuring),
            Outcome::Censored => stats.censored += u64::from(exchange.counts),
        }
        let finished = (outcome == Outcome::Finished).then_some(Time(now));
        let after = troubles(&conn.ends);
        let [retransmissions, timeouts, syn_retries] =
            std::array::from_fn(|kind| after[kind] - exchange.before[kind]);
        let recorder = &mut self.probes.recorder;
        if matches!(self.apps.apps[group as usize], App::Users(_)) {
            recorder.push(ExchangeRow {
                group: GroupId(group),
                user: conn.member,
                started_s: Time(exchange.started),
                first_byte_s: (exchange.first_byte > 0).then_some(Time(exchange.first_byte)),
                finished_s: finished,
                request_bytes: u64::from(exchange.request),
                response_bytes: exchange.response,
                response_time_s: finished.map(|_| Time(took)),
                timeouts,
                retransmissions,
                syn_retries,
                outcome,
            });
        } else {
            recorder.push(TransferRow {
                group: GroupId(group),
                index: u64::from(conn.member),
                started_s: Time(exchange.started),
                finished_s: finished,
                bytes: exchange.response,
                duration_s: finished.map(|_| Time(took)),
                timeouts,
                retransmissions,
                syn_retries,
                outcome,
            });
        }
    }

    /// Keeps what a connection has counted and frees its place, if nothing refers to it.
    pub fn retire(&mut self, place: u32, generation: u32) {
        let conn = &self.conns[place];
        if conn.generation != generation || !conn.over() {
            return;
        }
        let group = usize::from(conn.group);
        self.groups[group].stats.retired.add(conn);
        if let App::Flows(flows) = &mut self.apps.apps[group] {
            flows.retired[conn.member as usize].add(conn);
        }
        self.conns.remove(place);
    }

    /// What each group has counted since the start of the run.
    pub fn totals(&self) -> Vec<Totals> {
        let mut totals: Vec<Totals> = self.groups.iter().map(|g| g.stats.retired).collect();
        for (_, conn) in self.conns.iter() {
            totals[usize::from(conn.group)].add(conn);
        }
        for (total, app) in totals.iter_mut().zip(&self.apps.apps) {
            if let App::Datagrams(app) = app {
                total.delivered = app.delivered;
            }
        }
        totals
    }
}
