//! Web users: browsers on one side, a server on the other.

use super::{App, Exchange};
use crate::connection::NONE;
use crate::group::Group;
use crate::net::{kind, note, tag};
use crate::sim::Sim;
use sojourn_base::Time;
use sojourn_records::Outcome;
use sojourn_traffic::{Browser, Command, Input, Pages, WebModel};

/// The users of a group.
pub struct Users {
    model: WebModel,
    pages: Pages,
    browsers: Vec<Browser>,
    /// Each user's table of connections, or [`NONE`] while it has none.
    tables: Tables,
    commands: Vec<Command>,
}

/// Which connection is whose: a table per user that has any, in places that are used again.
struct Tables {
    of_user: Vec<u32>,
    tables: Vec<Vec<u32>>,
    free: Vec<u32>,
}

impl Tables {
    fn get(&self, user: u32, slot: u8) -> Option<u32> {
        let table = self.of_user[user as usize];
        let table = self.tables.get(table as usize)?;
        table.get(usize::from(slot)).copied().filter(|&place| place != NONE)
    }

    fn set(&mut self, user: u32, slot: u8, place: u32) {
        let of_user = &mut self.of_user[user as usize];
        if *of_user == NONE {
            *of_user = self.free.pop().unwrap_or_else(|| {
                self.tables.push(Vec::new());
                (self.tables.len() - 1) as u32
            });
        }
        let table = &mut self.tables[*of_user as usize];
        if table.len() <= usize::from(slot) {
            table.resize(usize::from(slot) + 1, NONE);
        }
        table[usize::from(slot)] = place;
    }

    fn clear(&mut self, user: u32, slot: u8) {
        let of_user = &mut self.of_user[user as usize];
        if let Some(table) = self.tables.get_mut(*of_user as usize) {
            table[usize::from(slot)] = NONE;
            if table.iter().all(|&place| place == NONE) {
                table.clear();
                self.free.push(std::mem::replace(of_user, NONE));
            }
        }
    }
}

impl Users {
    /// The users of `group`.
    pub fn new(model: WebModel, group: &Group) -> Self {
        let members = u64::from(group.members);
        let browser = |user| Browser::new(&model, group.seed, group.key, user);
        Self {
            browsers: (0..members).map(browser).collect(),
            tables: Tables {
                of_user: vec![NONE; group.members as usize],
                tables: Vec::new(),
                free: Vec::new(),
            },
            pages: Pages::new(),
            commands: Vec::new(),
            model,
        }
    }
}

impl Sim {
    /// A user starts, or a time that it asked for has come.
    pub fn wake_user(&mut self, now: u64, group: usize, user: u32, aux: u32) {
        let input = if aux == super::START { Input::Start } else { Input::Wake };
        self.tell_user(now, group, user, input);
    }

    /// Tells a user what happened and does what it wants.
    fn tell_user(&mut self, now: u64, group: usize, user: u32, input: Input) {
        if self.groups[group].stopped {
            return;
        }
        let App::Users(app) = &mut self.apps.apps[group] else { unreachable!() };
        let mut commands = std::mem::take(&mut app.commands);
        app.browsers[user as usize].step(&app.model, &mut app.pages, Time(now), input, &mut |c| {
            commands.push(c);
        });
        for command in commands.drain(..) {
            self.obey(now, group, user, command);
        }
        let App::Users(app) = &mut self.apps.apps[group] else { unreachable!() };
        app.commands = commands;
    }

    fn obey(&mut self, now: u64, group: usize, user: u32, command: Command) {
        match command {
            Command::Wake { at } => self.call_member(at.0, group, user, super::GO_ON),
            Command::Open { slot } => {
                let place = self.connect(group, user, 1);
                self.apps.exchanges[place as usize].slot = slot;
                self.users(group).tables.set(user, slot, place);
                // The user may write at any time while nothing is awaited.
                self.conns[place].sides[0].hold();
                self.open(now, place);
            }
            Command::Request { slot, exchange } => {
                let Some(place) = self.users(group).tables.get(user, slot) else { return };
                let conn = &mut self.conns[place];
                conn.sides[0].expect = exchange.response;
                conn.sides[1].expect = u64::from(exchange.request);
                conn.sides[0].release();
                let begun = Exchange {
                    slot,
                    started: now,
                    request: exchange.request,
                    response: exchange.response,
                    server_delay: exchange.server_delay.0,
                    ..Exchange::default()
                };
                self.begin_exchange(place, begun);
                self.write(now, place, 0, u64::from(exchange.request));
            }
            Command::Close { slot } => {
                let Some(place) = self.users(group).tables.get(user, slot) else { return };
                self.users(group).tables.clear(user, slot);
                self.conns[place].sides[0].release();
                self.close(now, place, 0);
            }
        }
    }

    fn users(&mut self, group: usize) -> &mut Users {
        let App::Users(app) = &mut self.apps.apps[group] else { unreachable!() };
        app
    }

    /// A web connection has something to tell.
    pub fn web_note(&mut self, now: u64, place: u32, end: usize, notes: u32) {
        let conn = &self.conns[place];
        let (group, user) = (usize::from(conn.group), conn.member);
        let exchange = self.apps.exchanges[place as usize];
        if end == 1 {
            if notes & note::COMPLETE != 0 {
                self.conns[place].sides[1].wait_for(1);
                self.net.schedule(
                    now + exchange.server_delay,
                    tag(kind::ANSWER, place << 1 | 1),
                    0,
                );
            }
            if notes & note::PEER_CLOSED != 0 {
                self.close(now, place, 1);
            }
        } else if notes & note::COMPLETE != 0 {
            self.end_exchange(now, place, Outcome::Finished);
            self.conns[place].sides[0].hold();
            self.tell_user(now, group, user, Input::ResponseDone { slot: exchange.slot });
        }
        if notes & note::FAILED != 0 {
            self.end_exchange(now, place, Outcome::Failed);
            if self.users(group).tables.get(user, exchange.slot) == Some(place) {
                self.users(group).tables.clear(user, exchange.slot);
                self.tell_user(now, group, user, Input::Failed { slot: exchange.slot });
            }
        }
    }

    /// The server answers.
    pub fn answer(&mut self, now: u64, place: u32) {
        let response = self.apps.exchanges[place as usize].response;
        self.write(now, place, 1, response);
    }
}
