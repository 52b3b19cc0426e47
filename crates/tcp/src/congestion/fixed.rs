//! Fixed-point numbers of the algorithms, with their formats and ranges.
//!
//! | quantity | type | format | range |
//! | --- | --- | --- | --- |
//! | share of a window, gain per byte | `u64` | Q.32: 32 fraction bits | 0 to 2²⁰ |
//! | fraction of a byte that is yet to be added | `u32` | Q.32 | below 1 |

use crate::Invalid;
use sojourn_base::within;

/// Fraction bits of a share.
pub(crate) const SHARE_BITS: u32 = 32;

/// One, as a share.
pub(crate) const ONE: u64 = 1 << SHARE_BITS;

/// A share, rounded up, so that 0.7 of 1000 bytes are 700; for set-up only. The value must be
/// checked: from 0 to 2²⁰.
pub(crate) fn share(value: f64) -> u64 {
    libm::ceil(value * ONE as f64) as u64
}

/// The share of a setting, checked to lie from `least` to `most`.
pub(crate) fn setting(
    field: &'static str,
    value: f64,
    least: f64,
    most: f64,
) -> Result<u64, Invalid> {
    within(field, value, least, most).map(share)
}

/// `share` of `bytes`, rounded down, at most `u32::MAX`.
#[inline]
pub(crate) fn of(bytes: u32, share: u64) -> u32 {
    let product = (u128::from(bytes) * u128::from(share)) >> SHARE_BITS;
    u32::try_from(product).unwrap_or(u32::MAX)
}

/// The whole segments of a number of bytes, in bytes.
#[inline]
pub(crate) fn whole(bytes: u32, mss: u32) -> u32 {
    bytes - bytes % mss.max(1)
}

/// Adds `share` of `bytes` to `sum`, keeping what is less than a byte in `fraction`.
#[inline]
pub(crate) fn add(sum: &mut u32, fraction: &mut u32, bytes: u32, share: u64) {
    let product = u128::from(bytes) * u128::from(share) + u128::from(*fraction);
    *fraction = product as u32;
    *sum = sum.saturating_add(u32::try_from(product >> SHARE_BITS).unwrap_or(u32::MAX));
}

/// As [`add`] to what is saved up, of which the whole segments are taken out and given, in bytes.
#[inline]
pub(crate) fn save(saved: &mut u32, fraction: &mut u32, bytes: u32, share: u64, mss: u32) -> u32 {
    add(saved, fraction, bytes, share);
    let grown = whole(*saved, mss);
    *saved -= grown;
    grown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_without_a_loss() {
        let (mut sum, mut fraction) = (0, 0);
        for _ in 0..1024 {
            add(&mut sum, &mut fraction, 1448, share(1.0 / 1024.0));
        }
        assert_eq!((sum, fraction), (1448, 0));
        assert_eq!(of(1000, share(0.125)), 125);
        assert_eq!(of(u32::MAX, 2 * ONE), u32::MAX);
    }

    #[test]
    fn nothing_overflows() {
        let (mut sum, mut fraction) = (u32::MAX, u32::MAX);
        add(&mut sum, &mut fraction, u32::MAX, ONE << 20);
        assert_eq!(sum, u32::MAX);
    }

    #[test]
    fn a_setting_out_of_range_is_named() {
        let error = setting("congestion.a", f64::NAN, 0.0, 1.0).unwrap_err();
        assert_eq!((&*error.field, error.value.as_str()), ("congestion.a", "NaN"));
        assert!(error.remedy.contains("from 0 to 1"), "{error}");
    }
}
