//! The past as a model sees it through its lags.
//!
//! Lags look at nearly the same moments again and again: each remembers the polynomials that it
//! looked at last, and from when until when they hold.

use std::cell::Cell;

use super::history::{History, Polynomial, horner};

/// Where a lag looked last.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    /// The step, counted from the first ever.
    at: Cell<usize>,
    /// What it saw there.
    seen: Cell<Seen>,
}

/// Polynomials, and from when until when a lag sees them.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    from: f64,
    until: f64,
    /// Their θ is 0 at `start` and rises by `per` in a second.
    start: f64,
    per: f64,
    /// Where their row begins.
    offset: usize,
}

impl Cursor {
    /// What was seen does not hold any longer: steps have been forgotten, or the lag has passed a
    /// break.
    pub(super) fn reset(&self) {
        self.seen.set(Seen::default());
    }
}

/// The step that is being tried, as its last sweep left it.
#[derive(Clone, Copy)]
pub(super) struct Trial<'a> {
    pub row: &'a [Polynomial],
    pub start: f64,
    pub length: f64,
}

/// What a lag without a break before it sees from some moment on: the trial, or the last step,
/// whose polynomials go on beyond the front.
#[derive(Clone, Copy)]
struct Recent<'a> {
    row: &'a [Polynomial],
    from: f64,
    start: f64,
    per: f64,
}

/// The past as a model sees it: one cursor for each lag.
pub struct Past<'a> {
    history: &'a History,
    /// The front, and what rounding may add: a lag of exactly a step looks at the front.
    front: f64,
    recent: Recent<'a>,
    cursors: &'a [Cursor],
    /// For each lag a moment at which the past breaks, or none: what lies behind it is seen as if
    /// it went on as before.
    caps: &'a [f64],
    /// No lag has one.
    free: bool,
    /// Somebody looked beyond the front.
    beyond: Cell<bool>,
    /// Somebody looked at what is forgotten.
    astray: Cell<bool>,
}

impl<'a> Past<'a> {
    pub(super) fn new(
        history: &'a History,
        cursors: &'a [Cursor],
        caps: &'a [f64],
        trial: Option<Trial<'a>>,
    ) -> Self {
        let front = history.front();
        let front = front + 1e-12 * front.abs().max(1.0);
        let last = &history.rows[history.steps.len() * history.width..];
        let recent = match (trial, history.steps.last()) {
            (Some(Trial { row, start, length }), _) => {
                Recent { row, from: front, start, per: 1.0 / length }
            }
            (None, Some(step)) => {
                Recent { row: last, from: step.start, start: step.start, per: step.per }
            }
            // Rows of no slope.
            (None, None) => Recent { row: last, from: front, start: 0.0, per: 0.0 },
        };
        let (beyond, astray) = (Cell::new(false), Cell::new(false));
        let free = caps.iter().all(|cap| *cap == f64::INFINITY);
        Self { history, front, recent, cursors, caps, free, beyond, astray }
    }

    /// Whether somebody looked beyond the front.
    pub(super) fn beyond(&self) -> bool {
        self.beyond.get()
    }

    /// Whether somebody looked at what is forgotten.
    pub(super) fn astray(&self) -> bool {
        self.astray.get()
    }

    /// The moment `time`, seen through lag number `lag`.
    #[inline]
    pub fn at(&self, lag: usize, time: f64) -> Moment<'a> {
        // Behind a break that it has not passed a lag sees nothing new.
        if time >= self.recent.from && self.caps[lag] == f64::INFINITY {
            if time > self.front {
                self.beyond.set(true);
            }
            let Recent { row, start, per, .. } = self.recent;
            return Moment { rows: row, offset: 0, theta: (time - start) * per };
        }
        self.look(lag, time)
    }

    /// One component at the moment `time`, seen through lag number `lag`.
    #[inline]
    pub fn get(&self, lag: usize, time: f64, component: usize) -> f64 {
        if self.free && time >= self.recent.from {
            if time > self.front {
                self.beyond.set(true);
            }
            return horner(
                &self.recent.row[component],
                (time - self.recent.start) * self.recent.per,
            );
        }
        self.look_up(lag, time, component)
    }

    /// One component at a moment that is not simply in the last step.
    #[inline(never)]
    fn look_up(&self, lag: usize, time: f64, component: usize) -> f64 {
        self.at(lag, time).get(component)
    }

    /// A moment before the last step.
    fn look(&self, lag: usize, time: f64) -> Moment<'a> {
        let seen = self.cursors[lag].seen.get();
        if time >= seen.from && time < seen.until {
            let theta = (time - seen.start) * seen.per;
            return Moment { rows: &self.history.rows, offset: seen.offset, theta };
        }
        self.search(lag, time)
    }

    /// A moment that is not where the lag looked last.
    #[inline(never)]
    fn search(&self, lag: usize, time: f64) -> Moment<'a> {
        let (history, cap) = (self.history, self.caps[lag]);
        // Before this everything was as at the beginning.
        let begin = if history.steps.is_empty() { f64::INFINITY } else { history.begin };
        // Not a number counts as before the beginning.
        if time >= begin && begin < cap {
            let forgotten = history.dropped > 0 && time < history.steps[0].start;
            if forgotten {
                self.astray.set(true);
            }
            self.find(lag, time)
        } else {
            Moment { rows: &history.rows, offset: 0, theta: 0.0 }
        }
    }

    /// The step that holds `time`, looked for from where the lag looked last. Times after the
    /// front, or after its cap, lie in the step before that, with θ above 1.
    fn find(&self, lag: usize, time: f64) -> Moment<'a> {
        let (history, cursor, cap) = (self.history, &self.cursors[lag], self.caps[lag]);
        let steps = &history.steps;
        let last = steps.len() - 1;
        let mut at = cursor.at.get().saturating_sub(history.dropped).min(last);
        while at > 0 && (time < steps[at].start || steps[at].start >= cap) {
            at -= 1;
        }
        while at < last && time >= steps[at + 1].start && steps[at + 1].start < cap {
            at += 1;
        }
        cursor.at.set(at + history.dropped);
        let step = steps[at];
        // The first row is that from before the beginning.
        let offset = (1 + at) * history.width;
        let until = steps.get(at + 1).map_or(step.end, |next| next.start);
        let (from, start, per) = (step.start, step.start, step.per);
        cursor.seen.set(Seen { from, until, start, per, offset });
        Moment { rows: &history.rows, offset, theta: (time - start) * per }
    }
}

/// All components at one moment of the past.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    rows: &'a [Polynomial],
    /// Where the row of its step begins.
    offset: usize,
    theta: f64,
}

impl Moment<'_> {
    /// The component's value; signals come after the states.
    #[inline]
    pub fn get(&self, component: usize) -> f64 {
        horner(&self.rows[self.offset + component], self.theta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_found_from_any_cursor_and_after_forgetting() {
        let mut history = History::new(0.0, &[7.0]);
        for step in 0..1000 {
            let t = f64::from(step) * 0.1;
            history.push(t, 0.1, &[[t, 0.1, 0.0, 0.0, 0.0]]);
            history.forget_before(t - 5.0);
        }
        let cursors = [Cursor::default()];
        let past = Past::new(&history, &cursors, &[f64::INFINITY], None);
        for time in [99.95, 96.0, 98.321, 96.5] {
            assert!((past.at(0, time).get(0) - time).abs() < 1e-9);
        }
        assert_eq!(past.at(0, -1.0).get(0), 7.0);
        assert!(!past.astray());
        assert!(history.dropped > 0);
        assert!(!past.beyond());
        assert!((past.at(0, 101.0).get(0) - 101.0).abs() < 1e-9, "the last step goes on");
        assert!(past.beyond());
        past.at(0, 1.0);
        assert!(past.astray(), "what is forgotten must not be taken for known");
        let row = [[5.0, 1.0, 0.0, 0.0, 0.0]];
        let trial = Trial { row: &row, start: 100.0, length: 2.0 };
        let tried = Past::new(&history, &cursors, &[f64::INFINITY], Some(trial));
        assert_eq!((tried.at(0, 101.0).get(0), tried.beyond()), (5.5, true));
        let capped = Past::new(&history, &cursors, &[97.0 - 1e-9], Some(trial));
        assert!((capped.at(0, 97.05).get(0) - 97.05).abs() < 1e-9, "the line goes on");
        let moment = capped.at(0, 97.05);
        assert_eq!(moment.rows[moment.offset][0], 96.9);
    }
    /// Steps of 1 s whose polynomials say their number, so that a value tells which was looked at.
    fn numbered(steps: u32) -> History {
        let mut history = History::new(10.0, &[-1.0, -2.0]);
        for step in 0..steps {
            let row =
                [[f64::from(step), 0.1, 0.0, 0.0, 0.0], [f64::from(step), 0.0, 0.0, 0.0, 0.0]];
            history.push(10.0 + f64::from(step), 1.0, &row);
        }
        history
    }

    #[test]
    fn before_the_beginning_all_stood_still() {
        let cursors = [Cursor::default()];
        let none = numbered(0);
        let past = Past::new(&none, &cursors, &[f64::INFINITY], None);
        for time in [-5.0, 10.0, 11.0] {
            assert_eq!((past.at(0, time).get(0), past.get(0, time, 1)), (-1.0, -2.0));
        }
        assert!(past.beyond());
        let three = numbered(3);
        let past = Past::new(&three, &cursors, &[f64::INFINITY], None);
        for time in [-5.0, 9.999, f64::NAN] {
            assert_eq!((past.at(0, time).get(0), past.get(0, time, 1)), (-1.0, -2.0), "{time}");
        }
        assert_eq!((past.at(0, 10.0).get(0), past.get(0, 10.0, 1)), (0.0, 0.0));
        // A break at the beginning, of which the lag has seen nothing.
        let capped = Past::new(&three, &cursors, &[10.0], None);
        assert_eq!((capped.at(0, 11.5).get(0), capped.get(0, 11.5, 1)), (-1.0, -2.0));
        assert!(!capped.beyond() && !capped.astray());
    }

    #[test]
    fn a_moment_at_a_steps_end_is_the_next_steps_beginning() {
        let history = numbered(5);
        let cursors = [Cursor::default()];
        let past = Past::new(&history, &cursors, &[f64::INFINITY], None);
        // Forwards, backwards and to and fro: what was looked at last leads nowhere else.
        let there = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5];
        let back = [4.5, 3.0, 2.999, 0.0, 4.0, 1.0, 3.999, 2.0];
        for after in there.into_iter().chain(back) {
            let step: f64 = f64::trunc(after);
            let moment = past.at(0, 10.0 + after);
            assert_eq!(moment.get(1), step, "{after}");
            assert!((moment.get(0) - step - 0.1 * (after - step)).abs() < 1e-12, "{after}");
            assert_eq!(past.get(0, 10.0 + after, 0), moment.get(0), "{after}");
        }
        assert!(!past.beyond());
    }

    #[test]
    fn lags_do_not_see_beyond_their_own_breaks() {
        let history = numbered(5);
        let cursors = [Cursor::default(), Cursor::default()];
        // What the first one sees of the third step on is the second step, which goes on.
        let past = Past::new(&history, &cursors, &[12.0, f64::INFINITY], None);
        for after in [1.9, 2.0, 3.5, 4.5] {
            assert_eq!(past.at(0, 10.0 + after).get(1), 1.0, "{after}");
            assert!((past.get(0, 10.0 + after, 0) - 1.0 - 0.1 * (after - 1.0)).abs() < 1e-12);
            assert_eq!(past.at(1, 10.0 + after).get(1), f64::trunc(after), "{after}");
        }
        assert_eq!(past.at(0, 10.5).get(1), 0.0);
    }

    #[test]
    fn looking_at_the_front_is_not_looking_beyond() {
        let history = numbered(5);
        let cursors = [Cursor::default()];
        for (time, beyond) in [(15.0, false), (15.0 + 1e-12, false), (15.0 + 1e-10, true)] {
            for one in [false, true] {
                let past = Past::new(&history, &cursors, &[f64::INFINITY], None);
                if one {
                    past.get(0, time, 0);
                } else {
                    past.at(0, time);
                }
                assert_eq!(past.beyond(), beyond, "{time}");
            }
        }
        // Up to the front a trial shows nothing of itself.
        let row = [[50.0, 1.0, 0.0, 0.0, 0.0]; 2];
        let trial = Some(Trial { row: &row, start: 15.0, length: 0.5 });
        let past = Past::new(&history, &cursors, &[f64::INFINITY], trial);
        assert_eq!((past.get(0, 14.5, 1), past.at(0, 14.5).get(1)), (4.0, 4.0));
        assert!(!past.beyond());
        assert!((past.get(0, 15.25, 1) - 50.5).abs() < 1e-12 && past.beyond());
    }

    #[test]
    fn only_what_is_forgotten_is_astray() {
        let mut history = numbered(100);
        assert!(history.forget_before(70.0));
        let first = history.steps[0].start;
        let cursors = [Cursor::default()];
        for (time, astray) in [(first, false), (first + 0.5, false), (first - 1e-9, true)] {
            let past = Past::new(&history, &cursors, &[f64::INFINITY], None);
            past.at(0, time);
            assert_eq!(past.astray(), astray, "{time}");
        }
        let past = Past::new(&history, &cursors, &[f64::INFINITY], None);
        assert_eq!((past.at(0, 9.0).get(0), past.astray()), (-1.0, false), "the beginning is kept");
        let whole = numbered(5);
        let past = Past::new(&whole, &cursors, &[f64::INFINITY], None);
        past.at(0, 10.0);
        assert!(!past.astray(), "nothing is forgotten");
    }
}
