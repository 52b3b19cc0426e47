//! PIE's controller apart from the queue it controls: a queue has one state, a discipline with many
//! queues has many and one controller. What it does, its source and the differences from it stand
//! in [`crate::pie`].

use super::{Control, Delay, sensible};
use crate::env::mean_packet;
use crate::fixed::bounded;
use crate::managed::Signal;
use crate::{ByteMode, Env, Invalid, Measure, Periodic, Probability, Standing};
use sojourn_base::{Stream, Time};

/// Fraction bits of the gains, per nanosecond.
const GAIN_BITS: u32 = 84;
/// Longest delay that is told apart: 2⁵⁸ ns, nine years.
const DELAY_MOST: u64 = 1 << 58;
/// One hundredth, Q.60.
const PERCENT: u64 = (1 << Probability::BITS) / 100;
/// RFC 8033 section 4.2: below one in so many the gains are halved so many times.
pub const BANDS: [(u32, u32); 6] =
    [(1_000_000, 11), (100_000, 9), (10_000, 7), (1000, 5), (100, 3), (10, 1)];
/// The bounds of [`BANDS`], Q.60.
const BOUNDS: [u64; 6] = {
    let mut bounds = [0; 6];
    let mut band = 0;
    while band < 6 {
        let one_in = BANDS[band].0 as u64;
        // In whole hundredths where it is some.
        let hundredths = 100 / one_in;
        bounds[band] =
            if hundredths > 0 { hundredths * PERCENT } else { (1 << Probability::BITS) / one_in };
        band += 1;
    }
    bounds
};
/// Section 5.4: no drop before the accumulated p reaches 0.85, one for certain at 8.5; Q.60.
const NONE_BEFORE: u64 = 85 * PERCENT;
const ONE_AT: u64 = 850 * PERCENT;
/// As much as `max_probability` may be.
const MOST: f64 = 4.0;
/// DQ_THRESHOLD, appendix B: bytes of a measuring cycle.
const CYCLE: u64 = 1 << 14;

/// A gain in hertz, 0 to 32, per nanosecond in Q.84.
fn gain(field: &'static str, hertz: f64) -> Result<i64, Invalid> {
    bounded(field, hertz, 0.0, 32.0, 0)?;
    Ok(libm::round(libm::ldexp(hertz * 1e-9, GAIN_BITS as i32)) as i64)
}

/// The controller: the parameters as integers, and the rules. One serves any number of [`State`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    target: u64,
    tupdate: u64,
    first_update: u64,
    /// What remains of p after one update of decay (section 4.2), Q.60.
    decay: u64,
    alpha: i64,
    beta: i64,
    max_burst: u64,
    high_delay: u64,
    derandomize: bool,
    linux_guards: bool,
    by_rate: bool,
    /// Largest p, Q.60.
    most: u64,
    mark_up_to: u64,
    /// This many bytes always pass.
    spared: u64,
    measure: Measure,
}

/// What changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The probability in force.
    pub probability: Probability,
    /// By how much p is above 1, Q.60; 0 unless `max_probability` is.
    pub above: u64,
    /// p accumulated since the last hit, Q.60, below 9.5.
    pub accumulated: u64,
    /// The delay of the packet that left last, ns.
    pub delay: u64,
    /// The delay at the last update, ns.
    pub delay_old: u64,
    /// What is left of the burst allowance, ns.
    pub burst: u64,
    /// With `linux_guards` and timestamps: when a packet left last, since the allowance was
    /// renewed.
    pub left: Option<Time>,
    /// The average time in which a cycle's bytes leave, ns in Q.16; 0 before the first.
    pub cycle_time: u64,
    /// Bytes of the cycle so far, and when it began; none between two.
    pub cycle: Option<(u64, Time)>,
    /// Steps that were computed for updates.
    pub steps: u64,
}

impl Core {
    /// The controller for `params` on a link like `env`.
    pub fn new(params: &Control, env: &Env) -> Result<Self, Invalid> {
        if params.max_burst > Time::from_secs(1000) {
            let value = alloc::format!("\"{}\"", params.max_burst);
            return Err(Invalid::new(
                "max_burst",
                value,
                "must be at most \"1000s\", like \"150ms\"",
            ));
        }
        // Otherwise p would go up and down at the edge of a band for as long as nothing happens.
        if let Some(high) = params.high_delay
            && high < params.target
        {
            let remedy = alloc::format!("must be at least the target, \"{}\"", params.target);
            return Err(Invalid::new("high_delay", alloc::format!("\"{high}\""), remedy));
        }
        let mean = mean_packet(params.mean_packet, env)?;
        let bytes = ByteMode {
            queue_in_bytes: false,
            scale_by_size: params.scale_by_size,
            mean_packet: params.mean_packet,
        };
        Ok(Self {
            target: sensible("target", params.target, "15ms")?,
            tupdate: sensible("tupdate", params.tupdate, "15ms")?,
            first_update: match params.first_update {
                Some(at) => sensible("first_update", at, "500ms")?,
                None => params.tupdate.0,
            },
            decay: bounded("decay", params.decay, 0.5, 1.0, Probability::BITS)? as u64,
            alpha: gain("alpha", params.alpha)?,
            beta: gain("beta", params.beta)?,
            max_burst: params.max_burst.0,
            high_delay: params.high_delay.map_or(u64::MAX, |t| t.0),
            derandomize: params.derandomize,
            linux_guards: params.linux_guards,
            by_rate: params.delay == Delay::Rate,
            most: bounded("max_probability", params.max_probability, 1.0, MOST, Probability::BITS)?
                as u64,
            mark_up_to: bounded("mark_ecn_th", params.mark_ecn_th, 0.0, 1.0, Probability::BITS)?
                as u64,
            spared: 2 * u64::from(mean),
            measure: Measure::new(bytes, env)?,
        })
    }

    /// The state of a queue nothing has passed yet.
    #[must_use]
    pub fn start(&self) -> State {
        State {
            probability: Probability::ZERO,
            above: 0,
            accumulated: 0,
            delay: 0,
            delay_old: 0,
            burst: self.max_burst,
            left: None,
            cycle_time: 0,
            cycle: None,
            steps: 0,
        }
    }

    /// The instants of the updates.
    #[must_use]
    pub fn clock(&self) -> Periodic {
        Periodic::new(Time(self.tupdate)).from(Time(self.first_update))
    }

    /// By how much an update moves p when it is `p`, and the band of p for which that holds.
    fn change(&self, p: u64, delay: u64, old: u64) -> (i128, u64, u64) {
        let band = BOUNDS.iter().position(|&below| p < below).unwrap_or(BOUNDS.len());
        let shift = BANDS.get(band).map_or(0, |&(_, shift)| shift);
        let low = if band == 0 { 0 } else { BOUNDS[band - 1] };
        let high = BOUNDS.get(band).map_or(self.most, |&below| below);
        let (delay, old) = (delay.min(DELAY_MOST) as i64, old.min(DELAY_MOST) as i64);
        let full = i128::from(self.alpha) * i128::from(delay - self.target as i64)
            + i128::from(self.beta) * i128::from(delay - old);
        let places = GAIN_BITS - Probability::BITS + shift;
        let mut change = (full + (1 << (places - 1))) >> places;
        // Section 5.5. (The band without a shift begins at 0.1.)
        if shift == 0 {
            change = change.min(i128::from(2 * PERCENT));
        }
        if delay as u64 > self.high_delay {
            change += i128::from(2 * PERCENT);
        }
        (change, low, high)
    }

    /// One update of p; `idle`: no delay counts as a quiet link.
    fn step(&self, p: u64, delay: u64, old: u64, idle: bool) -> u64 {
        let (change, ..) = self.change(p, delay, old);
        let mut p = i128::from(p) + change;
        if delay == 0 && old == 0 && idle {
            p = (p.max(0) * i128::from(self.decay)) >> Probability::BITS;
        }
        self.clamped(p)
    }

    /// A p in its limits.
    fn clamped(&self, p: i128) -> u64 {
        p.clamp(0, i128::from(self.most)) as u64
    }

    /// Runs `n` updates, at all of which `queue` stands as it does and nothing has left since the
    /// call before.
    pub fn update(&self, s: &mut State, queue: Standing, n: u64) {
        if n > 1 && self.linux_guards && s.cycle_time > 0 {
            // If the rate is forgotten on the way, the last finds no delay.
            self.updates(s, queue, n - 1);
            self.updates(s, queue, 1);
        } else if n > 0 {
            self.updates(s, queue, n);
        }
    }

    /// One or more updates with the same delay.
    fn updates(&self, s: &mut State, queue: Standing, n: u64) {
        let delay = self.delay(s, queue);
        // Linux sees that the delay is 0 only because the queue has just begun to fill.
        let idle = !self.linux_guards || queue.bytes == 0;
        let before = s.probability.raw() + s.above;
        let (mut p, mut left) = (self.step(before, delay, s.delay_old, idle), n - 1);
        s.steps += 1;
        while left > 0 {
            let mut ticks = 1;
            if delay == 0 && idle {
                if p == 0 {
                    break;
                }
                p = self.step(p, 0, 0, idle);
            } else {
                let (change, low, high) = self.change(p, delay, delay);
                let stuck = if change > 0 { self.most } else { 0 };
                if change == 0 || p == stuck {
                    break;
                }
                // So many updates until p leaves its band; each moves it by the same amount.
                let (size, room) =
                    (change.unsigned_abs(), if change > 0 { high - p - 1 } else { p - low });
                ticks = (u128::from(room) / size + 1).min(u128::from(left)) as u64;
                p = self.clamped(i128::from(p) + change * i128::from(ticks));
            }
            left -= ticks;
            s.steps += 1;
        }
        s.probability = Probability::clamped(i128::from(p));
        s.above = p - s.probability.raw();
        let before = if n > 1 { delay } else { s.delay_old };
        s.delay_old = delay;
        if !self.linux_guards {
            s.burst = s.burst.saturating_sub(self.tupdate.saturating_mul(n));
        } else if p == 0
            && delay.max(before) < self.target / 2
            && (!self.by_rate || s.cycle_time > 0)
        {
            (s.burst, s.left, s.accumulated) = (self.max_burst, None, 0);
            // Linux measures the rate anew then.
            (s.cycle_time, s.cycle) = (0, None);
        }
    }

    /// The delay as the controller knows it, ns.
    #[must_use]
    pub fn delay(&self, s: &State, queue: Standing) -> u64 {
        if self.by_rate {
            let scaled = u128::from(queue.bytes) * u128::from(s.cycle_time) / u128::from(CYCLE);
            ((scaled >> 16) as u64).min(DELAY_MOST)
        } else {
            s.delay
        }
    }

    /// A packet of `bytes` arrives and finds `queue`: what to do with it.
    #[inline]
    pub fn arrival(&self, s: &mut State, bytes: u32, queue: Standing, coin: &mut Stream) -> Signal {
        let (p, half) = (s.probability, self.target / 2);
        if p == Probability::ZERO && !self.linux_guards {
            s.accumulated = 0;
            if s.delay_old < half && self.delay(s, queue) < half {
                s.burst = self.max_burst;
            }
            return Signal::Pass;
        }
        let by_departure = self.linux_guards && !self.by_rate;
        let delay = if by_departure { s.delay } else { s.delay_old };
        if s.burst > 0 || queue.bytes <= self.spared || (delay < half && p.raw() < 20 * PERCENT) {
            return Signal::Pass;
        }
        if p == Probability::ZERO {
            s.accumulated = 0;
            return Signal::Pass;
        }
        let own = self.measure.scaled(p, bytes);
        if self.derandomize {
            s.accumulated += own.raw();
            if s.accumulated < NONE_BEFORE || (s.accumulated < ONE_AT && !own.toss(coin)) {
                return Signal::Pass;
            }
            s.accumulated = 0;
        } else if !own.toss(coin) {
            return Signal::Pass;
        }
        if p.raw() <= self.mark_up_to { Signal::Notify } else { Signal::Drop }
    }

    /// A packet of `bytes` that came at `came` leaves `queue` behind.
    #[inline]
    pub fn departure(&self, s: &mut State, now: Time, came: Time, bytes: u32, queue: Standing) {
        if !self.by_rate {
            if self.linux_guards {
                let passed = s.left.map_or(0, |before| now.saturating_sub(before).0);
                s.burst = s.burst.saturating_sub(passed);
                s.left = Some(now);
            }
            s.delay = if queue.packets == 0 { 0 } else { now.0.saturating_sub(came.0) };
            return;
        }
        if let Some((sent, since)) = s.cycle
            && sent >= CYCLE
        {
            // At most a day; the average of RFC 8033 section 5.2, with 1/4.
            let took = now.0.saturating_sub(since.0).min(1 << 46);
            if self.linux_guards {
                s.burst = s.burst.saturating_sub(took);
            }
            let took = took << 16;
            s.cycle_time = match s.cycle_time {
                0 => took.max(1),
                average => (average - average / 4 + took / 4).max(1),
            };
            s.cycle = None;
        }
        match &mut s.cycle {
            Some((sent, _)) => *sent += u64::from(bytes),
            None if queue.bytes >= CYCLE => s.cycle = Some((u64::from(bytes), now)),
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
