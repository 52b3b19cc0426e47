//! When timers of endpoints are looked at, and the boundaries of what is measured.

use super::Sim;
use super::endpoints::Around;
use crate::connection::Connection;
use crate::end::End;
use crate::end_id::EndId;
use crate::events::Event;
use sojourn_base::Time;

impl Sim {
    /// A turn of the timers begins: those that are due in it become events, if they have not moved.
    #[cold]
    pub(super) fn begin_turn(&mut self) {
        let (mut next, begins) = self.timers.begin_turn();
        while let Some(of) = next {
            next = self.timers.behind(of);
            if let Some(next) = next {
                self.conns.prefetch(next);
            }
            let deadline = self.conns[of.conn()].ends[of.end()].deadline();
            self.look_at(begins, of, deadline);
        }
    }

    /// See [`Around::look_at`].
    fn look_at(&mut self, now: Time, of: EndId, deadline: Time) {
        let (conn, _, around) = self.connection(of.conn());
        around.look_at(conn, now, of, deadline);
    }

    /// A timer may be due. Deadlines move with every acknowledgement, events do not: an event that
    /// comes too early looks again later.
    pub(crate) fn timer(&mut self, now: Time, of: EndId, generation: u32) {
        let end = of.end();
        let conn = &mut self.conns[of.conn()];
        if conn.generation != generation || conn.sides[end].timer_at != now {
            return;
        }
        let deadline = conn.ends[end].deadline();
        if deadline > now {
            return self.look_at(now, of, deadline);
        }
        conn.sides[end].timer_at = Time::MAX;
        self.with_endpoint(now, of, End::on_timer);
    }

    /// The queues are sampled.
    pub(crate) fn sample(&mut self, now: Time) {
        if let Some(interval) = self.probes.links.interval() {
            self.probes.links.sample(now, &mut self.net.links);
            self.net.wheel.push(now + interval, Event::Sample);
        }
    }

    /// A boundary of a measurement has been reached.
    pub(crate) fn pass_boundary(&mut self, now: Time) {
        self.boundaries.retain(|&at| at > now);
        self.set_boundary();
    }

    /// Finds the instant that no endpoint may run ahead of. If nothing is handled ahead of its time
    /// that is the start, as whatever comes to a host comes later.
    pub(crate) fn set_boundary(&mut self) {
        let next = self.boundaries.iter().copied().min().unwrap_or(self.pause);
        self.boundary = if self.fused { next.min(self.pause) } else { Time::ZERO };
    }
}

impl Around<'_> {
    /// Has the timers of an endpoint looked at when they are due next; there is no event for that,
    /// nor are they in a list.
    pub(super) fn look_at(self, conn: &mut Connection, now: Time, of: EndId, deadline: Time) {
        conn.sides[of.end()].timer_at = deadline;
        if deadline != Time::MAX && !self.timers.enter(now, of, deadline) {
            let generation = conn.generation;
            self.net.wheel.push(deadline, Event::Timer { of, generation });
        }
    }
}
