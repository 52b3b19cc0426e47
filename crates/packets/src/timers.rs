//! Timers that are not events yet.
//!
//! Most timers of an endpoint are moved or stopped before they run out: with thousands of web users
//! 93 % of the events that looked at timers found nothing to do, and they were a fifth of all. So
//! they wait in lists, one for each turn of 4 ms, and only those that are due in a turn become
//! events when that turn begins. A timer is taken out of its list when it is moved to an earlier
//! turn, and when its connection is over. Later deadlines cost nothing: an end is looked at in the
//! turn that it was entered for, and goes into the list of the turn of its deadline then.
//!
//! A list is linked through the ends themselves, so nothing is allocated but the links' table,
//! which has an entry for each end of each place for a connection.

use crate::end_id::EndId;
use sojourn_base::Time;

/// Nanoseconds of a turn, as a power of two. Shorter turns have to be begun more often, longer
/// ones make events of timers that will still be stopped.
const TURN_BITS: u32 = 22;
/// Lists. A timer that is further away is passed over until its turn comes.
const LISTS: usize = 1024;
const NONE: u32 = u32::MAX;

/// The neighbours of an end in its list.
#[derive(Clone, Copy)]
struct Links {
    before: u32,
    behind: u32,
}

/// The lists of the turns to come.
#[derive(Clone)]
pub(crate) struct Timers {
    heads: Box<[u32; LISTS]>,
    /// By the number of the end.
    links: Vec<Links>,
    /// The first turn that has not begun.
    next: u64,
    /// How many timers wait.
    len: usize,
    /// The last instant before a turn begins in which a timer may be due.
    quiet: Time,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            heads: Box::new([NONE; LISTS]),
            links: Vec::new(),
            next: 1,
            len: 0,
            quiet: Time::MAX,
        }
    }
}

const fn turn(at: Time) -> u64 {
    at.0 >> TURN_BITS
}

const fn list(turn: u64) -> usize {
    turn as usize % LISTS
}

impl Timers {
    /// Makes room for those of so many connections.
    pub(crate) fn reserve(&mut self, connections: usize) {
        self.links.reserve_exact(2 * connections);
    }

    /// Makes room for the ends of the connection at `place`.
    pub(crate) fn make_room(&mut self, place: u32) {
        let ends = 2 * (place as usize + 1);
        if self.links.len() < ends {
            self.links.resize(ends, Links { before: NONE, behind: NONE });
        }
    }

    /// The last instant before a turn begins in which a timer may be due.
    #[inline(always)]
    pub(crate) fn quiet_until(&self) -> Time {
        self.quiet
    }

    /// Another turn is next, or the first timer has come, or the last has gone.
    #[inline]
    fn set_quiet(&mut self) {
        self.quiet = if self.len == 0 { Time::MAX } else { Time((self.next << TURN_BITS) - 1) };
    }

    /// Enters the timer of an end that is due at `at`, as seen at `now`; `false` if that is in a
    /// turn that has begun, so that it has to be an event.
    #[inline]
    pub(crate) fn enter(&mut self, now: Time, of: EndId, at: Time) -> bool {
        if self.len == 0 {
            self.next = self.next.max(turn(now) + 1);
        }
        if turn(at) < self.next {
            return false;
        }
        let head = &mut self.heads[list(turn(at))];
        let behind = std::mem::replace(head, of.bits());
        self.links[of.bits() as usize] = Links { before: NONE, behind };
        if behind != NONE {
            self.links[behind as usize].before = of.bits();
        }
        self.len += 1;
        self.set_quiet();
        true
    }

    /// Takes out the timer of an end, if it was entered for `at` and is not an event by now.
    #[inline]
    pub(crate) fn take_out(&mut self, of: EndId, at: Time) {
        if at == Time::MAX || turn(at) < self.next {
            return;
        }
        let Links { before, behind } = self.links[of.bits() as usize];
        match self.links.get_mut(before as usize) {
            Some(before) => before.behind = behind,
            None => self.heads[list(turn(at))] = behind,
        }
        if let Some(behind) = self.links.get_mut(behind as usize) {
            behind.before = before;
        }
        self.len -= 1;
        self.set_quiet();
    }

    /// Begins the next turn: the first end of its list, and when the turn begins. Each end of the
    /// list is to be entered anew or made an event.
    pub(crate) fn begin_turn(&mut self) -> (Option<EndId>, Time) {
        let turn = self.next;
        self.next += 1;
        self.set_quiet();
        let first = std::mem::replace(&mut self.heads[list(turn)], NONE);
        (end(first), Time(turn << TURN_BITS))
    }

    /// Takes out the first end of a turn's list, which is `of`, and tells the one behind it.
    pub(crate) fn behind(&mut self, of: EndId) -> Option<EndId> {
        self.len -= 1;
        self.set_quiet();
        end(self.links[of.bits() as usize].behind)
    }
}

fn end(bits: u32) -> Option<EndId> {
    (bits != NONE).then(|| EndId::of_bits(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: u64 = 1 << TURN_BITS;

    /// The ends of the turns that begin up to `until`, and when each was due.
    fn due(timers: &mut Timers, at: &[Time], until: Time) -> Vec<u32> {
        let mut due = Vec::new();
        while timers.quiet_until() < until {
            let (mut of, now) = timers.begin_turn();
            while let Some(end) = of {
                of = timers.behind(end);
                let at = at[end.bits() as usize];
                if !timers.enter(now, end, at) {
                    due.push(end.bits());
                }
            }
        }
        due
    }

    #[test]
    fn timers_come_in_their_turn_and_those_taken_out_never() {
        let mut timers = Timers::default();
        timers.make_room(1);
        let rounds = LISTS as u64 * TURN;
        let at = [Time(5 * TURN), Time(5 * TURN + 7), Time(5 * TURN + rounds), Time(9 * TURN)];
        for (number, &at) in at.iter().enumerate() {
            assert!(timers.enter(Time(0), EndId::of_bits(number as u32), at));
        }
        timers.take_out(EndId::of_bits(1), at[1]);
        assert!(due(&mut timers, &at, Time(5 * TURN - 1)).is_empty());
        assert_eq!(due(&mut timers, &at, Time(8 * TURN)), [0]);
        assert!(!timers.enter(Time(8 * TURN), EndId::of_bits(0), Time(8 * TURN + 1)));
        assert_eq!(due(&mut timers, &at, Time(rounds)), [3]);
        assert_eq!(due(&mut timers, &at, Time(2 * rounds)), [2]);
        assert_eq!(timers.quiet_until(), Time::MAX);
    }

    #[test]
    fn after_a_pause_turns_begin_at_the_present() {
        let mut timers = Timers::default();
        timers.make_room(0);
        assert!(timers.enter(Time(100 * TURN), EndId::of_bits(0), Time(103 * TURN)));
        assert_eq!(timers.quiet_until(), Time(101 * TURN - 1));
        timers.take_out(EndId::of_bits(0), Time(103 * TURN));
        assert!(!timers.enter(Time(100 * TURN), EndId::of_bits(0), Time(100 * TURN + 5)));
        assert_eq!(timers.quiet_until(), Time::MAX);
    }
}
