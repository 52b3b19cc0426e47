//! Polynomials of a system whose delayed terms all act on one state: its characteristic equation is
//! D(s) + M(s) e^(−sτ) = 0. Coefficients stand with the highest power first.

use super::matrix::{Matrix, Vector, filled};
use super::system::SIZE;

/// Coefficients.
pub(super) type Polynomial = Vector<SIZE>;

/// D and M.
pub(super) type Pair = (Polynomial, Polynomial);

/// D and M of ẋ = `now` x(t) + `delayed` x(t − τ); none if more than one row of `delayed` is not 0.
///
/// The adjugate of s − A₀ is found by the method of Faddeev and Le Verrier: the delayed terms are
/// of rank 1, so that the determinant is linear in e^(−sτ).
pub(super) fn characteristic(now: &Matrix<SIZE>, delayed: &Matrix<SIZE>) -> Option<Pair> {
    let n = now.len();
    let mut rows = (0..n).filter(|row| delayed[*row].iter().any(|entry| *entry != 0.0));
    let (row, None) = (rows.next()?, rows.next()) else { return None };
    let mut d = Polynomial::from_iter([1.0]);
    let mut m = Polynomial::new();
    let mut adjugate: Matrix<SIZE> = filled(n, n, |i, j| if i == j { 1.0 } else { 0.0 });
    // A column without an entry is a factor s.
    let singular = (0..n).any(|column| now.iter().all(|row| row[column] == 0.0));
    for step in 1..=n {
        let weighted: f64 = (0..n).map(|column| delayed[row][column] * adjugate[column][row]).sum();
        m.push(-weighted);
        let mut next = filled(n, n, |i, j| (0..n).map(|k| now[i][k] * adjugate[k][j]).sum::<f64>());
        let trace: f64 = (0..n).map(|i| next[i][i]).sum();
        let coefficient = if singular && step == n { 0.0 } else { -trace / step as f64 };
        for (i, row) in next.iter_mut().enumerate() {
            row[i] += coefficient;
        }
        d.push(coefficient);
        adjugate = next;
    }
    let leading = m.iter().position(|coefficient| *coefficient != 0.0).unwrap_or(n - 1);
    m.drain(..leading);
    Some((d, m))
}

/// Real and imaginary part at s = jω.
pub(super) fn at(polynomial: &[f64], omega: f64) -> (f64, f64) {
    polynomial.iter().fold((0.0, 0.0), |(real, imaginary), c| (c - omega * imaginary, omega * real))
}

/// ln |P(jω)|².
pub(super) fn log_square(polynomial: &[f64], omega: f64) -> f64 {
    let (real, imaginary) = at(polynomial, omega);
    libm::log(real * real + imaginary * imaginary)
}

/// |P(jω)|² as a polynomial in ω².
pub(super) fn square(polynomial: &[f64]) -> Polynomial {
    let n = polynomial.len();
    (0..n)
        .map(|power| {
            // The coefficient of ω^(2 (n − 1 − power)).
            let total = 2 * power;
            let first = total.saturating_sub(n - 1);
            (first..=total.min(n - 1))
                .map(|i| {
                    let sign = if i.abs_diff(power) % 2 == 0 { 1.0 } else { -1.0 };
                    sign * polynomial[i] * polynomial[total - i]
                })
                .sum()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characteristic_polynomials_are_those_of_the_determinant() {
        let matrix = |rows: [[f64; 3]; 3]| -> Matrix<SIZE> { filled(3, 3, |i, j| rows[i][j]) };
        let now = matrix([[-0.5, 0.2, 0.0], [240.0, -4.0, 0.0], [0.004, 1e-5, 0.0]]);
        let delayed = matrix([[0.3, 0.1, -60.0], [0.0; 3], [0.0; 3]]);
        let (d, m) = characteristic(&now, &delayed).unwrap();
        assert_eq!((d.len(), m.len(), d[3]), (4, 3, 0.0));
        let determinant = |s: f64, z: f64| {
            let a = |i: usize, j: usize| {
                f64::from(u8::from(i == j)) * s - now[i][j] - z * delayed[i][j]
            };
            a(0, 0) * (a(1, 1) * a(2, 2) - a(1, 2) * a(2, 1))
                - a(0, 1) * (a(1, 0) * a(2, 2) - a(1, 2) * a(2, 0))
                + a(0, 2) * (a(1, 0) * a(2, 1) - a(1, 1) * a(2, 0))
        };
        let value = |p: &[f64], s: f64| p.iter().fold(0.0, |sum, c| sum * s + c);
        for (s, z) in [(0.7, 0.0), (1.3, 0.4), (-2.0, 1.0)] {
            let (got, want) = (value(&d, s) + z * value(&m, s), determinant(s, z));
            assert!((got - want).abs() < 1e-12 * want.abs().max(1.0), "{got} {want}");
        }
        let two = matrix([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3]]);
        assert_eq!(characteristic(&now, &two), None);
    }

    #[test]
    fn squares_are_those_of_the_modulus() {
        for polynomial in [&[2.0][..], &[1.0, -3.0], &[1.0, 2.0, 5.0], &[0.5, 1.0, -2.0, 4.0]] {
            let square = square(polynomial);
            for omega in [0.3, 1.7] {
                let (real, imaginary) = at(polynomial, omega);
                let got = square.iter().fold(0.0, |sum, c| sum * omega * omega + c);
                let want = real * real + imaginary * imaginary;
                assert!((got / want - 1.0).abs() < 1e-13, "{polynomial:?} {got} {want}");
            }
        }
    }
}
