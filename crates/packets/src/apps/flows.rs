//! Bulk flows: one transfer after another per member, or one without end.

use super::app::App;
use super::transfer;
use crate::end::End;
use crate::end_id::EndId;
use crate::events::{Call, Notes};
use crate::group::{Group, Member};
use crate::sim::Sim;
use sojourn_base::{Stream, Time};
use sojourn_traffic::{Bulk, Fetches, Invalid, Writer, Writes};

/// A connection: the place, and who is there.
type Place = (u32, u32);

/// The flows of a group.
#[derive(Clone)]
struct Flows {
    fetches: Fetches,
    /// The connection of each member's transfer, until that ends.
    current: Vec<Option<Place>>,
    /// Each member's own stream of sizes and gaps.
    streams: Vec<Stream>,
    /// Applications that write at a rate, if they do.
    paced: Option<Paced>,
}

/// Applications that write at a rate.
#[derive(Clone)]
struct Paced {
    writes: Writes,
    members: Vec<Written>,
}

/// The transfer of a member that writes at a rate.
#[derive(Clone)]
struct Written {
    writer: Writer,
    /// Draws the phase of each transfer.
    phases: Stream,
    /// When it writes next: a call for another time is of a transfer that was given up.
    due: Time,
}

impl Written {
    fn new(writes: &Writes, phases: Stream) -> Self {
        let (writer, _) = writes.begin(0, &mut phases.clone());
        Self { writer, phases, due: Time::MAX }
    }
}

/// The bulk flows of a group.
pub(super) fn app(bulk: &Bulk, group: &Group) -> Result<Box<dyn App>, Invalid> {
    let (seed, key) = (group.seed, group.key);
    let members = 0..u64::from(group.members);
    Ok(Box::new(Flows {
        fetches: bulk.compile()?,
        current: vec![None; group.members as usize],
        streams: members.clone().map(|i| Fetches::stream(seed, key, i)).collect(),
        paced: bulk.writes(group.payload()).map(|writes| Paced {
            members: members.map(|i| Written::new(&writes, Writer::stream(seed, key, i))).collect(),
            writes,
        }),
    }))
}

impl App for Flows {
    fn wake(&mut self, sim: &mut Sim, now: Time, member: Member, call: Call) {
        match call {
            Call::Write => self.write(sim, now, member),
            Call::Start | Call::GoOn => self.start(sim, now, member),
        }
    }

    fn notify(&mut self, sim: &mut Sim, now: Time, of: EndId, notes: Notes) {
        transfer::notify(sim, now, of, notes);
        if notes.has(Notes::FAILED) || (notes.has(Notes::CLOSED) && of.end() == 0) {
            let conn = &sim.conns[of.conn()];
            let (group, index) = (usize::from(conn.group), conn.member);
            let this = (of.conn(), conn.generation);
            // Both ends may fail, or one of them after the other has closed: one transfer follows.
            if self.current[index as usize].take_if(|current| *current == this).is_none() {
                return;
            }
            if let Some(gap) = self.fetches.gap(&mut self.streams[index as usize]) {
                // Never at once: a connection that failed without taking time would do so forever.
                sim.call_member(now + gap.max(Time(1)), group, index, Call::GoOn);
            }
        }
    }

    /// Flows send what is under way and no more.
    fn stop(&mut self, sim: &mut Sim, now: Time, group: usize) {
        for place in sim.conns.places() {
            if usize::from(sim.conns[place].group) == group {
                sim.with_endpoint(now, EndId::client(place), End::cut);
            }
        }
    }
}

impl Flows {
    /// A member's next transfer begins.
    fn start(&mut self, sim: &mut Sim, now: Time, (group, index): Member) {
        let place = sim.connect(group, index, 0);
        self.current[index as usize] = Some((place, sim.conns[place].generation));
        let size = self.fetches.size(&mut self.streams[index as usize]);
        let Some(paced) = &mut self.paced else { return transfer::begin(sim, now, place, size) };
        let member = &mut paced.members[index as usize];
        let (writer, first) = paced.writes.begin(size, &mut member.phases);
        (member.writer, member.due) = (writer, now + first);
        // The application may write at any time.
        sim.conns[place].sides[0].hold();
        transfer::expect(sim, now, place, size);
        sim.open(now, place);
        sim.call_member(member.due, group, index, Call::Write);
    }

    /// The time of a write has come.
    fn write(&mut self, sim: &mut Sim, now: Time, (group, index): Member) {
        let Some(paced) = &mut self.paced else { return };
        let member = &mut paced.members[index as usize];
        let Some((place, _)) = self.current[index as usize].filter(|_| member.due == now) else {
            return;
        };
        let (bytes, next) = member.writer.write(&paced.writes);
        sim.write(now, EndId::client(place), bytes);
        match next {
            Some(next) => {
                member.due = now + next;
                sim.call_member(member.due, group, index, Call::Write);
            }
            None => {
                sim.conns[place].sides[0].release();
                sim.close(now, EndId::client(place));
            }
        }
    }
}
