//! The estimator of a class: is it above its share?
//!
//! Floyd and Van Jacobson (1995), section IV-B and appendix A. After each packet of `s` bytes of
//! the class, whose transmission ends at `finish`,
//!
//! ```text
//! idle     = finish − last finish − 8 s / class rate
//! avgidle += (idle − avgidle) / 16,  at most maxidle, at least −minidle
//! if avgidle ≤ 0: undertime = finish + time of s × (1 / share − 1) − 15 avgidle
//! ```
//!
//! and the class is over its limit while `undertime` lies in the future. Times are in 1/256 ns.

use sojourn_base::Time;

/// Bits of a nanosecond's fraction.
const FRACTION: u32 = 8;
/// Bits of the fraction of the time per byte.
const PER_BYTE: u32 = 28;
/// The average moves by 2⁻⁴ of the difference.
const GAIN: u32 = 4;
/// Longer than any run, in 1/256 ns: keeps sums of a few such times within 64 bits.
const LONGEST: i64 = 1 << 58;

/// What never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Constants {
    /// Time per byte at the class's rate and at the link's, ns in Q.28.
    class_byte: u64,
    link_byte: u64,
    maxidle: i64,
    minidle: i64,
    extradelay: u64,
}

/// What changes from packet to packet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    avgidle: i64,
    /// When the class may send again, if it is over its limit, ns.
    undertime: u64,
    /// The same without what the average adds.
    nominal: u64,
    last: u64,
    /// Whether it has been held back since it was last under its limit.
    delayed: bool,
}

fn fraction(time: Time) -> i64 {
    let most = (LONGEST >> FRACTION) as u64;
    (time.0.min(most) as i64) << FRACTION
}

impl Constants {
    /// `rate` and `link` in bits per second.
    pub(super) fn new(
        rate: f64,
        link: f64,
        maxidle: Time,
        minidle: Option<Time>,
        extradelay: Time,
    ) -> Self {
        let per_byte = |rate: f64| libm::ldexp(8e9 / rate.max(1.0), PER_BYTE as i32) as u64;
        Self {
            class_byte: per_byte(rate),
            link_byte: per_byte(link),
            maxidle: fraction(maxidle),
            minidle: minidle.map_or(LONGEST, fraction),
            extradelay: extradelay.0,
        }
    }

    /// The time of `bytes` at `per_byte`, in 1/256 ns.
    #[inline]
    fn time(per_byte: u64, bytes: u32) -> i64 {
        let time = (u128::from(per_byte) * u128::from(bytes)) >> (PER_BYTE - FRACTION);
        i64::try_from(time).unwrap_or(LONGEST).min(LONGEST)
    }

    /// When the link will have sent a packet that it starts to send at `now`, ns.
    #[inline]
    pub(super) fn finish(&self, now: Time, bytes: u32) -> u64 {
        let ns = (u128::from(self.link_byte) * u128::from(bytes)) >> PER_BYTE;
        now.0.saturating_add(ns as u64)
    }
}

impl State {
    /// A packet of the class, or of one within it, ends its transmission at `finish`.
    #[inline]
    pub(super) fn sent(&mut self, constants: &Constants, finish: u64, bytes: u32) {
        let allotted = Constants::time(constants.class_byte, bytes);
        let passed = (finish.saturating_sub(self.last)).min((LONGEST >> FRACTION) as u64);
        let idle = ((passed as i64) << FRACTION) - allotted;
        let half = 1 << (GAIN - 1);
        let average = self.avgidle + ((idle - self.avgidle + half) >> GAIN);
        self.avgidle = average.clamp(-constants.minidle, constants.maxidle);
        if self.avgidle <= 0 {
            let own = Constants::time(constants.link_byte, bytes);
            let wait = (allotted - own).max(0) >> FRACTION;
            self.nominal = finish.saturating_add(wait as u64);
            let debt = (-self.avgidle).saturating_mul((1 << GAIN) - 1) >> FRACTION;
            self.undertime = self.nominal.saturating_add(debt as u64);
        }
        self.last = finish;
    }

    /// When the class is within its share, ns.
    #[inline]
    pub(super) fn undertime(&self) -> u64 {
        self.undertime
    }

    /// Whether it is at `now`.
    #[inline]
    pub(super) fn under(&mut self, now: Time) -> bool {
        let under = self.undertime <= now.0;
        self.delayed &= !under;
        under
    }

    /// The class had a packet and was held back: it has served its time when the packet's own has
    /// passed, and `extradelay`.
    #[inline]
    pub(super) fn held_back(&mut self, constants: &Constants, now: Time) {
        if !self.delayed && self.undertime > now.0 {
            self.undertime = self.nominal.saturating_add(constants.extradelay);
            self.delayed = true;
        }
    }
}

/// `maxidle` such that a class that has been idle may send `packets` of the mean size back to back:
/// Floyd, "Notes on CBQ and guaranteed service" (1995); `time` is that of a packet on the link, ns.
pub(super) fn maxidle(time: f64, share: f64, packets: u32) -> Time {
    let g = 1.0 - 1.0 / f64::from(1u32 << GAIN);
    let gn = libm::pow(g, f64::from(packets));
    // A class with nearly all of the link keeps at least what one packet moves the average by.
    let idle = time * ((1.0 / share - 1.0) * (1.0 - gn) / gn).max(1.0 - g);
    Time(idle.clamp(0.0, 1e15) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constants(share: f64, maxidle: Time) -> Constants {
        Constants::new(share * 1e7, 1e7, maxidle, None, Time::ZERO)
    }

    /// The formulas in floating point.
    struct Reference {
        avgidle: f64,
        undertime: f64,
        last: f64,
    }

    impl Reference {
        fn sent(&mut self, share: f64, maxidle: f64, finish: f64, bytes: f64) {
            let own = bytes * 800.0;
            let idle = finish - self.last - own / share;
            self.avgidle = (self.avgidle + (idle - self.avgidle) / 16.0).min(maxidle);
            if self.avgidle <= 0.0 {
                self.undertime = finish + own * (1.0 / share - 1.0) - 15.0 * self.avgidle;
            }
            self.last = finish;
        }
    }

    #[test]
    fn integers_follow_the_formulas() {
        let share = 0.3;
        let constants = constants(share, Time(20_000_000));
        let mut state = State::default();
        let mut reference = Reference { avgidle: 0.0, undertime: 0.0, last: 0.0 };
        let mut now = 0u64;
        let mut stream = sojourn_base::Stream::new(1, sojourn_base::Kind::Qdisc, 0, 0);
        for packet in 0..100_000 {
            let bytes = 40 + stream.below(1460) as u32;
            // Below its share and above it, in turns.
            let pause = if packet / 1000 % 2 == 0 { 6_000_000 } else { 2_000_000 };
            now += stream.below(pause);
            let finish = constants.finish(Time(now), bytes);
            now = finish;
            state.sent(&constants, finish, bytes);
            reference.sent(share, 2e7, finish as f64, f64::from(bytes));
            let average = state.avgidle as f64 / 256.0;
            assert!((average - reference.avgidle).abs() < 2.0, "{average} {}", reference.avgidle);
            assert!((state.undertime as f64 - reference.undertime).abs() < 40.0);
        }
    }

    #[test]
    fn maxidle_bounds_burst_of_class_after_pause() {
        let time = 1000.0 * 800.0;
        for (share, packets) in [(0.1, 4), (0.3, 16), (0.05, 16)] {
            let constants = constants(share, maxidle(time, share, packets));
            let mut state = State::default();
            let mut now = 100_000_000_000;
            let mut sent = 0;
            while state.under(Time(now)) {
                now = constants.finish(Time(now), 1000);
                state.sent(&constants, now, 1000);
                sent += 1;
            }
            assert!((packets..=packets + 2).contains(&sent), "{sent} of {packets}");
        }
    }

    #[test]
    fn a_class_that_is_held_back_waits_for_its_own_packet_only() {
        let constants = constants(0.1, Time::ZERO);
        let mut state = State::default();
        for n in 0..50u64 {
            state.sent(&constants, n * 800_000, 1000);
        }
        let before = state.undertime();
        state.held_back(&constants, Time(49 * 800_000));
        assert_eq!(state.undertime(), 49 * 800_000 + 9 * 800_000);
        assert!(before > state.undertime());
    }
}
