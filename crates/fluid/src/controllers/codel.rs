//! A setpoint for the delay, enforced as CoDel does (RFC 8289 section 5): once the delay has been
//! above `target` for an `interval`, packets are dropped at intervals of interval/√count, until the
//! delay is below target again.
//!
//! In continuous time the rate of drops is s = √count/interval and count grows with it, so that
//! ds/dt = 1/(2 interval²): the rate rises linearly. After a pause of less than 16 intervals it
//! begins where it had got to in the last cycle (count − lastcount).

use serde::Deserialize;

use super::{Mode, View};
use crate::Invalid;

/// A CoDel-like setpoint.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Codel {
    /// The delay that may stand, in seconds (0.005 in the RFC).
    pub target: f64,
    /// How long it may stand, in seconds (0.1 in the RFC).
    pub interval: f64,
}

/// The delay is below target.
const BELOW: usize = 0;
/// It is above target, but not for long.
const WAITING: usize = 1;
/// Packets are being dropped.
pub(super) const DROPPING: usize = 2;

impl Codel {
    /// Checks the parameters.
    ///
    /// # Errors
    /// Names the first that is wrong.
    pub fn validate(&self) -> Result<(), Invalid> {
        for (field, value) in [("target", self.target), ("interval", self.interval)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(Invalid::new(field, value, "must be above 0 seconds"));
            }
        }
        Ok(())
    }

    /// The delay's excess over target, in targets.
    fn excess(&self, view: &View) -> f64 {
        view.queue / (view.capacity * self.target) - 1.0
    }

    pub(super) fn probability(&self, mode: &Mode, own: f64, view: &View) -> f64 {
        if mode.piece == DROPPING { (own / view.capacity).min(1.0) } else { 0.0 }
    }

    pub(super) fn slope(&self, mode: &Mode, _: f64, _: &View) -> f64 {
        if mode.piece == DROPPING { 0.5 / (self.interval * self.interval) } else { 0.0 }
    }

    pub(super) fn guards(&self, mode: &Mode, _: f64, view: &View) -> [f64; 2] {
        match mode.piece {
            BELOW => [1.0, -self.excess(view)],
            WAITING => [self.excess(view), 1.0 + (mode.since - view.time) / self.interval],
            _ => [self.excess(view), 1.0],
        }
    }

    pub(super) fn crossed(&self, mode: &mut Mode, guard: usize, own: &mut f64, view: &View) {
        let count = |rate: f64| (rate * self.interval) * (rate * self.interval);
        match (mode.piece, guard) {
            (BELOW, _) => (mode.piece, mode.since) = (WAITING, view.time),
            (WAITING, 0) => (mode.piece, *own) = (BELOW, 0.0),
            (WAITING, _) => {
                let [left, gained] = mode.memory;
                let soon = left > 0.0 && view.time - left < 16.0 * self.interval;
                let begin = if soon { gained.max(1.0) } else { 1.0 };
                *own = libm::sqrt(begin) / self.interval;
                *mode = Mode { piece: DROPPING, since: begin, memory: mode.memory };
            }
            _ => {
                mode.memory = [view.time, count(*own) - mode.since];
                (mode.piece, *own) = (BELOW, 0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_follow_the_square_root_of_their_count() {
        // After n drops the time since the first is the sum of interval/√i, which is 2√n − 1.46 for
        // many; the fluid's count after that time is ahead by about half a root.
        let law = Codel { target: 0.005, interval: 0.1 };
        let mode = Mode { piece: DROPPING, since: 1.0, ..Mode::default() };
        let slope = law.slope(&mode, 0.0, &View::default());
        let mut time = 0.0;
        for n in 1..=200 {
            let rate = 1.0 / 0.1 + slope * time;
            let count = rate * rate * 0.01;
            let root = libm::sqrt(f64::from(n));
            assert!((0.0..0.6).contains(&((count - f64::from(n)) / root)), "{n} {count}");
            time += 0.1 / libm::sqrt(f64::from(n));
        }
    }

    #[test]
    fn dropping_begins_after_an_interval_above_target_and_ends_below() {
        let law = Codel { target: 0.005, interval: 0.1 };
        let view = |time, queue| View { time, queue, capacity: 1000.0, ..View::default() };
        let (mut mode, mut own) = (Mode::default(), 0.0);
        assert!(law.guards(&mode, own, &view(1.0, 5.1))[1] < 0.0);
        law.crossed(&mut mode, 1, &mut own, &view(1.0, 5.1));
        assert!(law.guards(&mode, own, &view(1.09, 6.0)).iter().all(|guard| *guard > 0.0));
        assert!(law.guards(&mode, own, &view(1.11, 6.0))[1] < 0.0);
        law.crossed(&mut mode, 1, &mut own, &view(1.1, 6.0));
        assert!((law.probability(&mode, own, &view(1.1, 6.0)) - 0.01).abs() < 1e-12);
        own = 30.0;
        law.crossed(&mut mode, 0, &mut own, &view(2.0, 4.9));
        assert_eq!((mode.piece, own, mode.memory), (BELOW, 0.0, [2.0, 8.0]));
    }
}
