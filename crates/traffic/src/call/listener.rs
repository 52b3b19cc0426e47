//! The end that listens: which frames are complete in time, and what it tells the sender.

use super::media::Media;
use super::params::CallModel;
use sojourn_base::Time;
use std::collections::VecDeque;

/// A packet that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number.
    pub number: u64,
    /// When it came.
    pub at: Time,
    /// Whether it was marked (CE).
    pub marked: bool,
}

/// What the listener tells at a time: the packets that came since the last time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// In the order in which they came.
    pub arrivals: Vec<Arrival>,
    /// When it is told.
    pub at: Time,
}

impl Feedback {
    /// Bytes of its packet, headers included.
    #[must_use]
    pub fn ip_bytes(&self) -> u32 {
        // One that would not fit into a packet goes out in several; they count as one.
        (48 + 2 * self.arrivals.len() as u32).min(9000)
    }
}

/// A frame whose time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When all of it had to be there.
    pub due: Time,
    /// Whether it was.
    pub in_time: bool,
}

/// A frame that is awaited.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    number: u64,
    due: Time,
    missing: u32,
}

/// The end of a call that listens.
#[derive(Clone, Debug)]
pub struct Listener {
    awaited: VecDeque<Awaited>,
    feedback: Feedback,
    /// When it tells next.
    next: Time,
    /// Where the rate sets the pace of feedback: bytes that came since `told`, and bits per second.
    bytes: u32,
    told: Time,
    rate: f64,
}

/// Between two feedbacks that follow the rate (draft-johansson-ccwg-rfc8298bis-screamv2, receiver
/// requirements): packets of 100 bytes that take 2 % of it, ten to a thousand a second.
fn interval(rate: f64) -> Time {
    let each_second = (0.02 * rate / 800.0).clamp(10.0, 1000.0);
    Time((1e9 / each_second) as u64)
}

impl Listener {
    /// Of a call that begins at `now`.
    #[must_use]
    pub fn new(model: &CallModel, now: Time) -> Self {
        let next = now + model.feedback.unwrap_or_else(|| interval(0.0));
        let (awaited, feedback) = (VecDeque::new(), Feedback::default());
        Self { awaited, feedback, next, bytes: 0, told: now, rate: 0.0 }
    }

    /// When there is something to tell, if anything comes until then.
    #[must_use]
    pub fn next_feedback(&self) -> Time {
        self.next
    }

    /// The sender captures a frame of so many packets: it will be awaited.
    pub fn expect(&mut self, model: &CallModel, frame: u64, captured: Time, packets: u32) {
        let due = captured + model.deadline;
        self.awaited.push_back(Awaited { number: frame, due, missing: packets });
    }

    /// A packet comes.
    pub fn receive(&mut self, model: &CallModel, now: Time, media: &Media, marked: bool) {
        self.feedback.arrivals.push(Arrival { number: media.number, at: now, marked });
        self.bytes += media.ip_bytes;
        if model.feedback.is_none() && media.last {
            self.next = self.next.min(now);
        }
        let Some(first) = self.awaited.front() else { return };
        // A frame whose time is over is no longer awaited.
        let Some(place) = media.frame.checked_sub(first.number) else { return };
        if let Some(frame) = self.awaited.get_mut(place as usize).filter(|f| now <= f.due) {
            frame.missing -= 1;
        }
    }

    /// The next frame whose time has come by `now`, in order.
    pub fn due(&mut self, now: Time) -> Option<Frame> {
        let frame = *self.awaited.front().filter(|frame| frame.due < now)?;
        self.awaited.pop_front();
        Some(Frame { due: frame.due, in_time: frame.missing == 0 })
    }

    /// Until the next feedback, by the rate of the last ones.
    fn interval(&mut self, now: Time) -> Time {
        let passed = now.saturating_sub(self.told).as_secs_f64();
        if passed > 0.0 {
            let found = f64::from(self.bytes) * 8.0 / passed;
            self.rate += (found - self.rate) / 8.0;
            (self.bytes, self.told) = (0, now);
        }
        interval(self.rate)
    }

    /// What there is to tell at `now`; none if it is not time yet, or nothing has come.
    pub fn feedback(&mut self, model: &CallModel, now: Time) -> Option<Feedback> {
        if now < self.next {
            return None;
        }
        self.next = now + model.feedback.unwrap_or_else(|| self.interval(now));
        self.feedback.at = now;
        (!self.feedback.arrivals.is_empty()).then(|| std::mem::take(&mut self.feedback))
    }
}
