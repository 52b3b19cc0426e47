//! What a link does that does not send when it likes: the upstream of a cable modem waits for
//! grants, Wi-Fi contends for its medium.

use super::{Dropped, Link, Queue, Sent, Wake};
use crate::access::Access;
use crate::waiting::Waiting;
use sojourn_base::Time;
use sojourn_qdisc::Discipline;

/// A packet that no wire pads.
const FULL: u32 = 1500;

impl<S: Waiting> Link<S> {
    /// What [`serve`](Self::serve) is for such links.
    #[inline(never)]
    pub(super) fn serve_access(
        &mut self,
        now: Time,
        dropped: &mut Dropped<S>,
        wake: &mut dyn FnMut(Time, Wake),
    ) -> Option<Sent<S>> {
        match &mut **self.access.as_mut()? {
            Access::Modem(_) => self.serve_modem(now, dropped, wake),
            Access::Air(air) => {
                if !air.full && air.told != now {
                    air.told = now;
                    wake(now, Wake::Air);
                }
                None
            }
        }
    }

    /// The upstream of a cable modem: within a grant it sends, otherwise it asks.
    fn serve_modem(
        &mut self,
        now: Time,
        dropped: &mut Dropped<S>,
        wake: &mut dyn FnMut(Time, Wake),
    ) -> Option<Sent<S>> {
        if self.sending {
            return None;
        }
        let mut access = self.access.take()?;
        let mut sent = None;
        if let Access::Modem(docsis) = &mut *access {
            docsis.advance(now, self.backlog() + docsis.rest());
            sent = docsis.send(now, || {
                let packet = self.dequeue_apart(now, dropped)?;
                let wire = self.serialiser.wire_bytes(packet.bytes());
                Some((packet, u64::from(wire)))
            });
            match &sent {
                Some((_, ends)) => wake(*ends, Wake::Transmitted),
                None => {
                    let at = docsis.wake_at(now, self.backlog() + docsis.rest());
                    at.into_iter().for_each(|at| wake(at, Wake::Grant));
                }
            }
        }
        self.access = Some(access);
        let (standing, ends) = sent?;
        self.sending = true;
        Some(self.goes(standing, ends))
    }

    /// A packet whose transmission has begun, and ends at `ends`.
    fn goes(&mut self, standing: S, ends: Time) -> Sent<S> {
        let bytes = standing.bytes();
        self.meter.transmits(self.serialiser.wire_bytes(bytes));
        self.busy_until = ends;
        let through = self.wire.as_mut().map_or(Some(ends), |wire| wire.pass(ends, bytes));
        Sent { standing, ends, through }
    }

    /// How many bytes on the wire stand in the queue, as far as packets are all padded or none is.
    fn backlog(&self) -> u64 {
        let standing = self.standing();
        let (overhead, least) = (self.wire_bytes(FULL) - FULL, self.wire_bytes(0));
        let unpadded = standing.bytes + standing.packets * u64::from(overhead);
        unpadded.max(standing.packets * u64::from(least))
    }

    /// Bytes on the wire of an IP packet.
    pub(crate) fn wire_bytes(&self, bytes: u32) -> u32 {
        self.serialiser.wire_bytes(bytes)
    }

    /// The medium that the link shares, by its number.
    pub fn medium(&self) -> Option<u32> {
        match self.access.as_deref()? {
            Access::Air(air) => Some(air.medium),
            Access::Modem(_) => None,
        }
    }

    /// Whether the medium has no room for another aggregate of this link.
    pub(crate) fn set_full(&mut self, full: bool) {
        if let Some(Access::Air(air)) = self.access.as_deref_mut() {
            air.full = full;
        }
    }

    /// The discipline's next packet goes into an aggregate: its bytes on the wire, if there is one.
    pub(crate) fn hand_down(&mut self, now: Time, dropped: &mut Dropped<S>) -> Option<u32> {
        let packet = self.dequeue_apart(now, dropped)?;
        let wire = self.serialiser.wire_bytes(packet.bytes());
        if let Some(device) = &mut self.device {
            device.push(now, packet);
        }
        Some(wire)
    }

    /// The first packet of the aggregates goes on air, and is there at `ends`.
    pub(crate) fn lift(&mut self, now: Time, ends: Time) -> Option<Sent<S>> {
        let packet = self.device.as_mut()?.pop(now)?;
        Some(self.goes(packet, ends))
    }

    /// When a packet that the discipline holds back will be ready, after `now`.
    pub(crate) fn next_ready(&self, now: Time) -> Option<Time> {
        let Queue::Packets(queue) = &self.queue else { return None };
        Some(queue.next_ready(now)?.max(now + Time(1)))
    }
}
