//! The past of a solution: one polynomial of fourth degree for each step and component.
//!
//! Components are the states and, behind them, the signals that are kept: what the model computes
//! from the states and looks up later, such as what a flow loses. Signals are sampled at five
//! points of a step, so that one that jumps between two steps keeps its limit from either side.

/// Coefficients of a component's polynomial in θ, the fraction of the step that has passed.
pub(super) const COEFFICIENTS: usize = 5;

/// So few steps are not worth forgetting.
const FEW: usize = 32;
/// Room for so many is made at once.
const USUAL: usize = 128;

/// A step that is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub start: f64,
    pub end: f64,
    /// One over its length.
    pub per: f64,
}

/// What is kept of the past.
#[derive(Clone, Debug)]
pub(super) struct History {
    pub(super) width: usize,
    pub(super) begin: f64,
    pub(super) steps: Vec<Span>,
    /// A row of all components for each step. Before the first step everything stood as the first
    /// row says, polynomials without a slope; the steps' follow.
    pub(super) rows: Vec<Polynomial>,
    /// Steps that have been given up at the front: indices of cursors count them too.
    pub(super) dropped: usize,
}

/// A component within a step.
pub type Polynomial = [f64; COEFFICIENTS];

/// Value of a polynomial at `theta`.
#[inline]
pub fn horner(c: &Polynomial, theta: f64) -> f64 {
    (((c[4] * theta + c[3]) * theta + c[2]) * theta + c[1]) * theta + c[0]
}

/// The polynomial through values at θ = 0, 1/4, 1/2, 3/4 and 1.
pub(super) fn through(f: [f64; 5]) -> Polynomial {
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
    pub(super) fn new(begin: f64, before: &[f64]) -> Self {
        let mut rows = Vec::with_capacity((1 + USUAL) * before.len());
        rows.extend(before.iter().map(|value| [*value, 0.0, 0.0, 0.0, 0.0]));
        let steps = Vec::with_capacity(USUAL);
        Self { width: before.len(), begin, steps, rows, dropped: 0 }
    }

    /// Until when the past is known.
    pub(super) fn front(&self) -> f64 {
        self.steps.last().map_or(self.begin, |step| step.end)
    }

    /// Adds a step with the polynomials of all components.
    pub(super) fn push(&mut self, start: f64, length: f64, row: &[Polynomial]) {
        debug_assert_eq!(row.len(), self.width);
        self.steps.push(Span { start, end: start + length, per: 1.0 / length });
        self.rows.extend_from_slice(row);
    }

    /// How long the last step was; 0 before the first.
    pub(super) fn last_length(&self) -> f64 {
        self.steps.last().map_or(0.0, |step| step.end - step.start)
    }

    /// Forgets what ended before `time`, now and then; tells whether it did.
    pub(super) fn forget_before(&mut self, time: f64) -> bool {
        let gone = self.steps.partition_point(|step| step.end < time);
        let worth = gone > FEW && gone > self.steps.len() / 2;
        if worth {
            self.steps.drain(..gone);
            self.rows.drain(self.width..(1 + gone) * self.width);
            self.dropped += gone;
        }
        worth
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
    fn the_past_is_known_up_to_the_end_of_its_last_step() {
        let mut history = History::new(3.0, &[1.0, 2.0]);
        assert_eq!((history.front(), history.last_length()), (3.0, 0.0));
        assert_eq!(history.rows, [[1.0, 0.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0, 0.0]]);
        history.push(3.0, 0.5, &[[5.0; 5], [6.0; 5]]);
        history.push(3.5, 0.25, &[[7.0; 5], [8.0; 5]]);
        assert_eq!((history.front(), history.last_length()), (3.75, 0.25));
        let Span { start, end, per } = history.steps[1];
        assert_eq!((start, end, per), (3.5, 3.75, 4.0));
    }

    #[test]
    fn only_whole_steps_are_forgotten_and_only_if_that_is_most_of_them() {
        let filled = || {
            let mut history = History::new(0.0, &[-1.0, -2.0]);
            for step in 0..100 {
                let own = f64::from(step);
                history.push(own, 1.0, &[[own; 5], [-own; 5]]);
            }
            history
        };
        let mut history = filled();
        assert!(!history.forget_before(50.5), "half of them are not worth it");
        assert!(history.forget_before(61.0));
        // The 61st ends there.
        assert_eq!((history.dropped, history.steps.len()), (60, 40));
        assert_eq!(history.steps[0].start, 60.0);
        assert_eq!(history.rows.len(), 2 * 41);
        assert_eq!(history.rows[0][0], -1.0, "the beginning is kept");
        assert_eq!((history.rows[2], history.rows[3]), ([60.0; 5], [-60.0; 5]));
        assert!(!history.forget_before(90.0), "thirty are not worth it");
        assert_eq!((history.dropped, history.steps.len()), (60, 40));
        assert!(!history.forget_before(93.0), "nor are 32");
        assert!(history.forget_before(95.0));
        assert_eq!((history.dropped, history.steps.len()), (94, 6));
    }
}
