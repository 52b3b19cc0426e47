//! The fused way: a token stands in the queue for a packet that has gone on already.

use super::{Link, Queue};
use crate::meter::Meter;
use crate::serialiser::Serialiser;
use crate::waiting::{Token, Waiting};
use sojourn_base::{Ecn, Time};
use sojourn_qdisc::{Discipline, Verdict, Visit};

/// What became of a packet offered to a fused link.
pub enum Fate {
    /// It leaves the transmitter at this time; whether it was marked here.
    Departs(Time, bool),
    /// It was dropped.
    Dropped,
}

/// A packet's way through a fused link.
struct Pass<'a> {
    now: Time,
    bytes: u32,
    ecn: Ecn,
    meter: &'a mut Meter,
    serialiser: &'a Serialiser,
    carry: &'a mut u64,
    busy_until: &'a mut Time,
}

impl Visit<Token> for Pass<'_> {
    type Output = Fate;

    #[inline(always)]
    fn visit<D: Discipline<Token>>(self, queue: &mut D) -> Fate {
        let Self { now, bytes, ecn, meter, serialiser, carry, busy_until } = self;
        CatchUp { now, meter: &mut *meter, serialiser }.visit(queue);
        let starts = now.max(*busy_until);
        // The first packet after `busy_until` exactly is still back to back.
        let fresh = *busy_until < now;
        let (packets, held) = (queue.packets(), queue.bytes());
        let token = Token { starts, enqueued: now, bytes, ecn };
        match queue.enqueue(now, token, &mut ()) {
            Verdict::Dropped(_) => Fate::Dropped,
            verdict => {
                meter.until(now, packets, held);
                *busy_until = serialiser.end(starts, bytes, fresh, carry);
                Fate::Departs(*busy_until, matches!(verdict, Verdict::Marked))
            }
        }
    }
}

/// Bringing a fused link's queue up to the present.
struct CatchUp<'a> {
    now: Time,
    meter: &'a mut Meter,
    serialiser: &'a Serialiser,
}

impl Visit<Token> for CatchUp<'_> {
    type Output = ();

    #[inline(always)]
    fn visit<D: Discipline<Token>>(self, queue: &mut D) {
        while let Some(&Token { starts, enqueued, bytes, .. }) = queue.peek() {
            if starts > self.now {
                break;
            }
            let stood = (queue.packets(), queue.bytes());
            self.meter.departs(starts, stood, enqueued, self.serialiser.wire_bytes(bytes));
            let head = queue.dequeue(starts, &mut ());
            debug_assert!(head.is_some());
        }
    }
}

impl<S: Waiting> Link<S> {
    /// Offers a packet to a fused link.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, bytes: u32, ecn: Ecn) -> Fate {
        let Queue::Tokens(queue) = &mut self.queue else { unreachable!("the link is fused") };
        queue.visit(Pass {
            now,
            bytes,
            ecn,
            meter: &mut self.meter,
            serialiser: &self.serialiser,
            carry: &mut self.carry,
            busy_until: &mut self.busy_until,
        })
    }

    /// When the transmission begins that ends at `ends`, that of the last packet accepted.
    #[cold]
    pub fn began(&self, ends: Time, bytes: u32) -> Time {
        self.serialiser.start(ends, bytes, self.carry)
    }

    /// Takes out of a fused link's queue the tokens whose transmission has started by `now`.
    #[inline]
    pub(super) fn catch_up(&mut self, now: Time) {
        if let Queue::Tokens(queue) = &mut self.queue {
            queue.visit(CatchUp { now, meter: &mut self.meter, serialiser: &self.serialiser });
        }
    }
}
