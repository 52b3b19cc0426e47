//! The stages of a step by themselves: what they say of errors, and of how fast differences die.

use super::super::history::{COEFFICIENTS, History};
use super::super::past::{Cursor, Trial};
use super::super::stages::Stages;
use super::super::tableau::{EXACT, Pair, STEADY};
use super::super::*;

/// y' = a y(t) + b y(t − lag) + c t⁵, each state by itself.
struct Linear {
    states: usize,
    a: f64,
    b: f64,
    c: f64,
    lag: f64,
}

impl System for Linear {
    fn states(&self) -> usize {
        self.states
    }
    fn signals(&self) -> usize {
        0
    }
    fn kept(&self) -> usize {
        0
    }
    fn lags(&self) -> usize {
        1
    }
    fn guards(&self) -> usize {
        0
    }
    fn past_time(&self, _: usize, time: f64, _: &[f64]) -> f64 {
        time - self.lag
    }
    fn slope(&self, time: f64, state: &[f64], past: &Past<'_>, slope: &mut [f64]) {
        for (i, slope) in slope.iter_mut().enumerate() {
            let late = past.get(0, time - self.lag, i);
            *slope = self.a * state[i] + self.b * late + self.c * libm::pow(time, 5.0);
        }
    }
    fn signal(&self, _: f64, _: &[f64], _: bool, _: &mut [f64]) {}
    fn scales(&self, _: &mut [f64]) {}
    fn guard(&self, _: f64, _: &[f64], _: &mut [f64]) {}
    fn crossed(&mut self, _: usize, _: f64, _: &mut [f64]) {}
    fn stops(&self) -> &[f64] {
        &[]
    }
    fn stop(&mut self, _: usize, _: f64, _: &mut [f64]) {}
}

/// A past of y = 1 + t up to t = 1, for each state.
fn line(states: usize) -> History {
    let mut history = History::new(0.0, &vec![1.0; states]);
    history.push(0.0, 1.0, &vec![[1.0, 1.0, 0.0, 0.0, 0.0]; states]);
    history
}

/// A step of `step` seconds from there on.
fn tried(system: &Linear, scale: f64, step: f64, pair: &'static Pair) -> Stages {
    let history = line(system.states);
    let cursors = [Cursor::default()];
    let past = Past::new(&history, &cursors, &[f64::INFINITY], None);
    let mut stages = Stages::new(&vec![scale; system.states]);
    stages.pair = pair;
    assert_eq!(stages.run(system, 1.0, &vec![2.0; system.states], step, &past), 7);
    // The slope at the beginning is known now.
    assert_eq!(stages.run(system, 1.0, &vec![2.0; system.states], step, &past), 6);
    stages
}

#[test]
fn an_error_is_that_of_all_slopes_over_the_larger_of_state_and_scale() {
    for pair in [&EXACT, &STEADY] {
        for states in [1, 3, 10] {
            let system = Linear { states, a: 0.0, b: 0.0, c: 1.0, lag: 0.5 };
            let step = 0.5;
            let sum: f64 = pair
                .error
                .iter()
                .zip(pair.nodes)
                .map(|(weight, node)| weight * libm::pow(1.0 + step * node, 5.0))
                .sum();
            // t⁶/6 + 11/6.
            let end = (libm::pow(1.5, 6.0) + 11.0) / 6.0;
            for (scale, size) in [(1.0, end), (10.0, 10.0)] {
                let stages = tried(&system, scale, step, pair);
                assert!((stages.end()[states - 1] - end).abs() < 1e-4);
                let one = step * sum / if scale > 1.0 { size } else { stages.end()[0] };
                let error = stages.error(step) / (states as f64 * one * one);
                assert!((error - 1.0).abs() < 1e-9, "{states} {scale}: {error}");
            }
        }
    }
}

#[test]
fn another_slope_at_the_end_counts_in_the_error_and_in_what_would_move() {
    for states in [1, 10] {
        let system = Linear { states, a: 0.0, b: 2.0, c: 0.0, lag: 0.5 };
        let step = 0.75;
        let mut stages = tried(&system, 100.0, step, &EXACT);
        // At t = 1.75 the line is seen to go on to 2.25; the trial says 3.
        let row = vec![[3.0, 0.0, 0.0, 0.0, 0.0]; states];
        let trial = Trial { row: &row, start: 1.0, length: step };
        let (history, cursors) = (line(states), [Cursor::default()]);
        let past = Past::new(&history, &cursors, &[f64::INFINITY], Some(trial));
        let moved = stages.again(&system, (1.0, step), &past);
        let change = 2.0 * (3.0 - 2.25) / 100.0;
        let wanted = states as f64 * step * step * change * change;
        assert!((moved / wanted - 1.0).abs() < 1e-9, "{moved} {wanted}");
        // The sum of all slopes but the last is that of a line, of which the error is none.
        let one = step * EXACT.error[6] * change;
        let error = stages.error(step) / (states as f64 * one * one);
        assert!((error - 1.0).abs() < 1e-9, "{error}");
        // A second time nothing changes.
        assert_eq!(stages.again(&system, (1.0, step), &past), 0.0);
        // A polynomial through both ends and slopes: the slope at the end is the new one.
        let mut row = vec![[0.0; COEFFICIENTS]; states];
        stages.extend(step, &mut row);
        let c = row[states - 1];
        let slope = c[1] + 2.0 * c[2] + 3.0 * c[3] + 4.0 * c[4];
        assert!((slope / (step * 6.0) - 1.0).abs() < 1e-9, "{slope}");
    }
}

#[test]
fn differences_die_at_the_rate_of_the_equation() {
    for (rate, states) in [(7.0, 1), (0.3, 1), (7.0, 10)] {
        let system = Linear { states, a: -rate, b: 0.0, c: 0.0, lag: 0.5 };
        for scale in [1e-3, 100.0] {
            let found = tried(&system, scale, 0.2, &EXACT).rate().unwrap();
            assert!((found / rate - 1.0).abs() < 1e-9, "{rate}: {found}");
        }
    }
    // Of a slope that is constant nothing is seen.
    let constant = Linear { states: 1, a: 0.0, b: 0.0, c: 0.0, lag: 0.5 };
    assert_eq!(tried(&constant, 1.0, 0.2, &EXACT).rate(), None);
}
