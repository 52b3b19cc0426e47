//! Numbers that laws are written for: doubles for a course, dual numbers for derivatives.
//!
//! A dual number a + b ε with ε² = 0 carries a derivative through a computation (Wengert, "A simple
//! automatic derivative evaluation program", Communications of the ACM 7(8), 1964): f(a + ε) is
//! f(a) + f'(a) ε, to the last digits.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A real number, or one with a derivative. Comparisons look at the value only.
pub trait Scalar:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    /// A constant.
    fn of(value: f64) -> Self;
    /// Without its derivative.
    fn value(self) -> f64;
    /// The natural logarithm.
    fn ln(self) -> Self;
    /// e to its power.
    fn exp(self) -> Self;
    /// e to its power, less 1.
    fn exp_m1(self) -> Self;
    /// Its power with a constant exponent.
    fn powf(self, exponent: f64) -> Self;

    /// The larger one.
    #[inline]
    fn max(self, other: Self) -> Self {
        if other.value() > self.value() { other } else { self }
    }

    /// The smaller one.
    #[inline]
    fn min(self, other: Self) -> Self {
        if other.value() < self.value() { other } else { self }
    }
}

impl Scalar for f64 {
    #[inline]
    fn of(value: f64) -> Self {
        value
    }

    #[inline]
    fn value(self) -> f64 {
        self
    }

    #[inline]
    fn ln(self) -> Self {
        libm::log(self)
    }

    #[inline]
    fn exp(self) -> Self {
        libm::exp(self)
    }

    #[inline]
    fn exp_m1(self) -> Self {
        libm::expm1(self)
    }

    #[inline]
    fn powf(self, exponent: f64) -> Self {
        libm::pow(self, exponent)
    }

    #[inline]
    fn max(self, other: Self) -> Self {
        f64::max(self, other)
    }

    #[inline]
    fn min(self, other: Self) -> Self {
        f64::min(self, other)
    }
}

/// A number and its derivatives with respect to N variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<const N: usize> {
    /// The number.
    pub value: f64,
    /// Its derivatives.
    pub slopes: [f64; N],
}

impl<const N: usize> Dual<N> {
    /// The number `value` after whose variable number `direction` derivatives are taken.
    pub fn variable(value: f64, direction: usize) -> Self {
        let mut slopes = [0.0; N];
        slopes[direction] = 1.0;
        Self { value, slopes }
    }

    /// A function with this value and derivative.
    #[inline]
    fn chain(self, value: f64, slope: f64) -> Self {
        let mut slopes = self.slopes;
        for own in &mut slopes {
            *own *= slope;
        }
        Self { value, slopes }
    }

    /// A function of two with this value and partial derivatives.
    #[inline]
    fn join(self, other: Self, value: f64, first: f64, second: f64) -> Self {
        let mut slopes = self.slopes;
        for (own, other) in slopes.iter_mut().zip(other.slopes) {
            *own = *own * first + other * second;
        }
        Self { value, slopes }
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self.chain(-self.value, -1.0)
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        self.join(other, self.value + other.value, 1.0, 1.0)
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self.join(other, self.value - other.value, 1.0, -1.0)
    }
}

impl<const N: usize> Mul for Dual<N> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        self.join(other, self.value * other.value, other.value, self.value)
    }
}

impl<const N: usize> Div for Dual<N> {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        self.join(other, value, 1.0 / other.value, -value / other.value)
    }
}

impl<const N: usize> Add<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn add(self, other: f64) -> Self {
        Self { value: self.value + other, ..self }
    }
}

impl<const N: usize> Sub<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn sub(self, other: f64) -> Self {
        Self { value: self.value - other, ..self }
    }
}

impl<const N: usize> Mul<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn mul(self, other: f64) -> Self {
        self.chain(self.value * other, other)
    }
}

impl<const N: usize> Div<f64> for Dual<N> {
    type Output = Self;
    #[inline]
    fn div(self, other: f64) -> Self {
        self.chain(self.value / other, 1.0 / other)
    }
}

impl<const N: usize> Scalar for Dual<N> {
    #[inline]
    fn of(value: f64) -> Self {
        Self { value, slopes: [0.0; N] }
    }

    #[inline]
    fn value(self) -> f64 {
        self.value
    }

    #[inline]
    fn ln(self) -> Self {
        self.chain(libm::log(self.value), 1.0 / self.value)
    }

    #[inline]
    fn exp(self) -> Self {
        let value = libm::exp(self.value);
        self.chain(value, value)
    }

    #[inline]
    fn exp_m1(self) -> Self {
        self.chain(libm::expm1(self.value), libm::exp(self.value))
    }

    #[inline]
    fn powf(self, exponent: f64) -> Self {
        let slope = exponent * libm::pow(self.value, exponent - 1.0);
        self.chain(libm::pow(self.value, exponent), slope)
    }
}

/// The derivative of `f` at `x`.
#[inline]
pub fn derivative(x: f64, f: impl FnOnce(Dual<1>) -> Dual<1>) -> f64 {
    let [slope] = f(Dual::variable(x, 0)).slopes;
    slope
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_textbook() {
        let close = |got: f64, want: f64| assert!((got / want - 1.0).abs() < 1e-14, "{got} {want}");
        let x = 1.7;
        close(derivative(x, |x| x * x * 3.0 - x / 2.0 + 1.0), 6.0 * x - 0.5);
        close(derivative(x, |x| Dual::of(1.0) / (x - 0.2)), -1.0 / (1.5 * 1.5));
        close(derivative(x, |x| -x.ln().exp()), -1.0);
        close(derivative(x, |x| (x * 0.1).exp_m1()), 0.1 * libm::exp(0.17));
        close(derivative(x, |x| x.powf(2.5)), 2.5 * libm::pow(x, 1.5));
        assert_eq!(derivative(x, |x| x.max(Dual::of(2.0))), 0.0);
        assert_eq!(derivative(x, |x| x.min(Dual::of(2.0))), 1.0);
    }

    /// Every operation, one after the other.
    fn all<S: Scalar>(x: S, y: S) -> Vec<S> {
        let two = [x + y, x - y, x * y, x / y, x.max(y), x.min(y), y.max(x), y.min(x)];
        let one =
            [-x, x + 3.0, x - 3.0, x * 3.0, x / 3.0, x.ln(), x.exp(), x.exp_m1(), x.powf(2.5)];
        two.into_iter().chain(one).collect()
    }

    #[test]
    fn numbers_with_derivatives_have_the_values_of_those_without() {
        let (x, y) = (1.7, 0.4);
        let plain = all(x, y);
        assert_eq!(plain[..8], [x + y, x - y, x * y, x / y, x, y, x, y]);
        assert_eq!(plain[8..13], [-x, x + 3.0, x - 3.0, x * 3.0, x / 3.0]);
        for (got, want) in plain[13..].iter().zip([
            f64::ln(x),
            f64::exp(x),
            f64::exp(x) - 1.0,
            x * x * f64::sqrt(x),
        ]) {
            assert!((got / want - 1.0).abs() < 1e-14, "{got} {want}");
        }
        let duals = all(Dual::<2>::variable(x, 0), Dual::variable(y, 1));
        let values: Vec<f64> = duals.iter().map(|dual| dual.value()).collect();
        assert_eq!(values, plain);
        // By x and by y.
        let wanted = [
            [1.0, 1.0],
            [1.0, -1.0],
            [y, x],
            [1.0 / y, -x / (y * y)],
            [1.0, 0.0],
            [0.0, 1.0],
            [1.0, 0.0],
            [0.0, 1.0],
            [-1.0, 0.0],
            [1.0, 0.0],
            [1.0, 0.0],
            [3.0, 0.0],
            [1.0 / 3.0, 0.0],
            [1.0 / x, 0.0],
            [f64::exp(x), 0.0],
            [f64::exp(x), 0.0],
            [2.5 * x * f64::sqrt(x), 0.0],
        ];
        assert_eq!(duals.len(), wanted.len());
        for (number, (dual, wanted)) in duals.iter().zip(wanted).enumerate() {
            for (got, want) in dual.slopes.iter().zip(wanted) {
                assert!((got - want).abs() <= 1e-14 * want.abs(), "{number}: {got} {want}");
            }
        }
        assert_eq!(Dual::<2>::of(3.0), Dual { value: 3.0, slopes: [0.0; 2] });
    }
}
