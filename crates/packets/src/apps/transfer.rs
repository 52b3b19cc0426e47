//! One transfer on a connection of its own: data from the client, which closes behind them.

use crate::end_id::EndId;
use crate::events::Notes;
use crate::sim::Sim;
use sojourn_base::Time;
use sojourn_records::{Exchange, Outcome};

/// A transfer of `size` bytes begins on a new connection; [`u64::MAX`]: without end.
pub(super) fn begin(sim: &mut Sim, now: Time, place: u32, size: u64) {
    let client = EndId::client(place);
    let finite = expect(sim, now, place, size);
    sim.open(now, place);
    sim.write(now, client, size);
    if finite {
        sim.close(now, client);
    }
}

/// Has the end of a transfer noticed, if it has one; returns whether.
pub(super) fn expect(sim: &mut Sim, now: Time, place: u32, size: u64) -> bool {
    let finite = size != u64::MAX;
    if finite {
        sim.conns[place].sides[1].expect = size;
        sim.begin_exchange(place, Exchange::transfer(now, size));
    }
    finite
}

/// An endpoint of a transfer has something to tell.
pub(super) fn notify(sim: &mut Sim, now: Time, of: EndId, notes: Notes) {
    if notes.has(Notes::COMPLETE) {
        sim.end_exchange(now, of.conn(), Outcome::Finished);
    }
    if notes.has(Notes::FAILED) {
        sim.end_exchange(now, of.conn(), Outcome::Failed);
    }
    if notes.has(Notes::PEER_CLOSED) && of.is_server() {
        // No more comes of one that was cut.
        sim.end_exchange(now, of.conn(), Outcome::Censored);
        sim.close(now, of);
    }
}
