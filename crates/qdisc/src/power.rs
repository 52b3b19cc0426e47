//! 2⁻ˣ in integers, and decay with time.

/// Fraction bits of an exponent.
pub(crate) const EXPONENT_BITS: u32 = 56;

/// Largest exponent that is told apart; 2⁻⁶⁴ is nothing in every format here.
pub(crate) const EXPONENT_MOST: u64 = 64 << EXPONENT_BITS;

/// 2^(−i/16), Q.63, rounded to nearest.
const SIXTEENTHS: [u64; 16] = [
    0x8000_0000_0000_0000,
    0x7a92_be8a_9243_6616,
    0x7560_6373_ee92_1c97,
    0x7066_6f76_154a_7089,
    0x6ba2_7e65_6b4e_b57a,
    0x6712_460a_8fc2_4072,
    0x62b3_9508_aa83_6d6f,
    0x5e84_51cf_ac06_1b5f,
    0x5a82_7999_fcef_3242,
    0x56ac_1f75_2150_a563,
    0x52ff_6b54_d8a8_9c75,
    0x4f7a_9930_48d0_88d7,
    0x4c1b_f828_c6dc_54b8,
    0x48e1_e9b9_d588_e19b,
    0x45ca_e0f1_f545_eb73,
    0x42d5_61b3_e624_3d8a,
];

/// (ln 2)ⁿ/n!, Q.63: the Taylor series of 2^r. For r below 1/16 what follows the last is under
/// 2⁻⁷⁷.
const SERIES: [u64; 10] = [
    0x8000_0000_0000_0000,
    0x58b9_0bfb_e8e7_bcd6,
    0x1ebf_bdff_82c5_8ea8,
    0x071a_c235_c128_2fe3,
    0x013b_2ab6_fba4_e773,
    0x002b_b0ff_cf14_ce62,
    0x0005_0c24_4be1_b1e2,
    0x0000_7ff2_ff16_22c3,
    0x0000_0b16_0111_d2e4,
    0x0000_00da_929e_9caf,
];

#[inline]
const fn high(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) >> 64) as u64
}

/// 2⁻ˣ as Q.62 for `x` with 56 fraction bits, 0 to below 256; wrong by less than 2⁻⁶⁰ (the tests
/// hold it to that against double precision, and against the law of exponents).
pub(crate) fn exp2_neg(x: u64) -> u64 {
    let whole = x >> EXPONENT_BITS;
    if whole > 62 {
        return 0;
    }
    let sixteenth = (x >> (EXPONENT_BITS - 4)) as usize & 15;
    let rest = (x << (64 - EXPONENT_BITS)) & (u64::MAX >> 4); // Q.64, below 1/16
    let mut sum = SERIES[9];
    let mut n = 9;
    while n > 0 {
        n -= 1;
        sum = SERIES[n] - high(sum, rest);
    }
    high(SIXTEENTHS[sixteenth], sum) >> whole
}

/// Decay by a constant factor per nanosecond: 2^(−k t), with k as a 62-bit number and a shift so
/// that slow decays keep their precision (better than 2⁻⁶⁰ relatively).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decay {
    mantissa: u64,
    shift: u32,
}

impl Decay {
    /// `k` halvings per nanosecond, above 2⁻⁹⁰; 64 halvings per nanosecond are the most.
    pub(crate) fn new(k: f64) -> Self {
        let k = k.clamp(libm::ldexp(1.0, -90), 64.0);
        let (fraction, exponent) = libm::frexp(k); // k = fraction·2^exponent, fraction below 1
        Self {
            mantissa: libm::ldexp(fraction, 62) as u64,
            shift: (62 - exponent - EXPONENT_BITS as i32).max(0) as u32,
        }
    }

    /// `value`, which is not negative, after `nanos`.
    pub(crate) fn apply(&self, value: i64, nanos: u64) -> i64 {
        if value == 0 || nanos == 0 {
            return value;
        }
        let x = (u128::from(self.mantissa) * u128::from(nanos)) >> self.shift;
        let x = x.min(u128::from(EXPONENT_MOST)) as u64;
        ((value as u128 * u128::from(exp2_neg(x))) >> 62) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: f64 = (1u64 << 62) as f64;

    #[test]
    fn power_agrees_with_double_precision_and_with_itself() {
        let mut stream = sojourn_base::Stream::new(1, sojourn_base::Kind::Test, 0, 0);
        for _ in 0..200_000 {
            // Few enough bits that double precision holds x itself exactly.
            let x = stream.below(EXPONENT_MOST) & !0x1ff;
            let exact = libm::exp2(-libm::ldexp(x as f64, -56));
            let error = exp2_neg(x) as f64 / UNIT - exact;
            assert!(error.abs() <= exact * 4e-16 + 4.4e-19, "x={x} error={error}");
            // 2^(−x)·2^(−y) = 2^(−x−y): finer than double precision can tell.
            let (x, y) = (stream.below(1 << 57), stream.below(1 << 57));
            let product = high(exp2_neg(x), exp2_neg(y)) << 2;
            assert!(product.abs_diff(exp2_neg(x + y)) <= 12, "x={x} y={y}");
        }
        assert_eq!(exp2_neg(1 << EXPONENT_BITS), 1 << 61);
        assert_eq!(exp2_neg(EXPONENT_MOST), 0);
        assert_eq!(exp2_neg(0), 1 << 62);
    }

    #[test]
    fn power_is_right_to_two_units_in_the_last_place() {
        // 2⁻ˣ·2⁶² for x·2⁵⁶, worked out with 60 decimal digits.
        for (x, exact) in [
            (0x0123_4567_89ab_cdef, 0x1d15_db6d_fee5_c590),
            (0x004c_cccc_cccc_cccc, 0x33fb_f179_9ca6_7b01),
            (0x0000_0000_0000_0123, 0x3fff_ffff_ffff_cd93),
            (0x07ff_ffff_ffff_ffff, 0x0040_0000_0000_0000),
            (0x00ff_ffff_ffff_ffff, 0x2000_0000_0000_0016),
            (0x1234_5678_90ab_cdef, 0x0000_0de2_ce9d_db7b),
        ] {
            assert!(exp2_neg(x).abs_diff(exact) <= 2, "x={x:x} {:x} {exact:x}", exp2_neg(x));
        }
    }

    #[test]
    fn power_never_rises_with_its_exponent() {
        // Across every seam of the table, and in between.
        for i in 0..64u64 << 4 {
            let seam = i << (EXPONENT_BITS - 4);
            let mut last = exp2_neg(seam.saturating_sub(64));
            for x in seam.saturating_sub(64)..seam + 64 {
                let next = exp2_neg(x);
                assert!(next <= last + 1, "x={x}");
                last = next;
            }
        }
    }

    #[test]
    fn decay_is_right_from_nanoseconds_to_centuries() {
        for k in [1e-18, 1.2e-11, 3.3e-6, 0.01, 3.0, 64.0] {
            let decay = Decay::new(k);
            for halvings in [1e-6, 0.3, 1.0, 7.7, 40.0] {
                let nanos = (halvings / k) as u64;
                let exact = 1e15 * libm::exp2(-k * nanos as f64);
                let got = decay.apply(1_000_000_000_000_000, nanos) as f64;
                assert!((got - exact).abs() <= 1.0 + exact * 1e-14, "{k} {halvings} {got} {exact}");
            }
            assert_eq!(decay.apply(i64::MAX, 0), i64::MAX);
        }
    }
}
