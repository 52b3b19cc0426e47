//! What is known of a link: the window it is measured in, and what stands and has passed.

use super::{Link, Queue};
use crate::waiting::Waiting;
use sojourn_base::Time;
use sojourn_qdisc::{Count, Counters, Discipline};

impl<S: Waiting> Link<S> {
    /// Brings queue and meter up to `now`; everything before must have happened.
    pub fn settle(&mut self, now: Time) {
        self.catch_up(now);
        self.unseen_end = self.look_back(now);
        // What a controller computes at times of its own, it has computed by now.
        match &mut self.queue {
            Queue::Tokens(queue) => queue.advance(now),
            Queue::Packets(queue) => queue.advance(now),
        }
        self.note_standing();
        let standing = self.standing();
        self.meter.until(now, standing.packets as u32, standing.bytes);
        if let (Some(classes), Queue::Packets(queue)) = (&mut self.classes, &self.queue) {
            classes.until(now, queue);
        }
        if let Some(varying) = &mut self.varying {
            varying.settle(now);
        }
        if let Some(device) = &mut self.device {
            device.settle(now);
        }
    }

    /// The measured window begins.
    pub fn start_window(&mut self, now: Time) {
        self.settle(now);
        if let Some(varying) = &mut self.varying {
            varying.start();
        }
        if let Some(device) = &mut self.device {
            device.start_window(now);
        }
        self.lost_at_start = self.lost();
        self.meter.start(now);
        if let Some(classes) = &mut self.classes {
            classes.start_window(now);
        }
        self.at_start = (self.counters(), self.standing());
        self.window = now;
    }

    /// What stands in the queue, without the packet in transmission.
    pub fn standing(&self) -> Count {
        match &self.queue {
            Queue::Tokens(q) => q.counters().standing(),
            Queue::Packets(_) => self.stands,
        }
    }

    /// The queue was called.
    pub(super) fn note_standing(&mut self) {
        self.stands = self.counters().standing();
    }

    /// Tells every packet that stands, from the head on; `false` if the link is
    /// [fused](Self::fused), and its packets are elsewhere.
    pub fn each(&self, tell: &mut dyn FnMut(&S)) -> bool {
        let Queue::Packets(queue) = &self.queue else { return false };
        queue.each(tell);
        true
    }

    /// What the wire has lost since the start of the run.
    pub fn lost(&self) -> Count {
        self.wire.as_ref().map_or_else(Count::default, |wire| wire.lost)
    }

    /// How many sojourn times have been measured in the window, and their sum in nanoseconds.
    pub fn sojourns(&self) -> (u64, u128) {
        (self.meter.sojourn.count(), self.meter.sojourn.sum())
    }

    /// The discipline's probability of dropping or marking, where it has one.
    pub fn probability(&self) -> f64 {
        match &self.queue {
            Queue::Tokens(q) => q.probability(),
            Queue::Packets(q) => q.probability(),
        }
    }

    /// What has passed since the start of the run.
    pub fn counters(&self) -> Counters {
        match &self.queue {
            Queue::Tokens(q) => *q.counters(),
            Queue::Packets(q) => *q.counters(),
        }
    }

    /// The link's rate in bits per second at the instant that it was last brought up to.
    pub fn rate(&mut self) -> u64 {
        self.varying.as_mut().map_or(self.serialiser.rate(), |varying| varying.rate())
    }

    /// Bits times 10⁹ that could have been sent since the start of the run, up to `now`, to which
    /// the link has been brought.
    pub fn offered(&self, now: Time) -> u128 {
        match &self.varying {
            None => u128::from(self.serialiser.rate()) * u128::from(now.0),
            Some(varying) => varying.offered(),
        }
    }

    /// Bits that could have been sent in a measured window of `seconds`.
    pub fn capacity(&self, seconds: f64) -> f64 {
        match &self.varying {
            None => self.serialiser.rate() as f64 * seconds,
            Some(varying) => varying.bits(),
        }
    }
}
