//! Google Congestion Control (draft-ietf-rmcat-gcc-02, July 2016; Carlucci, De Cicco, Holmer,
//! Mascolo, "Analysis and Design of the Google Congestion Control for Web Real-time Communication",
//! MMSys 2016), at the sender, from feedback on every packet.
//!
//! Differences from the draft
//!
//! 1. The detector compares the estimated gradient times the number of groups, 60 at most, with the
//!    threshold, as Chromium does; compared as it is, a queue would have to grow by 12.5 ms from
//!    one group to the next.
//! 2. Loss is taken over whole seconds. The rate by loss never stands above that by delay, so that
//!    it falls from the rate in use.
//! 3. There is no probing, by which Chromium finds its rate within seconds: a call grows by 8 % a
//!    second.
//! 4. Packets that arrive within 5 ms of each other, though sent further apart, are not merged into
//!    a group: no link here releases them in such bursts.
//! 5. The received rate counts packets with their headers, the rate that it bounds what is in them:
//!    a decrease is to 0.88 of what came where packets are full, not to 0.85.
//!
//! The draft's Kalman filter takes frames of three groups and more for noise, and so does not see
//! the queue grow under calls of more than 2.2 Mb/s at 30 frames a second. Chromium has had a line
//! through the last delays in its place since 2016: `filter = "trendline"`.

mod detector;
mod groups;
mod increase;
mod kalman;
mod loss;
mod threshold;
mod trendline;
mod usage;

use super::listener::Feedback;
use super::media::Media;
use super::params::{CallModel, DelayFilter};
use detector::Detector;
use groups::{Groups, Variation};
use increase::Increase;
use kalman::Kalman;
use loss::Loss;
use sojourn_base::Time;
use std::collections::VecDeque;
use trendline::Trendline;
use usage::Use;

/// Decrease factor β.
const BETA: f64 = 0.85;
/// Over which time the received rate is measured, T.
const WINDOW: Time = Time::from_millis(500);
/// The rate by delay is at most so many times the received one.
const HEADROOM: f64 = 1.5;

/// How over-use is told from delays.
#[derive(Clone, Debug)]
enum Delays {
    Draft(Kalman, Detector),
    Line(Box<Trendline>),
}

impl Delays {
    fn new(filter: DelayFilter) -> Self {
        match filter {
            DelayFilter::Kalman => Self::Draft(Kalman::default(), Detector::default()),
            DelayFilter::Trendline => Self::Line(Box::default()),
        }
    }

    fn judge(&mut self, group: &Variation) -> Use {
        match self {
            Self::Draft(filter, detector) => detector.judge(&filter.take(group)),
            Self::Line(line) => line.judge(group),
        }
    }
}

/// What the rate does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Increase,
    Decrease,
    Hold,
}

/// The control of one call.
#[derive(Clone, Debug)]
pub(super) struct Gcc {
    groups: Groups,
    delays: Delays,
    increase: Increase,
    loss: Loss,
    state: State,
    /// The rate by delay, bits per second.
    rate: f64,
    target: f64,
    bounds: (f64, f64),
    /// What came in the last [`WINDOW`]: when, and how many bytes.
    received: VecDeque<(Time, u32)>,
    first: Option<Time>,
    /// When the last feedback came.
    heard: Option<Time>,
    /// The packet behind the last one that was told of.
    next: u64,
}

impl Gcc {
    pub(super) fn new(model: &CallModel) -> Self {
        Self {
            groups: Groups::default(),
            delays: Delays::new(model.filter),
            increase: Increase::default(),
            loss: Loss::new(model.initial),
            state: State::Increase,
            rate: model.initial,
            target: model.initial,
            bounds: (model.min, model.max),
            received: VecDeque::new(),
            first: None,
            heard: None,
            next: 0,
        }
    }

    /// Bits per second.
    pub(super) fn target(&self) -> f64 {
        self.target
    }

    /// What the rate by delay does.
    pub(super) fn state(&self) -> &'static str {
        match self.state {
            State::Increase => "increase",
            State::Decrease => "decrease",
            State::Hold => "hold",
        }
    }

    /// Nothing was heard of a packet for so long that it is forgotten.
    pub(super) fn forgotten(&mut self, media: &Media) {
        self.next = self.next.max(media.number + 1);
    }

    /// Feedback comes; `sent` knows the packets.
    pub(super) fn hear(
        &mut self,
        now: Time,
        feedback: &Feedback,
        sent: impl Fn(u64) -> Option<Media>,
    ) {
        let (mut signal, mut came, mut round_trip) = (Use::Normal, 0, Time::ZERO);
        let before = self.next;
        for arrival in &feedback.arrivals {
            let Some(media) = sent(arrival.number) else { continue };
            self.first.get_or_insert(arrival.at);
            self.received.push_back((arrival.at, media.ip_bytes));
            if let Some(group) = self.groups.take(media.sent, arrival.at) {
                let found = self.delays.judge(&group);
                // One group that tells of over-use is enough.
                signal = if signal == Use::Over { signal } else { found };
            }
            round_trip = now.saturating_sub(media.sent);
            // One that was overtaken has been taken for lost.
            came += u64::from(arrival.number >= before);
            self.next = self.next.max(arrival.number + 1);
        }
        let lost = (self.next - before).saturating_sub(came);
        let passed = self.heard.replace(now).map_or(Time::ZERO, |last| now.saturating_sub(last));
        self.adapt(signal, passed, round_trip);
        self.rate = self.rate.clamp(self.bounds.0, self.bounds.1);
        let by_loss = self.loss.update(now, came, lost, self.rate);
        self.target = by_loss.clamp(self.bounds.0, self.bounds.1);
    }

    /// The received rate in bits per second, once there is a whole window.
    fn received_rate(&mut self) -> Option<f64> {
        let &(last, _) = self.received.back()?;
        while self.received.front().is_some_and(|(at, _)| *at + WINDOW <= last) {
            self.received.pop_front();
        }
        let whole = last.saturating_sub(self.first?) >= WINDOW;
        let bytes: u32 = self.received.iter().map(|(_, bytes)| bytes).sum();
        whole.then(|| f64::from(bytes) * 8.0 / WINDOW.as_secs_f64())
    }

    /// The rate by delay after `passed`.
    fn adapt(&mut self, signal: Use, passed: Time, round_trip: Time) {
        self.state = match (signal, self.state) {
            (Use::Over, _) => State::Decrease,
            (Use::Under, _) | (Use::Normal, State::Decrease) => State::Hold,
            (Use::Normal, State::Hold | State::Increase) => State::Increase,
        };
        let Some(received) = self.received_rate() else { return };
        match self.state {
            State::Hold => {}
            State::Decrease => {
                self.increase.at_decrease(received);
                self.rate = self.rate.min(BETA * received);
            }
            State::Increase => {
                let grown = self.increase.grown(self.rate, received, passed, round_trip);
                // What is not sent is not received either: it does not shrink the rate.
                self.rate = grown.min((HEADROOM * received).max(self.rate));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::listener::Arrival;
    use super::*;
    use crate::Call;

    const FILTERS: [DelayFilter; 2] = [DelayFilter::Kalman, DelayFilter::Trendline];

    /// A call over a link of this rate with an endless queue; the target after each second, and
    /// how long the last packet of each second waited.
    fn over(rates: &[f64], filter: DelayFilter) -> Vec<(f64, f64)> {
        let model = Call { filter, ..Call::default() }.compile().unwrap();
        let mut gcc = Gcc::new(&model);
        let (mut free, mut number, mut sent) = (0.0f64, 0, Vec::new());
        let mut out = Vec::new();
        for (second, &rate) in rates.iter().enumerate() {
            let mut waited = 0.0;
            for tenth in 0..10 {
                let mut feedback = Feedback::default();
                for frame in 0..3 {
                    let at = second as f64 + (f64::from(tenth) + f64::from(frame) / 3.0) / 10.0;
                    let bytes = gcc.target() / 30.0 / 8.0;
                    for part in 0..2 {
                        let at = at + 0.006 * f64::from(part);
                        free = free.max(at) + bytes / 2.0 * 8.0 / rate;
                        waited = free - at;
                        let media = Media {
                            number,
                            frame: 0,
                            ip_bytes: (bytes / 2.0) as u32,
                            sent: Time((at * 1e9) as u64),
                            last: part == 1,
                        };
                        sent.push(media);
                        let at = Time((free * 1e9) as u64);
                        feedback.arrivals.push(Arrival { number, at, marked: false });
                        number += 1;
                    }
                }
                let now = Time((free * 1e9) as u64 + 20_000_000);
                gcc.hear(now, &feedback, |number| sent.get(number as usize).copied());
            }
            out.push((gcc.target(), waited));
        }
        out
    }

    #[test]
    fn rate_grows_by_eight_per_cent_a_second_up_to_its_bound() {
        for filter in FILTERS {
            let found = over(&[100e6; 40], filter);
            for pair in found[2..].windows(2) {
                let (factor, rate) = (pair[1].0 / pair[0].0, pair[1].0);
                assert!((factor - 1.08).abs() < 0.002 || rate == 2.5e6, "{factor} {rate}");
            }
            assert_eq!(found.last().unwrap().0, 2.5e6);
            assert!(found.iter().all(|(_, waited)| *waited < 0.01));
        }
    }

    #[test]
    fn link_is_filled_and_its_queue_stays_short() {
        for filter in FILTERS {
            let found = over(&[1e6; 120], filter);
            let late = &found[60..];
            let mean = late.iter().map(|(rate, _)| rate).sum::<f64>() / late.len() as f64;
            assert!((0.75e6..1.05e6).contains(&mean), "{filter:?} {mean}");
            assert!(late.iter().all(|(_, waited)| *waited < 0.2), "{filter:?} {late:?}");
        }
    }

    #[test]
    fn rate_follows_a_link_that_slows_down_and_recovers() {
        let rates: Vec<f64> = [[2e6; 40], [0.5e6; 40], [2e6; 40]].concat();
        for filter in FILTERS {
            let found = over(&rates, filter);
            assert!(found[39].0 > 1.4e6, "{filter:?} {}", found[39].0);
            let slow = &found[50..80];
            assert!(slow.iter().all(|(rate, _)| *rate < 0.65e6), "{filter:?} {slow:?}");
            assert!(found[119].0 > 1.2e6, "{filter:?} {}", found[119].0);
        }
    }
}
