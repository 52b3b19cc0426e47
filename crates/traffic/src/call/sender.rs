//! The end that speaks: frames, cut into packets and paced.

use super::gcc::Gcc;
use super::listener::Feedback;
use super::params::{CallModel, RateControl};
use sojourn_base::Time;
use std::collections::VecDeque;

/// IPv4, UDP and RTP headers of a packet.
const HEADERS: u32 = 40;
/// How much faster than the target rate packets leave.
const PACING: f64 = 2.5;
/// How long a packet is remembered: what is told of it later is not heard.
pub(super) const MEMORY: Time = Time::from_secs(10);

/// A packet of media.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Media {
    /// Its number, from 0.
    pub number: u64,
    /// The frame that it is of, from 0.
    pub frame: u64,
    /// Bytes of the IP packet.
    pub ip_bytes: u32,
    /// When it was sent.
    pub sent: Time,
}

/// What a sender wants at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A frame has been captured, of so many packets.
    Captured(u64, u32),
    /// Send this packet.
    Send(Media),
}

/// The end of a call that speaks.
#[derive(Clone, Debug)]
pub struct Sender {
    control: Option<Gcc>,
    /// Bits per second.
    target: f64,
    next_frame: Time,
    next_packet: Time,
    frames: u64,
    /// Bytes of payload and frames of the packets that wait to be sent.
    waiting: VecDeque<(u64, u32)>,
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
        let control = (model.control == RateControl::Gcc).then(|| Gcc::new(model));
        Self {
            target: control.as_ref().map_or(model.max, Gcc::target),
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

    /// Captures and sends what is due; `out` is told. Gives when to come back.
    pub fn step(&mut self, model: &CallModel, now: Time, out: &mut impl FnMut(Wanted)) -> Time {
        if self.next_frame <= now {
            self.capture(model, out);
        }
        if self.next_packet <= now
            && let Some((frame, payload)) = self.waiting.pop_front()
        {
            let ip_bytes = payload + HEADERS;
            let media = Media { number: self.number, frame, ip_bytes, sent: now };
            self.number += 1;
            while self.sent.front().is_some_and(|old| old.sent + MEMORY < now) {
                self.sent.pop_front();
            }
            self.sent.push_back(media);
            let gap = f64::from(ip_bytes) * 8e9 / (PACING * self.target);
            self.next_packet = now + Time(gap as u64);
            out(Wanted::Send(media));
        }
        if self.waiting.is_empty() {
            self.next_frame
        } else {
            self.next_frame.min(self.next_packet)
        }
    }

    fn capture(&mut self, model: &CallModel, out: &mut impl FnMut(Wanted)) {
        let bytes = (self.target * model.frame.as_secs_f64() / 8.0).max(1.0) as u32;
        let packets = bytes.div_ceil(model.payload);
        for packet in 0..packets {
            // As equal as can be.
            let payload = bytes / packets + u32::from(packet < bytes % packets);
            self.waiting.push_back((self.frames, payload));
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
        let Some(mut control) = self.control.take() else { return };
        control.hear(now, feedback, |number| self.packet(number).copied());
        self.target = control.target();
        self.control = Some(control);
    }
}
