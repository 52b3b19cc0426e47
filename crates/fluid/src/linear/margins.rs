//! The phase margin of a loop M(s)/D(s) e^(−sτ), τ exact, whose own poles are not in the right
//! half.

use super::matrix::Vector;
use super::polynomial::{Polynomial, at, log_square, square};
use super::system::SIZE;
use crate::root::between;

/// Roots, or the bounds between which they are looked for: no more than a polynomial has
/// coefficients.
type Roots = Vector<SIZE>;

/// Least phase in degrees above −180° where the gain is 1, and the radians per second where that
/// is: infinite, and 0, if it never is.
pub(super) fn phase_margin(numerator: &[f64], denominator: &[f64], delay: f64) -> (f64, f64) {
    let mut least = (f64::INFINITY, 0.0);
    for omega in crossovers(numerator, denominator, delay) {
        let (real, imaginary) = at(numerator, omega);
        let lead = libm::atan2(imaginary, real);
        let (real, imaginary) = at(denominator, omega);
        // Up to four poles turn by less than a circle.
        let lag = libm::atan2(imaginary, real).rem_euclid(std::f64::consts::TAU);
        let phase = 180.0 + (lead - lag - omega * delay).to_degrees();
        if phase < least.0 {
            least = (phase, omega);
        }
    }
    least
}

/// Where |M(jω)| = |D(jω)|, by ω.
pub(super) fn crossovers(numerator: &[f64], denominator: &[f64], delay: f64) -> Roots {
    // In s τ, so that the roots are of the order of 1.
    let powers: Polynomial =
        (0..denominator.len()).map(|power| libm::pow(delay, -(power as f64))).collect();
    let scaled = |polynomial: &[f64]| -> Polynomial {
        polynomial.iter().zip(powers[..polynomial.len()].iter().rev()).map(|(c, p)| c * p).collect()
    };
    let (m, d) = (scaled(numerator), scaled(denominator));
    let mut excess = square(&d);
    let above = square(&m);
    let offset = excess.len() - above.len();
    for (excess, above) in excess[offset..].iter_mut().zip(&above) {
        *excess -= above;
    }
    // ln |L|² goes along with ln ω almost in a straight line.
    let gain = |log: f64| {
        let omega = libm::exp(log);
        log_square(&m, omega) - log_square(&d, omega)
    };
    let (lowest, highest) = (-40.0, 40.0);
    let mut bounds = Roots::from_iter([lowest]);
    if changes(&excess) > 1 {
        let turns = positive_roots(&derivative(&excess));
        bounds.extend(turns.into_iter().map(|square| 0.5 * libm::log(square)));
    }
    bounds.push(highest);
    let pieces = bounds.windows(2).map(|ends| (ends[0], ends[1]));
    pieces
        .map(|(from, to)| ((from, gain(from)), (to, gain(to))))
        .filter(|(from, to)| (from.1 > 0.0) != (to.1 > 0.0))
        .map(|(from, to)| libm::exp(between(from, to, gain)) / delay)
        .collect()
}

/// How often the coefficients change their sign: there are no more positive roots (Descartes).
fn changes(polynomial: &[f64]) -> usize {
    let signs = || polynomial.iter().filter(|c| **c != 0.0).map(|c| *c > 0.0);
    signs().zip(signs().skip(1)).filter(|(sign, next)| sign != next).count()
}

fn derivative(polynomial: &[f64]) -> Polynomial {
    let top = polynomial.len() - 1;
    polynomial[..top].iter().enumerate().map(|(i, c)| c * (top - i) as f64).collect()
}

/// The positive roots, by size: between those of the derivative there is at most one.
fn positive_roots(polynomial: &[f64]) -> Roots {
    let start = polynomial.iter().position(|c| *c != 0.0).unwrap_or(polynomial.len());
    let polynomial = &polynomial[start..];
    if polynomial.len() < 2 || changes(polynomial) == 0 {
        return Roots::new();
    }
    let value = |x: f64| polynomial.iter().fold(0.0, |sum, c| sum * x + c);
    // Cauchy's bound.
    let largest =
        polynomial[1..].iter().fold(0.0, |most: f64, c| most.max((c / polynomial[0]).abs()));
    let mut bounds = Roots::from_iter([0.0]);
    bounds.extend(positive_roots(&derivative(polynomial)));
    bounds.push(1.0 + largest);
    let pieces =
        bounds.windows(2).map(|ends| ((ends[0], value(ends[0])), (ends[1], value(ends[1]))));
    pieces
        .filter(|(from, to)| (from.1 > 0.0) != (to.1 > 0.0))
        .map(|(from, to)| between(from, to, value))
        .filter(|root| *root > 0.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_margin_of_an_integrator_is_a_quarter_turn_less_its_delay() {
        let (phase, omega) = phase_margin(&[3.0], &[1.0, 0.0], 0.1);
        assert!((omega - 3.0).abs() < 1e-12, "{omega}");
        assert!((phase - (90.0 - 0.3_f64.to_degrees())).abs() < 1e-10, "{phase}");
        assert_eq!(phase_margin(&[0.5], &[1.0, 1.0], 0.1), (f64::INFINITY, 0.0));
    }

    #[test]
    fn every_crossover_counts() {
        // A resonance at 5 rad/s lifts the gain above 1 again.
        let (m, d) = (vec![2.0], vec![0.04, 0.004, 1.0, 0.0]);
        let found = crossovers(&m, &d, 1.0);
        assert_eq!(found.len(), 1);
        let (m, d) = (vec![0.6], vec![0.04, 0.004, 1.0, 0.0]);
        let found = crossovers(&m, &d, 1.0);
        assert_eq!(found.len(), 3, "{found:?}");
        for omega in found {
            assert!((log_square(&m, omega) - log_square(&d, omega)).abs() < 1e-9);
        }
    }
}
