//! Time, rate and size as whole numbers.

mod text;

use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

pub use text::ParseError;

/// An instant since the start of a run, or a span of time: whole nanoseconds, 0 to 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A data rate in whole bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A size in whole bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Size(pub u64);

/// Nanoseconds that a byte takes at one bit per second.
pub const NANOS_PER_BYTE: u64 = 8_000_000_000;

impl Time {
    /// The start of a run; no time at all.
    pub const ZERO: Self = Self(0);
    /// Later than anything: "never".
    pub const MAX: Self = Self(u64::MAX);

    /// Whole nanoseconds.
    #[must_use]
    pub const fn from_nanos(n: u64) -> Self {
        Self(n)
    }
    /// Whole microseconds.
    #[must_use]
    pub const fn from_micros(n: u64) -> Self {
        Self(n * 1_000)
    }
    /// Whole milliseconds.
    #[must_use]
    pub const fn from_millis(n: u64) -> Self {
        Self(n * 1_000_000)
    }
    /// Whole seconds.
    #[must_use]
    pub const fn from_secs(n: u64) -> Self {
        Self(n * 1_000_000_000)
    }
    /// Seconds, rounded to the nearest nanosecond; negative and not-a-number become 0, too large
    /// becomes [`Time::MAX`].
    #[must_use]
    pub fn from_secs_f64(s: f64) -> Self {
        Self((s * 1e9 + 0.5) as u64)
    }
    /// Seconds, for display and statistics only: the nearest number, up to 104 days.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        // Not times 1e-9, which is itself rounded: a minute would be 60.00000000000001 s.
        self.0 as f64 / 1e9
    }
    /// The difference, or zero if `other` is later.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// The sum, or [`Time::MAX`].
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Add for Time {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Sub for Time {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}
impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}
impl Mul<u64> for Time {
    type Output = Self;
    #[inline]
    fn mul(self, n: u64) -> Self {
        Self(self.0 * n)
    }
}
impl Div<u64> for Time {
    type Output = Self;
    #[inline]
    fn div(self, n: u64) -> Self {
        Self(self.0 / n)
    }
}
impl Sum for Time {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl Rate {
    /// Time to send `bytes` at this rate, in nanoseconds, rounded up; the rate must not be zero.
    #[must_use]
    pub const fn time_for(self, bytes: u64) -> Time {
        Time(((bytes as u128 * NANOS_PER_BYTE as u128).div_ceil(self.0 as u128)) as u64)
    }
    /// Bits per second as a float, for display and statistics only.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_reckoned_in_nanoseconds() {
        let (long, short) = (Time::from_micros(7), Time(2000));
        assert_eq!((long + short, long - short), (Time(9000), Time(5000)));
        assert_eq!((long * 3, long / 2), (Time(21_000), Time(3500)));
        let mut sum = long;
        sum += short;
        sum -= Time(1);
        assert_eq!(sum, Time(8999));
        assert_eq!([long, short, short].into_iter().sum::<Time>(), Time(11_000));
        assert_eq!(short.saturating_sub(long), Time::ZERO);
        assert_eq!(Time::MAX.saturating_add(long), Time::MAX);
    }

    #[test]
    fn seconds_become_the_nearest_nanosecond() {
        for (seconds, time) in [
            (1.5, Time(1_500_000_000)),
            (0.4e-9, Time::ZERO),
            (2.6e-9, Time(3)),
            (-1.0, Time::ZERO),
            (f64::NAN, Time::ZERO),
            (f64::INFINITY, Time::MAX),
        ] {
            assert_eq!(Time::from_secs_f64(seconds), time, "{seconds}");
        }
        assert_eq!(Rate(5_000_000).as_f64(), 5e6);
    }

    #[test]
    fn serialisation_time_rounds_up() {
        assert_eq!(Rate(100_000_000).time_for(1500), Time(120_000));
        assert_eq!(Rate(3).time_for(1), Time(2_666_666_667));
    }

    #[test]
    fn seconds_are_the_nearest_number() {
        for seconds in 0..100_000 {
            assert_eq!(Time::from_secs(seconds).as_secs_f64(), seconds as f64);
        }
        assert_eq!(Time(60_100_000_000).as_secs_f64(), 60.1);
        assert_eq!(Time(3).as_secs_f64(), 3e-9);
    }
}
