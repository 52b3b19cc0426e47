//! CoDel's control law and its state machine, RFC 8289 sections 5.5 and 5.6, for whatever holds
//! the packets: one queue (`codel`) or each of many (`fq_codel`).
//!
//! | quantity | type | format | range |
//! | --- | --- | --- | --- |
//! | 1/√m, 1 ≤ m < 4 | `u64` | Q.62 | 0.5 to 1, relative error below 2⁻⁵⁷ |
//! | times | `Time` | whole nanoseconds | |

use crate::{Ecn, EcnMarking, Invalid};
use alloc::format;
use sojourn_base::Time;

/// Most packets dropped in one call, so that the work in it is bounded. What is then still due
/// is dropped in the calls that follow, a packet being delivered after each such batch.
pub(crate) const MAX_DROPS: u32 = 64;

/// RFC 8289 section 5.5: the rate of drops of the last cycle is a starting point for the next if
/// no more than this many intervals lie between them.
const RECENT_INTERVALS: u64 = 16;

/// What the state machine must be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    /// Sojourn time that may stand.
    pub target: Time,
    /// For how long it may be above the target, and the first spacing of drops.
    pub interval: Time,
    /// No drop while this many bytes or fewer would be left.
    pub mtu: u64,
    /// Which packets are marked instead of dropped.
    pub ecn: EcnMarking,
    /// Sojourn time above which every ECN-capable packet is marked; `Time(u64::MAX)` for never.
    pub ce_threshold: Time,
    /// Whether only packets that say ECT(1) are marked for that.
    pub ce_threshold_ect1: bool,
}

impl Constants {
    pub(crate) fn new(
        target: Time,
        interval: Time,
        mtu: u32,
        ecn: EcnMarking,
        ce_threshold: Option<Time>,
    ) -> Result<Self, Invalid> {
        in_range("target", target, "5ms")?;
        in_range("interval", interval, "100ms")?;
        if let Some(threshold) = ce_threshold {
            in_range("ce_threshold", threshold, "1ms")?;
        }
        let ce_threshold = ce_threshold.unwrap_or(Time(u64::MAX));
        let mtu = u64::from(mtu);
        Ok(Self { target, interval, mtu, ecn, ce_threshold, ce_threshold_ect1: false })
    }

    /// RFC 8289 section 5.6, `control_law`: `from` + interval/√count, to half a nanosecond.
    #[must_use]
    pub fn next(&self, from: Time, count: u32) -> Time {
        from.saturating_add(Time(interval_over_sqrt(self.interval.0, count)))
    }
}

/// An error unless `time` is 1 µs to 100 s.
pub(crate) fn in_range(field: &'static str, time: Time, usual: &str) -> Result<(), Invalid> {
    if time < Time::from_micros(1) || time > Time::from_secs(100) {
        let remedy = format!("must be \"1us\" to \"100s\", for example \"{usual}\"");
        return Err(Invalid::new(field, format!("\"{time}\""), remedy));
    }
    Ok(())
}

/// `interval`/√`count`, rounded to nearest. Worked out anew each time by Newton's iteration: five
/// steps from a guess that is 19 % off at worst. It is needed once a drop, and needs no state.
#[must_use]
pub(crate) fn interval_over_sqrt(interval: u64, count: u32) -> u64 {
    let count = u64::from(count.max(1));
    // count = m 4ᵏ with 1 ≤ m < 4; m in Q.60.
    let k = count.ilog2() / 2;
    let m = count << (60 - 2 * k);
    // 1/√m is in (0.707, 1] or (0.5, 0.707].
    let mut y: u64 =
        if m < 2 << 60 { 3_873_800_000_000_000_000 } else { 2_739_200_000_000_000_000 };
    for _ in 0..5 {
        // y ← y (3 − m y²)/2, all in Q.62; m y² is at most 1.42.
        let square = ((u128::from(y) * u128::from(y)) >> 62) as u64;
        let product = ((u128::from(m) * u128::from(square)) >> 60) as u64;
        y = ((u128::from(y) * u128::from((3 << 62) - product)) >> 63) as u64;
    }
    let shift = 62 + k;
    ((u128::from(interval) * u128::from(y) + (1 << (shift - 1))) >> shift) as u64
}

/// A packet at the head of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// When it arrived.
    pub at: Time,
    /// Bytes that stay in the queue once it has left.
    pub bytes_after: u64,
    /// Its ECN field.
    pub ecn: Ecn,
}

/// What holds the packets.
pub(crate) trait QueueHead {
    /// The packet at the head; none if there is none.
    fn head(&self) -> Option<Head>;
    /// Drops it.
    fn drop_head(&mut self, now: Time);
    /// Sets it to CE; it is ECT.
    fn mark_head(&mut self);
}

/// What changes from packet to packet, with the names of the RFC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// When the sojourn time will have been above the target for an interval; none while it is
    /// not above.
    pub first_above: Option<Time>,
    /// When to drop next, while dropping.
    pub drop_next: Time,
    /// Drops since dropping began.
    pub count: u32,
    /// `count` as it was when dropping began.
    pub last_count: u32,
    /// Whether it drops.
    pub dropping: bool,
}

impl State {
    /// Drops and marks what is due at `now`, but drops no more than `budget`, of which it takes
    /// what it has dropped. What is then at the head of `queue` is to be delivered.
    #[inline]
    pub(crate) fn dequeue(
        &mut self,
        law: &Constants,
        now: Time,
        queue: &mut impl QueueHead,
        budget: &mut u32,
    ) {
        let Some(head) = queue.head() else {
            self.first_above = None;
            self.dropping = false;
            return;
        };
        let ok = self.ok_to_drop(law, now, Some(head));
        if self.dropping {
            if !ok {
                self.dropping = false;
            } else if now >= self.drop_next {
                self.drop_due(law, now, queue, budget);
            }
        } else if ok && *budget > 0 {
            self.enter_dropping(law, now, queue, budget);
        }
        if law.ce_threshold.0 != u64::MAX {
            mark_above(law, now, queue);
        }
    }

    /// RFC 8289 section 5.6, `dodequeue`: whether the packet at the head may be dropped.
    #[inline]
    fn ok_to_drop(&mut self, law: &Constants, now: Time, head: Option<Head>) -> bool {
        let above = head
            .filter(|head| now.saturating_sub(head.at) >= law.target && head.bytes_after > law.mtu)
            .is_some();
        match self.first_above {
            _ if !above => {
                self.first_above = None;
                false
            }
            None => {
                self.first_above = Some(now.saturating_add(law.interval));
                false
            }
            Some(at) => now >= at,
        }
    }

    /// While dropping: all that is due, one packet after another.
    #[cold]
    fn drop_due(
        &mut self,
        law: &Constants,
        now: Time,
        queue: &mut impl QueueHead,
        budget: &mut u32,
    ) {
        while *budget > 0 {
            self.count = self.count.saturating_add(1);
            if signal(law, now, queue) == Signalled::Marked {
                self.drop_next = law.next(self.drop_next, self.count);
                return;
            }
            *budget -= 1;
            if !self.ok_to_drop(law, now, queue.head()) {
                self.dropping = false;
                return;
            }
            self.drop_next = law.next(self.drop_next, self.count);
            if now < self.drop_next {
                return;
            }
        }
    }

    /// The sojourn time has been above the target for an interval.
    #[cold]
    fn enter_dropping(
        &mut self,
        law: &Constants,
        now: Time,
        queue: &mut impl QueueHead,
        budget: &mut u32,
    ) {
        if signal(law, now, queue) == Signalled::Dropped {
            *budget -= 1;
            // The next packet is delivered whatever comes out; this keeps `first_above` right.
            self.ok_to_drop(law, now, queue.head());
        }
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recent = Time(law.interval.0.saturating_mul(RECENT_INTERVALS));
        let was_dropping_recently = now < self.drop_next.saturating_add(recent);
        self.count = if delta > 1 && was_dropping_recently { delta } else { 1 };
        self.last_count = self.count;
        self.drop_next = law.next(now, self.count);
    }
}

#[derive(PartialEq, Eq)]
enum Signalled {
    Marked,
    Dropped,
}

/// Marks the packet at the head if ECN allows, else drops it.
fn signal(law: &Constants, now: Time, queue: &mut impl QueueHead) -> Signalled {
    let ecn = queue.head().map_or(Ecn::NotEct, |head| head.ecn);
    if law.ecn.applies(ecn) {
        if ecn != Ecn::Ce {
            queue.mark_head();
        }
        return Signalled::Marked;
    }
    queue.drop_head(now);
    Signalled::Dropped
}

fn mark_above(law: &Constants, now: Time, queue: &mut impl QueueHead) {
    if let Some(head) = queue.head()
        && now.saturating_sub(head.at) > law.ce_threshold
        && match head.ecn {
            Ecn::Ect0 => !law.ce_threshold_ect1,
            Ecn::Ect1 => law.ecn != EcnMarking::Ect0,
            Ecn::NotEct | Ecn::Ce => false,
        }
    {
        queue.mark_head();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_range_of_times_are_in_it() {
        let allowed = |time| in_range("target", time, "5ms").is_ok();
        let (least, most) = (Time::from_micros(1), Time::from_secs(100));
        assert!(allowed(least) && allowed(most));
        assert!(!allowed(Time(least.0 - 1)) && !allowed(Time(most.0 + 1)));
    }

    #[test]
    fn interval_over_sqrt_is_within_half_a_nanosecond() {
        let counts = (1..100_000).chain((17..32).flat_map(|n| {
            let power = 1u32 << n;
            [power - 1, power, power + 1, power + power / 2]
        }));
        for count in counts.chain([u32::MAX]) {
            for interval in [1_000u64, 100_000_000, 100_000_000_000] {
                let exact = interval as f64 / libm::sqrt(f64::from(count));
                let ours = interval_over_sqrt(interval, count) as f64;
                assert!((ours - exact).abs() <= 0.501, "{interval}/√{count}: {ours} {exact}");
            }
        }
    }

    #[test]
    fn drop_times_drift_less_than_a_microsecond_in_100_000_drops() {
        let law = Constants::new(Time(1_000), Time::from_millis(100), 1500, EcnMarking::Off, None)
            .unwrap();
        let (mut at, mut exact) = (Time::ZERO, 0.0);
        for count in 1..=100_000 {
            at = law.next(at, count);
            exact += 1e8 / libm::sqrt(f64::from(count));
            assert!((at.0 as f64 - exact).abs() < 1000.0, "{count}: {at} {exact}");
        }
    }
}
