//! Web users over HTTP/1.1, and viewers: one exchange at a time on each connection.

use super::app::App;
use super::clients::{Carrier, Clients, browsers, viewers};
use super::tables::Tables;
use crate::end_id::EndId;
use crate::events::{Call, Event, Notes};
use crate::group::{Group, Member};
use crate::sim::Sim;
use sojourn_base::Time;
use sojourn_records::{Exchange, Outcome};
use sojourn_traffic::{Client, Exchange as Asked, Input, Invalid, Video, Web};

/// The users of a group, and which connection is whose.
#[derive(Clone)]
struct Users<C: Client> {
    clients: Clients<C>,
    tables: Tables,
}

/// Web users.
pub(super) fn web(web: &Web, group: &Group) -> Result<Box<dyn App>, Invalid> {
    Ok(app(browsers(web, group)?))
}

/// Viewers of video.
pub(super) fn video(video: &Video, group: &Group) -> Result<Box<dyn App>, Invalid> {
    Ok(app(viewers(video, group)?))
}

fn app<C: Client + 'static>(clients: Clients<C>) -> Box<dyn App> {
    Box::new(Users { tables: Tables::of(clients.len()), clients })
}

impl<C: Client + 'static> App for Users<C> {
    fn wake(&mut self, sim: &mut Sim, now: Time, user: Member, call: Call) {
        self.woken(sim, now, user, call);
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

impl<C: Client> Carrier for Users<C> {
    type Client = C;

    fn clients(&mut self) -> &mut Clients<C> {
        &mut self.clients
    }

    fn open(&mut self, sim: &mut Sim, now: Time, (group, user): Member, slot: u16, server: u8) {
        let place = sim.connect_to(group, user, 1, server);
        self.tables.set(user, slot, place);
        let conn = &mut sim.conns[place];
        conn.slot = slot;
        // The user may write at any time while nothing is awaited.
        conn.sides[0].hold();
        sim.open(now, place);
    }

    fn request(&mut self, sim: &mut Sim, now: Time, user: Member, slot: u16, asked: Asked) {
        let Some(place) = self.tables.get(user.1, slot) else { return };
        let Asked { request, response, server_delay, .. } = asked;
        let conn = &mut sim.conns[place];
        conn.sides[0].expect = response;
        conn.sides[1].expect = u64::from(request);
        conn.sides[0].release();
        sim.begin_exchange(place, Exchange::request(now, request, response, server_delay));
        sim.write(now, EndId::client(place), u64::from(request));
    }

    fn close(&mut self, sim: &mut Sim, now: Time, (_, user): Member, slot: u16) {
        let Some(place) = self.tables.get(user, slot) else { return };
        self.tables.clear(user, slot);
        sim.conns[place].sides[0].release();
        sim.close(now, EndId::client(place));
    }
}
