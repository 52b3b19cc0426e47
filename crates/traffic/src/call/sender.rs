//! The end that speaks: frames, cut into packets and paced.

use super::gcc::Gcc;
use super::listener::Feedback;
use super::media::{HEADERS, Media};
use super::params::{Call, CallModel, RateControl};
use super::scream::{self, Scream};
use sojourn_base::Time;
use std::collections::VecDeque;

/// How much faster than the target rate payload leaves, but for SCReAM's. Headers are in neither,
/// as in WebRTC's pacer, which leaves them out by default.
const PACING: f64 = 2.5;
/// How long a packet is remembered: what is told of it later is not heard.
const MEMORY: Time = Time::from_secs(10);

impl Call {
    /// Bytes that a call takes at most, by what its sender remembers.
    #[must_use]
    pub fn memory(&self) -> f64 {
        let packets = self.max_rate.as_f64() / (8.0 * self.packet.0 as f64);
        let sent = packets.max(f64::from(self.frame_rate)) * MEMORY.as_secs_f64();
        // A queue that grows has room for as many again.
        2000.0 + 2.0 * sent * size_of::<Media>() as f64
    }
}

/// What a sender wants at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A frame has been captured, of so many packets.
    Captured(u64, u32),
    /// Send this packet.
    Send(Media),
}

/// Where what sets the rate stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlState {
    /// The rate that the sender aims at, in bits per second.
    pub target: f64,
    /// SCReAM's reference window, in bytes.
    pub window: Option<f64>,
    /// What it has in flight, in bytes.
    pub in_flight: Option<f64>,
    /// Its smoothed round trip in seconds, once one was measured.
    pub smoothed_rtt: Option<f64>,
    /// Of Google Congestion Control what the rate by delay does: "increase", "decrease" or "hold".
    pub state: Option<&'static str>,
}

/// What sets the rate.
#[derive(Clone, Debug)]
enum Control {
    Fixed,
    Gcc(Gcc),
    Scream(Scream),
}

impl Control {
    fn new(model: &CallModel) -> Self {
        match model.control {
            RateControl::Gcc => Self::Gcc(Gcc::new(model)),
            RateControl::Scream => Self::Scream(Scream::new(model)),
            RateControl::Fixed => Self::Fixed,
        }
    }

    /// Bits per second; none if it is always the greatest.
    fn target(&self) -> Option<f64> {
        match self {
            Self::Fixed => None,
            Self::Gcc(control) => Some(control.target()),
            Self::Scream(control) => Some(control.target()),
        }
    }

    /// Nothing was heard of a packet in [`MEMORY`].
    fn forgotten(&mut self, media: &Media) {
        match self {
            Self::Fixed => {}
            Self::Gcc(control) => control.forgotten(media),
            Self::Scream(control) => control.forgotten(media),
        }
    }

    /// How long the next packet waits behind one of so many bytes of payload.
    fn gap(&self, target: f64, payload: u32) -> Time {
        let (bytes, pace) = match self {
            Self::Fixed | Self::Gcc(_) => (payload, PACING * target),
            Self::Scream(_) => {
                let pace = scream::PACKET_PACING_HEADROOM * target.max(scream::RATE_PACE_MIN);
                (payload + HEADERS, pace)
            }
        };
        Time((f64::from(bytes) * 8e9 / pace) as u64)
    }

    /// From when on there is room for the next packet; none before feedback comes.
    fn open(&self) -> Option<Time> {
        match self {
            Self::Fixed | Self::Gcc(_) => Some(Time::ZERO),
            Self::Scream(control) => control.open(),
        }
    }
}

/// The end of a call that speaks.
#[derive(Clone, Debug)]
pub struct Sender {
    control: Control,
    /// Bits per second.
    target: f64,
    next_frame: Time,
    next_packet: Time,
    frames: u64,
    /// The packets that wait to be sent: frame, bytes of payload, and when the frame was captured.
    waiting: VecDeque<(u64, u32, Time)>,
    /// What has been sent, the oldest first.
    sent: VecDeque<Media>,
    number: u64,
}

impl Sender {
    /// The call with this number, which begins at `now`. Calls that begin together capture their
    /// frames spread over a frame's time, lest they march in step; the first one at once.
    #[must_use]
    pub fn new(model: &CallModel, now: Time, index: u32) -> Self {
        // Multiples of the golden ratio, of which only the fraction counts.
        let fraction = u64::from(index.wrapping_mul(0x9e37_79b9));
        let first = now + Time((model.frame.0 * fraction) >> 32);
        let control = Control::new(model);
        Self {
            target: control.target().unwrap_or(model.max),
            control,
            next_frame: first,
            next_packet: first,
            frames: 0,
            waiting: VecDeque::new(),
            sent: VecDeque::new(),
            number: 0,
        }
    }

    /// The rate that it aims at, in bits per second.
    #[must_use]
    pub fn target(&self) -> f64 {
        self.target
    }

    /// Where what sets the rate stands.
    #[must_use]
    pub fn control_state(&self) -> ControlState {
        let fixed = ControlState { target: self.target, ..ControlState::default() };
        match &self.control {
            Control::Fixed => fixed,
            Control::Gcc(control) => ControlState { state: Some(control.state()), ..fixed },
            Control::Scream(control) => ControlState {
                window: Some(control.window()),
                in_flight: Some(control.in_flight()),
                smoothed_rtt: control.smoothed_rtt(),
                ..fixed
            },
        }
    }

    /// Captures and sends what is due; `out` is told. Gives when to come back, if nothing is heard
    /// before.
    pub fn step(&mut self, model: &CallModel, now: Time, out: &mut impl FnMut(Wanted)) -> Time {
        if self.next_frame <= now {
            self.capture(model, out);
        }
        if matches!(self.control, Control::Scream(_)) {
            // What would come too late only keeps others waiting.
            while self.waiting.front().is_some_and(|packet| packet.2 + model.deadline < now) {
                self.waiting.pop_front();
            }
        }
        if self.due() <= now
            && let Some((frame, payload, _)) = self.waiting.pop_front()
        {
            let ip_bytes = payload + HEADERS;
            let last = self.waiting.front().is_none_or(|packet| packet.0 != frame);
            let media = Media { number: self.number, frame, ip_bytes, sent: now, last };
            self.number += 1;
            while self.sent.front().is_some_and(|old| old.sent + MEMORY < now) {
                if let Some(old) = self.sent.pop_front() {
                    self.control.forgotten(&old);
                }
            }
            self.sent.push_back(media);
            if let Control::Scream(control) = &mut self.control {
                control.sent(now, &media);
            }
            self.next_packet = now + self.control.gap(self.target, payload);
            out(Wanted::Send(media));
        }
        self.next()
    }

    /// When there is something to do next, as far as is known now.
    #[must_use]
    pub fn next(&self) -> Time {
        self.next_frame.min(self.due())
    }

    /// When the next packet may leave; never if none waits, or feedback is waited for.
    fn due(&self) -> Time {
        match self.control.open() {
            Some(open) if !self.waiting.is_empty() => self.next_packet.max(open),
            _ => Time::MAX,
        }
    }

    fn capture(&mut self, model: &CallModel, out: &mut impl FnMut(Wanted)) {
        let bytes = (self.target * model.frame.as_secs_f64() / 8.0).max(1.0) as u32;
        let packets = bytes.div_ceil(model.payload);
        for packet in 0..packets {
            // As equal as can be.
            let payload = bytes / packets + u32::from(packet < bytes % packets);
            self.waiting.push_back((self.frames, payload, self.next_frame));
        }
        out(Wanted::Captured(self.frames, packets));
        self.frames += 1;
        self.next_frame += model.frame;
    }

    /// A packet that was sent; none if that is long ago.
    #[must_use]
    pub fn packet(&self, number: u64) -> Option<&Media> {
        let first = self.sent.front()?.number;
        self.sent.get(number.checked_sub(first)? as usize)
    }

    /// The listener's word comes.
    pub fn hear(&mut self, now: Time, feedback: &Feedback) {
        let mut control = std::mem::replace(&mut self.control, Control::Fixed);
        let sent = |number| self.packet(number).copied();
        match &mut control {
            Control::Fixed => {}
            Control::Gcc(control) => control.hear(now, feedback, sent),
            Control::Scream(control) => control.hear(now, feedback, sent),
        }
        self.target = control.target().unwrap_or(self.target);
        self.control = control;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_base::Rate;

    #[test]
    fn memory_is_for_the_packets_of_ten_seconds_twice() {
        let packets = |call: Call| (call.memory() - 2000.0) / size_of::<Media>() as f64;
        // 9.6 Mb/s are a thousand packets of 1200 bytes a second.
        let fast = Call { max_rate: Rate(9_600_000), ..Call::default() };
        assert_eq!(packets(fast), 20_000.0);
        // A frame is a packet at least.
        let slow = Call { max_rate: Rate(9600), ..Call::default() };
        assert_eq!(packets(slow), 600.0);
    }
}
