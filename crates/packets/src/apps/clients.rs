//! Web users and viewers: those who ask on one side, a server on the other.

use super::tables::Tables;
use super::{App, Member};
use crate::connection::EndId;
use crate::events::{Call, Event, Notes};
use crate::group::Group;
use crate::sim::Sim;
use sojourn_base::Time;
use sojourn_records::{Exchange, Outcome};
use sojourn_traffic::{
    Browser, Client, Command, Input, Invalid, Pages, Player, Video, Web, WebUsers,
};

/// The users of a group.
#[derive(Clone)]
struct Users<C: Client> {
    shared: C::Shared,
    clients: Vec<C>,
    tables: Tables,
    commands: Vec<Command>,
}

/// Web users.
pub(super) fn web(web: &Web, group: &Group) -> Result<Box<dyn App>, Invalid> {
    let model = web.compile()?;
    let browser = |user| Browser::new(&model, group.seed, group.key, user);
    let clients = (0..u64::from(group.members)).map(browser).collect();
    Ok(Users::app(clients, WebUsers { model, pages: Pages::new() }))
}

/// Viewers of video.
pub(super) fn video(video: &Video, group: &Group) -> Result<Box<dyn App>, Invalid> {
    Ok(Users::app(vec![Player::default(); group.members as usize], video.compile()?))
}

impl<C: Client + 'static> App for Users<C> {
    /// A user starts, or a time that it asked for has come.
    fn wake(&mut self, sim: &mut Sim, now: Time, user: Member, call: Call) {
        let input = if call == Call::Start { Input::Start } else { Input::Wake };
        self.tell(sim, now, user, input);
    }

    fn notify(&mut self, sim: &mut Sim, now: Time, of: EndId, notes: Notes) {
        let place = of.conn();
        let conn = &mut sim.conns[place];
        let (user, slot) = ((usize::from(conn.group), conn.member), conn.slot);
        if of.is_server() {
            if notes.has(Notes::COMPLETE) {
                conn.sides[1].wait_for(1);
                let delay = sim.exchanges[place as usize].exchange.server_delay;
                sim.net.wheel.push(now + delay, Event::Answer { server: of });
            }
            if notes.has(Notes::PEER_CLOSED) {
                sim.close(now, of);
            }
        } else if notes.has(Notes::COMPLETE) {
            sim.end_exchange(now, place, Outcome::Finished);
            sim.conns[place].sides[0].hold();
            let first_byte = sim.exchanges[place as usize].exchange.first_byte;
            self.tell(sim, now, user, Input::ResponseDone { slot, first_byte });
        }
        if notes.has(Notes::FAILED) {
            sim.end_exchange(now, place, Outcome::Failed);
            if self.tables.get(user.1, slot) == Some(place) {
                self.tables.clear(user.1, slot);
                self.tell(sim, now, user, Input::Failed { slot });
            }
        }
    }

    fn answer(&mut self, sim: &mut Sim, now: Time, server: EndId) {
        let response = sim.exchanges[server.conn() as usize].exchange.response;
        sim.write(now, server, response);
    }
}

impl<C: Client + 'static> Users<C> {
    fn app(clients: Vec<C>, shared: C::Shared) -> Box<dyn App> {
        let tables = Tables::of(clients.len());
        Box::new(Self { shared, clients, tables, commands: Vec::new() })
    }

    /// Tells a user what happened and does what it wants.
    fn tell(&mut self, sim: &mut Sim, now: Time, user: Member, input: Input) {
        if sim.groups[user.0].stopped {
            return;
        }
        let mut commands = std::mem::take(&mut self.commands);
        self.clients[user.1 as usize].tell(&mut self.shared, now, input, &mut |command| {
            commands.push(command);
        });
        if let Some(playback) = self.clients[user.1 as usize].playback() {
            sim.groups[user.0].book.watched(user.1, playback);
        }
        for command in commands.drain(..) {
            self.obey(sim, now, user, command);
        }
        self.commands = commands;
    }

    fn obey(&mut self, sim: &mut Sim, now: Time, (group, user): Member, command: Command) {
        match command {
            Command::Wake { at } => sim.call_member(at, group, user, Call::GoOn),
            Command::Open { slot, server } => {
                let place = sim.connect_to(group, user, 1, server);
                self.tables.set(user, slot, place);
                let conn = &mut sim.conns[place];
                conn.slot = slot;
                // The user may write at any time while nothing is awaited.
                conn.sides[0].hold();
                sim.open(now, place);
            }
            Command::Request { slot, exchange } => {
                let Some(place) = self.tables.get(user, slot) else { return };
                let conn = &mut sim.conns[place];
                conn.sides[0].expect = exchange.response;
                conn.sides[1].expect = u64::from(exchange.request);
                conn.sides[0].release();
                let sojourn_traffic::Exchange { request, response, server_delay, .. } = exchange;
                let begun = Exchange::request(now, request, response, server_delay);
                sim.begin_exchange(place, begun);
                sim.write(now, EndId::client(place), u64::from(exchange.request));
            }
            Command::Close { slot } => {
                let Some(place) = self.tables.get(user, slot) else { return };
                self.tables.clear(user, slot);
                sim.conns[place].sides[0].release();
                sim.close(now, EndId::client(place));
            }
            Command::PageBegins => sim.groups[group].book.page_begins(),
            Command::PageEnds(page) => sim.page_ends(now, (group, user), &page),
        }
    }
}
