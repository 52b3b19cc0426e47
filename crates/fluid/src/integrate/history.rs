//! The past of a solution: one polynomial of fourth degree for each step and component.
//!
//! Components are the states and, behind them, the signals: what the model computes from the
//! states and others look up later, such as the loss at a queue. Signals are sampled at five points
//! of a step, so that one that jumps between two steps keeps its limit from either side.

use std::cell::Cell;

/// Coefficients of a component's polynomial in θ, the fraction of the step that has passed.
pub const COEFFICIENTS: usize = 5;

/// A step that is known.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: f64,
    end: f64,
    /// One over its length.
    per: f64,
}

/// What is kept of the past.
#[derive(Clone, Debug)]
pub struct History {
    width: usize,
    /// Before the first step everything stood like this: polynomials without a slope.
    before: Vec<Polynomial>,
    begin: f64,
    steps: Vec<Span>,
    /// A row of all components for each step.
    rows: Vec<Polynomial>,
    /// Steps that have been given up at the front: indices of cursors count them too.
    dropped: usize,
}

/// A component within a step.
pub type Polynomial = [f64; COEFFICIENTS];

/// Value of a polynomial at `theta`.
#[inline]
pub fn horner(c: &Polynomial, theta: f64) -> f64 {
    (((c[4] * theta + c[3]) * theta + c[2]) * theta + c[1]) * theta + c[0]
}

/// The polynomial through values at θ = 0, 1/4, 1/2, 3/4 and 1.
pub fn through(f: [f64; 5]) -> Polynomial {
    let [f0, f1, f2, f3, f4] = f;
    [
        f0,
        (-25.0 * f0 + 48.0 * f1 - 36.0 * f2 + 16.0 * f3 - 3.0 * f4) * (1.0 / 3.0),
        (35.0 * f0 - 104.0 * f1 + 114.0 * f2 - 56.0 * f3 + 11.0 * f4) * (2.0 / 3.0),
        (-5.0 * f0 + 18.0 * f1 - 24.0 * f2 + 14.0 * f3 - 3.0 * f4) * (16.0 / 3.0),
        (f0 - 4.0 * f1 + 6.0 * f2 - 4.0 * f3 + f4) * (32.0 / 3.0),
    ]
}

impl History {
    /// Nothing has happened before `begin`: all components were as `before` says.
    pub fn new(begin: f64, before: &[f64]) -> Self {
        Self {
            width: before.len(),
            before: before.iter().map(|value| [*value, 0.0, 0.0, 0.0, 0.0]).collect(),
            begin,
            steps: Vec::new(),
            rows: Vec::new(),
            dropped: 0,
        }
    }

    /// Until when the past is known.
    pub fn front(&self) -> f64 {
        self.steps.last().map_or(self.begin, |step| step.end)
    }

    /// Adds a step with the polynomials of all components.
    pub fn push(&mut self, start: f64, length: f64, row: &[Polynomial]) {
        debug_assert_eq!(row.len(), self.width);
        self.steps.push(Span { start, end: start + length, per: 1.0 / length });
        self.rows.extend_from_slice(row);
    }

    /// How long the last step was; 0 before the first.
    pub fn last_length(&self) -> f64 {
        self.steps.last().map_or(0.0, |step| step.end - step.start)
    }

    /// The last step: start, length, and the polynomials of all components.
    pub fn last(&self) -> Option<(f64, f64, &[Polynomial])> {
        let step = self.steps.last()?;
        Some((step.start, step.end - step.start, &self.rows[self.rows.len() - self.width..]))
    }

    /// Forgets what ended before `time`, now and then.
    pub fn forget_before(&mut self, time: f64) {
        let gone = self.steps.partition_point(|step| step.end < time);
        if gone > 64 && gone > self.steps.len() / 2 {
            self.steps.drain(..gone);
            self.rows.drain(..gone * self.width);
            self.dropped += gone;
        }
    }

    /// The step that holds `time`, looked for from `cursor` on: absolute index and θ. Times after
    /// the front, or after `cap`, lie in the step before that, with θ above 1.
    #[inline]
    fn find(&self, time: f64, cap: f64, cursor: &Cell<usize>) -> (usize, f64) {
        let last = self.steps.len() - 1;
        let from = cursor.get();
        let mut at = from.saturating_sub(self.dropped).min(last);
        while at > 0 && (time < self.steps[at].start || self.steps[at].start >= cap) {
            at -= 1;
        }
        while at < last && time >= self.steps[at + 1].start && self.steps[at + 1].start < cap {
            at += 1;
        }
        cursor.set(at + self.dropped);
        let step = self.steps[at];
        (at, (time - step.start) * step.per)
    }
}

/// The step that is being tried, as its last sweep left it.
#[derive(Clone, Copy)]
pub struct Trial<'a> {
    pub row: &'a [Polynomial],
    pub start: f64,
    pub length: f64,
}

/// The past as a model sees it: one cursor for each lag.
pub struct Past<'a> {
    history: &'a History,
    /// What lies beyond the front; without it the last step's polynomials go on.
    trial: Option<Trial<'a>>,
    cursors: &'a [Cell<usize>],
    /// For each lag a moment at which the past breaks, or none: what lies behind it is seen as if it
    /// went on as before.
    caps: &'a [f64],
    /// Before this everything was as at the beginning.
    begin: f64,
    /// What lies from here to the front is known.
    oldest: f64,
    /// The front, and what rounding may add.
    front: f64,
    /// Somebody looked beyond the front.
    beyond: Cell<bool>,
    /// Somebody looked at what is forgotten.
    astray: Cell<bool>,
}

impl<'a> Past<'a> {
    pub(super) fn new(
        history: &'a History,
        cursors: &'a [Cell<usize>],
        caps: &'a [f64],
        trial: Option<Trial<'a>>,
    ) -> Self {
        let front = history.front();
        let kept = history.steps.first().filter(|_| history.dropped > 0);
        Self {
            history,
            trial,
            cursors,
            caps,
            begin: if history.steps.is_empty() { f64::INFINITY } else { history.begin },
            oldest: kept.map_or(f64::NEG_INFINITY, |step| step.start),
            // A lag of exactly a step looks at the front, but for rounding.
            front: front + 1e-12 * front.abs().max(1.0),
            beyond: Cell::new(false),
            astray: Cell::new(false),
        }
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
        let history = self.history;
        let cap = self.caps[lag];
        // Behind a break that it has not passed a lag sees nothing new.
        if time > self.front && cap == f64::INFINITY {
            self.beyond.set(true);
            if let Some(Trial { row, start, length }) = self.trial {
                return Moment { row, theta: (time - start) / length };
            }
        }
        // Not a number counts as before the beginning.
        if time >= self.begin && self.begin < cap {
            if time < self.oldest {
                self.astray.set(true);
            }
            let (at, theta) = history.find(time, cap, &self.cursors[lag]);
            Moment { row: &history.rows[at * history.width..(at + 1) * history.width], theta }
        } else {
            Moment { row: &history.before, theta: 0.0 }
        }
    }
}

/// All components at one moment of the past.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    row: &'a [Polynomial],
    theta: f64,
}

impl Moment<'_> {
    /// The component's value; signals come after the states.
    #[inline]
    pub fn get(&self, component: usize) -> f64 {
        horner(&self.row[component], self.theta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_give_their_polynomial_back() {
        let exact = [0.3, -1.2, 4.0, 2.5, -0.7];
        let c = through([0.0, 0.25, 0.5, 0.75, 1.0].map(|theta| horner(&exact, theta)));
        for (got, want) in c.iter().zip(exact) {
            assert!((got - want).abs() < 1e-12, "{c:?}");
        }
    }

    #[test]
    fn a_moment_is_found_from_any_cursor_and_after_forgetting() {
        let mut history = History::new(0.0, &[7.0]);
        for step in 0..1000 {
            let t = f64::from(step) * 0.1;
            history.push(t, 0.1, &[[t, 0.1, 0.0, 0.0, 0.0]]);
            history.forget_before(t - 5.0);
        }
        let cursors = [Cell::new(0)];
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
        assert_eq!(capped.at(0, 97.05).row[0][0], 96.9);
    }
}
