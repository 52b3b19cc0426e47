//! The normal distribution: its distribution function and the inverse of it.

use libm::{erfc, log, sqrt};

/// Distribution function of the standard normal distribution.
pub(super) fn phi(x: f64) -> f64 {
    0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// Horner's rule, the highest power first.
#[inline]
fn poly(r: f64, c: &[f64; 8]) -> f64 {
    c.iter().fold(0.0, |sum, c| sum * r + c)
}

/// Inverse of [`phi`] for 0 < p < 1: the rational approximations PPND16 of Wichura, Algorithm
/// AS 241, Applied Statistics 37 (1988), good to 16 digits.
#[inline]
pub(super) fn inverse_phi(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * poly(r, &CENTRE.0) / poly(r, &CENTRE.1);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    let r = sqrt(-log(tail));
    let x = if r <= 5.0 {
        poly(r - 1.6, &MIDDLE.0) / poly(r - 1.6, &MIDDLE.1)
    } else {
        poly(r - 5.0, &FAR.0) / poly(r - 5.0, &FAR.1)
    };
    if q < 0.0 { -x } else { x }
}

/// Numerator and denominator.
type Ratio = ([f64; 8], [f64; 8]);

#[rustfmt::skip]
const CENTRE: Ratio = (
    [2.509_080_928_730_122_7e3, 3.343_057_558_358_813e4, 6.726_577_092_700_87e4,
     4.592_195_393_154_987e4, 1.373_169_376_550_946e4, 1.971_590_950_306_551_3e3,
     1.331_416_678_917_843_8e2, 3.387_132_872_796_366_5],
    [5.226_495_278_852_854e3, 2.872_908_573_572_194_3e4, 3.930_789_580_009_271e4,
     2.121_379_430_158_659_7e4, 5.394_196_021_424_751e3, 6.871_870_074_920_579e2,
     4.231_333_070_160_091e1, 1.0],
);

#[rustfmt::skip]
const MIDDLE: Ratio = (
    [7.745_450_142_783_414e-4, 2.272_384_498_926_918_4e-2, 2.417_807_251_774_506e-1,
     1.270_458_252_452_368_4, 3.647_848_324_763_204_5, 5.769_497_221_460_691,
     4.630_337_846_156_546, 1.423_437_110_749_683_5],
    [1.050_750_071_644_416_9e-9, 5.475_938_084_995_345e-4, 1.519_866_656_361_645_7e-2,
     1.481_039_764_274_800_8e-1, 6.897_673_349_851e-1, 1.676_384_830_183_803_8,
     2.053_191_626_637_759, 1.0],
);

#[rustfmt::skip]
const FAR: Ratio = (
    [2.010_334_399_292_288_1e-7, 2.711_555_568_743_487_6e-5, 1.242_660_947_388_078_4e-3,
     2.653_218_952_657_612_4e-2, 2.965_605_718_285_048_7e-1, 1.784_826_539_917_291_3,
     5.463_784_911_164_114, 6.657_904_643_501_103],
    [2.044_263_103_389_939_8e-15, 1.421_511_758_316_446e-7, 1.846_318_317_510_054_8e-5,
     7.868_691_311_456_133e-4, 1.487_536_129_085_061_5e-2, 1.369_298_809_227_358e-1,
     5.998_322_065_558_88e-1, 1.0],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_undoes_the_distribution_function() {
        for i in 0..=160 {
            let x = -8.0 + 0.1 * f64::from(i);
            let p = phi(x);
            if (1e-15..0.999_999).contains(&p) {
                assert!((inverse_phi(p) - x).abs() < 1e-9 * x.abs().max(1.0), "{x}");
            }
        }
        assert!((inverse_phi(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!((inverse_phi(1e-12) + 7.034_483_825_301_132).abs() < 1e-12);
    }
}
