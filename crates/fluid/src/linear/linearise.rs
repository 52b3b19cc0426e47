//! From equations to the linear system about an operating point: the Jacobians with respect to the
//! present and to every delayed state by automatic differentiation, the point by Newton's method.

use arrayvec::ArrayVec;

use super::matrix::{Vector, add, filled, solve};
use super::system::{DelaySystem, SIZE};
use crate::Invalid;
use crate::scalar::{Dual, Scalar};

/// Equations that can be linearised. Their values are all states, and then the inputs.
pub trait Model {
    /// Number of states.
    fn all(&self) -> usize;
    /// The states that move.
    fn active(&self) -> &[usize];
    /// Number of inputs, and of outputs.
    fn inputs(&self) -> usize;
    /// The lags that the equations look back, in a state; 0 for one that is not there.
    fn delays(&self, state: &[f64]) -> impl Iterator<Item = f64>;
    /// How fast states change, and behind them the outputs, from states and inputs now and at each
    /// lag.
    fn evaluate<S: Scalar>(&self, now: (&[S], &[S]), past: &[(&[S], &[S])], out: &mut [S]);
}

/// Directions that one pass takes derivatives in: what a class at a queue has, now and before.
const LANES: usize = 2 * SIZE;

/// Values of the equations at one moment: states, then inputs.
fn split<S>(values: &[S], states: usize) -> (&[S], &[S]) {
    values.split_at(states)
}

/// The system about a state in which packets meet `met`.
pub fn linearise<const N: usize>(model: &impl Model, state: &[f64], met: &[f64]) -> DelaySystem<N> {
    let (states, active, inputs) = (model.all(), model.active(), model.inputs());
    let lags: Vector<N> = model.delays(state).collect();
    // Each delay once, the present first.
    let mut delays = Vector::<N>::from_iter([0.0]);
    for lag in &lags {
        if !delays.contains(lag) {
            delays.push(*lag);
        }
    }
    let n = active.len();
    let matrix = |rows, columns| filled(rows, columns, |_, _| 0.0);
    let mut system = DelaySystem {
        a: delays.iter().map(|delay| (*delay, matrix(n, n))).collect(),
        b: delays.iter().map(|delay| (*delay, matrix(n, inputs))).collect(),
        c: matrix(inputs, n),
        d: matrix(inputs, inputs),
    };
    let variables: ArrayVec<usize, N> =
        active.iter().copied().chain(states..states + inputs).collect();
    let constant: ArrayVec<Dual<LANES>, N> =
        state.iter().chain(met).map(|v| Dual::of(*v)).collect();
    let mut moments: ArrayVec<_, N> = delays.iter().map(|_| constant.clone()).collect();
    let mut out = constant;
    let directions = delays.len() * variables.len();
    for first in (0..directions).step_by(LANES) {
        let chunk = (first..directions.min(first + LANES))
            .map(|direction| (direction / variables.len(), direction % variables.len()))
            .enumerate();
        for (lane, (delay, variable)) in chunk.clone() {
            let place = variables[variable];
            moments[delay][place].slopes[lane] = 1.0;
        }
        let past: ArrayVec<_, N> = lags
            .iter()
            .map(|lag| delays.iter().position(|delay| delay == lag).unwrap_or(0))
            .map(|delay| split(&moments[delay], states))
            .collect();
        model.evaluate(split(&moments[0], states), &past, &mut out);
        drop(past);
        for (lane, (delay, variable)) in chunk {
            for (row, place) in active.iter().enumerate() {
                let slope = out[*place].slopes[lane];
                match variable.checked_sub(n) {
                    None => system.a[delay].1[row][variable] = slope,
                    Some(input) => system.b[delay].1[row][input] = slope,
                }
            }
            for output in 0..inputs {
                let slope = out[states + output].slopes[lane];
                match variable.checked_sub(n) {
                    None => system.c[output][variable] += slope,
                    Some(input) => system.d[output][input] += slope,
                }
            }
            moments[delay][variables[variable]].slopes[lane] = 0.0;
        }
    }
    system.tidy(&active.iter().map(|place| state[*place]).collect::<Vector<N>>());
    system
}

/// Rounds of Newton's method.
const ROUNDS: usize = 30;

/// Moves states that are near an operating point there, by Newton's method; gives the probabilities
/// that packets meet.
///
/// # Errors
/// If it does not get there.
pub fn operating_point<const N: usize>(
    model: &impl Model,
    state: &mut [f64],
) -> Result<Vector<N>, Invalid> {
    let (states, inputs, n) = (model.all(), model.inputs(), model.active().len());
    let lags = model.delays(state).count();
    let mut out = vec![0.0; states + inputs];
    let mut met: Vector<N> = (0..inputs).map(|_| 0.0).collect();
    // What a law gives does not depend on what packets meet at its own queue.
    for _ in 0..=inputs {
        model.evaluate((state, &met), &vec![(&*state, &*met); lags], &mut out);
        met.copy_from_slice(&out[states..]);
    }
    let mut last = f64::INFINITY;
    for _ in 0..ROUNDS {
        model.evaluate((state, &met), &vec![(&*state, &*met); lags], &mut out);
        let system = linearise::<N>(model, state, &met);
        let mut jacobian = filled(n + inputs, n + inputs, |_, _| 0.0);
        for (_, a) in &system.a {
            add(&mut jacobian, 0, 0, a);
        }
        for (_, b) in &system.b {
            add(&mut jacobian, 0, n, b);
        }
        add(&mut jacobian, n, 0, &system.c);
        add(&mut jacobian, n, n, &system.d);
        let mut wrong: Vector<N> = model.active().iter().map(|place| -out[*place]).collect();
        for input in 0..inputs {
            jacobian[n + input][n + input] -= 1.0;
            wrong.push(met[input] - out[states + input]);
        }
        let Some(step) = solve(jacobian, wrong) else { break };
        let mut moved = 0.0_f64;
        let unknowns = model.active().iter().map(|place| state[*place]).chain(met.iter().copied());
        for (step, value) in step.iter().zip(unknowns) {
            moved = moved.max(step.abs() / value.abs().max(1e-9));
        }
        if !moved.is_finite() || (moved >= last && last < 1e-9) {
            break;
        }
        for (place, step) in model.active().iter().zip(&step) {
            state[*place] += step;
        }
        for (met, step) in met.iter_mut().zip(&step[n..]) {
            *met += step;
        }
        last = moved;
        if moved < 1e-15 {
            break;
        }
    }
    if last < 1e-9 {
        Ok(met)
    } else {
        Err(Invalid::new("point", "", "there is no operating point near"))
    }
}
