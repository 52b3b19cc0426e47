//! What the integrator asks of a model.

use super::past::Past;

/// A system of delay differential equations whose right side is smooth but where a guard changes
/// sign, at stops, and a lag after either.
///
/// Lags may depend on the state: `past_time` says which moment each looks at. A model has a *mode*
/// (a queue is empty, a probability is clamped) in which its right side is smooth; a guard is
/// positive inside the present mode, and when one falls below zero the integrator ends its step
/// there and calls [`System::crossed`].
///
/// *Signals* follow from the states. Those that some lag looks up are kept in the history behind
/// the states; others are computed only for those who read the solution.
pub trait System {
    /// Number of states.
    fn states(&self) -> usize;
    /// Number of signals.
    fn signals(&self) -> usize;
    /// How many of the signals, the first ones, lags look up.
    fn kept(&self) -> usize;
    /// Number of lags.
    fn lags(&self) -> usize;
    /// Number of guards.
    fn guards(&self) -> usize;
    /// The moment that lag number `lag` looks at, before `time`.
    fn past_time(&self, lag: usize, time: f64, state: &[f64]) -> f64;
    /// The right side.
    fn slope(&self, time: f64, state: &[f64], past: &Past<'_>, slope: &mut [f64]);
    /// The signals in the present mode: all of them, or at least those that are kept.
    fn signal(&self, time: f64, state: &[f64], all: bool, signals: &mut [f64]);
    /// For each state a value from which on its relative error counts: above 0.
    fn scales(&self, scales: &mut [f64]);
    /// The guards in the present mode: above 0 inside, of the order of 1 well inside.
    fn guard(&self, time: f64, state: &[f64], guards: &mut [f64]);
    /// Whether no guard can fall below zero while each state is within its `reach` of `state`; a
    /// model that does not know says no, and then guards are looked at.
    fn clear(&self, _state: &[f64], _reach: &[f64]) -> bool {
        false
    }
    /// A guard has fallen below zero: changes the mode, and puts right what rounding did.
    fn crossed(&mut self, guard: usize, time: f64, state: &mut [f64]);
    /// Times at which something changes from outside, in order.
    fn stops(&self) -> &[f64];
    /// Stop number `stop` is reached.
    fn stop(&mut self, stop: usize, time: f64, state: &mut [f64]);
}
