//! The linear PI controller on queueing delay that PI2 and DualPI2 have in common, RFC 9332,
//! figures 6 and 8:
//!
//! ```text
//! p' += alpha (delay − target) + beta (delay − delay before), clamped to 0..1
//! ```
//!
//! The delay is the age of the packet at the head, so it grows by one period from instant to
//! instant while nothing happens. p' is kept in Q.76 and gains are integers per nanosecond in the
//! same format, so nothing is rounded, and many instants at once come to the same as one by one.

use crate::fixed::bounded;
use crate::pie::sensible;
use crate::{Invalid, Periodic, Probability};
use sojourn_base::Time;

/// Fraction bits of p' and of the gains. A gain is below 2⁵¹, a target below 2⁴⁰ and the instants
/// below the target at most 2³⁰: their product stays below 2¹²².
const BITS: u32 = 76;

/// What a discipline with this controller is given.
pub(crate) struct Settings {
    pub target: Time,
    pub tupdate: Time,
    pub alpha: f64,
    pub beta: f64,
}

/// The controller and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelayPi {
    alpha: i128,
    beta: i128,
    target: i128,
    /// Largest p', Q.76.
    most: i128,
    /// p', Q.76.
    p: i128,
    /// The delay at the last instant, ns.
    old: i128,
    clock: Periodic,
    steps: u64,
}

const ONE: i128 = 1 << BITS;

impl DelayPi {
    pub(crate) fn new(settings: &Settings) -> Result<Self, Invalid> {
        let gain = |field, hertz: f64| {
            bounded(field, hertz, 0.0, 32.0, 0)?;
            Ok(i128::from(libm::round(libm::ldexp(hertz * 1e-9, BITS as i32)) as i64))
        };
        let period = Time(sensible("tupdate", settings.tupdate, "16ms")?);
        Ok(Self {
            alpha: gain("alpha", settings.alpha)?,
            beta: gain("beta", settings.beta)?,
            target: sensible("target", settings.target, "15ms")?.into(),
            most: ONE,
            p: 0,
            old: 0,
            clock: Periodic::new(period),
            steps: 0,
        })
    }

    /// Lets p' go no higher than 1/`k`, `k` in Q.32.
    pub(crate) fn cap(&mut self, k: u64) {
        self.most = (ONE << 32) / i128::from(k);
    }

    /// Whether an instant has come due.
    #[inline]
    pub(crate) fn due(&self, now: Time) -> bool {
        self.clock.due(now)
    }

    /// Runs the instants up to and including `now`; the packet at the head came at `head`.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time, head: Option<Time>) {
        if self.clock.due(now) {
            self.run(now, head);
        }
    }

    #[cold]
    #[inline(never)]
    fn run(&mut self, now: Time, head: Option<Time>) {
        let (first, n) = self.clock.take(now);
        let (more, period) = (i128::from(n - 1), i128::from(self.clock.period().0));
        let delay = head.map_or(0, |came| i128::from(first.0.saturating_sub(came.0)));
        let grows = if head.is_some() { period } else { 0 };
        self.by(self.alpha * (delay - self.target) + self.beta * (delay - self.old));
        // At the i-th instant after the first p' moves by this and i times as much again.
        let (start, slope) =
            (self.alpha * (delay - self.target) + self.beta * grows, self.alpha * grows);
        // First it falls, then it rises: each part is clamped once, as if at every instant.
        let falling = match slope {
            _ if start > 0 => 0,
            0 => more,
            _ => (-start / slope).min(more),
        };
        if falling > 0 {
            self.by(start.saturating_mul(falling) + slope * falling * (falling + 1) / 2);
        }
        let rising = more - falling;
        if rising > 0 {
            let next = start.saturating_add(slope.saturating_mul(falling + 1));
            let pairs = (rising * (rising - 1) / 2).saturating_mul(slope);
            self.by(next.saturating_mul(rising).saturating_add(pairs));
        }
        self.old = delay + grows * more;
    }

    fn by(&mut self, change: i128) {
        self.p = self.p.saturating_add(change).clamp(0, self.most);
        self.steps += 1;
    }

    /// p'.
    #[inline]
    #[must_use]
    pub fn base(&self) -> Probability {
        Probability::clamped(self.p >> (BITS - Probability::BITS))
    }

    /// The square of `p`, rounded down.
    pub(crate) fn squared(p: Probability) -> Probability {
        let square = u128::from(p.raw()) * u128::from(p.raw());
        Probability::clamped((square >> Probability::BITS) as i128)
    }

    /// `k` times `p`, at most 1; `k` in Q.32.
    pub(crate) fn times(p: Probability, k: u64) -> Probability {
        Probability::clamped(((u128::from(p.raw()) * u128::from(k)) >> 32) as i128)
    }

    /// Steps that were computed for instants.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }
}

/// The coupling factor in Q.32.
pub(crate) fn coupling(k: f64) -> Result<u64, Invalid> {
    Ok(bounded("coupling", k, 1.0, 16.0, 32)? as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controller(alpha: f64, beta: f64) -> DelayPi {
        let (target, tupdate) = (Time::from_millis(20), Time::from_millis(32));
        DelayPi::new(&Settings { target, tupdate, alpha, beta }).unwrap()
    }

    #[test]
    fn batched_instants_equal_single_instants() {
        let heads = [None, Some(Time::ZERO), Some(Time::from_millis(95)), Some(Time(95_999_999))];
        let gains = [(0.3125, 3.125), (1e-9, 0.0), (0.0, 1e-6), (2e-6, 1e-9), (32.0, 32.0)];
        for (alpha, beta) in gains {
            for (p, head) in [0, ONE / 3, ONE].iter().flat_map(|p| heads.map(|head| (*p, head))) {
                let mut once = DelayPi { p, old: 70_000_000, ..controller(alpha, beta) };
                once.clock.take(Time::from_millis(64));
                let mut each = once.clone();
                for end in [3u64, 4, 700, 30_000] {
                    once.advance(Time::from_millis(32 * end), head);
                    (3..=end).for_each(|k| each.advance(Time::from_millis(32 * k), head));
                    let same = (once.p, once.old) == (each.p, each.old);
                    assert!(same, "{alpha} {beta} {head:?} {end}: {once:?} {each:?}");
                }
                assert!(once.steps <= 12);
            }
        }
    }

    #[test]
    fn delay_pi_works_from_start_to_end_of_time() {
        for head in [None, Some(Time::ZERO)] {
            let mut pi = controller(32.0, 32.0);
            pi.advance(Time::MAX, head);
            assert_eq!(
                pi.base(),
                if head.is_some() { Probability::ONE } else { Probability::ZERO }
            );
        }
    }
}
