//! What happens in a run, and to whom.

use crate::end_id::EndId;
use crate::packet::Packet;
use crate::wheel::Ordered;
use sojourn_link::Wake;

/// What an event does. Simultaneous ones are handled in the order of the variants: what leaves,
/// before what arrives, before what hosts do about it, before what is measured; events of one kind
/// by whom they concern.
///
/// Packets lie at the same place in all that have one: the compiler copies them in pieces
/// otherwise, which the processor then waits for.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Event {
    /// A link's transmitter is free, or what it held back is ready.
    Serve { link: u32, why: Wake },
    /// A packet reaches the link of its step.
    Arrive { to: EndId, packet: Packet, step: u32 },
    /// A packet has crossed the last link of its path, on which others may overtake it.
    Crossed { to: EndId, packet: Packet },
    /// A packet reaches its host.
    Deliver { to: EndId, packet: Packet },
    /// A timer of an endpoint may be due, if the connection is still of this generation.
    Timer { of: EndId, generation: u32 },
    /// An endpoint has something to tell its application.
    Notify { of: EndId, notes: Notes },
    /// A server has thought long enough and answers.
    Answer { server: EndId },
    /// A member of a group acts: a flow starts, a user wakes, a datagram is due.
    Member { member: u32, call: Call },
    /// A connection that is over gives its place back, if it is still of this generation.
    Retire { conn: u32, generation: u32 },
    /// The measured window begins.
    Window,
    /// The queues are sampled.
    Sample,
    /// A group's time is over.
    Stop { group: u32 },
}

/// Bits of the order below the kind: whom the event concerns.
const WHOM_BITS: u32 = 28;
/// Bits of a call of a member.
const CALL_BITS: u32 = 2;

impl Ordered for Event {
    #[inline(always)]
    fn order(&self) -> u32 {
        let (kind, whom) = match *self {
            Self::Serve { link, .. } => (0, link),
            Self::Arrive { to, .. } => (1, to.bits()),
            Self::Crossed { to, .. } => (2, to.bits()),
            Self::Deliver { to, .. } => (3, to.bits()),
            Self::Timer { of, .. } => (4, of.bits()),
            Self::Notify { of, .. } => (5, of.bits()),
            Self::Answer { server } => (6, server.bits()),
            // What was sent or came by then lies before the window, what starts lies in it.
            Self::Window => (7, 0),
            Self::Member { member, .. } => (8, member),
            Self::Retire { conn, .. } => (9, conn),
            Self::Sample => (10, 0),
            Self::Stop { group } => (10, 1 + group),
        };
        debug_assert!(whom < 1 << WHOM_BITS);
        kind << WHOM_BITS | whom
    }

    fn brief(&self) -> Option<u32> {
        match *self {
            Self::Member { member, call } => Some(member << CALL_BITS | call as u32),
            _ => None,
        }
    }

    fn of_brief(brief: u32) -> Self {
        const CALLS: [Call; 3] = [Call::Start, Call::GoOn, Call::Write];
        let call = CALLS[(brief & ((1 << CALL_BITS) - 1)) as usize];
        Self::Member { member: brief >> CALL_BITS, call }
    }
}

/// Why a member's event was scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// The member starts.
    Start,
    /// A time that it asked for has come.
    GoOn,
    /// Its application writes.
    Write,
}

/// What an endpoint tells its application: a set. A note is an event, so there is none of what no
/// application reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes(u8);

impl Notes {
    /// The bytes that the application waited for are there.
    pub(crate) const COMPLETE: Self = Self(1);
    /// The peer sends no more: told to servers, as no client does anything about it.
    pub(crate) const PEER_CLOSED: Self = Self(2);
    /// Both directions are closed.
    pub(crate) const CLOSED: Self = Self(4);
    /// The connection gave up.
    pub(crate) const FAILED: Self = Self(8);
    /// The client's handshake is over. Its time is all that matters, so there is no event.
    pub(crate) const CONNECTED: Self = Self(16);

    /// Whether there is nothing to tell.
    #[inline]
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Takes `note` out; whether it was among them.
    pub(crate) fn take(&mut self, note: Self) -> bool {
        let had = self.has(note);
        self.0 &= !note.0;
        had
    }

    /// Whether `note` is among them.
    #[inline]
    pub(crate) fn has(self, note: Self) -> bool {
        self.0 & note.0 != 0
    }
}

impl std::ops::BitOrAssign for Notes {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_members_call_is_the_same_after_waiting_in_brief() {
        for wanted in [(0, Call::Start), (1, Call::GoOn), (70_000, Call::Write)] {
            let event = Event::Member { member: wanted.0, call: wanted.1 };
            let Event::Member { member, call } = Event::of_brief(event.brief().unwrap()) else {
                panic!("another event")
            };
            assert_eq!((member, call), wanted);
        }
        assert!(Event::Sample.brief().is_none());
    }
}
