//! Web users and viewers: what they want done, whatever carries it.

use crate::events::Call;
use crate::group::{Group, Member};
use crate::sim::Sim;
use sojourn_base::Time;
use sojourn_traffic::{
    Browser, Client, Command, Exchange, Input, Invalid, Pages, Player, Video, Web, WebUsers,
};

/// The clients of a group.
#[derive(Clone)]
pub(super) struct Clients<C: Client> {
    shared: C::Shared,
    each: Vec<C>,
    // Emptied and filled again, so that nothing is allocated.
    commands: Vec<Command>,
}

/// Web users.
pub(super) fn browsers(web: &Web, group: &Group) -> Result<Clients<Browser>, Invalid> {
    let model = web.compile()?;
    let browser = |user| Browser::new(&model, group.seed, group.key, user);
    let each = (0..u64::from(group.members)).map(browser).collect();
    let shared = WebUsers { model, pages: Pages::new() };
    Ok(Clients { shared, each, commands: Vec::new() })
}

/// Viewers of video.
pub(super) fn viewers(video: &Video, group: &Group) -> Result<Clients<Player>, Invalid> {
    let each = vec![Player::default(); group.members as usize];
    Ok(Clients { shared: video.compile()?, each, commands: Vec::new() })
}

impl<C: Client> Clients<C> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.each.len()
    }
}

impl Clients<Browser> {
    /// Objects that a user has under way from one server at most.
    pub(super) fn parallel(&self) -> u16 {
        self.shared.model.parallel()
    }
}

/// Clients, and what carries their requests: a connection for each, or one that they share.
pub(super) trait Carrier {
    type Client: Client;

    fn clients(&mut self) -> &mut Clients<Self::Client>;

    /// A user wants a connection to a server, which it calls `slot`.
    fn open(&mut self, sim: &mut Sim, now: Time, user: Member, slot: u16, server: u8);

    /// It asks for something on that connection.
    fn request(&mut self, sim: &mut Sim, now: Time, user: Member, slot: u16, asked: Exchange);

    /// It has no more use for that connection.
    fn close(&mut self, sim: &mut Sim, now: Time, user: Member, slot: u16);

    /// It wants nothing more at this instant.
    fn flush(&mut self, sim: &mut Sim, now: Time) {
        let _ = (sim, now);
    }

    /// A user starts, or a time that it asked for has come.
    fn woken(&mut self, sim: &mut Sim, now: Time, user: Member, call: Call) {
        let input = if call == Call::Start { Input::Start } else { Input::Wake };
        self.tell(sim, now, user, input);
    }

    /// Tells a user what happened and does what it wants.
    fn tell(&mut self, sim: &mut Sim, now: Time, user: Member, input: Input) {
        let (group, member) = user;
        if sim.groups[group].stopped {
            return;
        }
        let Clients { shared, each, commands } = self.clients();
        let mut commands = std::mem::take(commands);
        let client = &mut each[member as usize];
        client.tell(shared, now, input, &mut |command| commands.push(command));
        if let Some(playback) = client.playback() {
            sim.groups[group].book.watched(member, playback);
        }
        for command in commands.drain(..) {
            match command {
                Command::Wake { at } => sim.call_member(at, group, member, Call::GoOn),
                Command::Open { slot, server } => self.open(sim, now, user, slot, server),
                Command::Request { slot, exchange } => {
                    self.request(sim, now, user, slot, exchange);
                }
                Command::Close { slot } => self.close(sim, now, user, slot),
                Command::PageBegins => sim.groups[group].book.page_begins(),
                Command::PageEnds(page) => sim.page_ends(now, user, &page),
            }
        }
        self.clients().commands = commands;
        self.flush(sim, now);
    }
}
