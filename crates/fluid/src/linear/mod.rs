//! Linear models, derived from the equations: an operating point by Newton's method, and the
//! Jacobians there with respect to the present and to every delayed state, by automatic
//! differentiation.
//!
//! ```text
//! ẋ(t) = A₀ x(t) + Σ A_k x(t − τ_k) + Σ B_k u(t − τ_k)    u: the probabilities that packets meet
//! y(t) = C x(t) + D u(t)                                  y: those that the laws give; u = y
//! ```
//!
//! A state-dependent delay is constant here: what is looked up stands still at the operating point,
//! so that a change of the delay changes nothing (Hartung and Turi, "Linearized stability in
//! functional differential equations with state-dependent delays", 2001). A law that samples every
//! T, a q(k) − b q(k−1) being added to its probability and held, has the transfer function (a − b
//! e^(−sT))/(s T): one more delay.

mod bottleneck;
mod many;
mod margins;
mod nyquist;
mod polynomial;
mod rest;
mod scenario;
mod solve;
#[cfg(test)]
mod tests;

use arrayvec::ArrayVec;
use serde::Serialize;

pub use bottleneck::{Bottleneck, Loop, Point};
pub use many::{Columns, Rows};
pub use nyquist::Nyquist;

use crate::Invalid;
use crate::scalar::{Dual, Scalar};

/// Which growth of windows the linear model has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// All growth is clocked by acknowledgements: dW/dt = (I/W − D p) x, with p and the rate x of a
    /// round trip ago. That is the plant of Hollot, Misra, Towsley and Gong (INFOCOM 2001, equation
    /// 4), C²/2N e^(−sR)/((s + 2N/(R²C))(s + 1/R)) for Reno.
    #[default]
    Paper,
    /// As the equations of the fluid engine have it.
    Fluid,
}

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

/// At most N numbers. Systems are small and a map has a million of them: they live on the stack.
pub type Vector<const N: usize> = ArrayVec<f64, N>;

/// A matrix of at most N rows and columns, row by row.
pub type Matrix<const N: usize> = ArrayVec<Vector<N>, N>;

/// A matrix by delay in seconds, 0 first.
pub type Delayed<const N: usize> = ArrayVec<(f64, Matrix<N>), N>;

fn filled<const N: usize>(
    rows: usize,
    columns: usize,
    entry: impl Fn(usize, usize) -> f64,
) -> Matrix<N> {
    (0..rows).map(|row| (0..columns).map(|column| entry(row, column)).collect()).collect()
}

/// A linear system with delays. There are at most N states and inputs together, and at most N
/// delays, the present being one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DelaySystem<const N: usize> {
    /// What states do to slopes.
    pub a: Delayed<N>,
    /// What inputs do to slopes.
    pub b: Delayed<N>,
    /// What states do to outputs.
    pub c: Matrix<N>,
    /// What inputs do to outputs.
    pub d: Matrix<N>,
}

/// N for flows over one link: the states are window, queue and the law's own, the input is the
/// probability that packets meet. The characteristic polynomial has as many coefficients.
pub const SIZE: usize = 4;

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

impl<const N: usize> DelaySystem<N> {
    /// Sets to 0 what is nothing but rounding beside the rest of its row at an operating point.
    fn tidy(&mut self, at: &[f64]) {
        // A queue that should be empty comes out as 1e-29 packets.
        let size = |column: usize| if at[column].abs() < 1e-20 { 1.0 } else { at[column].abs() };
        for row in 0..at.len() {
            let largest = self
                .a
                .iter()
                .flat_map(|(_, a)| a[row].iter().enumerate())
                .map(|(column, entry)| entry.abs() * size(column))
                .fold(0.0, f64::max);
            for (_, a) in &mut self.a {
                for (column, entry) in a[row].iter_mut().enumerate() {
                    if entry.abs() * size(column) <= 1e-13 * largest {
                        *entry = 0.0;
                    }
                }
            }
        }
        // A delay at which nothing happens is none.
        let zero = |m: &Matrix<N>| m.iter().flatten().all(|entry| *entry == 0.0);
        let idle: ArrayVec<bool, N> =
            self.a.iter().zip(&self.b).map(|(a, b)| zero(&a.1) && zero(&b.1)).collect();
        let keep = |delay: f64, idle: bool| delay == 0.0 || !idle;
        let mut which = idle.iter();
        self.a.retain(|(delay, _)| keep(*delay, which.next() == Some(&true)));
        let mut which = idle.iter();
        self.b.retain(|(delay, _)| keep(*delay, which.next() == Some(&true)));
    }

    /// The laws' answers `factor` times as strong.
    pub fn amplify(&mut self, factor: f64) {
        self.c.iter_mut().flatten().for_each(|entry| *entry *= factor);
    }

    /// With u = y: A by delay, 0 first. There is no D.
    pub fn closed(&self) -> Delayed<N> {
        let closed = |((delay, a), (_, b)): (&(f64, Matrix<N>), &(f64, Matrix<N>))| {
            let entry = |row: usize, column: usize| {
                let through = b[row].iter().zip(&self.c).map(|(b, c)| b * c[column]);
                through.fold(a[row][column], |sum, through| sum + through)
            };
            (*delay, filled(a.len(), a.len(), entry))
        };
        self.a.iter().zip(&self.b).map(closed).collect()
    }
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
        let Some(step) = solve::solve(jacobian, wrong) else { break };
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

fn add<const N: usize>(to: &mut Matrix<N>, row: usize, column: usize, what: &Matrix<N>) {
    for (to, what) in to[row..].iter_mut().zip(what) {
        for (to, what) in to[column..].iter_mut().zip(what) {
            *to += what;
        }
    }
}
