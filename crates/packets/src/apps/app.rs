//! What the event loop asks of an application.

use crate::end_id::EndId;
use crate::events::{Call, Notes};
use crate::group::Member;
use crate::packet::Packet;
use crate::sim::Sim;
use sojourn_base::Time;

/// Makes a copy that goes its own way.
pub(crate) trait Copied {
    fn copied(&self) -> Box<dyn App>;
}

impl<T: App + Clone + 'static> Copied for T {
    fn copied(&self) -> Box<dyn App> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn App> {
    fn clone(&self) -> Self {
        (**self).copied()
    }
}

/// What the members of a group do.
pub(crate) trait App: Copied + Send {
    /// A member starts, or a time that it asked for has come.
    fn wake(&mut self, sim: &mut Sim, now: Time, member: Member, call: Call);

    /// An endpoint of one of the group's connections has something to tell.
    fn notify(&mut self, sim: &mut Sim, now: Time, of: EndId, notes: Notes) {
        let _ = (sim, now, of, notes);
    }

    /// The server at one end has thought long enough and answers.
    fn answer(&mut self, sim: &mut Sim, now: Time, server: EndId) {
        let _ = (sim, now, server);
    }

    /// The group's time is over: nothing new begins.
    fn stop(&mut self, sim: &mut Sim, now: Time, group: usize) {
        let _ = (sim, now, group);
    }

    /// The run has ended: what connections have under way beside their one exchange is given up.
    fn censor(&mut self, sim: &mut Sim, now: Time) {
        let _ = (sim, now);
    }

    /// A datagram of a member reaches the host at one end.
    fn datagram(&mut self, sim: &mut Sim, now: Time, member: Member, to: EndId, packet: &Packet) {
        let _ = (sim, now, member, to, packet);
    }
}
