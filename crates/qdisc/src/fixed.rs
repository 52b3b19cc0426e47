//! Fixed-point numbers shared by the controllers, with their formats and ranges.
//!
//! | quantity | type | format | range |
//! | --- | --- | --- | --- |
//! | probability, and gains per packet | `u64`, `i64` | Q.60: 60 fraction bits | 0 to 1; gains below 4 |
//! | queue length, in mean packets | `i64` | Q.36: 36 fraction bits | 0 to 2²⁶, saturating |
//!
//! A product of the two has 96 fraction bits and is formed in 128 bits.

use crate::env::mean_packet;
use crate::ring::MOST;
use crate::{Env, Invalid, Standing};
use alloc::format;
use sojourn_base::{NANOS_PER_BYTE, Stream, Time};

/// Fraction bits of a queue length.
pub(crate) const QUEUE_BITS: u32 = 36;

/// Longest queue that is told apart, in mean packets.
const QUEUE_MOST: u64 = (MOST as u64) << QUEUE_BITS;

/// A probability with 60 fraction bits, from 0 to 1 inclusive; one step is 8.7e-19.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(u64);

impl Probability {
    /// Fraction bits.
    pub const BITS: u32 = 60;
    /// Never.
    pub const ZERO: Self = Self(0);
    /// Always.
    pub const ONE: Self = Self(1 << Self::BITS);

    /// The nearest probability; for set-up, never on the packet path.
    #[must_use]
    pub fn from_f64(p: f64) -> Self {
        Self((p.clamp(0.0, 1.0) * (1u64 << Self::BITS) as f64 + 0.5) as u64)
    }

    /// The probability `raw`·2⁻⁶⁰, clamped to 0 to 1.
    #[inline]
    #[must_use]
    pub const fn clamped(raw: i128) -> Self {
        if raw <= 0 {
            Self::ZERO
        } else if raw >= Self::ONE.0 as i128 {
            Self::ONE
        } else {
            Self(raw as u64)
        }
    }

    /// The probability `raw`·2⁻⁶⁰, which is known to be at most 1.
    #[inline]
    pub(crate) const fn of(raw: u64) -> Self {
        debug_assert!(raw <= Self::ONE.0);
        Self(raw)
    }

    /// In units of 2⁻⁶⁰.
    #[inline]
    #[must_use]
    pub const fn raw(self) -> u64 {
        self.0
    }

    /// For probes and tests.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / (1u64 << Self::BITS) as f64
    }

    /// True with this probability. The coin is drawn only if the outcome is open, so that a
    /// stretch with probability 0 or 1 uses up no random numbers.
    #[inline]
    #[must_use]
    pub fn toss(self, coin: &mut Stream) -> bool {
        if self.0 == 0 {
            false
        } else if self.0 >= Self::ONE.0 {
            true
        } else {
            (coin.next_u64() >> (64 - Self::BITS)) < self.0
        }
    }
}

/// How many packets the link sends in a sampling period; an error unless the period is 1 µs to
/// 1000 s and they are at most 2²⁶.
pub(crate) fn packets_in(period: Time, per_second: f64, usual: &str) -> Result<f64, Invalid> {
    let wrong = |remedy: &str| Err(Invalid::new("period", format!("\"{period}\""), remedy));
    if !(Time::from_micros(1)..=Time::from_secs(1000)).contains(&period) {
        return wrong(&format!("must be \"1us\" to \"1000s\", like \"{usual}\""));
    }
    let packets = per_second * period.as_secs_f64();
    if packets > f64::from(MOST) {
        return wrong(&format!("the link sends more than {MOST} packets in it: make it shorter"));
    }
    Ok(packets)
}

/// What a controller counts in bytes instead of in packets. These fields stand in the table of
/// each discipline that has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(default, deny_unknown_fields))]
pub struct ByteMode {
    /// Measure the queue, and arrivals where they count, in bytes divided by `mean_packet` instead
    /// of in packets (default false).
    pub queue_in_bytes: bool,
    /// Multiply the probability by the packet's size over `mean_packet` (default false).
    pub scale_by_size: bool,
    /// Mean packet in bytes, 40 to 65535; default: the link's.
    #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
    pub mean_packet: Option<u32>,
}

/// [`ByteMode`] on one link: the two switches, and the mean packet that links bytes to packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    in_bytes: bool,
    by_size: bool,
    /// 2⁶⁴ divided by the mean packet, rounded up, so that whole mean packets come out whole; at
    /// most 2⁻⁴⁸ above the truth, relatively.
    reciprocal: u64,
}

impl Measure {
    /// How `mode` measures on a link like `env`.
    pub fn new(mode: ByteMode, env: &Env) -> Result<Self, Invalid> {
        let reciprocal = u64::MAX / u64::from(mean_packet(mode.mean_packet, env)?) + 1;
        Ok(Self { in_bytes: mode.queue_in_bytes, by_size: mode.scale_by_size, reciprocal })
    }

    /// The queue in mean packets (Q.36): packets, or bytes divided by the mean packet.
    #[inline]
    #[must_use]
    pub fn queue(&self, standing: Standing) -> i64 {
        if self.in_bytes {
            let q = (u128::from(standing.bytes) * u128::from(self.reciprocal)) >> (64 - QUEUE_BITS);
            q.min(u128::from(QUEUE_MOST)) as i64
        } else {
            i64::from(standing.packets) << QUEUE_BITS
        }
    }

    /// The probability for one packet of `bytes` when `p` is that of a mean packet.
    #[inline]
    #[must_use]
    pub fn scaled(&self, p: Probability, bytes: u32) -> Probability {
        if self.by_size { self.shrunk(p, bytes) } else { p }
    }

    /// Whether a packet of `bytes` is hit when `p` is the probability for a mean one.
    #[inline]
    pub(crate) fn toss(&self, p: Probability, bytes: u32, coin: &mut Stream) -> bool {
        p != Probability::ZERO && self.scaled(p, bytes).toss(coin)
    }

    /// What a packet of `bytes` adds to a count of arrivals: 1, or its bytes.
    #[inline]
    pub(crate) fn arrival(&self, bytes: u32) -> u64 {
        if self.in_bytes { u64::from(bytes) } else { 1 }
    }

    /// A count of arrivals in mean packets (Q.36).
    pub(crate) fn arrived(&self, count: u64) -> u64 {
        if self.in_bytes { self.packets(count) } else { count.min(u64::from(MOST)) << QUEUE_BITS }
    }

    /// Whether probabilities are scaled with the size of the packet.
    #[inline]
    #[must_use]
    pub fn by_size(&self) -> bool {
        self.by_size
    }

    /// `bytes` in mean packets (Q.36).
    #[inline]
    #[must_use]
    pub fn packets(&self, bytes: u64) -> u64 {
        ((u128::from(bytes) * u128::from(self.reciprocal)) >> (64 - QUEUE_BITS))
            .min(u128::from(QUEUE_MOST)) as u64
    }

    #[inline]
    fn shrunk(&self, p: Probability, bytes: u32) -> Probability {
        let size = self.packets(u64::from(bytes));
        Probability::clamped(((u128::from(p.0) * u128::from(size)) >> QUEUE_BITS) as i128)
    }
}

/// Nanoseconds that the link takes for a byte, Q.28.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteTime(u64);

impl ByteTime {
    pub(crate) fn new(env: &Env) -> Self {
        Self(((u128::from(NANOS_PER_BYTE) << 28) / u128::from(env.rate.0)) as u64)
    }

    /// When a packet is over whose transmission starts at `now`.
    #[inline]
    pub(crate) fn end(self, now: Time, bytes: u32) -> Time {
        let service = (u128::from(bytes) * u128::from(self.0)) >> 28;
        now.saturating_add(Time(service as u64))
    }
}

/// The instants k·`period`, k = 1, 2, ..., of a controller that samples, or as many after a first
/// one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Periodic {
    next: Time,
    period: u64,
}

impl Periodic {
    /// Every `period`, which must not be zero; the first time at `period`.
    #[must_use]
    pub fn new(period: Time) -> Self {
        let period = period.0.max(1);
        Self { next: Time(period), period }
    }

    /// The same, but the first time at `first`.
    #[must_use]
    pub fn from(self, first: Time) -> Self {
        Self { next: first, ..self }
    }

    /// The same with the next instant of `other`: a period that changes counts from there on.
    #[must_use]
    pub fn after(self, other: &Self) -> Self {
        self.from(other.next)
    }

    /// Whether an instant at or before `now` has not been taken yet.
    #[inline]
    #[must_use]
    pub fn due(&self, now: Time) -> bool {
        now >= self.next
    }

    /// Takes all instants up to and including `now`: the first of them and how many they are.
    pub fn take(&mut self, now: Time) -> (Time, u64) {
        if !self.due(now) {
            return (self.next, 0);
        }
        let (first, n) = (self.next, (now.0 - self.next.0) / self.period + 1);
        self.next = Time(first.0.saturating_add(n.saturating_mul(self.period)));
        (first, n)
    }

    /// The distance between two instants.
    #[must_use]
    pub fn period(&self) -> Time {
        Time(self.period)
    }
}

/// What a controller that samples has done so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sampled {
    /// Instants that have passed.
    pub instants: u64,
    /// Steps that were computed for them.
    pub steps: u64,
}

/// A positive sampling frequency as a period in whole nanoseconds.
pub(crate) fn period(field: &'static str, hertz: f64) -> Result<Time, Invalid> {
    if !(1e-3..=1e6).contains(&hertz) {
        return Err(Invalid::new(field, hertz, "must be 0.001 to 1000000 Hz, for example 170"));
    }
    Ok(Time::from_secs_f64(1.0 / hertz))
}

/// `x` as `round(x·2^bits)`; an error unless `x` is a number from `low` to `high`.
pub(crate) fn bounded(
    field: &'static str,
    x: f64,
    low: f64,
    high: f64,
    bits: u32,
) -> Result<i64, Invalid> {
    if !(low..=high).contains(&x) {
        return Err(Invalid::new(field, x, format!("must be {low} to {high}")));
    }
    Ok(libm::round(libm::ldexp(x, bits as i32)) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::{Kind, Rate};

    #[test]
    fn a_period_is_a_microsecond_to_a_thousand_seconds_and_2_to_the_26_packets_at_most() {
        let packets = |period, per_second| packets_in(period, per_second, "10ms").ok();
        assert_eq!(packets(Time::from_micros(1), 5e6), Some(5.0));
        assert_eq!(packets(Time(999), 5e6), None);
        assert_eq!(packets(Time::from_secs(1000), 7.0), Some(7000.0));
        assert_eq!(packets(Time::from_secs(1000) + Time(1), 7.0), None);
        assert_eq!(packets(Time::from_secs(1), 67_108_864.0), Some(67_108_864.0));
        assert_eq!(packets(Time::from_secs(1), 67_108_865.0), None);
        assert_eq!(period("frequency", 1e6), Ok(Time::from_micros(1)));
        assert_eq!(period("frequency", 1e-3), Ok(Time::from_secs(1000)));
        assert!([1.1e6, 0.9e-3, f64::NAN].iter().all(|&hz| period("frequency", hz).is_err()));
    }

    #[test]
    fn probabilities_are_rounded_clamped_and_tossed_as_they_are() {
        assert_eq!(Probability::from_f64(0.5).raw(), 1 << 59);
        assert_eq!(Probability::from_f64(0.6 / (1u64 << 60) as f64).raw(), 1);
        assert_eq!([-1.0, 2.0].map(Probability::from_f64), [Probability::ZERO, Probability::ONE]);
        let one = i128::from(Probability::ONE.raw());
        let clamped = [-1, 0, 1, one - 1, one, one + 1].map(|raw| Probability::clamped(raw).raw());
        assert_eq!(clamped.map(i128::from), [0, 0, 1, one - 1, one, one]);
        assert_eq!(Probability::of(1 << 58).as_f64(), 0.25);
        // Only an open outcome draws.
        let (mut coin, mut twin) =
            (Stream::new(1, Kind::Test, 0, 0), Stream::new(1, Kind::Test, 0, 0));
        assert!(!Probability::ZERO.toss(&mut coin) && Probability::ONE.toss(&mut coin));
        let draw = twin.next_u64() >> 4;
        assert!(!Probability::of(draw).toss(&mut coin.clone()));
        assert!(Probability::of(draw + 1).toss(&mut coin));
        assert_eq!(coin.next_u64(), twin.next_u64());
    }

    #[test]
    fn lengths_are_packets_or_bytes_over_the_mean_packet() {
        let env = Env { rate: Rate(8_000_000), mean_packet: 1000 };
        let of = |queue_in_bytes, scale_by_size| {
            let mode = ByteMode { queue_in_bytes, scale_by_size, mean_packet: None };
            Measure::new(mode, &env).expect("valid")
        };
        let standing = Standing { packets: 7, bytes: 2500 };
        assert_eq!(of(false, false).queue(standing), 7 << 36);
        assert_eq!(of(true, false).queue(standing), 5 << 35);
        let endless = Standing { packets: 7, bytes: 1 << 60 };
        assert_eq!(of(true, false).queue(endless), 1 << 62);
        assert_eq!((of(true, false).arrival(300), of(false, false).arrival(300)), (300, 1));
        assert_eq!(
            (of(true, false).arrived(1500), of(false, false).arrived(15)),
            (3 << 35, 15 << 36)
        );
        assert_eq!(of(false, false).arrived(1 << 40), 1 << 62);
        let half = Probability::from_f64(0.5);
        assert_eq!(of(false, true).scaled(half, 500), Probability::from_f64(0.25));
        assert_eq!(of(false, true).scaled(half, 9000), Probability::ONE);
        assert_eq!(of(false, false).scaled(half, 500), half);
        // A microsecond for each byte.
        assert_eq!(ByteTime::new(&env).end(Time(5), 300), Time(300_005));
    }

    #[test]
    fn instants_are_taken_once() {
        let mut clock = Periodic::new(Time(10)).from(Time(25));
        assert_eq!(
            (clock.due(Time(24)), clock.due(Time(25)), clock.period()),
            (false, true, Time(10))
        );
        assert_eq!(clock.take(Time(24)), (Time(25), 0));
        assert_eq!(clock.take(Time(44)), (Time(25), 2));
        assert_eq!(clock.take(Time(45)), (Time(45), 1));
        assert_eq!(clock.take(Time(54)), (Time(55), 0));
        let other = Periodic::new(Time(3)).after(&clock);
        assert_eq!((other.clone().take(Time(58)), other.period()), ((Time(55), 2), Time(3)));
        assert_eq!(Periodic::new(Time::ZERO).period(), Time(1));
    }

    #[test]
    fn numbers_are_rounded_within_their_bounds() {
        let of = |x| bounded("a", x, 0.0, 4.0, 2).ok();
        assert_eq!([0.0, 4.0, 0.37, 0.38].map(of), [Some(0), Some(16), Some(1), Some(2)]);
        assert_eq!([-0.1, 4.1, f64::NAN].map(of), [None; 3]);
    }
}
