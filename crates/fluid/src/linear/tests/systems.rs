//! Systems whose derivatives and points are known.

use super::*;
use crate::scalar::Scalar;

/// Four states, of which the third stands still, one input and its output; lags of 0.5 s twice, of
/// nothing, and of 0.7 s at which nothing happens.
struct Known {
    /// What is missing at rest.
    offset: f64,
}

impl Model for Known {
    fn all(&self) -> usize {
        4
    }
    fn active(&self) -> &[usize] {
        &[0, 1, 3]
    }
    fn inputs(&self) -> usize {
        1
    }
    fn delays(&self, _: &[f64]) -> impl Iterator<Item = f64> {
        [0.5, 0.0, 0.5, 0.7].into_iter()
    }
    fn evaluate<S: Scalar>(&self, now: (&[S], &[S]), past: &[(&[S], &[S])], out: &mut [S]) {
        let ((x, u), (then, met), (same, _), (other, _)) = (now, past[0], past[1], past[2]);
        // At rest x₀ is 3, x₁ is 6, x₃ is 12; the input is 0.6.
        out[0] = x[0] * x[0] - 9.0 - (met[0] - 0.6) * 4.0 + x[1] * 1e-16 + self.offset;
        out[1] = same[0] * 2.0 - other[1] + then[2] * 5.0 - 35.0;
        out[2] = S::of(99.0);
        out[3] = then[0] * x[1] - x[3] * 1.5;
        out[4] = x[1] * 0.1 + (u[0] - 0.6) * 0.25 + (x[3] - 12.0) * 1e-3;
    }
}

const REST: [f64; 4] = [3.0, 6.0, 7.0, 12.0];

fn agree(found: &Matrix<8>, wanted: &[&[f64]]) {
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(wanted) {
        assert_eq!(found.as_slice(), *wanted);
    }
}

#[test]
fn derivatives_stand_where_state_delay_and_input_say() {
    let mut system = linearise::<8>(&Known { offset: 0.0 }, &REST, &[0.6]);
    let delays: Vec<f64> = system.a.iter().map(|(delay, _)| *delay).collect();
    assert_eq!(delays, [0.0, 0.5], "each once, and none at which nothing happens");
    assert_eq!(system.b.len(), 2);
    // What is nothing but rounding beside the rest of its row is nothing.
    agree(&system.a[0].1, &[&[6.0, 0.0, 0.0], &[2.0, 0.0, 0.0], &[0.0, 3.0, -1.5]]);
    agree(&system.a[1].1, &[&[0.0, 0.0, 0.0], &[0.0, -1.0, 0.0], &[6.0, 0.0, 0.0]]);
    agree(&system.b[0].1, &[&[0.0], &[0.0], &[0.0]]);
    agree(&system.b[1].1, &[&[-4.0], &[0.0], &[0.0]]);
    agree(&system.c, &[&[0.0, 0.1, 1e-3]]);
    agree(&system.d, &[&[0.25]]);
    system.amplify(10.0);
    agree(&system.c, &[&[0.0, 1.0, 1e-2]]);
    // The output is the input: −4 of it a delay later.
    let closed = system.closed();
    assert_eq!(closed[0], system.a[0]);
    assert_eq!(closed[1].0, 0.5);
    agree(&closed[1].1, &[&[0.0, -4.0, -0.04], &[0.0, -1.0, 0.0], &[6.0, 0.0, 0.0]]);
}

#[test]
fn newton_finds_the_point_from_beside_it_and_leaves_what_stands_still() {
    let mut state = [2.8, 6.5, 7.0, 11.0];
    let met = operating_point::<8>(&Known { offset: 0.0 }, &mut state).unwrap();
    for (got, want) in state.iter().chain(&met).zip(REST.iter().chain(&[0.6])) {
        close(*got, *want);
    }
    // x₀² = −1 has no solution.
    let mut state = REST;
    let why = operating_point::<8>(&Known { offset: 10.0 }, &mut state).unwrap_err();
    assert!(why.to_string().contains("there is no operating point near"), "{why}");
}
