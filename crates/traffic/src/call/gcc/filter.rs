//! The arrival-time filter: how fast the queueing delay grows (section 5.3).

use sojourn_base::Time;

/// Packets sent within this time of a group's first are of that group.
const BURST: Time = Time::from_millis(5);
/// State noise q.
const NOISE: f64 = 1e-3;
/// Coefficient χ of the measured noise's variance.
const CHI: f64 = 0.01;
/// Groups over which their highest rate is looked for, K.
const RECENT: usize = 5;

/// Packets sent together.
#[derive(Clone, Copy, Debug)]
struct Group {
    first_sent: Time,
    sent: Time,
    arrived: Time,
}

/// What is known when a group is complete.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gradient {
    /// By how much the delay grows from group to group, ms.
    pub estimate: f64,
    /// How many groups it is made of.
    pub groups: u32,
    /// Time between the last two groups at the sender, ms.
    pub spacing: f64,
}

/// The filter.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    current: Option<Group>,
    last: Option<Group>,
    estimate: f64,
    error: f64,
    variance: f64,
    spacings: [f64; RECENT],
    groups: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            current: None,
            last: None,
            estimate: 0.0,
            error: 0.1,
            variance: 1.0,
            spacings: [f64::INFINITY; RECENT],
            groups: 0,
        }
    }
}

impl Filter {
    /// A packet that was sent and arrived at these times; the gradient, if it ends a group.
    pub(super) fn take(&mut self, sent: Time, arrived: Time) -> Option<Gradient> {
        let new = Group { first_sent: sent, sent, arrived };
        let Some(group) = &mut self.current else {
            self.current = Some(new);
            return None;
        };
        if sent < group.first_sent {
            // One of an earlier group says nothing more.
            return None;
        }
        if sent <= group.first_sent + BURST {
            group.sent = group.sent.max(sent);
            group.arrived = group.arrived.max(arrived);
            return None;
        }
        let done = std::mem::replace(group, new);
        let before = self.last.replace(done)?;
        let spacing = milliseconds(done.sent) - milliseconds(before.sent);
        let variation = milliseconds(done.arrived) - milliseconds(before.arrived) - spacing;
        self.update(variation, spacing);
        Some(Gradient { estimate: self.estimate, groups: self.groups, spacing })
    }

    /// A step of the Kalman filter.
    fn update(&mut self, variation: f64, spacing: f64) {
        self.spacings[self.groups as usize % RECENT] = spacing;
        self.groups += 1;
        let shortest = self.spacings.iter().copied().fold(f64::INFINITY, f64::min);
        // 30/(1000 f) with f the highest rate of groups per millisecond.
        let keep = libm::pow(1.0 - CHI, 30.0 * shortest / 1000.0);
        let new = variation - self.estimate;
        let bounded = new.clamp(-3.0 * self.variance.sqrt(), 3.0 * self.variance.sqrt());
        self.variance = (keep * self.variance + (1.0 - keep) * bounded * bounded).max(1.0);
        let gain = (self.error + NOISE) / (self.variance + self.error + NOISE);
        self.estimate += new * gain;
        self.error = (1.0 - gain) * (self.error + NOISE);
    }
}

fn milliseconds(time: Time) -> f64 {
    time.0 as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimate_converges_to_how_the_delay_grows() {
        for growth in [0.0, 0.5, -0.5, 2.0] {
            let mut filter = Filter::default();
            let mut last = None;
            for i in 0..600 {
                let sent = 33.0 * f64::from(i);
                let arrived = sent + 500.0 + growth * f64::from(i);
                let at = |ms: f64| Time((ms * 1e6) as u64);
                // Two packets of a burst are one group, which ends with its second.
                filter.take(at(sent), at(arrived - 0.1));
                last = filter.take(at(sent + 2.0), at(arrived + 2.0)).or(last);
                last = last.or_else(|| filter.take(at(sent + 2.0), at(arrived + 2.0)));
            }
            let estimate = filter.estimate;
            assert!((estimate - growth).abs() < 0.05 * growth.abs() + 1e-6, "{growth} {estimate}");
            assert!(filter.groups >= 597);
        }
    }
}
