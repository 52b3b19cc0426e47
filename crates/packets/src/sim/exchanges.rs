//! Exchanges and pages begin and end.

use super::Sim;
use crate::connection::{Connection, Underway};
use crate::group::{Group, Member};
use crate::probes::Probes;
use sojourn_base::Time;
use sojourn_records::{Exchange, Outcome};
use sojourn_traffic::PageEnded;

impl Sim {
    /// An exchange or a transfer begins on a connection that has one at a time.
    pub(crate) fn begin_exchange(&mut self, place: u32, exchange: Exchange) {
        let (at, begun) = (place as usize, self.begin(place, exchange));
        // Flows without end have none, and no room for one.
        if self.exchanges.len() <= at {
            self.exchanges.resize(at + 1, Underway::default());
        }
        self.exchanges[at] = begun;
        self.conns[place].awaits_first = true;
    }

    /// An exchange begins, one of those on a connection.
    pub(crate) fn begin(&mut self, place: u32, mut exchange: Exchange) -> Underway {
        let conn = &self.conns[place];
        self.groups[usize::from(conn.group)].book.begin(&mut exchange, conn.totals());
        Underway { exchange, active: true }
    }

    /// The exchange or transfer on a connection ends at `now`, well or not.
    pub(crate) fn end_exchange(&mut self, now: Time, place: u32, outcome: Outcome) {
        let Self { conns, groups, probes, exchanges, connected, .. } = self;
        let at = place as usize;
        if let Some(underway) = exchanges.get_mut(at) {
            end(&conns[place], groups, probes, (now, connected[at]), underway, outcome);
        }
    }

    /// One of the exchanges on a connection ends, if it is under way.
    pub(crate) fn end(&mut self, now: Time, place: u32, underway: &mut Underway, outcome: Outcome) {
        let Self { conns, groups, probes, connected, .. } = self;
        let times = (now, connected[place as usize]);
        end(&conns[place], groups, probes, times, underway, outcome);
    }

    /// A user's page ends.
    pub(crate) fn page_ends(&mut self, now: Time, (group, user): Member, page: &PageEnded) {
        let recorder = &mut self.probes.links.recorder;
        self.groups[group].book.page_ends(user, page, now, recorder);
    }
}

/// An exchange ends at `now`; its connection was open at `connected`.
fn end(
    conn: &Connection,
    groups: &mut [Group],
    probes: &mut Probes,
    (now, connected): (Time, Time),
    underway: &mut Underway,
    outcome: Outcome,
) {
    if std::mem::take(&mut underway.active) {
        let exchange = &mut underway.exchange;
        exchange.requested = exchange.requested.max(connected);
        let book = &mut groups[usize::from(conn.group)].book;
        let counted = (conn.member, conn.totals());
        book.end(exchange, counted, now, outcome, &mut probes.links.recorder);
    }
}
