//! The books: what every group has begun, finished and counted, as the simulator defines it
//! (docs/measures.md).

use super::connection::{Connection, Exchange, Key, SERVER, Totals};
use super::sys;
use sojourn_base::Time;
use sojourn_records::{
    CoarseHistogram, ExchangeRow, FlowId, GroupId, Histogram, Outcome, Recorder, TraceRow,
    TransferRow,
};
use sojourn_scenario::Network;
use sojourn_traffic::Source;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a group counts in the measured window, and since the start.
#[derive(Default)]
pub struct GroupBook {
    /// Whether its exchanges are those of web users.
    web: bool,
    /// Smoothed round trips.
    pub rtt: Histogram,
    /// Response times of what began and finished in the window.
    pub response: Histogram,
    /// Begun in the window.
    pub started: u64,
    /// Finished in the window.
    pub finished: u64,
    /// Given up in the window.
    pub failed: u64,
    /// Begun in the window and under way at the end.
    pub censored: u64,
    /// Of connections that are gone, for each member of a group of flows, else for all together.
    retired: Vec<Totals>,
    /// The same with open ones, when the window began.
    at_start: Vec<Totals>,
    /// And at the end of the run.
    at_end: Vec<Totals>,
    /// For each flow: its round trips.
    pub flow_rtt: Vec<CoarseHistogram>,
}

impl GroupBook {
    fn place(&self, member: u32) -> usize {
        (member as usize).min(self.retired.len() - 1)
    }
}

/// All that is counted.
pub struct Books {
    measuring: bool,
    over: bool,
    knows_timeouts: bool,
    /// For each group.
    pub groups: Vec<GroupBook>,
    connections: BTreeMap<Key, Arc<Connection>>,
    /// Where rows go.
    pub recorder: Recorder,
    /// What went wrong that no network can be blamed for; the first.
    fault: Option<String>,
}

/// The books, shared by all threads.
pub struct Ledger {
    books: Mutex<Books>,
    /// For each group, whether its time is over.
    stopped: Vec<AtomicBool>,
}

impl Ledger {
    /// Empty books.
    pub fn new(network: &Network, recorder: Recorder) -> Self {
        let group = |group: &sojourn_scenario::NetworkGroup| {
            let flows = matches!(group.source, Source::Bulk(_)).then_some(group.members as usize);
            GroupBook {
                web: matches!(group.source, Source::Web(_)),
                retired: vec![Totals::default(); flows.unwrap_or(1).max(1)],
                flow_rtt: vec![CoarseHistogram::new(); flows.unwrap_or(0)],
                ..GroupBook::default()
            }
        };
        Self {
            books: Mutex::new(Books {
                measuring: false,
                over: false,
                knows_timeouts: sys::knows_timeouts(),
                groups: network.groups.iter().map(group).collect(),
                connections: BTreeMap::new(),
                recorder,
                fault: None,
            }),
            stopped: network.groups.iter().map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// The books, for a moment.
    pub fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a group begins nothing new.
    pub fn is_stopped(&self, group: usize) -> bool {
        self.stopped[group].load(Relaxed)
    }

    /// A group's time is over.
    pub fn stop_group(&self, group: usize) {
        self.stopped[group].store(true, Relaxed);
    }

    /// A connection is about to be opened.
    pub fn open(&self, group: usize, member: u32, key: Key) -> Arc<Connection> {
        let connection = Arc::new(Connection::new(group, member, key));
        self.books().connections.insert(key, Arc::clone(&connection));
        connection
    }

    /// The connection that a server has accepted.
    pub fn find(&self, key: Key) -> Option<Arc<Connection>> {
        self.books().connections.get(&key).map(Arc::clone)
    }

    /// One end of a connection is done; with the second the connection goes.
    pub fn retire(&self, connection: &Connection, end: usize) {
        // The books first, then the connection: always in this order.
        let mut books = self.books();
        let mut state = connection.state();
        state.retire(end);
        if state.ends.iter().all(Option::is_none) {
            let counted = std::mem::take(&mut state.retired);
            drop(state);
            if books.connections.remove(&connection.key).is_some() {
                let book = &mut books.groups[connection.group];
                let place = book.place(connection.member);
                book.retired[place] += counted;
            }
        }
    }

    /// An exchange or a transfer begins; as it stands in the books.
    pub fn begin(&self, connection: &Connection, mut exchange: Exchange) -> Exchange {
        let mut books = self.books();
        exchange.counts = books.measuring;
        books.groups[connection.group].started += u64::from(books.measuring);
        drop(books);
        let mut state = connection.state();
        exchange.before = state.totals();
        state.exchange = Some(exchange);
        exchange
    }

    /// The first byte of the response is there.
    pub fn first_byte(&self, connection: &Connection, now: u64) {
        if let Some(exchange) = &mut connection.state().exchange {
            exchange.first_byte = now;
        }
    }

    /// What was under way on a connection ends at `now`, well or not.
    pub fn end(&self, connection: &Connection, now: u64, outcome: Outcome) {
        let mut books = self.books();
        if !books.over {
            books.end(connection, now, outcome);
        }
    }

    /// Something is wrong with the hosts, not with the network.
    pub fn fault(&self, what: impl Into<String>) {
        let mut books = self.books();
        if !books.over {
            books.fault.get_or_insert(what.into());
        }
    }

    /// What went wrong, if anything did.
    pub fn take_fault(&self) -> Option<String> {
        self.books().fault.take()
    }
}

impl Books {
    /// Whether the window is on.
    pub fn measuring(&self) -> bool {
        self.measuring && !self.over
    }

    fn end(&mut self, connection: &Connection, now: u64, outcome: Outcome) {
        let mut state = connection.state();
        let Some(exchange) = state.exchange.take() else { return };
        let spent = state.totals().since(&exchange.before);
        // The end that sends most knows the round trip.
        let sender = &state.ends[if self.groups[connection.group].web { SERVER } else { 0 }];
        let srtt = sender.as_ref().map_or(0, |end| end.info().srtt_us);
        drop(state);
        let measuring = self.measuring;
        let book = &mut self.groups[connection.group];
        let took = now.saturating_sub(exchange.started);
        match outcome {
            Outcome::Finished => {
                book.finished += u64::from(measuring);
                if exchange.counts {
                    book.response.record(took);
                }
            }
            Outcome::Failed => book.failed += u64::from(measuring),
            Outcome::Censored => book.censored += u64::from(exchange.counts),
        }
        if measuring && srtt > 0 {
            book.rtt.record(u64::from(srtt) * 1000);
        }
        let finished = (outcome == Outcome::Finished).then_some(Time(now));
        let [timeouts, retransmissions, syn_retries] =
            [spent.timeouts, spent.retransmissions, spent.syn_retries].map(|n| n as u32);
        let group = GroupId(connection.group as u32);
        if book.web {
            self.recorder.push(ExchangeRow {
                group,
                user: connection.member,
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
            self.recorder.push(TransferRow {
                group,
                index: u64::from(connection.member),
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

    /// The measured window begins: everything counted so far lies before it.
    pub fn start_window(&mut self) {
        self.measuring = true;
        for group in 0..self.groups.len() {
            self.groups[group].at_start = self.totals(group);
        }
    }

    /// The run is over at `now`: what is under way is censored, and nothing is counted any more.
    pub fn finish(&mut self, now: u64) {
        let connections: Vec<_> = self.connections.values().map(Arc::clone).collect();
        for connection in connections {
            self.end(&connection, now, Outcome::Censored);
        }
        for group in 0..self.groups.len() {
            self.groups[group].at_end = self.totals(group);
        }
        self.over = true;
    }

    /// What a group has counted since the start of the run: for each flow of a group of flows,
    /// else in one.
    fn totals(&self, group: usize) -> Vec<Totals> {
        let book = &self.groups[group];
        let mut totals = book.retired.clone();
        for connection in self.connections.values().filter(|c| c.group == group) {
            totals[book.place(connection.member)] += connection.totals();
        }
        totals
    }

    /// What a group has counted in the window, likewise, after its end.
    pub fn in_window(&self, group: usize) -> Vec<Totals> {
        let GroupBook { at_start, at_end, .. } = &self.groups[group];
        at_end.iter().zip(at_start).map(|(end, start)| end.since(start)).collect()
    }

    /// Whether this kernel counts timeouts: from Linux 6.7 on.
    pub fn knows_timeouts(&self) -> bool {
        self.knows_timeouts
    }

    /// Connections that are open at one end at least.
    pub fn open_connections(&self) -> usize {
        self.connections.len()
    }

    /// Takes the smoothed round trips of all flows that send without end.
    pub fn sample_round_trips(&mut self) {
        if !self.measuring() {
            return;
        }
        for connection in self.connections.values() {
            let book = &mut self.groups[connection.group];
            if book.flow_rtt.is_empty() {
                continue;
            }
            let srtt = connection.state().ends[0].as_ref().map_or(0, |end| end.info().srtt_us);
            if srtt > 0 {
                book.rtt.record(u64::from(srtt) * 1000);
                book.flow_rtt[connection.member as usize].record(u64::from(srtt) * 1000);
            }
        }
    }

    /// A row for each traced flow that has a connection.
    pub fn trace(&mut self, now: u64, traced: &[(usize, u32)]) {
        for (flow, &(group, member)) in traced.iter().enumerate() {
            let mut connections = self.connections.values();
            let found = connections.find(|c| c.group == group && c.member == member);
            let end = found.and_then(|c| c.state().ends[0].clone());
            let Some(end) = end else { continue };
            let info = end.info();
            self.recorder.push(TraceRow {
                time_s: Time(now),
                flow: FlowId(flow as u32),
                cwnd_bytes: u64::from(info.cwnd) * u64::from(info.mss),
                ssthresh_bytes: info.ssthresh_bytes(),
                srtt_s: (info.srtt_us > 0).then(|| Time(u64::from(info.srtt_us) * 1000)),
                in_flight_bytes: info.in_flight_bytes(),
            });
        }
    }
}
