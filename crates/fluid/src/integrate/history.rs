//! The past of a solution: one polynomial of fourth degree for each step and component.
//!
//! Components are the states and, behind them, the signals: what the model computes from the
//! states and others look up later, such as the loss at a queue. Signals are sampled at five points
//! of a step, so that one that jumps between two steps keeps its limit from either side.

use std::cell::Cell;

/// Coefficients of a component's polynomial in θ, the fraction of the step that has passed.
pub const COEFFICIENTS: usize = 5;

/// What is kept of the past.
#[derive(Clone, Debug)]
pub struct History {
    width: usize,
    /// Before the first step everything stood like this.
    before: Vec<f64>,
    begin: f64,
    /// Start and length of each step.
    steps: Vec<(f64, f64)>,
    coefficients: Vec<f64>,
    /// Steps that have been given up at the front: indices of cursors count them too.
    dropped: usize,
}

/// Value of a polynomial at `theta`.
#[inline]
pub fn horner(c: &[f64], theta: f64) -> f64 {
    (((c[4] * theta + c[3]) * theta + c[2]) * theta + c[1]) * theta + c[0]
}

/// The polynomial through values at θ = 0, 1/4, 1/2, 3/4 and 1.
pub fn through(f: [f64; 5], c: &mut [f64]) {
    let [f0, f1, f2, f3, f4] = f;
    c[0] = f0;
    c[1] = (-25.0 * f0 + 48.0 * f1 - 36.0 * f2 + 16.0 * f3 - 3.0 * f4) / 3.0;
    c[2] = (35.0 * f0 - 104.0 * f1 + 114.0 * f2 - 56.0 * f3 + 11.0 * f4) * (2.0 / 3.0);
    c[3] = (-5.0 * f0 + 18.0 * f1 - 24.0 * f2 + 14.0 * f3 - 3.0 * f4) * (16.0 / 3.0);
    c[4] = (f0 - 4.0 * f1 + 6.0 * f2 - 4.0 * f3 + f4) * (32.0 / 3.0);
}

impl History {
    /// Nothing has happened before `begin`: all components were as `before` says.
    pub fn new(begin: f64, before: Vec<f64>) -> Self {
        Self {
            width: before.len(),
            before,
            begin,
            steps: Vec::new(),
            coefficients: Vec::new(),
            dropped: 0,
        }
    }

    /// Until when the past is known.
    pub fn front(&self) -> f64 {
        self.steps.last().map_or(self.begin, |(start, length)| start + length)
    }

    /// Adds the step from `start` on; its coefficients are filled in by the caller.
    pub fn push(&mut self, start: f64, length: f64) -> &mut [f64] {
        self.steps.push((start, length));
        let from = self.coefficients.len();
        self.coefficients.resize(from + self.width * COEFFICIENTS, 0.0);
        &mut self.coefficients[from..]
    }

    /// The coefficients of the last step.
    pub fn last(&self) -> Option<(f64, f64, &[f64])> {
        let (start, length) = *self.steps.last()?;
        let from = self.coefficients.len() - self.width * COEFFICIENTS;
        Some((start, length, &self.coefficients[from..]))
    }

    /// Forgets what ended before `time`, now and then.
    pub fn forget_before(&mut self, time: f64) {
        let gone = self.steps.partition_point(|(start, length)| start + length < time);
        if gone > 64 && gone > self.steps.len() / 2 {
            self.steps.drain(..gone);
            self.coefficients.drain(..gone * self.width * COEFFICIENTS);
            self.dropped += gone;
        }
    }

    /// The step that holds `time`, looked for from `cursor` on: absolute index and θ. Times after
    /// the front lie in the last step, with θ above 1.
    fn find(&self, time: f64, cursor: &Cell<usize>) -> Option<(usize, f64)> {
        if time < self.begin || self.steps.is_empty() {
            return None;
        }
        let mut at = cursor.get().clamp(self.dropped, self.dropped + self.steps.len() - 1);
        at -= self.dropped;
        while at > 0 && time < self.steps[at].0 {
            at -= 1;
        }
        while at + 1 < self.steps.len() && time >= self.steps[at + 1].0 {
            at += 1;
        }
        cursor.set(at + self.dropped);
        let (start, length) = self.steps[at];
        Some((at, (time - start) / length))
    }

    /// Whether `time` lies before what is kept, though not before the beginning.
    pub fn forgotten(&self, time: f64) -> bool {
        self.dropped > 0 && time >= self.begin && time < self.steps[0].0
    }
}

/// The past as a model sees it: one cursor for each lag.
pub struct Past<'a> {
    history: &'a History,
    cursors: &'a [Cell<usize>],
    /// Somebody looked beyond the front, or at what is forgotten.
    astray: &'a Cell<bool>,
}

impl<'a> Past<'a> {
    pub(super) fn new(
        history: &'a History,
        cursors: &'a [Cell<usize>],
        astray: &'a Cell<bool>,
    ) -> Self {
        Self { history, cursors, astray }
    }

    /// The moment `time`, seen through lag number `lag`.
    #[inline]
    pub fn at(&self, lag: usize, time: f64) -> Moment<'a> {
        let history = self.history;
        // A lag of exactly a step looks at the front, but for rounding.
        let front = history.front();
        if time > front + 1e-12 * front.abs().max(1.0) || history.forgotten(time) {
            self.astray.set(true);
        }
        let row = history.width * COEFFICIENTS;
        match history.find(time, &self.cursors[lag]) {
            Some((at, theta)) => {
                Moment::Step(&history.coefficients[at * row..(at + 1) * row], theta)
            }
            None => Moment::Before(&history.before),
        }
    }
}

/// All components at one moment of the past.
#[derive(Clone, Copy, Debug)]
pub enum Moment<'a> {
    /// Before the beginning.
    Before(&'a [f64]),
    /// In a step, at θ.
    Step(&'a [f64], f64),
}

impl Moment<'_> {
    /// The component's value; signals come after the states.
    #[inline]
    pub fn get(&self, component: usize) -> f64 {
        match *self {
            Self::Before(values) => values[component],
            Self::Step(row, theta) => {
                horner(&row[component * COEFFICIENTS..(component + 1) * COEFFICIENTS], theta)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_give_their_polynomial_back() {
        let exact = [0.3, -1.2, 4.0, 2.5, -0.7];
        let mut c = [0.0; 5];
        through([0.0, 0.25, 0.5, 0.75, 1.0].map(|theta| horner(&exact, theta)), &mut c);
        for (got, want) in c.iter().zip(exact) {
            assert!((got - want).abs() < 1e-12, "{c:?}");
        }
    }

    #[test]
    fn a_moment_is_found_from_any_cursor_and_after_forgetting() {
        let mut history = History::new(0.0, vec![7.0]);
        for step in 0..1000 {
            let t = f64::from(step) * 0.1;
            history.push(t, 0.1)[..2].copy_from_slice(&[t, 0.1]);
            history.forget_before(t - 5.0);
        }
        let (cursors, astray) = ([Cell::new(0)], Cell::new(false));
        let past = Past::new(&history, &cursors, &astray);
        for time in [99.95, 96.0, 98.321, 96.5] {
            assert!((past.at(0, time).get(0) - time).abs() < 1e-9);
        }
        assert_eq!(past.at(0, -1.0).get(0), 7.0);
        assert!(!astray.get());
        assert!(history.dropped > 0);
        past.at(0, 101.0);
        assert!(astray.replace(false));
        past.at(0, 1.0);
        assert!(astray.get(), "what is forgotten must not be taken for known");
    }
}
