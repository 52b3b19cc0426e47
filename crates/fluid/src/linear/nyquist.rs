//! The curve of a loop L = M/D e^(−sτ) in the complex plane, its margins, and whether it is stable
//! when closed. The delay is exact.
//!
//! Roots move to the other half of the plane only at gain crossovers, as the delay grows from 0:
//! to the right where |D|² − |M|² rises, to the left where it falls (Walton and Marshall, "Direct
//! method for TDS stability analysis", IEE Proceedings D 134, 1987). So the roots to the right are
//! those without the delay, which Routh's scheme counts, and two for each such passage.

use serde::Serialize;
use std::f64::consts::{PI, TAU};

use super::bottleneck::Loop;
use super::margins::{crossovers, phase_margin};
use super::polynomial::at;
use crate::root::between;

/// Points of a curve.
const POINTS: usize = 1500;

/// A loop in the complex plane.
#[derive(Clone, Debug, Serialize)]
pub struct Nyquist {
    /// Whether the closed loop is stable.
    pub stable: bool,
    /// All of this in a sentence.
    pub words: String,
    /// Least phase in degrees above −180° where the gain is 1; none if it never is.
    pub phase_margin_deg: Option<f64>,
    /// Radians per second where that is.
    pub gain_crossover: Option<f64>,
    /// Factor on the gain that brings the loop to the edge: above 1 if it is stable. None if there
    /// is none.
    pub gain_margin: Option<f64>,
    /// Radians per second where the loop crosses the edge then.
    pub phase_crossover: Option<f64>,
    /// Seconds of further delay that bring the loop to the edge; below 0 if it is past it. None if
    /// there are none, or if the loop would be past it without any delay.
    pub delay_margin_s: Option<f64>,
    /// Least distance of the curve from −1.
    pub distance: f64,
    /// Radians per second, ascending.
    #[serde(skip)]
    pub omega: Vec<f64>,
    /// L(jω) there.
    #[serde(skip)]
    pub real: Vec<f64>,
    /// L(jω) there.
    #[serde(skip)]
    pub imaginary: Vec<f64>,
}

impl Loop {
    /// The loop in the complex plane; none where it has two delays.
    #[must_use]
    pub fn nyquist(&self) -> Option<Nyquist> {
        let (numerator, denominator) = (self.numerator.as_ref()?, self.denominator.as_ref()?);
        Some(Open { numerator, denominator, delay: self.delay }.nyquist())
    }
}

/// L = M/D e^(−sτ).
#[derive(Clone, Copy)]
struct Open<'a> {
    numerator: &'a [f64],
    denominator: &'a [f64],
    delay: f64,
}

impl Open<'_> {
    fn at(&self, omega: f64) -> (f64, f64) {
        let (a, b) = at(self.numerator, omega);
        let (c, d) = at(self.denominator, omega);
        let size = c * c + d * d;
        let (real, imaginary) = ((a * c + b * d) / size, (b * c - a * d) / size);
        let (sin, cos) = libm::sincos(omega * self.delay);
        (real * cos + imaginary * sin, imaginary * cos - real * sin)
    }

    fn nyquist(&self) -> Nyquist {
        let crossings = crossovers(self.numerator, self.denominator, self.delay);
        let stable = self.roots_to_the_right(&crossings) == 0;
        let (phase, crossover) = phase_margin(self.numerator, self.denominator, self.delay);
        let crossed = phase.is_finite().then_some((phase, crossover));
        let omega = self.frequencies(&crossings);
        let (real, imaginary): (Vec<f64>, Vec<f64>) = omega.iter().map(|&w| self.at(w)).unzip();
        let gain = self.gain_margin(stable, &omega, &imaginary);
        let delay = if stable {
            // The first delay that turns any crossover to −180°.
            let left = crossings.iter().map(|&w| self.beyond(w) / w);
            left.min_by(f64::total_cmp)
        } else {
            let over = crossed.map(|(phase, omega)| phase.to_radians() / omega);
            // Less than none there cannot be.
            over.filter(|less| *less >= -self.delay)
        };
        let mut found = Nyquist {
            stable,
            words: String::new(),
            phase_margin_deg: crossed.map(|(phase, _)| phase),
            gain_crossover: crossed.map(|(_, omega)| omega),
            gain_margin: gain.map(|(factor, _)| factor),
            phase_crossover: gain.map(|(_, omega)| omega),
            delay_margin_s: delay,
            distance: self.distance(&omega, &real, &imaginary),
            omega,
            real,
            imaginary,
        };
        found.words = found.words();
        found
    }

    /// Radians from where the loop is at ω down to −180°, within a circle.
    fn beyond(&self, omega: f64) -> f64 {
        let (real, imaginary) = self.at(omega);
        libm::atan2(-imaginary, -real).rem_euclid(TAU)
    }

    /// Characteristic roots with a real part above 0. `crossings` are the gain crossovers by ω.
    fn roots_to_the_right(&self, crossings: &[f64]) -> i64 {
        let mut whole = self.denominator.to_vec();
        let offset = whole.len() - self.numerator.len();
        for (sum, m) in whole[offset..].iter_mut().zip(self.numerator) {
            *sum += m;
        }
        let mut roots = sign_changes(&whole);
        // Towards infinity |D| is the larger one, so that the last crossing is a rise.
        for (number, &omega) in crossings.iter().rev().enumerate() {
            let (real, imaginary) = self.at(omega);
            let turned = libm::atan2(imaginary, real) + omega * self.delay;
            let first = (turned - PI).rem_euclid(TAU);
            let passages = ((omega * self.delay - first) / TAU).ceil().max(0.0) as i64;
            roots += if number % 2 == 0 { 2 } else { -2 } * passages;
        }
        roots
    }

    /// Radians per second in which all of the loop's behaviour lies, spaced by their logarithm.
    fn frequencies(&self, crossings: &[f64]) -> Vec<f64> {
        let mut marks = vec![1.0 / self.delay, 3.0 / self.delay];
        marks.extend(crossings);
        marks.extend(sizes(self.numerator));
        marks.extend(sizes(self.denominator));
        let low = libm::log(marks.iter().copied().fold(f64::INFINITY, f64::min) / 100.0);
        let high = libm::log(marks.iter().copied().fold(0.0, f64::max) * 10.0);
        let step = (high - low) / (POINTS - 1) as f64;
        (0..POINTS).map(|at| libm::exp(low + step * at as f64)).collect()
    }

    /// The first factor that makes a stable loop unstable, or the one below which an unstable one
    /// is stable, and the frequency where the curve crosses the negative axis.
    fn gain_margin(&self, stable: bool, omega: &[f64], imaginary: &[f64]) -> Option<(f64, f64)> {
        let ends = omega.windows(2).zip(imaginary.windows(2));
        let crossed = ends.filter(|(_, ends)| (ends[0] > 0.0) != (ends[1] > 0.0));
        let factors = crossed.filter_map(|(omega, ends)| {
            let at = between((omega[0], ends[0]), (omega[1], ends[1]), |w| self.at(w).1);
            let real = self.at(at).0;
            (real < 0.0).then(|| (-1.0 / real, at))
        });
        let side = factors.filter(|(factor, _)| (*factor > 1.0) == stable);
        side.min_by(|a, b| a.0.total_cmp(&b.0))
    }

    /// The least distance from −1: between the neighbours of the nearest point by golden sections.
    fn distance(&self, omega: &[f64], real: &[f64], imaginary: &[f64]) -> f64 {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let from = |(real, imaginary): (f64, f64)| libm::hypot(1.0 + real, imaginary);
        let near = (0..omega.len())
            .min_by(|&a, &b| {
                from((real[a], imaginary[a])).total_cmp(&from((real[b], imaginary[b])))
            })
            .unwrap_or(0);
        let (mut low, mut high) =
            (omega[near.saturating_sub(1)], omega[(near + 1).min(omega.len() - 1)]);
        let mut least = from((real[near], imaginary[near]));
        for _ in 0..60 {
            let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
            let (a, b) = (from(self.at(left)), from(self.at(right)));
            least = least.min(a).min(b);
            if a < b { high = right } else { low = left }
        }
        least
    }
}

/// Roots to the right of a polynomial of degree 1 to 3: changes of sign in the first column of
/// Routh's scheme.
fn sign_changes(polynomial: &[f64]) -> i64 {
    let column = match *polynomial {
        [a, b, c, d] => vec![a, b, (b * c - a * d) / b, d],
        _ => polynomial.to_vec(),
    };
    let changes = column.windows(2).filter(|two| (two[0] > 0.0) != (two[1] > 0.0));
    changes.count() as i64
}

/// The least and the greatest size that a root other than 0 can have (Fujiwara); none where there
/// is no such root.
fn sizes(polynomial: &[f64]) -> Vec<f64> {
    let there = |c: &f64| *c != 0.0;
    let (Some(first), Some(last)) =
        (polynomial.iter().position(there), polynomial.iter().rposition(there))
    else {
        return Vec::new();
    };
    let inner = &polynomial[first..=last];
    let greatest = |inner: &mut dyn Iterator<Item = f64>| {
        let lead = inner.next().unwrap_or(1.0);
        let size = |(at, c): (usize, f64)| libm::pow((c / lead).abs(), 1.0 / (at + 1) as f64);
        2.0 * inner.enumerate().map(size).fold(0.0, f64::max)
    };
    if inner.len() < 2 {
        return Vec::new();
    }
    vec![1.0 / greatest(&mut inner.iter().rev().copied()), greatest(&mut inner.iter().copied())]
}

/// A number with so many decimals, and with two digits that say something where it is small.
pub(super) fn written(value: f64, decimals: usize) -> String {
    let needed = if value > 0.0 { 1.0 - value.log10().floor() } else { 0.0 };
    format!("{value:.0$}", decimals.max(needed.clamp(0.0, 12.0) as usize))
}

impl Nyquist {
    fn words(&self) -> String {
        let mut parts = Vec::new();
        if let (Some(phase), Some(omega)) = (self.phase_margin_deg, self.gain_crossover) {
            parts.push(format!("phase margin {phase:.0}° at {} rad/s", written(omega, 2)));
        }
        if let Some(gain) = self.gain_margin {
            parts.push(format!("gain margin {}", written(gain, 2)));
        }
        if let Some(delay) = self.delay_margin_s {
            let ms = written(delay.abs() * 1e3, 0);
            let which = if delay < 0.0 { "less" } else { "more" };
            parts.push(format!("{ms} ms {which} delay would bring it to the edge"));
        }
        let head = if self.stable { "stable" } else { "unstable" };
        if parts.is_empty() {
            return format!("{head}: its gain stays below 1");
        }
        format!("{head}: {}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::{Kind, Stream};

    fn open<'a>(numerator: &'a [f64], denominator: &'a [f64], delay: f64) -> Open<'a> {
        Open { numerator, denominator, delay }
    }

    #[test]
    fn small_numbers_keep_two_digits_in_words() {
        let words = [(0.528, 2), (0.0528, 2), (3.0, 2), (41.6, 0), (4.16, 0), (0.0, 0)]
            .map(|(value, decimals)| written(value, decimals));
        assert_eq!(words, ["0.53", "0.053", "3.00", "42", "4.2", "0"]);
    }

    #[test]
    fn an_integrator_has_the_margins_of_its_closed_forms() {
        for (gain, delay) in [(3.0, 0.1), (3.0, 0.6), (0.2, 2.0)] {
            let found = open(&[gain], &[1.0, 0.0], delay).nyquist();
            let close = |found: Option<f64>, wanted: f64| {
                assert!(
                    (found.unwrap() - wanted).abs() < 1e-9 * wanted.abs(),
                    "{found:?} {wanted}"
                );
            };
            assert_eq!(found.stable, gain * delay < PI / 2.0);
            close(found.gain_margin, PI / 2.0 / (gain * delay));
            close(found.phase_crossover, PI / 2.0 / delay);
            close(found.phase_margin_deg, 90.0 - (gain * delay).to_degrees());
            close(found.delay_margin_s, PI / 2.0 / gain - delay);
        }
        // Three lags and so much gain are past the edge before there is any delay.
        let lags = open(&[100.0], &[1.0, 3.0, 3.0, 1.0], 0.01).nyquist();
        assert!(!lags.stable && lags.delay_margin_s.is_none() && !lags.words.contains("delay"));
        let calm = open(&[0.5], &[1.0, 1.0], 0.1).nyquist();
        assert!(calm.stable && calm.phase_margin_deg.is_none() && calm.delay_margin_s.is_none());
        assert_eq!(calm.omega.len(), POINTS);
        assert!(calm.words.starts_with("stable: gain margin"), "{}", calm.words);
    }

    #[test]
    fn the_distance_is_the_least_along_the_curve() {
        for (numerator, denominator, delay) in [
            (&[1.0][..], &[1.0, 0.0][..], 0.3),
            (&[2.0], &[1.0, 0.0], 0.6),
            (&[0.5], &[1.0, 1.0], 0.1),
            (&[3.0, 1.0], &[1.0, 2.0, 0.5, 0.0], 0.4),
        ] {
            let open = open(numerator, denominator, delay);
            let found = open.nyquist();
            let from = |omega: f64| {
                let (real, imaginary) = open.at(omega);
                libm::hypot(1.0 + real, imaginary)
            };
            let near = (0..POINTS)
                .min_by(|&a, &b| from(found.omega[a]).total_cmp(&from(found.omega[b])))
                .unwrap();
            let (low, high) = (found.omega[near.max(1) - 1], found.omega[near.min(POINTS - 2) + 1]);
            let fine = (0..=100_000).map(|at| from(low + (high - low) * f64::from(at) / 1e5));
            let least = fine.fold(f64::INFINITY, f64::min);
            assert!((found.distance - least).abs() < 1e-9, "{} {least}", found.distance);
        }
    }

    /// The turns of D + M e^(−sτ) along the axis: a root on the left gives half a turn, one on the
    /// right takes it away (Mikhailov).
    fn stable_by_turns(open: &Open<'_>) -> bool {
        let value = |omega: f64| {
            let (a, b) = at(open.numerator, omega);
            let (sin, cos) = libm::sincos(omega * open.delay);
            let (c, d) = at(open.denominator, omega);
            (c + a * cos + b * sin, d + b * cos - a * sin)
        };
        let (mut turned, mut last) = (0.0, value(0.0));
        for step in 1..400_000 {
            let next = value(f64::from(step) * 1e-3 * (1.0 + f64::from(step) * 1e-5));
            turned +=
                libm::atan2(last.0 * next.1 - last.1 * next.0, last.0 * next.0 + last.1 * next.1);
            last = next;
        }
        (turned / (PI / 2.0)).round() as usize == open.denominator.len() - 1
    }

    #[test]
    fn stable_is_what_the_turns_along_the_axis_say() {
        let mut stream = Stream::new(1, Kind::Size, 0, 0);
        let mut told = [0; 2];
        for _ in 0..80 {
            let mut draw = |low: f64, high: f64| low + (high - low) * stream.uniform();
            let (a, b, c) = (draw(0.05, 5.0), draw(0.05, 5.0), draw(0.05, 3.0));
            let last = if draw(0.0, 1.0) < 0.5 { 0.0 } else { c };
            let denominator = [1.0, a + b, a * b + c, last];
            let (gain, zero) = (draw(0.1, 30.0), draw(0.1, 5.0));
            let numerator = [gain, gain / zero];
            let open = open(&numerator, &denominator, draw(0.05, 2.0));
            let found = open.nyquist();
            // At the edge itself nobody can tell.
            if found.distance < 0.02 {
                continue;
            }
            assert_eq!(found.stable, stable_by_turns(&open), "{}", found.words);
            told[usize::from(found.stable)] += 1;
            if let (true, Some(factor)) = (found.stable, found.gain_margin) {
                for (by, stable) in [(0.98, true), (1.02, false)] {
                    let stronger = numerator.map(|c| c * factor * by);
                    let moved = Open { numerator: &stronger, ..open };
                    assert_eq!(moved.nyquist().stable, stable, "{}", found.words);
                }
            }
        }
        assert!(told.iter().all(|&count| count > 10), "{told:?}");
    }
    #[test]
    fn the_roots_of_a_polynomial_are_between_its_sizes() {
        // Fujiwara: twice the largest of |c/lead|^(1/k), from either end.
        let close = |found: Vec<f64>, wanted: [f64; 2]| {
            assert_eq!(found.len(), 2);
            for (found, wanted) in found.iter().zip(wanted) {
                assert!((found / wanted - 1.0).abs() < 1e-14, "{found} {wanted}");
            }
        };
        close(sizes(&[1.0, -3.0, 2.0]), [1.0 / 3.0, 6.0]);
        close(sizes(&[2.0, 0.0, 32.0]), [2.0, 8.0]);
        close(sizes(&[1.0, 5.0]), [2.5, 10.0]);
        // Roots of 0 are left out, and leading zeros are none.
        close(sizes(&[0.0, 2.0, 0.0, 32.0, 0.0]), [2.0, 8.0]);
        assert!(sizes(&[3.0, 0.0]).is_empty() && sizes(&[0.0, 0.0]).is_empty());
    }

    #[test]
    fn roots_to_the_right_are_counted_by_changes_of_sign() {
        for (polynomial, roots) in [
            (&[1.0, 2.0][..], 0),
            (&[1.0, -2.0], 1),
            (&[1.0, 3.0, 2.0], 0),
            (&[1.0, -3.0, 2.0], 2),
            (&[1.0, 1.0, -2.0], 1),
            // (s + 2)(s² ∓ s + 3), and (s + 1)(s + 2)(s + 3).
            (&[1.0, 1.0, 1.0, 6.0], 2),
            (&[1.0, 3.0, 5.0, 6.0], 0),
            (&[1.0, 6.0, 11.0, 6.0], 0),
            (&[2.0, 2.0, 2.0, 12.0], 2),
        ] {
            assert_eq!(sign_changes(polynomial), roots, "{polynomial:?}");
        }
    }

    #[test]
    fn words_say_what_was_found() {
        let words = |numerator: &[f64], denominator: &[f64], delay| {
            open(numerator, denominator, delay).nyquist().words
        };
        // An integrator: 90° − 3 · 0.1, π/2/0.3, π/2/3 − 0.1.
        let stable = "stable: phase margin 73° at 3.00 rad/s, gain margin 5.24, \
                      424 ms more delay would bring it to the edge";
        assert_eq!(words(&[3.0], &[1.0, 0.0], 0.1), stable);
        let unstable = "unstable: phase margin -13° at 3.00 rad/s, gain margin 0.87, \
                        76 ms less delay would bring it to the edge";
        assert_eq!(words(&[3.0], &[1.0, 0.0], 0.6), unstable);
    }
}
