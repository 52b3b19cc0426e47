//! Transfers: endless flows, finite ones, repeated ones, and those that arrive from outside. Data
//! go from the left, which opens, to the right.

use super::clock::either;
use super::connection::{CLIENT, Channel, Connection, End, SERVER};
use super::host::{Host, Listener, attend, cut, leave, shut};
use sojourn_base::{Stream, Time};
use sojourn_records::{Exchange, Outcome};
use sojourn_traffic::{Fetches, Source, Writer, Writes};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use tokio::task::spawn_local;

/// What the flows of a bulk group share.
pub(super) struct Bulk {
    /// Sizes and gaps.
    pub fetches: Fetches,
    /// How their applications write, if not all at once.
    pub writes: Option<Writes>,
}

/// An application that writes at a rate.
struct Application<'a> {
    writes: &'a Writes,
    writer: Writer,
    /// Bytes that it has written.
    written: u64,
    /// When it writes next; [`Time::MAX`]: it is done.
    next: Time,
}

impl<'a> Application<'a> {
    /// One that begins at `now` to write `size` bytes.
    fn new(writes: &'a Writes, size: u64, phases: &mut Stream, now: Time) -> Self {
        let (writer, first) = writes.begin(size, phases);
        Self { writes, writer, written: 0, next: now.saturating_add(first) }
    }

    /// What it has written at `now`: it keeps its own time, however late it is asked.
    fn written(&mut self, now: Time) -> u64 {
        while self.next <= now {
            let (bytes, gap) = self.writer.write(self.writes);
            self.written += bytes;
            self.next = gap.map_or(Time::MAX, |gap| self.next.saturating_add(gap));
        }
        self.written
    }
}

/// One flow of a bulk group: transfer after transfer.
pub(super) async fn flow(host: Rc<Host>, group: usize, member: u32, bulk: Rc<Bulk>) {
    let network = &host.common.network;
    let of = &network.groups[group];
    let mut stream = Fetches::stream(network.seed, of.key, u64::from(member));
    let mut phases = Writer::stream(network.seed, of.key, u64::from(member));
    let mut at = of.start_of(network.seed, u64::from(member));
    loop {
        host.alarms.until(at).await;
        if host.common.ledger.is_stopped(group) {
            return;
        }
        let size = bulk.fetches.size(&mut stream);
        let writes = bulk.writes.as_ref();
        let application = writes.map(|w| Application::new(w, size, &mut phases, host.now()));
        transfer(&host, group, member, size, application).await;
        let Some(gap) = bulk.fetches.gap(&mut stream) else { return };
        // Never at once: a connection that failed without taking time would do so forever.
        at = host.now().saturating_add(gap.max(Time::from_millis(1)));
    }
}

/// Transfers that come whatever the network does.
pub(super) async fn arrivals(host: Rc<Host>, group: usize) {
    let list = Arc::clone(&host.common.endpoints.transfers[group]);
    for (number, &(at, size)) in list.iter().enumerate() {
        host.alarms.until(at).await;
        if host.common.ledger.is_stopped(group) {
            return;
        }
        let host = Rc::clone(&host);
        spawn_local(async move { transfer(&host, group, number as u32, size, None).await });
    }
}

/// One transfer, on a connection of its own, to its end.
async fn transfer(
    host: &Host,
    group: usize,
    member: u32,
    size: u64,
    application: Option<Application<'_>>,
) {
    let ledger = &host.common.ledger;
    let key = host.next_key(host.common.endpoints.number(group, member));
    let connection = ledger.open(group, member, key);
    if size != u64::MAX {
        ledger.begin(&connection, Exchange::transfer(host.now(), size));
    }
    let outcome = match host.connect(group, key).await {
        Err(error) => Err(error),
        Ok(end) => {
            connection.state().ends[CLIENT] = Some(Arc::clone(&end));
            send(host, group, &end, size, application).await
        }
    };
    match outcome {
        // The receiver says when it was finished.
        Ok(true) => {}
        Ok(false) => ledger.end(&connection, host.now(), Outcome::Censored),
        Err(_) => ledger.end(&connection, host.now(), Outcome::Failed),
    }
    ledger.retire(&connection, CLIENT);
}

/// Sends all of a transfer and waits until the receiver has closed; whether it was all, or was cut.
async fn send(
    host: &Host,
    group: usize,
    end: &End,
    size: u64,
    mut application: Option<Application<'_>>,
) -> io::Result<bool> {
    // Those that come from outside finish what they have begun.
    let of = &host.common.network.groups[group];
    let cuts = matches!(of.source, Source::Bulk(_));
    let mut sent = 0;
    let writing = async {
        while sent < size && !(cuts && host.common.ledger.is_stopped(group)) {
            let ready = application.as_mut().map_or(size, |a| a.written(host.now()));
            if sent < ready {
                sent += host.write(end, sent, ready - sent).await?;
            } else if let Some(application) = &application {
                host.alarms.until(application.next).await;
            }
        }
        io::Result::Ok(())
    };
    // The kernel takes little at a time; quinn takes all that the receiver has room for.
    let stop = of.stop.filter(|_| cuts && matches!(end.channel, Channel::Quic(_)));
    if let Ok(written) = either(writing, host.alarms.until(stop.unwrap_or(Time::MAX))).await {
        written?;
    }
    let all = sent == size;
    if all {
        shut(end).await?
    } else {
        cut(end).await?
    }
    host.drain(end, 0).await?;
    Ok(all)
}

/// The receivers of a group.
pub(super) async fn receivers(host: Rc<Host>, group: usize, listener: Listener) {
    attend(host, group, listener, async |host, connection, end| {
        receive(host, connection, end).await;
    })
    .await;
}

/// Receives a transfer.
async fn receive(host: &Host, connection: &Connection, end: Arc<End>) {
    let ledger = &host.common.ledger;
    let expected = connection.state().exchange.map(|exchange| exchange.response);
    let mut received = 0;
    // That it failed, the sender says.
    while let Ok(read) = host.read(&end, received, u64::MAX).await {
        if read == 0 {
            break;
        }
        if received == 0 {
            ledger.first_byte(connection, host.now());
        }
        received += read;
        if Some(received) == expected {
            ledger.end(connection, host.now(), Outcome::Finished);
        }
    }
    leave(&end).await;
    drop(end);
    ledger.retire(connection, SERVER);
}
