//! The event loop: hands every event to the network, the endpoint or the application it concerns.

use crate::Control;
use crate::apps::App;
use crate::end::End;
use crate::end_id::EndId;
use crate::events::{Call, Event, Notes};
use crate::sim::Sim;
use crate::wheel::Place;
use sojourn_base::Time;
use sojourn_link::Wake;

/// A whole run while it is under way.
#[derive(Clone)]
pub(crate) struct Run {
    pub sim: Sim,
    /// The application of each group.
    pub apps: Vec<Box<dyn App>>,
    /// Events that have been handled.
    pub events: u64,
}

impl Run {
    /// Runs to where it is to pause, or until told to stop. Returns the time reached.
    pub(crate) fn go(&mut self, control: &Control<'_>) -> Time {
        const LOOK_UP: u64 = 1 << 14;
        while let Some((now, place)) = self.sim.next() {
            if let Some(soon) = self.sim.net.wheel.hint() {
                self.sim.prefetch(soon);
            }
            self.handle(now, place);
            self.events += 1;
            if self.events.is_multiple_of(LOOK_UP) {
                let packets = self.sim.probes.bottleneck_packets(&self.sim.net);
                if (control.look)(now, packets) {
                    return now;
                }
            }
        }
        self.sim.pause
    }

    #[inline(always)]
    fn handle(&mut self, now: Time, place: Place) {
        let Self { sim, apps, .. } = self;
        match *sim.net.wheel.event(place) {
            Event::Serve { link, why: Wake::Air } => sim.air(now, link),
            Event::Serve { link, why } => {
                sim.net.links[link as usize].woken(now, why);
                sim.serve(now, link);
            }
            Event::Arrive { to, step, packet } => sim.arrive(now, to, step, packet),
            Event::Crossed { to, packet } => {
                sim.end_of_path(now, to, packet, packet.ip_bytes(), false);
            }
            Event::Deliver { to, packet } if packet.is_datagram() => {
                let (group, index) = sim.flow_of(&packet);
                apps[group].datagram(sim, now, (group, index), to, &packet);
            }
            Event::Deliver { to, packet } => {
                sim.deliver(now, to, &packet);
            }
            Event::Timer { of, generation } => sim.timer(now, of, generation),
            Event::Notify { of, notes } => {
                self.tell(now, of, |app, sim| app.notify(sim, now, of, notes), notes);
            }
            Event::Answer { server } => {
                self.tell(now, server, |app, sim| app.answer(sim, now, server), Notes::default());
            }
            Event::Member { member, call } => {
                if call == Call::Start {
                    sim.starts.schedule(&mut sim.net.wheel);
                }
                let group = sim.group_of(member);
                // What would start at the very end lies behind the window.
                if !sim.groups[group].stopped && now < sim.horizon {
                    let index = member - sim.groups[group].first_member;
                    apps[group].wake(sim, now, (group, index), call);
                }
            }
            Event::Retire { conn, generation } => sim.retire(conn, generation),
            Event::Window => {
                sim.pass_boundary(now);
                sim.start_window(now);
            }
            Event::Sample => sim.sample(now),
            Event::Stop { group } => {
                sim.pass_boundary(now);
                let group = group as usize;
                sim.groups[group].stopped = true;
                sim.groups[group].book.stop(now);
                apps[group].stop(sim, now, group);
            }
        }
    }

    /// An event for the application at one end of a connection.
    fn tell(
        &mut self,
        now: Time,
        of: EndId,
        tell: impl FnOnce(&mut dyn App, &mut Sim),
        notes: Notes,
    ) {
        let Self { sim, apps, .. } = self;
        let conn = &mut sim.conns[of.conn()];
        conn.sides[of.end()].came();
        if notes.has(Notes::FAILED) {
            conn.done = true;
        } else if notes.has(Notes::CLOSED) {
            conn.done = conn.ends.iter().all(End::is_closed);
        }
        tell(&mut *apps[usize::from(conn.group)], sim);
        sim.tidy(now, of.conn());
    }
}
