//! Web users and viewers on the right and their servers on the left. What they do is the
//! simulator's own browser and player; what stands here opens connections for it and moves bytes.

use super::clock::either;
use super::connection::{CLIENT, Connection, End, SERVER};
use super::host::{Host, Listener, attend, leave, shut};
use sojourn_base::Time;
use sojourn_records::{Exchange, GroupBook, Outcome};
use sojourn_traffic::{Client, Command, Input};
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;

/// What a connection has to tell its user: which it is, and what happened there.
struct Told {
    serial: u64,
    input: Input,
}

/// A connection that a user has.
struct Slot {
    serial: u64,
    connection: Arc<Connection>,
    requests: UnboundedSender<Exchange>,
}

/// A user.
struct User {
    host: Rc<Host>,
    group: usize,
    member: u32,
    slots: Vec<Option<Slot>>,
    /// The number of the connection that was opened last.
    serial: u64,
    tell: UnboundedSender<Told>,
    /// When to wake.
    wake: Time,
}

/// One user, as long as the run; `shared` is what all of the group share.
pub(super) async fn user<C: Client>(
    host: Rc<Host>,
    (group, member): (usize, u32),
    mut client: C,
    shared: Rc<RefCell<C::Shared>>,
) {
    let network = &host.common.network;
    let of = &network.groups[group];
    let start = of.start_of(network.seed, u64::from(member));
    let (tell, mut told) = unbounded_channel::<Told>();
    let mut user = User {
        host: Rc::clone(&host),
        group,
        member,
        slots: Vec::new(),
        serial: 0,
        tell,
        wake: Time::MAX,
    };
    host.alarms.until(start).await;
    let mut input = Input::Start;
    let mut commands = Vec::new();
    while !host.common.ledger.is_stopped(group) {
        let now = host.now();
        client.tell(&mut shared.borrow_mut(), now, input, &mut |command| commands.push(command));
        if let Some(playback) = client.playback() {
            host.common.ledger.count(group, |book| book.watched(member, playback));
        }
        for command in commands.drain(..) {
            user.obey(command);
        }
        input = user.next(&mut told).await;
    }
}

impl User {
    /// What happens next.
    async fn next(&mut self, told: &mut UnboundedReceiver<Told>) -> Input {
        loop {
            match either(told.recv(), self.host.alarms.until(self.wake)).await {
                Err(()) => {
                    self.wake = Time::MAX;
                    return Input::Wake;
                }
                Ok(Some(Told { serial, input })) => {
                    if let Input::Failed { slot } = input {
                        let place = self.slots.get_mut(usize::from(slot));
                        let Some(place) = place else { continue };
                        // One that the user has given up already is none of its.
                        if place.as_ref().is_none_or(|own| own.serial != serial) {
                            continue;
                        }
                        *place = None;
                    }
                    return input;
                }
                // The user holds a sender itself.
                Ok(None) => {}
            }
        }
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Wake { at } => self.wake = at,
            Command::Open { slot, .. } => self.open(slot),
            Command::Request { slot, exchange } => {
                let Some(Some(place)) = self.slots.get(usize::from(slot)) else { return };
                let sojourn_traffic::Exchange { request, response, server_delay, .. } = exchange;
                let now = self.host.now();
                let begun = Exchange::request(now, request, response, server_delay);
                let begun = self.host.common.ledger.begin(&place.connection, begun);
                // One that has failed meanwhile says so itself.
                let _ = place.requests.send(begun);
            }
            Command::Close { slot } => {
                // Without requests to come it closes.
                if let Some(place) = self.slots.get_mut(usize::from(slot)) {
                    *place = None;
                }
            }
            Command::PageBegins => {
                self.host.common.ledger.count(self.group, GroupBook::page_begins);
            }
            Command::PageEnds(page) => {
                let (group, member, now) = (self.group, self.member, self.host.now());
                self.host.common.ledger.page_ends(group, member, &page, now);
            }
        }
    }

    fn open(&mut self, slot: u16) {
        let at = usize::from(slot);
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, || None);
        }
        self.serial += 1;
        let (group, member, serial) = (self.group, self.member, self.serial);
        let key = self.host.next_key(self.host.common.endpoints.number(group, member));
        let connection = self.host.common.ledger.open(group, member, key);
        let (requests, asked) = unbounded_channel();
        let (host, tell) = (Rc::clone(&self.host), self.tell.clone());
        let own = Arc::clone(&connection);
        spawn_local(async move {
            let told = |input| {
                // A user whose time is over does not listen.
                let _ = tell.send(Told { serial, input });
            };
            let done = |first_byte| told(Input::ResponseDone { slot, first_byte });
            let fetched = fetch(&host, &own, asked, done).await;
            if fetched.is_err() {
                host.common.ledger.end(&own, host.now(), Outcome::Failed);
                told(Input::Failed { slot });
            }
            host.common.ledger.retire(&own, CLIENT);
        });
        self.slots[at] = Some(Slot { serial, connection, requests });
    }
}

/// Opens a connection, sends a request and reads its response as often as asked, and closes.
async fn fetch(
    host: &Host,
    connection: &Connection,
    mut asked: UnboundedReceiver<Exchange>,
    done: impl Fn(Time),
) -> io::Result<()> {
    let ledger = &host.common.ledger;
    let end = host.connect(connection.group, connection.key).await?;
    connection.state().ends[CLIENT] = Some(Arc::clone(&end));
    let (mut sent, mut received) = (0, 0);
    while let Some(exchange) = asked.recv().await {
        connection.state().asked.push_back(exchange);
        let last = sent + u64::from(exchange.request);
        ledger.requested(connection, host.now());
        while sent < last {
            sent += host.write(&end, sent, last - sent).await?;
        }
        let first = received;
        let last = received + exchange.response;
        let mut first_byte = Time::ZERO;
        while received < last {
            let read = host.read(&end, received, last - received).await?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if received == first {
                first_byte = host.now();
                ledger.first_byte(connection, first_byte);
            }
            received += read;
        }
        ledger.end(connection, host.now(), Outcome::Finished);
        done(first_byte);
    }
    shut(&end).await?;
    // Whatever happens now happens to nobody.
    let _ = host.drain(&end, received).await;
    Ok(())
}

/// A group's server.
pub(super) async fn server(host: Rc<Host>, group: usize, listener: Listener) {
    attend(host, group, listener, async |host, connection, end| {
        // That it failed, the client says.
        let _ = serve(host, connection, &end).await;
        leave(&end).await;
        drop(end);
        host.common.ledger.retire(connection, SERVER);
    })
    .await;
}

/// Answers requests until the client is done.
async fn serve(host: &Host, connection: &Connection, end: &End) -> io::Result<()> {
    let (mut sent, mut received) = (0, 0);
    loop {
        let first = host.read(end, received, 1).await?;
        if first == 0 {
            return Ok(());
        }
        let exchange = connection.state().asked.pop_front();
        // The client notes a request before it sends it.
        let Some(exchange) = exchange else { return Err(io::ErrorKind::InvalidData.into()) };
        let last = received + u64::from(exchange.request);
        received += first;
        while received < last {
            match host.read(end, received, last - received).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                read => received += read,
            }
        }
        if exchange.server_delay > Time::ZERO {
            host.alarms.until(host.now() + exchange.server_delay).await;
        }
        let last = sent + exchange.response;
        while sent < last {
            sent += host.write(end, sent, last - sent).await?;
        }
    }
}
