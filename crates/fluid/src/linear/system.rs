//! A linear system with delays.

use arrayvec::ArrayVec;
use serde::Serialize;

use super::matrix::{Matrix, filled};

/// N for flows over one link: the states are window, queue and the law's own, the input is the
/// probability that packets meet. The characteristic polynomial has as many coefficients.
pub const SIZE: usize = 4;

/// A matrix by delay in seconds, 0 first.
pub type Delayed<const N: usize> = ArrayVec<(f64, Matrix<N>), N>;

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

impl<const N: usize> DelaySystem<N> {
    /// Sets to 0 what is nothing but rounding beside the rest of its row at an operating point.
    pub(super) fn tidy(&mut self, at: &[f64]) {
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
