//! Chromium's way since 2016: a line through the last delays, and a detector that looks at its
//! slope. Constants are those of `WebRTC`, `trendline_estimator.cc` of 2022.

use super::groups::Variation;
use super::threshold::Threshold;
use super::usage::{GROUPS, LASTING, Use};
use std::collections::VecDeque;

/// Groups that the line goes through.
const WINDOW: usize = 20;
/// What is left of the smoothed delay from group to group.
const SMOOTHING: f64 = 0.9;
/// A slope is multiplied with this and with the number of groups, at most [`GROUPS`].
const GAIN: f64 = 4.0;
/// In how many groups the slope must be above the threshold.
const LEAST: u32 = 2;

/// The line and the detector.
#[derive(Clone, Debug)]
pub(super) struct Trendline {
    /// Times of arrival and smoothed delays, ms, from the first group on.
    points: VecDeque<(f64, f64)>,
    arrived: f64,
    delay: f64,
    smoothed: f64,
    groups: u32,
    slope: f64,
    /// For how long, ms, and in how many groups it has been above; none: not at all.
    over: Option<(f64, u32)>,
    found: Use,
    threshold: Threshold,
}

impl Default for Trendline {
    fn default() -> Self {
        Self {
            points: VecDeque::with_capacity(WINDOW + 1),
            arrived: 0.0,
            delay: 0.0,
            smoothed: 0.0,
            groups: 0,
            slope: 0.0,
            over: None,
            found: Use::Normal,
            threshold: Threshold::new(0.0087, 0.039),
        }
    }
}

impl Trendline {
    /// What a group says.
    pub(super) fn judge(&mut self, group: &Variation) -> Use {
        self.groups = self.groups.saturating_add(1);
        self.arrived += group.received;
        self.delay += group.delay;
        self.smoothed = SMOOTHING * self.smoothed + (1.0 - SMOOTHING) * self.delay;
        self.points.push_back((self.arrived, self.smoothed));
        if self.points.len() > WINDOW {
            self.points.pop_front();
        }
        let before = self.slope;
        if self.points.len() == WINDOW {
            self.slope = slope(&self.points).unwrap_or(before);
        }
        if self.groups < 2 {
            return Use::Normal;
        }
        let drift = f64::from(self.groups.min(GROUPS)) * self.slope * GAIN;
        if drift > self.threshold.at {
            let (time, times) = self
                .over
                .map_or((group.sent / 2.0, 1), |(time, times)| (time + group.sent, times + 1));
            self.over = Some((time, times));
            // Once found, it lasts for as long as the slope is above.
            if time > LASTING && times >= LEAST && self.slope >= before {
                self.over = Some((0.0, 0));
                self.found = Use::Over;
            }
        } else {
            self.over = None;
            self.found = if drift < -self.threshold.at { Use::Under } else { Use::Normal };
        }
        self.threshold.adapt(drift, group.received.max(0.0));
        self.found
    }
}

/// The slope of the line of least squares; none if all points stand above each other.
fn slope(points: &VecDeque<(f64, f64)>) -> Option<f64> {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let (mut with, mut of) = (0.0, 0.0);
    for point in points {
        with += (point.0 - x) * (point.1 - y);
        of += (point.0 - x) * (point.0 - x);
    }
    (of > 0.0).then(|| with / of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_is_that_of_a_line() {
        let points: VecDeque<_> =
            (0..20).map(|i| (f64::from(i), 3.0 - 0.25 * f64::from(i))).collect();
        assert!((slope(&points).unwrap() + 0.25).abs() < 1e-12);
        assert_eq!(slope(&VecDeque::from(vec![(1.0, 2.0), (1.0, 3.0)])), None);
    }

    /// Groups 33 ms apart at the sender, each so much longer under way than the last.
    fn after(line: &mut Trendline, groups: u32, growth: f64) -> Use {
        let group = Variation { delay: growth, sent: 33.0, received: 33.0 + growth };
        (0..groups).map(|_| line.judge(&group)).last().unwrap()
    }

    #[test]
    fn growing_delay_is_over_use_and_shrinking_delay_under_use() {
        let mut line = Trendline::default();
        assert_eq!(after(&mut line, 60, 0.0), Use::Normal);
        // A slope of 0.09 in the end, 21 ms by the gain.
        assert_eq!(after(&mut line, 40, 3.0), Use::Over);
        assert_eq!(after(&mut line, 60, 0.0), Use::Normal);
        assert_eq!(after(&mut line, 40, -3.0), Use::Under);
    }

    #[test]
    fn a_single_group_says_nothing_of_what_is_usual() {
        let mut line = Trendline::default();
        let usual = line.threshold.at;
        after(&mut line, 1, 0.0);
        assert_eq!(line.threshold.at, usual);
        after(&mut line, 1, 0.0);
        assert!(line.threshold.at < usual);
    }

    #[test]
    fn no_line_is_drawn_before_there_are_twenty_points() {
        let mut line = Trendline::default();
        assert_eq!(after(&mut line, 19, 20.0), Use::Normal);
        assert_eq!(after(&mut line, 3, 20.0), Use::Over);
    }

    #[test]
    fn a_drift_must_be_above_the_threshold() {
        // Over sixty groups a slope of a sixteenth is a drift of 15 ms.
        let mut line = Trendline { groups: 59, slope: 1.0 / 16.0, ..Trendline::default() };
        line.threshold.at = 15.0;
        after(&mut line, 1, 0.0);
        assert_eq!(line.over, None);
        line.threshold.at = 14.9;
        after(&mut line, 1, 0.0);
        assert!(line.over.is_some());
    }
}
