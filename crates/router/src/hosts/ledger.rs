//! The books: what every group has begun, finished and counted, as the simulator defines it
//! (docs/reference/measures.md).

use super::connection::{CLIENT, Connection, Key, Path, SERVER};
use super::receipts::Receipts;
use super::sys;
use sojourn_base::Time;
use sojourn_records::{
    CoarseHistogram, Exchange, FlowId, GroupBook, Outcome, Recorder, Totals, TraceRow,
};
use sojourn_scenario::Network;
use sojourn_traffic::{PageEnded, Source};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is counted of a group.
pub struct Group {
    /// What every engine counts.
    pub book: GroupBook,
    /// Whether its servers, not its clients, send most.
    servers_send: bool,
    /// For each flow: its round trips.
    pub flow_rtt: Vec<CoarseHistogram>,
}

/// All that is counted.
pub struct Books {
    over: bool,
    knows_timeouts: bool,
    /// For each group.
    pub groups: Vec<Group>,
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
        let group = |(number, group): (usize, &sojourn_scenario::NetworkGroup)| {
            let flows = matches!(group.source, Source::Bulk(_)).then_some(group.members as usize);
            Group {
                book: GroupBook::new(number, group),
                servers_send: matches!(group.source, Source::Web(_) | Source::Video(_)),
                flow_rtt: vec![CoarseHistogram::new(); flows.unwrap_or(0)],
            }
        };
        Self {
            books: Mutex::new(Books {
                over: false,
                knows_timeouts: sys::knows_timeouts(),
                groups: network.groups.iter().enumerate().map(group).collect(),
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

    /// A group's time is over at `now`.
    pub fn stop_group(&self, group: usize, now: Time) {
        self.stopped[group].store(true, Relaxed);
        self.books().groups[group].book.stop(now);
    }

    /// Counts something of a group whose time is not over.
    pub fn count(&self, group: usize, what: impl FnOnce(&mut GroupBook)) {
        if !self.is_stopped(group) {
            what(&mut self.books().groups[group].book);
        }
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
                let book = &mut books.groups[connection.group].book;
                *book.account(connection.member) += counted;
            }
        }
    }

    /// An exchange or a transfer begins; as it stands in the books.
    pub fn begin(&self, connection: &Connection, mut exchange: Exchange) -> Exchange {
        let before = connection.totals();
        self.books().groups[connection.group].book.begin(&mut exchange, before);
        connection.state().exchange = Some(exchange);
        exchange
    }

    /// The same on a stream of a connection that several share.
    pub fn begin_stream(
        &self,
        connection: &Connection,
        stream: u16,
        mut exchange: Exchange,
    ) -> Exchange {
        let before = connection.totals();
        self.books().groups[connection.group].book.begin(&mut exchange, before);
        connection.state().streams.insert(stream, exchange);
        exchange
    }

    /// The request of a stream goes out.
    pub fn requested_of(&self, connection: &Connection, stream: u16, now: Time) {
        if let Some(exchange) = connection.state().streams.get_mut(&stream) {
            exchange.requested = now;
        }
    }

    /// When the first byte of a stream's response came.
    pub fn first_byte_of(&self, connection: &Connection, stream: u16, at: Time) {
        if let Some(exchange) = connection.state().streams.get_mut(&stream) {
            exchange.first_byte = at;
        }
    }

    /// What was under way on a stream ends at `now`, well or not.
    pub fn end_stream(&self, connection: &Connection, stream: u16, now: Time, outcome: Outcome) {
        let mut books = self.books();
        let ended = connection.state().streams.remove(&stream);
        if let Some(exchange) = ended.filter(|_| !books.over) {
            books.ended(connection, exchange, now, outcome);
        }
    }

    /// What was under way on all streams of a connection ends at `now`.
    pub fn end_streams(&self, connection: &Connection, now: Time, outcome: Outcome) {
        let mut books = self.books();
        if !books.over {
            books.end_streams(connection, now, outcome);
        }
    }

    /// The request goes out, over a connection that is open.
    pub fn requested(&self, connection: &Connection, now: Time) {
        if let Some(exchange) = &mut connection.state().exchange {
            exchange.requested = now;
        }
    }

    /// A user's page ends.
    pub fn page_ends(&self, group: usize, member: u32, page: &PageEnded, now: Time) {
        if !self.is_stopped(group) {
            let Books { groups, recorder, .. } = &mut *self.books();
            groups[group].book.page_ends(member, page, now, recorder);
        }
    }

    /// The first byte of the response is there.
    pub fn first_byte(&self, connection: &Connection, now: Time) {
        if let Some(exchange) = &mut connection.state().exchange {
            exchange.first_byte = now;
        }
    }

    /// What was under way on a connection ends at `now`, well or not.
    pub fn end(&self, connection: &Connection, now: Time, outcome: Outcome) {
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
    fn end(&mut self, connection: &Connection, now: Time, outcome: Outcome) {
        let ended = connection.state().exchange.take();
        if let Some(exchange) = ended {
            self.ended(connection, exchange, now, outcome);
        }
    }

    fn end_streams(&mut self, connection: &Connection, now: Time, outcome: Outcome) {
        let ended = std::mem::take(&mut connection.state().streams);
        for exchange in ended.into_values() {
            self.ended(connection, exchange, now, outcome);
        }
    }

    /// An exchange has ended that was under way on a connection.
    fn ended(&mut self, connection: &Connection, exchange: Exchange, now: Time, outcome: Outcome) {
        let state = connection.state();
        let after = state.totals();
        let Group { book, servers_send, .. } = &mut self.groups[connection.group];
        // The end that sends most knows the round trip.
        let sender = &state.ends[if *servers_send { SERVER } else { CLIENT }];
        let srtt = sender.as_ref().and_then(|end| end.srtt());
        drop(state);
        if let Some(Time(srtt)) = srtt.filter(|_| book.measuring()) {
            book.rtt.record(srtt);
        }
        book.end(&exchange, (connection.member, after), now, outcome, &mut self.recorder);
    }

    /// The measured window begins: everything counted so far lies before it.
    pub fn start_window(&mut self, now: Time, receipts: &Receipts) {
        for group in 0..self.groups.len() {
            let totals = self.totals(group, receipts);
            self.groups[group].book.start_window(now, totals);
        }
    }

    /// The run is over at `now`: what is under way is censored, and nothing is counted any more.
    pub fn finish(&mut self, now: Time, receipts: &Receipts) {
        let connections: Vec<_> = self.connections.values().map(Arc::clone).collect();
        for connection in connections {
            self.end(&connection, now, Outcome::Censored);
            self.end_streams(&connection, now, Outcome::Censored);
        }
        for group in 0..self.groups.len() {
            let open = open(&self.connections, group, receipts);
            self.groups[group].book.end_window(now, open);
        }
        self.over = true;
    }

    /// What a group has counted since the start of the run, by its accounts.
    fn totals(&self, group: usize, receipts: &Receipts) -> Vec<Totals> {
        self.groups[group].book.totals(open(&self.connections, group, receipts))
    }

    /// Whether this kernel counts timeouts: from Linux 6.7 on.
    pub fn knows_timeouts(&self) -> bool {
        self.knows_timeouts
    }

    /// Takes the smoothed round trips of all flows that send without end.
    pub fn sample_round_trips(&mut self) {
        for connection in self.connections.values() {
            let Group { book, flow_rtt, .. } = &mut self.groups[connection.group];
            if flow_rtt.is_empty() || !book.measuring() {
                continue;
            }
            let srtt = connection.state().ends[CLIENT].as_ref().and_then(|end| end.srtt());
            if let Some(Time(srtt)) = srtt {
                book.rtt.record(srtt);
                flow_rtt[connection.member as usize].record(srtt);
            }
        }
    }

    /// A row for each traced flow that has a connection.
    pub fn trace(&mut self, now: Time, traced: &[(usize, u32)]) {
        for (flow, &(group, member)) in traced.iter().enumerate() {
            let mut connections = self.connections.values();
            let found = connections.find(|c| c.group == group && c.member == member);
            let end = found.and_then(|c| c.state().ends[0].clone());
            let Some(end) = end else { continue };
            let Path { srtt, window, acked } = end.path();
            self.recorder.push(TraceRow {
                time_s: now,
                flow: FlowId(flow as u32),
                cwnd_bytes: window.cwnd,
                ssthresh_bytes: window.ssthresh,
                srtt_s: srtt,
                in_flight_bytes: window.in_flight,
                acked_bytes: acked,
            });
        }
    }
}

/// What the connections and the datagrams of a group have counted, with their members.
fn open(
    connections: &BTreeMap<Key, Arc<Connection>>,
    group: usize,
    receipts: &Receipts,
) -> impl Iterator<Item = (u32, Totals)> {
    let connections = connections.values().filter(move |c| c.group == group);
    let datagrams = receipts.totals(group).into_iter().enumerate();
    let datagrams = datagrams.map(|(member, totals)| (member as u32, totals));
    connections.map(|c| (c.member, c.totals())).chain(datagrams)
}
