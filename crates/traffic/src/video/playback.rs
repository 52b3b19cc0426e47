//! What a viewer sees: playing, and stalls.

use sojourn_base::{Rate, Time};
use std::ops::AddAssign;

/// What viewers have seen, counted since they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Viewed {
    /// Viewers for whom playing has begun.
    pub begun: u64,
    /// How long they waited before, together.
    pub startup: Time,
    /// Time of playing.
    pub played: Time,
    /// Time of stalls, those before playing first began left out.
    pub stalled: Time,
    /// Stalls that have begun.
    pub stalls: u64,
    /// Segments that have come.
    pub segments: u64,
    /// The sum of their bit rates in bits per second.
    pub rates: u64,
    /// Segments whose bit rate is not that of the one before.
    pub switches: u64,
}

impl Viewed {
    /// What came since `start`; who has begun, and after what time, since the very beginning.
    #[must_use]
    pub fn since(&self, start: &Self) -> Self {
        Self {
            played: self.played.saturating_sub(start.played),
            stalled: self.stalled.saturating_sub(start.stalled),
            stalls: self.stalls - start.stalls,
            segments: self.segments - start.segments,
            rates: self.rates - start.rates,
            switches: self.switches - start.switches,
            ..*self
        }
    }
}

impl AddAssign for Viewed {
    fn add_assign(&mut self, other: Self) {
        self.begun += other.begun;
        self.startup += other.startup;
        self.played += other.played;
        self.stalled += other.stalled;
        self.stalls += other.stalls;
        self.segments += other.segments;
        self.rates += other.rates;
        self.switches += other.switches;
    }
}

/// What a viewer is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Not there yet, or gone.
    #[default]
    Away,
    /// Waits for playing to begin.
    Starting,
    /// Plays as long as there is something to play.
    Playing,
    /// Waits for playing to go on.
    Stalled,
}

/// A viewer's screen at a time; what happens on it until a segment comes follows from that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Playback {
    now: Time,
    state: State,
    /// Video that has come and is still to be played.
    buffered: Time,
    viewed: Viewed,
}

impl Playback {
    /// The viewer comes at `now`.
    #[must_use]
    pub(super) fn begin(now: Time) -> Self {
        Self { now, state: State::Starting, ..Self::default() }
    }

    /// The same at `now`, not before it, if no segment comes.
    #[must_use]
    pub fn at(mut self, now: Time) -> Self {
        let passed = now.saturating_sub(self.now);
        self.now = self.now.max(now);
        match self.state {
            State::Away => {}
            State::Starting => self.viewed.startup += passed,
            State::Playing => {
                let played = passed.min(self.buffered);
                self.viewed.played += played;
                self.buffered = self.buffered.saturating_sub(played);
                let stalled = passed.saturating_sub(played);
                // What ends just when the next segment comes plays on.
                if stalled > Time::ZERO {
                    self.state = State::Stalled;
                    self.viewed.stalls += 1;
                    self.viewed.stalled += stalled;
                }
            }
            State::Stalled => self.viewed.stalled += passed,
        }
        self
    }

    /// The viewer goes at `now`.
    #[must_use]
    pub fn leave(self, now: Time) -> Self {
        Self { state: State::Away, ..self.at(now) }
    }

    /// What has been seen. A viewer who still waits for playing to begin has not begun.
    #[must_use]
    pub fn viewed(&self) -> Viewed {
        let startup = if self.viewed.begun == 0 { Time::ZERO } else { self.viewed.startup };
        Viewed { startup, ..self.viewed }
    }

    /// How much has come and is still to be played.
    #[must_use]
    pub(super) fn buffered(&self) -> Time {
        self.buffered
    }

    /// A segment of this rate and playing time comes at `now`; what waits plays once `enough` has
    /// come.
    pub(super) fn add(&mut self, now: Time, rate: Rate, segment: Time, enough: Time) {
        *self = self.at(now);
        self.buffered += segment;
        self.viewed.segments += 1;
        self.viewed.rates += rate.0;
        if matches!(self.state, State::Starting | State::Stalled) && self.buffered >= enough {
            self.viewed.begun += u64::from(self.state == State::Starting);
            self.state = State::Playing;
        }
    }

    /// The segment that comes next has another rate than the one before.
    pub(super) fn switch(&mut self) {
        self.viewed.switches += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_since_is_what_was_added() {
        let seen = |n: u64| Viewed {
            begun: n,
            startup: Time(2 * n),
            played: Time(3 * n),
            stalled: Time(4 * n),
            stalls: 5 * n,
            segments: 6 * n,
            rates: 7 * n,
            switches: 8 * n,
        };
        let (before, since) = (seen(3), seen(4));
        let mut now = before;
        now += since;
        assert_eq!(now, seen(7));
        // Who began is told from the very beginning.
        let of_all = Viewed { begun: now.begun, startup: now.startup, ..since };
        assert_eq!(now.since(&before), of_all);
    }
}
