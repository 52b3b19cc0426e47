//! Web users over HTTP/2 and HTTP/3: one connection to each server, on which objects are streams.
//!
//! What a [`Browser`] takes for connections are streams here: it opens as many as it has objects,
//! and the connection to a server closes with the last of them. Over QUIC a stream is QUIC's own.
//! Over TCP it is in the bytes, whose order [`Frames`] keeps: an object is there when TCP has
//! delivered all before it as well.

use super::app::App;
use super::clients::{Carrier, Clients, browsers};
use super::frames::Frames;
use super::tables::{NONE, Tables};
use crate::connection::Underway;
use crate::end_id::EndId;
use crate::events::{Call, Event, Notes};
use crate::group::{Group, Member};
use crate::sim::Sim;
use crate::tls::{FINISHED, FLIGHT, HELLO};
use sojourn_base::Time;
use sojourn_records::{Exchange, Outcome};
use sojourn_traffic::{Browser, Exchange as Asked, Http, Input, Invalid, Priority, Web};
use std::collections::VecDeque;

/// The users of a group.
#[derive(Clone)]
struct Users {
    clients: Clients<Browser>,
    http: Http,
    tls: bool,
    /// Streams of a connection at most.
    parallel: u16,
    /// Each user's connection to each server, among those below, whose places are used again.
    tables: Tables,
    connections: Vec<Shared>,
    free: Vec<u32>,
    // Emptied and filled again, so that nothing is allocated.
    done: Vec<u8>,
    whole: Vec<(u32, u64)>,
    told: Vec<(u32, bool)>,
    /// Connections with requests that are not written yet.
    touched: Vec<u32>,
}

/// A connection that objects share.
#[derive(Clone, Default)]
struct Shared {
    place: u32,
    streams: Vec<Stream>,
    /// The IDs of these in QUIC, which are looked through for each packet; [`NONE`] before.
    ids: Vec<u32>,
    /// How many of them are open.
    open: usize,
    /// How many QUIC's connection has had.
    opened: u32,
    /// Whether TLS shakes hands.
    shakes: bool,
    /// Requests that are not written yet.
    due: Vec<u8>,
    /// Where requests under way end in the client's bytes, and where the last does.
    asked: VecDeque<(u64, u8)>,
    written: u64,
    /// When the server answers which requests.
    ready: Vec<(Time, u8)>,
    frames: Frames,
}

/// What a browser takes for a connection.
#[derive(Clone, Copy, Default)]
struct Stream {
    open: bool,
    priority: Priority,
    underway: Underway,
}

/// Web users over HTTP/2 or HTTP/3.
pub(super) fn web(web: &Web, group: &Group) -> Result<Box<dyn App>, Invalid> {
    let clients = browsers(web, group)?;
    Ok(Box::new(Users {
        http: web.http,
        tls: web.http == Http::V2 && web.tls != Some(false),
        parallel: clients.parallel(),
        tables: Tables::of(clients.len()),
        clients,
        connections: Vec::new(),
        free: Vec::new(),
        done: Vec::new(),
        whole: Vec::new(),
        told: Vec::new(),
        touched: Vec::new(),
    }))
}

/// The slot of the object that a stream of QUIC carries, if it is under way.
#[inline]
fn underway(streams: &[Stream], ids: &[u32], id: u32) -> Option<usize> {
    ids.iter().position(|&known| known == id).filter(|&slot| streams[slot].underway.active)
}

impl App for Users {
    fn wake(&mut self, sim: &mut Sim, now: Time, user: Member, call: Call) {
        self.woken(sim, now, user, call);
    }

    fn notify(&mut self, sim: &mut Sim, now: Time, of: EndId, notes: Notes) {
        self.take_told(sim, of);
        let Some((user, at)) = self.shared(sim, of) else {
            // The client has closed.
            if notes.has(Notes::PEER_CLOSED) {
                sim.close(now, of);
            }
            return;
        };
        if notes.has(Notes::FAILED) {
            self.failed(sim, now, user, at);
        } else if notes.has(Notes::COMPLETE) && of.is_server() {
            self.asked(sim, now, at);
        } else if notes.has(Notes::COMPLETE) {
            self.came(sim, now, user, at);
        }
    }

    fn answer(&mut self, sim: &mut Sim, now: Time, server: EndId) {
        let Some((_, at)) = self.shared(sim, server) else { return };
        let Shared { place, streams, ids, ready, frames, .. } = &mut self.connections[at];
        let (server, client) = (EndId::server(*place), EndId::client(*place));
        let mut bytes = 0;
        let sent = sim.conns[*place].ends[1].bytes_sent();
        self.whole.clear();
        ready.retain(|&(when, slot)| {
            if when <= now {
                let Stream { priority, underway, .. } = streams[usize::from(slot)];
                let response = underway.exchange.response;
                if self.http == Http::V3 {
                    let id = ids[usize::from(slot)];
                    sim.prioritise(server, id, priority);
                    self.whole.push((id, response));
                } else {
                    bytes += frames.add((slot, priority), response, sent);
                }
            }
            when > now
        });
        if !self.whole.is_empty() {
            sim.write_all(now, server, &self.whole);
        } else if bytes > 0 {
            sim.expect(client, frames.awaited());
            sim.write(now, server, bytes);
        }
    }

    fn censor(&mut self, sim: &mut Sim, now: Time) {
        for at in self.tables.all() {
            let Shared { place, streams, .. } = &mut self.connections[at as usize];
            for stream in streams {
                sim.end(now, *place, &mut stream.underway, Outcome::Censored);
            }
        }
    }
}

impl Users {
    /// Whose connection this is an end of, and its place among those of the users; none if the user
    /// has given it up.
    fn shared(&self, sim: &Sim, of: EndId) -> Option<(Member, usize)> {
        let conn = &sim.conns[of.conn()];
        let user = (usize::from(conn.group), conn.member);
        let at = self.tables.get(user.1, conn.slot)?;
        let shared = &self.connections[at as usize];
        (shared.place == of.conn()).then_some((user, at as usize))
    }

    /// What came of streams at one end.
    fn take_told(&mut self, sim: &mut Sim, of: EndId) {
        self.told.clear();
        sim.net.told.retain(|&(end, stream, all)| {
            if end == of {
                self.told.push((stream, all));
            }
            end != of
        });
    }

    /// Requests, or a ClientHello, have come to the server.
    fn asked(&mut self, sim: &mut Sim, now: Time, at: usize) {
        let Shared { place, streams, ids, asked, ready, shakes, .. } = &mut self.connections[at];
        let server = EndId::server(*place);
        if *shakes {
            return sim.write(now, server, FLIGHT);
        }
        self.done.clear();
        for &(id, _) in self.told.iter().filter(|(_, all)| *all) {
            self.done.extend(underway(streams, ids, id).map(|slot| slot as u8));
        }
        let delivered = sim.conns[*place].ends[1].bytes_delivered();
        while let Some(&(_, slot)) = asked.front().filter(|(end, _)| *end <= delivered) {
            asked.pop_front();
            self.done.push(slot);
        }
        if self.http == Http::V2 {
            sim.expect(server, asked.front().map(|(end, _)| *end));
        }
        for slot in self.done.drain(..) {
            let answers = now + streams[usize::from(slot)].underway.exchange.server_delay;
            ready.push((answers, slot));
            sim.conns.side(server).wait_for(1);
            sim.net.wheel.push(answers, Event::Answer { server });
        }
    }

    /// Something has come to the client.
    fn came(&mut self, sim: &mut Sim, now: Time, user: Member, at: usize) {
        let Shared { place, streams, ids, shakes, frames, .. } = &mut self.connections[at];
        let place = *place;
        if std::mem::take(shakes) {
            frames.skip(FLIGHT);
            return self.ask(sim, now, at);
        }
        let mut done = std::mem::take(&mut self.done);
        done.clear();
        let first = |stream: &mut Stream| {
            let byte = &mut stream.underway.exchange.first_byte;
            if *byte == Time::ZERO {
                *byte = now;
            }
        };
        for &(id, all) in &self.told {
            if let Some(slot) = underway(streams, ids, id) {
                first(&mut streams[slot]);
                done.extend(all.then_some(slot as u8));
            }
        }
        if self.http == Http::V2 {
            let delivered = sim.conns[place].ends[0].bytes_delivered();
            loop {
                if let Some(slot) = frames.begins(delivered) {
                    first(&mut streams[usize::from(slot)]);
                }
                let Some(frame) = frames.take(delivered) else { break };
                done.extend(frame.last.then_some(frame.slot));
            }
            sim.expect(EndId::client(place), frames.awaited());
        }
        for &slot in &done {
            let stream = &mut self.connections[at].streams[usize::from(slot)];
            sim.end(now, place, &mut stream.underway, Outcome::Finished);
        }
        let first = sim.conns[place].slot * self.parallel;
        for &slot in &done {
            let stream = &self.connections[at].streams[usize::from(slot)];
            let first_byte = stream.underway.exchange.first_byte;
            let slot = first + u16::from(slot);
            self.tell(sim, now, user, Input::ResponseDone { slot, first_byte });
        }
        self.done = done;
    }

    /// The connection is lost with all that is under way on it.
    fn failed(&mut self, sim: &mut Sim, now: Time, user: Member, at: usize) {
        let Shared { place, streams, .. } = &mut self.connections[at];
        let mut open = std::mem::take(&mut self.done);
        open.clear();
        for (slot, stream) in streams.iter_mut().enumerate().filter(|(_, stream)| stream.open) {
            sim.end(now, *place, &mut stream.underway, Outcome::Failed);
            open.push(slot as u8);
        }
        let server = sim.conns[*place].slot;
        self.give_up(user.1, server);
        for &slot in &open {
            let slot = server * self.parallel + u16::from(slot);
            self.tell(sim, now, user, Input::Failed { slot });
        }
        self.done = open;
    }

    /// A user has no connection to a server any more.
    fn give_up(&mut self, user: u32, server: u16) {
        if let Some(at) = self.tables.get(user, server) {
            self.tables.clear(user, server);
            self.connections[at as usize].place = NONE;
            self.free.push(at);
        }
    }

    /// The server that a slot is for, and the stream on its connection.
    fn stream_of(&self, slot: u16) -> (u16, usize) {
        (slot / self.parallel, usize::from(slot % self.parallel))
    }

    /// A user opens its connection to a server; its place among those of the users.
    fn connect(&mut self, sim: &mut Sim, now: Time, (group, user): Member, server: u8) -> u32 {
        let place = sim.connect_to(group, user, 1, server);
        let conn = &mut sim.conns[place];
        (conn.slot, conn.tls) = (u16::from(server), self.tls);
        // The user may write at any time.
        sim.conns[place].sides[0].hold();
        let at = self.free.pop().unwrap_or_else(|| {
            self.connections.push(Shared::default());
            (self.connections.len() - 1) as u32
        });
        self.tables.set(user, u16::from(server), at);
        let shared = &mut self.connections[at as usize];
        (shared.place, shared.open, shared.opened) = (place, 0, 0);
        (shared.shakes, shared.written) = (self.tls, 0);
        shared.streams.clear();
        shared.ids.clear();
        shared.due.clear();
        shared.asked.clear();
        shared.ready.clear();
        shared.frames.clear();
        sim.open(now, place);
        if self.tls {
            sim.expect(EndId::server(place), Some(HELLO));
            sim.expect(EndId::client(place), Some(FLIGHT));
            shared.written = HELLO + FINISHED;
            sim.write(now, EndId::client(place), HELLO);
        }
        at
    }

    /// Writes the requests that are due, in as few packets as they fit into.
    fn ask(&mut self, sim: &mut Sim, now: Time, at: usize) {
        let Shared { place, streams, ids, opened, shakes, due, asked, written, .. } =
            &mut self.connections[at];
        if *shakes || due.is_empty() {
            return;
        }
        let client = EndId::client(*place);
        if self.http == Http::V3 {
            self.whole.clear();
            for slot in due.drain(..) {
                let stream = &mut streams[usize::from(slot)];
                stream.underway.exchange.requested = now;
                let id = if *opened == 0 { 0 } else { sim.open_stream(client) };
                *opened += 1;
                ids[usize::from(slot)] = id;
                self.whole.push((id, u64::from(stream.underway.exchange.request)));
            }
            return sim.write_all(now, client, &self.whole);
        }
        // Finished goes with the first request.
        let before = if *written == HELLO + FINISHED { HELLO } else { *written };
        for slot in due.drain(..) {
            let exchange = &mut streams[usize::from(slot)].underway.exchange;
            exchange.requested = now;
            *written += u64::from(exchange.request);
            asked.push_back((*written, slot));
        }
        let server = EndId::server(*place);
        if sim.conns[*place].sides[1].expect == u64::MAX {
            sim.expect(server, asked.front().map(|(end, _)| *end));
        }
        sim.write(now, client, *written - before);
    }
}

impl Carrier for Users {
    type Client = Browser;

    fn clients(&mut self) -> &mut Clients<Browser> {
        &mut self.clients
    }

    fn open(&mut self, sim: &mut Sim, now: Time, user: Member, slot: u16, server: u8) {
        let stream = self.stream_of(slot).1;
        let known = self.tables.get(user.1, u16::from(server));
        let at = known.unwrap_or_else(|| self.connect(sim, now, user, server));
        let shared = &mut self.connections[at as usize];
        if shared.streams.len() <= stream {
            shared.streams.resize(stream + 1, Stream::default());
            shared.ids.resize(stream + 1, NONE);
        }
        shared.streams[stream].open = true;
        shared.open += 1;
    }

    fn request(&mut self, sim: &mut Sim, now: Time, user: Member, slot: u16, asked: Asked) {
        let (server, stream) = self.stream_of(slot);
        let Some(at) = self.tables.get(user.1, server) else { return };
        let shared = &mut self.connections[at as usize];
        shared.streams[stream].priority = asked.priority;
        let begun = Exchange::request(now, asked.request, asked.response, asked.server_delay);
        shared.streams[stream].underway = sim.begin(shared.place, begun);
        if shared.due.is_empty() {
            self.touched.push(at);
        }
        shared.due.push(stream as u8);
    }

    fn close(&mut self, sim: &mut Sim, now: Time, user: Member, slot: u16) {
        let (server, stream) = self.stream_of(slot);
        let Some(at) = self.tables.get(user.1, server) else { return };
        let shared = &mut self.connections[at as usize];
        shared.streams[stream].open = false;
        shared.open -= 1;
        if shared.open == 0 {
            let place = shared.place;
            self.give_up(user.1, server);
            sim.conns[place].sides[0].release();
            sim.close(now, EndId::client(place));
        }
    }

    fn flush(&mut self, sim: &mut Sim, now: Time) {
        let mut touched = std::mem::take(&mut self.touched);
        for at in touched.drain(..) {
            self.ask(sim, now, at as usize);
        }
        self.touched = touched;
    }
}
