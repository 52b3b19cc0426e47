//! The embedded pair of Dormand and Prince, "A family of embedded Runge-Kutta formulae", Journal
//! of Computational and Applied Mathematics 6, 1980: fifth order, with a fourth-order companion
//! for the error and seven stages of which the last is the next step's first. The continuous
//! extension of fourth order is that of Shampine, "Some practical Runge-Kutta formulas",
//! Mathematics of Computation 46, 1986, section 5.

/// Stages of a step.
pub const STAGES: usize = 7;

/// Where in the step a stage looks.
pub const NODES: [f64; STAGES] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];

/// The weights of earlier slopes in each stage's state; the last row is the step itself.
pub const STAGE_WEIGHTS: [[f64; 6]; STAGES] = [
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// Fifth order less fourth order: the estimate of the error.
pub const ERROR_WEIGHTS: [f64; STAGES] = [
    71.0 / 57600.0,
    0.0,
    -71.0 / 16695.0,
    71.0 / 1920.0,
    -17253.0 / 339200.0,
    22.0 / 525.0,
    -1.0 / 40.0,
];

/// Weights of the slopes in the coefficients of θ, θ², θ³ and θ⁴ of the continuous extension.
pub const DENSE: [[f64; 4]; STAGES] = [
    [
        1.0,
        -8_048_581_381.0 / 2_820_520_608.0,
        8_663_915_743.0 / 2_820_520_608.0,
        -12_715_105_075.0 / 11_282_082_432.0,
    ],
    [0.0; 4],
    [
        0.0,
        131_558_114_200.0 / 32_700_410_799.0,
        -68_118_460_800.0 / 10_900_136_933.0,
        87_487_479_700.0 / 32_700_410_799.0,
    ],
    [
        0.0,
        -1_754_552_775.0 / 470_086_768.0,
        14_199_869_525.0 / 1_410_260_304.0,
        -10_690_763_975.0 / 1_880_347_072.0,
    ],
    [
        0.0,
        127_303_824_393.0 / 49_829_197_408.0,
        -318_862_633_887.0 / 49_829_197_408.0,
        701_980_252_875.0 / 199_316_789_632.0,
    ],
    [
        0.0,
        -282_668_133.0 / 205_662_961.0,
        2_019_193_451.0 / 616_988_883.0,
        -1_453_857_185.0 / 822_651_844.0,
    ],
    [0.0, 40_617_522.0 / 29_380_423.0, -110_615_467.0 / 29_380_423.0, 69_997_945.0 / 29_380_423.0],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stages_weights_add_up_to_its_node() {
        for (row, node) in STAGE_WEIGHTS.iter().zip(NODES) {
            assert!((row.iter().sum::<f64>() - node).abs() < 1e-14);
        }
        assert!(ERROR_WEIGHTS.iter().sum::<f64>().abs() < 1e-16);
    }

    #[test]
    fn the_continuous_extension_ends_in_the_step_itself() {
        for (stage, row) in DENSE.iter().enumerate() {
            let weight = STAGE_WEIGHTS[6].get(stage).copied().unwrap_or(0.0);
            assert!((row.iter().sum::<f64>() - weight).abs() < 1e-13, "stage {stage}");
        }
    }

    #[test]
    fn the_continuous_extension_is_exact_for_polynomials_of_fourth_degree() {
        // With slope d/dθ θ^k at the nodes, the extension must give θ^k.
        for k in 1..=4i32 {
            for theta in [0.1, 0.37, 0.5, 0.93] {
                let value: f64 = DENSE
                    .iter()
                    .zip(NODES)
                    .map(|(row, node)| {
                        let slope = f64::from(k) * libm::pow(node, f64::from(k - 1));
                        let weight = (0..4).rev().fold(0.0, |sum, j| (sum + row[j]) * theta);
                        slope * weight
                    })
                    .sum();
                assert!((value - libm::pow(theta, f64::from(k))).abs() < 1e-13, "degree {k}");
            }
        }
    }
}
