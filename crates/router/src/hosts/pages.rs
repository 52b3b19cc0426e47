//! Web users over HTTP/2 and HTTP/3, and their servers: h2 over the kernel's TCP with rustls, h3
//! over quinn. What a user takes for a connection is a stream; one connection to each server has
//! them all, and closes with the last, as in the packet engine.
//!
//! # Differences from the simulated HTTP
//!
//! 1. Headers are real and compressed (HPACK, QPACK without its dynamic table). What a request
//!    lacks in length is its body; a response's body is as long as the scenario says, and its
//!    headers come on top.
//! 2. Both ends send their settings, some 50 bytes. HTTP/2 has flow control of its own, with the
//!    windows of a browser: 6 MiB for a stream and 15 MiB for a connection.
//! 3. A server decides which stream is next when h2 has room in its buffer, some 64 KiB before TCP;
//!    over QUIC when quinn makes a packet. All streams take turns: nobody hears of priorities.
//! 4. TLS is rustls's; its records come on top of the bytes, some 22 in 16 KiB.

mod h2;
mod h3;
mod message;
mod tcp;
mod visitor;

use super::clock::either;
use super::connection::{CLIENT, Connection, SERVER};
use super::host::{Host, Listener, attend};
use sojourn_base::Time;
use sojourn_records::{Exchange, GroupBook};
use sojourn_traffic::{Browser, Client, Command, Http, Input, WebUsers};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;
use visitor::{Asked, Told, Visitor};

/// A user's connection to a server.
struct Shared {
    serial: u64,
    connection: Arc<Connection>,
    requests: UnboundedSender<Asked>,
    /// Slots that are open on it.
    open: Vec<u16>,
}

/// A user.
struct User {
    host: Rc<Host>,
    group: usize,
    member: u32,
    /// Slots of a server.
    parallel: u16,
    servers: Vec<Option<Shared>>,
    serial: u64,
    tell: UnboundedSender<Told>,
    wake: Time,
}

/// One user, as long as the run.
pub(super) async fn user(
    host: Rc<Host>,
    (group, member): (usize, u32),
    mut browser: Browser,
    shared: Rc<RefCell<WebUsers>>,
) {
    let network = &host.common.network;
    let start = network.groups[group].start_of(network.seed, u64::from(member));
    let (tell, mut told) = unbounded_channel();
    let parallel = shared.borrow().model.parallel();
    let mut user = User {
        host: Rc::clone(&host),
        group,
        member,
        parallel,
        servers: Vec::new(),
        serial: 0,
        tell,
        wake: Time::MAX,
    };
    host.alarms.until(start).await;
    let mut inputs = vec![Input::Start];
    let mut commands = Vec::new();
    while !host.common.ledger.is_stopped(group) {
        for input in inputs.drain(..) {
            let (now, shared) = (host.now(), &mut shared.borrow_mut());
            browser.tell(shared, now, input, &mut |command| commands.push(command));
            for command in commands.drain(..) {
                user.obey(command);
            }
        }
        user.next(&mut told, &mut inputs).await;
    }
}

impl User {
    /// What happens next.
    async fn next(&mut self, told: &mut UnboundedReceiver<Told>, inputs: &mut Vec<Input>) {
        match either(told.recv(), self.host.alarms.until(self.wake)).await {
            Err(()) => {
                self.wake = Time::MAX;
                inputs.push(Input::Wake);
            }
            // What comes of a connection that the user has given up is none of its.
            Ok(Some(Told::Done { server, serial, slot, first_byte })) => {
                if self.has(server, serial) {
                    inputs.push(Input::ResponseDone { slot, first_byte });
                }
            }
            Ok(Some(Told::Failed { server, serial })) => {
                if self.has(server, serial)
                    && let Some(lost) = self.servers[server].take()
                {
                    inputs.extend(lost.open.into_iter().map(|slot| Input::Failed { slot }));
                }
            }
            // The user holds a sender itself.
            Ok(None) => {}
        }
    }

    fn has(&self, server: usize, serial: u64) -> bool {
        let known = self.servers.get(server).and_then(Option::as_ref);
        known.is_some_and(|shared| shared.serial == serial)
    }

    /// The connection that a slot is of.
    fn of(&mut self, slot: u16) -> Option<&mut Shared> {
        self.servers.get_mut(usize::from(slot / self.parallel))?.as_mut()
    }

    fn obey(&mut self, command: Command) {
        match command {
            Command::Wake { at } => self.wake = at,
            Command::Open { slot, .. } => {
                let server = usize::from(slot / self.parallel);
                if self.servers.len() <= server {
                    self.servers.resize_with(server + 1, || None);
                }
                if self.servers[server].is_none() {
                    self.servers[server] = Some(self.connect(server));
                }
                if let Some(shared) = self.of(slot) {
                    shared.open.push(slot);
                }
            }
            Command::Request { slot, exchange } => {
                let (now, host) = (self.host.now(), Rc::clone(&self.host));
                let Some(shared) = self.of(slot) else { return };
                let sojourn_traffic::Exchange { request, response, server_delay, .. } = exchange;
                let begun = Exchange::request(now, request, response, server_delay);
                let begun = host.common.ledger.begin_stream(&shared.connection, slot, begun);
                // One that has failed meanwhile says so itself.
                let _ = shared.requests.send(Asked { slot, exchange: begun });
            }
            Command::Close { slot } => {
                let Some(shared) = self.of(slot) else { return };
                shared.open.retain(|open| *open != slot);
                if shared.open.is_empty() {
                    // Without requests to come it closes.
                    self.servers[usize::from(slot / self.parallel)] = None;
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

    /// Opens a connection to a server.
    fn connect(&mut self, server: usize) -> Shared {
        self.serial += 1;
        let (group, member, serial) = (self.group, self.member, self.serial);
        let key = self.host.next_key(self.host.common.endpoints.number(group, member));
        let connection = self.host.common.ledger.open(group, member, key);
        let (requests, asked) = unbounded_channel();
        let client = Rc::new(Visitor {
            host: Rc::clone(&self.host),
            connection: Arc::clone(&connection),
            tell: self.tell.clone(),
            server,
            serial,
        });
        spawn_local(async move {
            let went = match client.http() {
                Http::V3 => h3::fetch(&client, asked).await,
                _ => h2::fetch(&client, asked).await,
            };
            if went.is_err() {
                client.fails();
            }
            client.host.common.ledger.retire(&client.connection, CLIENT);
        });
        Shared { serial, connection, requests, open: Vec::new() }
    }
}

/// A group's server.
pub(super) async fn server(host: Rc<Host>, group: usize, listener: Listener) {
    attend(host, group, listener, async move |host, connection, end| {
        // That it failed, the client says.
        let _ = match host.common.http(group) {
            Http::V3 => h3::serve(host, connection, &end).await,
            _ => h2::serve(host, connection, &end).await,
        };
        drop(end);
        host.common.ledger.retire(connection, SERVER);
    })
    .await;
}
