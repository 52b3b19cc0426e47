//! COBALT's state machine, for whatever holds the packets: one queue (`cobalt`) or each of many
//! (`cake`). What it does, its sources and where it differs from them is told there.

use crate::codel_law::interval_over_sqrt;
use crate::{Ecn, EcnMarking, Probability};
use sojourn_base::{Stream, Time};

/// Most steps of decay in one call.
const DECAY_BATCH: u32 = 256;

/// The parameters as the integers in use; times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    pub(crate) target: u64,
    pub(crate) interval: u64,
    pub(crate) first_interval: bool,
    pub(crate) blue_threshold: u64,
    /// Sojourn time that must be exceeded: `target`, or the guard for slow links.
    pub(crate) above: u64,
    /// Q.60.
    pub(crate) increment: i64,
    pub(crate) decrement: i64,
    pub(crate) ecn: EcnMarking,
}

impl Constants {
    fn next(&self, from: Time, count: u32) -> Time {
        from.saturating_add(Time(interval_over_sqrt(self.interval, count)))
    }
}

/// What changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Signals, less those that have decayed since.
    pub count: u32,
    /// When to signal next, or when to take one off `count`; while `count` is 0, when the queue
    /// will have been quiet for an interval.
    pub drop_next: Time,
    /// Whether `count` was ever changed by the clock, so that a wait has been worked out.
    pub begun: bool,
    /// Whether the last packet had waited for too long.
    pub dropping: bool,
    /// BLUE's probability.
    pub blue: Probability,
    /// When that changed last.
    pub blue_changed: Time,
    /// Since when the queue has been empty; later, when that was last looked at.
    pub idle: Time,
}

impl State {
    /// The queue is full, or a packet has waited too long for anything but BLUE.
    fn blue_up(&mut self, law: &Constants, now: Time) {
        if now.saturating_sub(self.blue_changed).0 > law.target {
            let raw = i128::from(self.blue.raw()) + i128::from(law.increment);
            self.blue = Probability::clamped(raw);
            self.blue_changed = now;
        }
    }

    pub(crate) fn overflowed(&mut self, law: &Constants, now: Time) {
        self.blue_up(law, now);
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    fn blue_down(&mut self, law: &Constants, times: u64) {
        let off = i128::from(law.decrement) * i128::from(times);
        self.blue = Probability::clamped(i128::from(self.blue.raw()) - off);
    }

    /// The last packet has left.
    pub(crate) fn emptied(&mut self, law: &Constants, now: Time) {
        if self.blue != Probability::ZERO && now.saturating_sub(self.blue_changed).0 > law.target {
            self.blue_down(law, 1);
            self.blue_changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count -= 1;
            self.schedule(law);
        }
        self.idle = now;
    }

    /// Whether nothing is left of what an empty queue once did, at `now`.
    pub(crate) fn at_rest(&self, now: Time) -> bool {
        self.blue == Probability::ZERO && self.count == 0 && now >= self.drop_next
    }

    /// The queue is empty still: one look for each `target`.
    pub(crate) fn idle_until(&mut self, law: &Constants, now: Time) {
        // No more than it takes to reach zero: it then changes no more.
        let enough = self.blue.raw().div_ceil((law.decrement as u64).max(1));
        let looks = (now.saturating_sub(self.idle).0 / law.target).min(enough);
        if looks == 0 {
            return;
        }
        self.blue_down(law, looks);
        self.idle = Time(self.idle.0 + looks * law.target);
        self.blue_changed = self.idle;
    }

    /// When to signal first, of packets that begin to wait too long.
    fn first_due(&self, law: &Constants, now: Time) -> Time {
        if self.begun || law.first_interval { law.next(now, self.count) } else { now }
    }

    /// `count` has changed: when the next change is due.
    fn schedule(&mut self, law: &Constants) {
        self.drop_next = law.next(self.drop_next, self.count);
        self.begun = true;
    }

    /// What becomes of the packet at the head, which came at `at`. It must have waited for longer
    /// than `guard` to count as late.
    #[inline]
    pub(crate) fn decide(
        &mut self,
        law: &Constants,
        now: Time,
        at: Time,
        ecn: Ecn,
        guard: u64,
        coin: &mut Stream,
    ) -> Decision {
        let schedule = self.signal(law, now, at, guard);
        let blue = self.blue.toss(coin);
        let marks = schedule.signal && law.ecn.applies(ecn);
        let drop = blue || (schedule.signal && !marks);
        self.after(law, now, schedule.late, drop);
        Decision { drop, mark: marks && ecn != Ecn::Ce }
    }

    /// Whether a signal is due with a packet that came at `at`.
    #[inline]
    fn signal(&mut self, law: &Constants, now: Time, at: Time, guard: u64) -> Schedule {
        let sojourn = now.saturating_sub(at).0;
        let due = self.count > 0 && now >= self.drop_next;
        let mut late = now > self.drop_next;
        if sojourn > law.above.max(guard) {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = self.first_due(law, now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let signal = due && self.dropping;
        if signal {
            self.count = self.count.saturating_add(1);
            self.schedule(law);
            late = now > self.drop_next;
        } else if due {
            self.decay(law, now);
            // If more is due it comes off with the next packet.
            late = false;
        }
        if sojourn > law.blue_threshold {
            self.blue_up(law, now);
        }
        Schedule { signal, late }
    }

    /// Takes off `count` what is due, a batch at most.
    #[cold]
    fn decay(&mut self, law: &Constants, now: Time) {
        for _ in 0..DECAY_BATCH {
            self.count -= 1;
            self.schedule(law);
            if self.count == 0 || now < self.drop_next {
                break;
            }
        }
    }

    /// `drop_next` also tells for how long nothing has happened.
    #[inline]
    fn after(&mut self, law: &Constants, now: Time, late: bool, dropped: bool) {
        if self.count == 0 {
            self.drop_next = now.saturating_add(Time(law.interval));
        } else if late && !dropped {
            self.drop_next = now;
        }
    }
}

/// What becomes of the packet at the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// It is to be dropped, unless it is the last.
    pub drop: bool,
    /// It is ECT and to be marked, if it is not dropped.
    pub mark: bool,
}

#[derive(Clone)]
struct Schedule {
    signal: bool,
    late: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Constants = Constants {
        target: 5_000_000,
        interval: 100_000_000,
        first_interval: false,
        blue_threshold: u64::MAX,
        above: 5_000_000,
        increment: 0,
        decrement: 0,
        ecn: EcnMarking::Off,
    };

    #[test]
    fn a_queue_is_at_rest_when_its_signals_have_decayed() {
        let mut state = State::default();
        assert!(state.at_rest(Time::ZERO));
        state.overflowed(&LAW, Time::from_secs(1));
        assert!(!state.at_rest(Time::from_secs(2)), "one signal is left");
        state.emptied(&LAW, Time::from_secs(2));
        assert!(state.at_rest(Time::from_secs(3)));
    }
}
