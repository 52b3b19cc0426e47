//! Transfers that arrive whatever the network does: drawn, or read from a file.

use super::app::App;
use super::transfer;
use crate::end_id::EndId;
use crate::events::{Call, Notes};
use crate::group::{Group, Member};
use crate::sim::Sim;
use sojourn_base::Time;
use sojourn_scenario::NetworkGroup;
use sojourn_traffic::{Arrivals, Invalid, Transfers};
use std::sync::Arc;

/// The source of a group's transfers.
#[derive(Clone)]
struct Source {
    feed: Feed,
    /// How many have begun.
    begun: u32,
}

/// Where transfers come from that do not wait for each other.
#[derive(Clone)]
enum Feed {
    /// Drawn: gaps and sizes; with the size of the one that is due next.
    Drawn(Arrivals, u64),
    /// From a file: start and bytes in order of time, counted from the group's start; the next
    /// one's index; the group's start.
    Listed(Arc<[(Time, u64)]>, usize, Option<Time>),
}

/// Transfers at random.
pub(super) fn drawn(
    transfers: &Transfers,
    of: &NetworkGroup,
    group: &Group,
) -> Result<Box<dyn App>, Invalid> {
    let rate = of.load_rate.unwrap_or_default();
    let arrivals = transfers.compile(rate, group.seed, group.key)?;
    Ok(Box::new(Source { feed: Feed::Drawn(arrivals, 0), begun: 0 }))
}

/// Transfers from a file.
pub(super) fn listed(of: &NetworkGroup) -> Box<dyn App> {
    Box::new(Source { feed: Feed::Listed(of.replay.clone(), 0, None), begun: 0 })
}

impl App for Source {
    /// The transfers that are due begin.
    fn wake(&mut self, sim: &mut Sim, now: Time, (group, _): Member, _: Call) {
        loop {
            let (size, next) = self.feed.next(now);
            // The first event of a source only starts its clock.
            if size > 0 {
                let member = self.begun;
                self.begun += 1;
                let place = sim.connect(group, member, 0);
                transfer::begin(sim, now, place, size);
            }
            match next {
                Some(next) if next <= now => {}
                Some(next) => return sim.call_member(next, group, 0, Call::GoOn),
                None => return,
            }
        }
    }

    fn notify(&mut self, sim: &mut Sim, now: Time, of: EndId, notes: Notes) {
        transfer::notify(sim, now, of, notes);
    }
}

impl Feed {
    /// The bytes of the transfer that is due, 0 if none is, and when to ask again.
    fn next(&mut self, now: Time) -> (u64, Option<Time>) {
        match self {
            Self::Drawn(arrivals, due) => {
                let (gap, size) = arrivals.next_arrival();
                (std::mem::replace(due, size), Some(now + gap))
            }
            Self::Listed(list, at, begun) => {
                let begun = *begun.get_or_insert(now);
                let due = list.get(*at).filter(|(start, _)| begun + *start <= now);
                *at += usize::from(due.is_some());
                let next = list.get(*at).map(|(start, _)| begun + *start);
                (due.map_or(0, |&(_, size)| size), next)
            }
        }
    }
}
