//! Packets that were passed by others: lost, unless they come within the reordering window.

use super::super::listener::Arrival;
use sojourn_base::Time;
use std::collections::VecDeque;
use std::ops::Range;

/// No more are remembered.
const MOST: usize = 1000;
/// How much of the rate of loss events a round trip makes.
const GAIN: f64 = 0.01;

/// What is missing.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    /// Numbers, and when each was first passed by; the oldest first.
    missing: VecDeque<(u64, Time)>,
    /// How late a packet has come that was passed by.
    window: Time,
    /// Whether one was lost since it was last asked.
    lost: bool,
    /// Whether one was lost in this round trip.
    in_round: bool,
    /// The share of round trips with losses.
    rate: f64,
}

impl Losses {
    /// Feedback that reaches as far as the end of `told`.
    pub(super) fn hear(&mut self, now: Time, told: Range<u64>, arrivals: &[Arrival]) {
        for arrival in arrivals.iter().filter(|arrival| arrival.number < told.start) {
            if let Some(at) = self.missing.iter().position(|(number, _)| *number == arrival.number)
                && let Some((_, since)) = self.missing.remove(at)
            {
                self.window = self.window.max(now.saturating_sub(since));
            }
        }
        for number in told {
            if !arrivals.iter().any(|arrival| arrival.number == number) {
                self.missing.push_back((number, now));
            }
        }
        while self.missing.len() > MOST {
            self.missing.pop_front();
        }
        while self.missing.front().is_some_and(|(_, since)| *since + self.window <= now) {
            self.missing.pop_front();
            (self.lost, self.in_round) = (true, true);
        }
    }

    /// Whether something was lost since the last time.
    pub(super) fn take(&mut self) -> bool {
        std::mem::take(&mut self.lost)
    }

    /// A round trip is over: the share of those with losses.
    pub(super) fn round(&mut self) -> f64 {
        let now = f64::from(u8::from(std::mem::take(&mut self.in_round)));
        self.rate += GAIN * (now - self.rate);
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(numbers: &[u64]) -> Vec<Arrival> {
        numbers.iter().map(|&number| Arrival { number, at: Time::ZERO, marked: false }).collect()
    }

    #[test]
    fn a_gap_is_a_loss_unless_packets_are_known_to_come_late() {
        let mut losses = Losses::default();
        losses.hear(Time::from_millis(10), 0..3, &arrivals(&[0, 1, 2]));
        assert!(!losses.take());
        losses.hear(Time::from_millis(20), 3..6, &arrivals(&[3, 5]));
        assert!(losses.take() && !losses.take());
        // One that was passed by and comes 30 ms later widens the window.
        losses.window = Time::from_millis(30);
        losses.hear(Time::from_millis(40), 6..9, &arrivals(&[6, 8]));
        assert!(!losses.take(), "it may still come");
        losses.hear(Time::from_millis(60), 9..10, &arrivals(&[7, 9]));
        losses.hear(Time::from_millis(200), 10..11, &arrivals(&[10]));
        assert!(!losses.take(), "and it did");
        losses.hear(Time::from_millis(210), 11..13, &arrivals(&[12]));
        losses.hear(Time::from_millis(240), 13..14, &arrivals(&[13]));
        assert!(losses.take());
    }

    #[test]
    fn rate_is_that_of_round_trips_with_losses() {
        let mut losses = Losses::default();
        for n in 0..2000 {
            losses.in_round = n % 4 == 0;
            losses.round();
        }
        assert!((losses.rate - 0.25).abs() < 0.01, "{}", losses.rate);
    }
}
