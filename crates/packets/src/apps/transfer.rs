//! Transfers: endless flows, finite ones, repeated ones, and those that arrive from outside.

use super::{App, Exchange};
use crate::group::Totals;
use crate::net::note;
use crate::sim::Sim;
use sojourn_base::{Stream, Time};
use sojourn_records::Outcome;
use sojourn_traffic::{Arrivals, Fetches, Writer, Writes};
use std::sync::Arc;

/// One transfer after another per member, or one without end.
pub struct Flows {
    pub fetches: Fetches,
    /// Each member's own stream of sizes and gaps.
    pub streams: Vec<Stream>,
    /// What each member's finished connections have counted.
    pub retired: Vec<Totals>,
    /// The same with the open ones, when the window began.
    pub at_start: Vec<Totals>,
    /// Meter of each member, if flows are metered: the number of the first.
    pub first_meter: Option<u32>,
    /// Members that are traced, with their meter.
    pub traced: Vec<(u32, u32)>,
    /// Applications that write at a rate, if they do.
    pub paced: Option<Paced>,
}

/// Applications that write at a rate.
pub struct Paced {
    pub writes: Writes,
    pub members: Vec<Written>,
}

/// What a member that writes at a rate is at.
#[derive(Clone)]
pub struct Written {
    pub writer: Writer,
    /// Draws the phase of each transfer.
    pub phases: Stream,
    /// Its connection: the place, and who is there.
    place: u32,
    generation: u32,
}

impl Written {
    pub fn new(writes: &Writes, phases: Stream) -> Self {
        let (writer, _) = writes.begin(0, &mut phases.clone());
        Self { writer, phases, place: 0, generation: 0 }
    }
}

/// Where transfers come from that do not wait for each other.
pub enum Feed {
    /// Drawn: gaps and sizes; with the size of the one that is due next.
    Drawn(Arrivals, u64),
    /// From a file: start and bytes in order of time, counted from the group's start; the next
    /// one's index; the group's start, ns.
    Listed(Arc<[(Time, u64)]>, usize, Option<u64>),
}

/// Transfers that arrive whatever the network does.
pub struct Transfers {
    pub feed: Feed,
    /// How many have begun.
    pub begun: u32,
}

impl Sim {
    /// A member's next transfer begins.
    pub fn start_flow(&mut self, now: u64, group: usize, index: u32) {
        let place = self.connect(group, index, 0);
        let App::Flows(flows) = &mut self.apps.apps[group] else { unreachable!() };
        if let Some(first) = flows.first_meter {
            self.conns[place].meter = first + index;
        }
        if let Some(&(_, meter)) = flows.traced.iter().find(|(member, _)| *member == index) {
            self.conns[place].meter = meter;
            self.conns[place].sides[0].hold();
        }
        let size = flows.fetches.size(&mut flows.streams[index as usize]);
        let Some(paced) = &mut flows.paced else { return self.begin_transfer(now, place, size) };
        let member = &mut paced.members[index as usize];
        let (writer, first) = paced.writes.begin(size, &mut member.phases);
        (member.writer, member.place) = (writer, place);
        member.generation = self.conns[place].generation;
        // The application may write at any time.
        self.conns[place].sides[0].hold();
        self.expect_transfer(now, place, size);
        self.open(now, place);
        self.call_member(now + first.0, group, index, super::WRITE);
    }

    /// The time of a write has come.
    pub fn write_flow(&mut self, now: u64, group: usize, index: u32) {
        let App::Flows(Flows { paced: Some(paced), .. }) = &mut self.apps.apps[group] else {
            return;
        };
        let member = &mut paced.members[index as usize];
        let Written { place, generation, .. } = *member;
        if self.conns[place].generation != generation {
            return; // given up
        }
        let (bytes, next) = member.writer.write(&paced.writes);
        self.write(now, place, 0, bytes);
        match next {
            Some(next) => self.call_member(now + next.0, group, index, super::WRITE),
            None => {
                self.conns[place].sides[0].release();
                self.close(now, place, 0);
            }
        }
    }

    /// The transfers that are due begin.
    pub fn start_transfers(&mut self, now: u64, group: usize) {
        loop {
            let App::Transfers(app) = &mut self.apps.apps[group] else { unreachable!() };
            let (size, next) = match &mut app.feed {
                Feed::Drawn(arrivals, due) => {
                    let (gap, size) = arrivals.next_arrival();
                    (std::mem::replace(due, size), Some(now + gap.0))
                }
                Feed::Listed(list, at, begun) => {
                    let begun = *begun.get_or_insert(now);
                    let due = list.get(*at).filter(|(start, _)| begun + start.0 <= now);
                    *at += usize::from(due.is_some());
                    let next = list.get(*at).map(|(start, _)| begun + start.0);
                    (due.map_or(0, |&(_, size)| size), next)
                }
            };
            // The first event of a source only starts its clock.
            if size > 0 {
                let App::Transfers(app) = &mut self.apps.apps[group] else { unreachable!() };
                let member = app.begun;
                app.begun += 1;
                let place = self.connect(group, member, 0);
                self.begin_transfer(now, place, size);
            }
            match next {
                Some(next) if next <= now => {}
                Some(next) => return self.call_member(next, group, 0, super::GO_ON),
                None => return,
            }
        }
    }

    fn begin_transfer(&mut self, now: u64, place: u32, size: u64) {
        let finite = self.expect_transfer(now, place, size);
        self.open(now, place);
        self.write(now, place, 0, size);
        if finite {
            self.close(now, place, 0);
        }
    }

    /// Has the end of a transfer noticed, if it has one; returns whether.
    fn expect_transfer(&mut self, now: u64, place: u32, size: u64) -> bool {
        let finite = size != u64::MAX;
        if finite {
            self.conns[place].sides[1].expect = size;
            let transfer = Exchange { started: now, response: size, ..Exchange::default() };
            self.begin_exchange(place, transfer);
        }
        finite
    }

    /// A transfer's connection has something to tell.
    pub fn transfer_note(&mut self, now: u64, place: u32, end: usize, notes: u32) {
        if notes & note::COMPLETE != 0 {
            self.end_exchange(now, place, Outcome::Finished);
        }
        if notes & note::FAILED != 0 {
            self.end_exchange(now, place, Outcome::Failed);
        }
        if notes & note::PEER_CLOSED != 0 && end == 1 {
            self.close(now, place, 1);
        }
        let over = notes & note::FAILED != 0 || (notes & note::CLOSED != 0 && end == 0);
        if over {
            let conn = &self.conns[place];
            let (group, index) = (usize::from(conn.group), conn.member);
            let App::Flows(flows) = &mut self.apps.apps[group] else { return };
            if let Some(gap) = flows.fetches.gap(&mut flows.streams[index as usize]) {
                // Never at once: a connection that failed without taking time would do so forever.
                self.call_member(now + gap.0.max(1), group, index, super::GO_ON);
            }
        }
    }
}
