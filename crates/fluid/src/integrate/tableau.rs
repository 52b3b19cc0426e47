//! Two embedded pairs of Dormand and Prince, "A family of embedded Runge-Kutta formulae", Journal
//! of Computational and Applied Mathematics 6, 1980: RK5(4)7M, whose error is small, and RK5(4)7S,
//! which is stable for longer steps. Both are of fifth order, with a fourth-order companion for the
//! error and seven stages of which the last is the next step's first.
//!
//! Their continuous extensions are the quartics that keep both ends and both slopes there. One
//! coefficient remains; as in Shampine, "Some practical Runge-Kutta formulas", Mathematics of
//! Computation 46, 1986, section 5, it makes the mean square of the terms of fifth order least. For
//! 7M that gives the numbers there, for 7S the same condition was solved in fractions.

/// Stages of a step.
pub(super) const STAGES: usize = 7;

/// A pair.
#[derive(Debug)]
pub(super) struct Pair {
    /// Where in the step a stage looks.
    pub nodes: [f64; STAGES],
    /// The weights of earlier slopes in each stage's state; the last row is the step itself.
    pub stages: [[f64; STAGES - 1]; STAGES],
    /// Fifth order less fourth order: the estimate of the error.
    pub error: [f64; STAGES],
    /// Weights of the slopes in the coefficient of θ⁴ of the continuous extension.
    pub highest: [f64; STAGES],
    /// Where its region of stability ends on the negative real axis.
    #[cfg(test)]
    pub stable: f64,
}

/// RK5(4)7M: the pair with the small error.
pub(super) static EXACT: Pair = Pair {
    nodes: [0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0],
    stages: [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
        [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
        [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
        [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
        [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ],
    error: [
        71.0 / 57600.0,
        0.0,
        -71.0 / 16695.0,
        71.0 / 1920.0,
        -17253.0 / 339200.0,
        22.0 / 525.0,
        -1.0 / 40.0,
    ],
    highest: [
        -12_715_105_075.0 / 11_282_082_432.0,
        0.0,
        87_487_479_700.0 / 32_700_410_799.0,
        -10_690_763_975.0 / 1_880_347_072.0,
        701_980_252_875.0 / 199_316_789_632.0,
        -1_453_857_185.0 / 822_651_844.0,
        69_997_945.0 / 29_380_423.0,
    ],
    #[cfg(test)]
    stable: 3.3,
};

/// RK5(4)7S: the pair that is stable for longer steps.
pub(super) static STEADY: Pair = Pair {
    nodes: [0.0, 2.0 / 9.0, 1.0 / 3.0, 5.0 / 9.0, 2.0 / 3.0, 1.0, 1.0],
    stages: [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [2.0 / 9.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0 / 12.0, 1.0 / 4.0, 0.0, 0.0, 0.0, 0.0],
        [55.0 / 324.0, -25.0 / 108.0, 50.0 / 81.0, 0.0, 0.0, 0.0],
        [83.0 / 330.0, -13.0 / 22.0, 61.0 / 66.0, 9.0 / 110.0, 0.0, 0.0],
        [-19.0 / 28.0, 9.0 / 4.0, 1.0 / 7.0, -27.0 / 7.0, 22.0 / 7.0, 0.0],
        [19.0 / 200.0, 0.0, 3.0 / 5.0, -243.0 / 400.0, 33.0 / 40.0, 7.0 / 80.0],
    ],
    error: [
        11.0 / 1250.0,
        0.0,
        -33.0 / 500.0,
        891.0 / 5000.0,
        -33.0 / 250.0,
        -9.0 / 1000.0,
        1.0 / 50.0,
    ],
    highest: [
        -26_180_613.0 / 20_483_000.0,
        0.0,
        9_265_941.0 / 2_048_300.0,
        -127_058_139.0 / 40_966_000.0,
        -4_414_311.0 / 4_096_600.0,
        -9_051_189.0 / 8_193_200.0,
        208_749.0 / 102_415.0,
    ],
    #[cfg(test)]
    stable: 5.7,
};

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [&Pair; 2] = [&EXACT, &STEADY];

    fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// What stages make of slopes: the sums of the rows.
    fn inner(pair: &Pair, slopes: &[f64; STAGES]) -> [f64; STAGES] {
        pair.stages.map(|row| dot(&row, slopes))
    }

    fn product(a: &[f64; STAGES], b: &[f64; STAGES]) -> [f64; STAGES] {
        std::array::from_fn(|i| a[i] * b[i])
    }

    /// For each rooted tree of an order its product over the stages, and what it must sum up to.
    fn conditions(pair: &Pair, order: usize) -> Vec<([f64; STAGES], f64)> {
        let one = [1.0; STAGES];
        let c = inner(pair, &one);
        let (c2, ac) = (product(&c, &c), inner(pair, &c));
        let (c3, ac2, aac) = (product(&c, &c2), inner(pair, &c2), inner(pair, &ac));
        match order {
            1 => vec![(one, 1.0)],
            2 => vec![(c, 1.0 / 2.0)],
            3 => vec![(c2, 1.0 / 3.0), (ac, 1.0 / 6.0)],
            4 => vec![
                (c3, 1.0 / 4.0),
                (product(&c, &ac), 1.0 / 8.0),
                (ac2, 1.0 / 12.0),
                (aac, 1.0 / 24.0),
            ],
            _ => vec![
                (product(&c2, &c2), 1.0 / 5.0),
                (product(&c2, &ac), 1.0 / 10.0),
                (product(&ac, &ac), 1.0 / 20.0),
                (product(&c, &ac2), 1.0 / 15.0),
                (product(&c, &aac), 1.0 / 30.0),
                (inner(pair, &c3), 1.0 / 20.0),
                (inner(pair, &product(&c, &ac)), 1.0 / 40.0),
                (inner(pair, &ac2), 1.0 / 60.0),
                (inner(pair, &aac), 1.0 / 120.0),
            ],
        }
    }

    /// The step's weights.
    fn step(pair: &Pair) -> [f64; STAGES] {
        std::array::from_fn(|i| pair.stages[STAGES - 1].get(i).copied().unwrap_or(0.0))
    }

    #[test]
    fn the_step_is_of_fifth_order_and_its_companion_of_fourth() {
        for pair in PAIRS {
            assert!(
                inner(pair, &[1.0; STAGES])
                    .iter()
                    .zip(pair.nodes)
                    .all(|(sum, node)| (sum - node).abs() < 1e-14)
            );
            let weights = step(pair);
            for order in 1..=5 {
                for (products, sum) in conditions(pair, order) {
                    assert!((dot(&weights, &products) - sum).abs() < 1e-14, "order {order}");
                    let error = dot(&pair.error, &products).abs();
                    assert!(order == 5 || error < 1e-14, "order {order}: {error}");
                }
            }
        }
    }

    #[test]
    fn the_continuous_extension_is_of_fourth_order() {
        for pair in PAIRS {
            let weights = step(pair);
            for theta in [0.1, 0.37, 0.5, 0.93, 1.0] {
                // The cubic of both ends and slopes, and the quartic that vanishes there.
                let (square, left) = (theta * theta, 1.0 - theta);
                let quartic = square * left * left;
                let at = |stage: usize| {
                    let first = if stage == 0 { theta * left * left } else { 0.0 };
                    let last = if stage == STAGES - 1 { -square * left } else { 0.0 };
                    let rise = square * (3.0 - 2.0 * theta) * weights[stage];
                    rise + first + last + quartic * pair.highest[stage]
                };
                let extension: [f64; STAGES] = std::array::from_fn(at);
                for order in 1..=4 {
                    let power = libm::pow(theta, order as f64);
                    for (products, sum) in conditions(pair, order) {
                        let missing = dot(&extension, &products) - power * sum;
                        assert!(missing.abs() < 1e-14, "{order} at {theta}: {missing}");
                    }
                }
            }
        }
    }

    #[test]
    fn small_differences_die_in_steps_up_to_the_end_of_stability() {
        for pair in PAIRS {
            // What a step makes of y' = −z y.
            let grown = |z: f64| {
                let (mut slopes, mut power, mut sum) = ([1.0; STAGES], -z, 1.0);
                for _ in 0..STAGES {
                    sum += power * dot(&step(pair), &slopes);
                    (slopes, power) = (inner(pair, &slopes), -power * z);
                }
                sum.abs()
            };
            for part in 1..=100 {
                let z = 0.01 * f64::from(part) * pair.stable;
                assert!(grown(z) < 1.0, "{z}: {}", grown(z));
            }
            assert!(grown(pair.stable + 0.05) > 1.0);
        }
    }
}
