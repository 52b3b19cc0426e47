//! A root between two bounds: T. R. Chandrupatla, "A new hybrid quadratic/bisection algorithm for
//! finding the zero of a nonlinear function without using derivatives", Advances in Engineering
//! Software 28, 1997.

/// Rounds after which the bounds are as close as doubles can be, whatever the function.
const ROUNDS: usize = 200;

/// Where `f` changes its sign between `low` and `high`, to the last digits; its values at both are
/// given and have different signs. Infinite values are halved away.
pub(crate) fn between(low: (f64, f64), high: (f64, f64), mut f: impl FnMut(f64) -> f64) -> f64 {
    let ((mut b, mut fb), (mut a, mut fa)) = (low, high);
    let mut t = 0.5;
    for _ in 0..ROUNDS {
        let x = a + t * (b - a);
        let fx = f(x);
        let (c, fc);
        if (fx > 0.0) == (fa > 0.0) {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (x, fx);
        let (best, least) = if fa.abs() < fb.abs() { (a, fa) } else { (b, fb) };
        let close = 2.0 * f64::EPSILON * best.abs() / (b - a).abs();
        if least == 0.0 || close > 0.5 || close.is_nan() {
            return best;
        }
        // Inverse quadratic where the three points allow it, else half.
        let (xi, phi) = ((a - b) / (c - b), (fa - fb) / (fc - fb));
        t = if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        } else {
            0.5
        };
        t = if t.is_nan() { 0.5 } else { t.clamp(close, 1.0 - close) };
    }
    if fa.abs() < fb.abs() { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Case = (fn(f64) -> f64, f64, f64, f64);

    #[test]
    fn roots_are_found_to_the_last_digits_and_quickly() {
        let functions: [Case; 4] = [
            (|x| 2.0 - x * x, 0.0, 2.0, core::f64::consts::SQRT_2),
            // Infinite at one end, as a window without loss is.
            (|x| 1.0 / libm::sqrt(x) - 100.0, 0.0, 1.0, 1e-4),
            (|x| if x < 0.3 { 1.0 } else { -1.0 }, 0.0, 1.0, 0.3),
            (|x| libm::pow(x - 0.7, 3.0), 0.0, 1.0, 0.7),
        ];
        for (number, (f, low, high, root)) in functions.into_iter().enumerate() {
            let mut calls = 0;
            let counted = |x| {
                calls += 1;
                f(x)
            };
            let found = between((low, f(low)), (high, f(high)), counted);
            let within = if number == 3 { 1e-5 } else { 1e-14 };
            assert!((found - root).abs() < within, "{number}: {found}");
            // A smooth one takes a few, a step takes half a double's digits.
            let most = [12, 40, 60, 70][number];
            assert!(calls < most, "{number}: {calls}");
        }
    }
}
