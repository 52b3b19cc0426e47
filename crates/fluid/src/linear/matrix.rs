//! Small matrices and vectors, and linear equations.

use arrayvec::ArrayVec;

/// At most N numbers. Systems are small and a map has a million of them: they live on the stack.
pub type Vector<const N: usize> = ArrayVec<f64, N>;

/// A matrix of at most N rows and columns, row by row.
pub type Matrix<const N: usize> = ArrayVec<Vector<N>, N>;

/// The matrix with these entries.
pub(super) fn filled<const N: usize>(
    rows: usize,
    columns: usize,
    entry: impl Fn(usize, usize) -> f64,
) -> Matrix<N> {
    (0..rows).map(|row| (0..columns).map(|column| entry(row, column)).collect()).collect()
}

/// Adds `what` to the part of a matrix that begins at a row and a column.
pub(super) fn add<const N: usize>(to: &mut Matrix<N>, row: usize, column: usize, what: &Matrix<N>) {
    for (to, what) in to[row..].iter_mut().zip(what) {
        for (to, what) in to[column..].iter_mut().zip(what) {
            *to += what;
        }
    }
}

/// The solution of `a` x = `b` by elimination with partial pivoting; none if `a` is singular.
pub(super) fn solve<const N: usize>(mut a: Matrix<N>, mut b: Vector<N>) -> Option<Vector<N>> {
    let n = b.len();
    for column in 0..n {
        let largest = |row: &usize| a[*row][column].abs();
        let pivot = (column..n).max_by(|x, y| largest(x).total_cmp(&largest(y)))?;
        if a[pivot][column] == 0.0 {
            return None;
        }
        a.swap(column, pivot);
        b.swap(column, pivot);
        let (done, rest) = a.split_at_mut(column + 1);
        let top = &done[column];
        for (row, below) in rest.iter_mut().enumerate() {
            let factor = below[column] / top[column];
            for (below, top) in below[column..].iter_mut().zip(&top[column..]) {
                *below -= factor * top;
            }
            b[column + 1 + row] -= factor * b[column];
        }
    }
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|column| a[row][column] * b[column]).sum();
        b[row] = (b[row] - known) / a[row][row];
    }
    Some(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_that_needs_a_pivot_is_solved() {
        let a = [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [3.0, 0.0, -1.0]].map(Vector::from);
        let x = solve(Matrix::from(a), Vector::from([7.0, 3.0, 0.0])).unwrap();
        for (x, want) in x.iter().zip([1.0, 2.0, 3.0]) {
            assert!((x - want).abs() < 1e-14, "{x} {want}");
        }
        assert_eq!(solve(Matrix::from([Vector::from([0.0])]), Vector::from([1.0])), None);
    }
}
