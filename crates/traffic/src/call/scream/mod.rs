//! SCReAM version 2, with L4S (draft-johansson-ccwg-rfc8298bis-screamv2, the editors' copy of 2025;
//! the first version is RFC 8298): a window for bytes in flight, and a rate that follows from it.
//!
//! Three things shrink the window, at most once a round trip: a loss, marks, and a queue that
//! stands. Under L4S marks take half of their share of the packets, as DCTCP's; with classic ECN
//! each takes a fifth. A delay above half of its target is taken for marks of L4S that nobody set.
//! In between the window grows by a segment a round trip, less near where it last had to shrink,
//! and faster the longer nothing has happened. The rate is the window over the round trip.
//!
//! Differences from the draft
//!
//! 1. Frames are all alike, so the window needs no room for large ones (`rel_framesize_high` = 1).
//! 2. L4S counts as active for five seconds after a mark; the draft does not say for how long.
//!    Where bytes in flight lower the rate, `BYTES_IN_FLIGHT_LIMIT` is 0.9 and its compensation at
//!    most 1.5: the draft names both without a value.
//! 3. The least delay is that of the whole call: clocks here do not drift.
//! 4. The target for the delay is looked at once in a round trip.
//! 5. Feedback does not overlap: packets told of in one that is lost are taken for lost.
//! 6. When nothing has been sent for a tenth of a second a packet may go whatever the window says:
//!    the draft asks for a least rate without feedback, and does not say which.

mod competing;
mod losses;

use super::listener::Feedback;
use super::media::Media;
use super::params::CallModel;
use crate::Codepoint;
use competing::Competing;
use losses::Losses;
use sojourn_base::Time;

/// The constants of the draft, with its names; bytes and seconds.
const MIN_REF_WND: f64 = 3000.0;
const BETA_LOSS: f64 = 0.7;
const BETA_ECN: f64 = 0.8;
const REF_WND_OVERHEAD: f64 = 1.5;
const L4S_AVG_G: f64 = 1.0 / 16.0;
const QDELAY_AVG_G: f64 = 0.25;
const POST_CONGESTION_DELAY: f64 = 4.0;
const MUL_INCREASE_FACTOR: f64 = 0.02;
const VIRTUAL_RTT: f64 = 0.025;
const BYTES_IN_FLIGHT_HEAD_ROOM: f64 = 2.0;
const BYTES_IN_FLIGHT_LIMIT: f64 = 0.9;
const BYTES_IN_FLIGHT_LIMIT_COMPENSATION: f64 = 1.5;

/// How much faster than the target rate packets leave.
pub(super) const PACKET_PACING_HEADROOM: f64 = 1.5;
/// No slower are they paced, bits per second.
pub(super) const RATE_PACE_MIN: f64 = 50e3;

/// How old the last congestion is when the window may be far above what is in flight.
const LONG_AGO: f64 = 5.0;
/// For how long L4S counts as active after a mark.
const ACTIVE: f64 = 5.0;
/// Between two changes of the inflection point.
const INFLECTION: f64 = 0.25;
/// When a packet may go without room in the window.
const SILENCE: Time = Time::from_millis(100);

/// What has shrunk the window, in one round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Congestion {
    lost: bool,
    marked: bool,
    /// By how much of a window of marks the delay stands for; none if it is short.
    delay: Option<f64>,
}

impl Congestion {
    fn any(&self) -> bool {
        self.lost || self.marked || self.delay.is_some()
    }
}

/// The control of one call.
#[derive(Clone, Debug)]
pub(super) struct Scream {
    /// Bytes of a whole packet.
    mss: f64,
    l4s: bool,
    /// Bits per second.
    target: f64,
    bounds: (f64, f64),
    ref_wnd: f64,
    /// The window at the last congestion.
    ref_wnd_i: f64,
    moved_i: Option<Time>,
    in_flight: f64,
    /// The most that was in flight in this round trip and in the one before it.
    max_in_flight: [f64; 2],
    round: Time,
    /// The packet behind the last one that was told of.
    next: u64,
    last_sent: Option<Time>,
    srtt: Option<f64>,
    /// The least delay one way.
    base: f64,
    qdelay: f64,
    qdelay_avg: f64,
    qdelay_at: Time,
    alpha: f64,
    alpha_at: Time,
    delivered: u32,
    marked: u32,
    last_mark: Option<Time>,
    congested: Option<Time>,
    losses: Losses,
    competing: Competing,
}

/// Seconds from one instant to a later one.
fn between(early: Time, late: Time) -> f64 {
    late.saturating_sub(early).as_secs_f64()
}

impl Scream {
    pub(super) fn new(model: &CallModel) -> Self {
        Self {
            mss: f64::from(model.whole()),
            l4s: model.ecn == Codepoint::Ect1,
            target: model.initial,
            bounds: (model.min, model.max),
            ref_wnd: MIN_REF_WND,
            ref_wnd_i: 1.0,
            moved_i: None,
            in_flight: 0.0,
            max_in_flight: [0.0; 2],
            round: Time::ZERO,
            next: 0,
            last_sent: None,
            srtt: None,
            base: f64::INFINITY,
            qdelay: 0.0,
            qdelay_avg: 0.0,
            qdelay_at: Time::ZERO,
            alpha: 0.0,
            alpha_at: Time::ZERO,
            delivered: 0,
            marked: 0,
            last_mark: None,
            congested: None,
            losses: Losses::default(),
            competing: Competing::default(),
        }
    }

    /// Bits per second.
    pub(super) fn target(&self) -> f64 {
        self.target
    }

    /// The reference window, in bytes.
    pub(super) fn window(&self) -> f64 {
        self.ref_wnd
    }

    /// Bytes in flight.
    pub(super) fn in_flight(&self) -> f64 {
        self.in_flight
    }

    /// The smoothed round trip in seconds, once one was measured.
    pub(super) fn smoothed_rtt(&self) -> Option<f64> {
        self.srtt
    }

    /// When the next packet may be sent; none before feedback comes.
    pub(super) fn open(&self) -> Option<Time> {
        if self.in_flight < self.ref_wnd * REF_WND_OVERHEAD {
            return Some(Time::ZERO);
        }
        self.last_sent.map(|last| last + SILENCE)
    }

    /// A packet is sent.
    pub(super) fn sent(&mut self, now: Time, media: &Media) {
        self.in_flight += f64::from(media.ip_bytes);
        self.max_in_flight[0] = self.max_in_flight[0].max(self.in_flight);
        self.last_sent = Some(now);
    }

    /// Nothing was heard of a packet for so long that it is forgotten: it has left the network.
    pub(super) fn forgotten(&mut self, media: &Media) {
        if media.number >= self.next {
            self.next = media.number + 1;
            self.in_flight = (self.in_flight - f64::from(media.ip_bytes)).max(0.0);
        }
    }

    /// Feedback comes; `sent` knows the packets.
    pub(super) fn hear(
        &mut self,
        now: Time,
        feedback: &Feedback,
        sent: impl Fn(u64) -> Option<Media>,
    ) {
        let ratio = self.in_flight / self.ref_wnd;
        let before = self.next;
        let mut newest = None;
        let mut unmarked = 0.0;
        for arrival in &feedback.arrivals {
            let Some(media) = sent(arrival.number) else { continue };
            let delay = between(media.sent, arrival.at);
            self.base = self.base.min(delay);
            self.delivered += 1;
            if arrival.marked {
                self.marked += 1;
                self.last_mark = Some(now);
            } else if arrival.number >= before {
                unmarked += f64::from(media.ip_bytes);
            }
            if arrival.number >= self.next {
                self.next = arrival.number + 1;
                newest = Some(delay);
            }
        }
        self.losses.hear(now, before..self.next, &feedback.arrivals);
        // What was lost has left the network, too.
        let gone: f64 =
            (before..self.next).filter_map(&sent).map(|media| f64::from(media.ip_bytes)).sum();
        self.in_flight = (self.in_flight - gone).max(0.0);
        let Some(delay) = newest else { return };
        self.measure(now, delay, delay + between(feedback.at, now));
        let (Some(srtt), at) = (self.srtt, self.congested) else { return };
        let apart = at.map_or(f64::INFINITY, |at| between(at, now));
        if apart >= srtt.min(VIRTUAL_RTT) {
            let found = self.congestion(now, srtt);
            if found.any() {
                self.shrink(now, &found, apart);
            }
        }
        self.grow(now, srtt, unmarked);
        self.set_target(now, srtt, ratio);
    }

    /// A delay one way and a round trip.
    fn measure(&mut self, now: Time, delay: f64, round_trip: f64) {
        self.qdelay = delay - self.base;
        let srtt = self.srtt.map_or(round_trip, |old| old + (round_trip - old) / 8.0);
        self.srtt = Some(srtt);
        if between(self.alpha_at, now) >= srtt.min(0.01) && self.delivered > 0 {
            let fraction = f64::from(self.marked) / f64::from(self.delivered);
            self.alpha += L4S_AVG_G * (fraction - self.alpha);
            (self.delivered, self.marked, self.alpha_at) = (0, 0, now);
        }
        if between(self.qdelay_at, now) >= srtt {
            // Slow to rise and quick to fall.
            self.qdelay_avg = if self.qdelay < self.qdelay_avg {
                self.qdelay
            } else {
                self.qdelay_avg + QDELAY_AVG_G * (self.qdelay - self.qdelay_avg)
            };
            self.qdelay_at = now;
            self.competing.look(self.qdelay, self.losses.round());
        }
        if between(self.round, now) >= srtt {
            self.max_in_flight = [self.in_flight, self.max_in_flight[0]];
            self.round = now;
        }
    }

    /// Whether queues on the path mark as those for L4S do.
    fn active(&self, now: Time) -> bool {
        self.l4s && self.last_mark.is_some_and(|at| between(at, now) < ACTIVE)
    }

    fn congestion(&mut self, now: Time, srtt: f64) -> Congestion {
        let half = self.competing.target() / 2.0;
        // Two marks in a round trip: with fewer the delay has its say.
        let few = 2.0 * self.mss * 8.0 / (self.target * srtt);
        let delay = self.qdelay > half && (self.alpha < few || !self.active(now));
        Congestion {
            lost: self.losses.take(),
            marked: self.last_mark == Some(now),
            delay: delay.then(|| ((self.qdelay_avg - half) / half).clamp(0.0, 1.0)),
        }
    }

    /// Congestion, so long after the last.
    fn shrink(&mut self, now: Time, found: &Congestion, apart: f64) {
        if self.moved_i.is_none_or(|at| between(at, now) > INFLECTION) {
            (self.ref_wnd_i, self.moved_i) = (self.ref_wnd, Some(now));
        }
        if found.lost {
            self.ref_wnd *= BETA_LOSS;
        }
        if found.marked && !self.l4s {
            self.ref_wnd *= BETA_ECN;
        } else if found.marked {
            let mut backoff = self.alpha / 2.0;
            backoff *= (1.0 - 2.0 * self.ref_wnd_ratio()).max(0.8);
            if apart > LONG_AGO {
                // The window may have grown far beyond what the source needed.
                self.ref_wnd = self.ref_wnd.min(self.max_in_flight[1]);
                backoff = backoff.max(0.25);
                self.alpha = 0.25;
            }
            self.ref_wnd *= 1.0 - backoff;
        }
        if let Some(share) = found.delay {
            self.ref_wnd *= 1.0 - share / 2.0;
        }
        self.ref_wnd = self.ref_wnd.max(MIN_REF_WND);
        self.congested = Some(now);
    }

    /// MSS over the window, 1 at most.
    fn ref_wnd_ratio(&self) -> f64 {
        (self.mss / self.ref_wnd).min(1.0)
    }

    /// So many bytes came unmarked.
    fn grow(&mut self, now: Time, srtt: f64, bytes: f64) {
        let ratio = self.ref_wnd_ratio();
        let short = (srtt / VIRTUAL_RTT).min(1.0);
        let near = 4.0 * (self.ref_wnd - self.ref_wnd_i) / self.ref_wnd_i;
        let least = if self.active(now) { (0.02 / ratio).clamp(0.1, 1.0) } else { 0.1 };
        let near = (near * near).clamp(least, 1.0);
        let since = self.congested.map_or(f64::INFINITY, |at| between(at, now));
        let calm = (since / POST_CONGESTION_DELAY).min(1.0);
        let more = 1.0 + MUL_INCREASE_FACTOR * self.ref_wnd / self.mss * calm * near;
        let grown = self.ref_wnd + bytes.max(0.0) * ratio * short * short * near * more;
        let [one, two] = self.max_in_flight;
        if grown <= self.mss + one.max(two) * BYTES_IN_FLIGHT_HEAD_ROOM {
            self.ref_wnd = grown;
        }
    }

    /// The rate that the window stands for; `ratio` of it was in flight.
    fn set_target(&mut self, now: Time, srtt: f64, ratio: f64) {
        let mut scale = 1.0;
        if !self.active(now) && ratio > BYTES_IN_FLIGHT_LIMIT {
            scale /= (ratio / BYTES_IN_FLIGHT_LIMIT).min(BYTES_IN_FLIGHT_LIMIT_COMPENSATION);
        }
        scale *= 1.0 - (self.ref_wnd_ratio() - 0.1).clamp(0.0, 0.8);
        let rate = scale * 8.0 * self.ref_wnd / srtt;
        self.target = rate.clamp(self.bounds.0, self.bounds.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Call, RateControl};

    const MSS: f64 = 1240.0;
    const NOW: Time = Time::from_secs(100);

    fn control(ecn: Codepoint, segments: f64) -> Scream {
        let call = Call { control: RateControl::Scream, ecn, ..Call::default() };
        let control = Scream::new(&call.compile().unwrap());
        assert_eq!(control.mss, MSS);
        Scream { ref_wnd: segments * MSS, ..control }
    }

    fn shrunk(mut control: Scream, found: Congestion) -> f64 {
        let before = control.ref_wnd;
        control.shrink(NOW, &found, 1.0);
        assert_eq!((control.ref_wnd_i, control.congested), (before, Some(NOW)));
        control.ref_wnd / before
    }

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
    }

    #[test]
    fn what_nothing_is_heard_of_leaves_the_network_when_it_is_forgotten() {
        let mut scream = control(Codepoint::NotEct, 10.0);
        let media = |number| Media { number, frame: 0, ip_bytes: 1240, sent: NOW, last: false };
        (0..3).for_each(|number| scream.sent(NOW, &media(number)));
        scream.forgotten(&media(0));
        scream.forgotten(&media(1));
        assert_eq!((scream.in_flight(), scream.next), (1240.0, 2));
        // What was told of has left already.
        scream.forgotten(&media(1));
        assert_eq!(scream.in_flight(), 1240.0);
    }

    #[test]
    fn loss_marks_and_delay_take_their_shares() {
        let lost = Congestion { lost: true, ..Congestion::default() };
        let marked = Congestion { marked: true, ..Congestion::default() };
        let delay = |share| Congestion { delay: Some(share), ..Congestion::default() };
        near(shrunk(control(Codepoint::NotEct, 100.0), lost), 0.7);
        near(shrunk(control(Codepoint::Ect0, 100.0), marked), 0.8);
        near(shrunk(control(Codepoint::NotEct, 100.0), delay(0.5)), 0.75);
        // Half of the share that is marked, a little less because the window is small.
        let l4s = |segments| Scream { alpha: 0.2, ..control(Codepoint::Ect1, segments) };
        near(shrunk(l4s(100.0), marked), 1.0 - 0.1 * 0.98);
        near(shrunk(l4s(5.0), marked), 1.0 - 0.1 * 0.8);
        let mut small = control(Codepoint::NotEct, 3.0);
        small.shrink(NOW, &lost, 1.0);
        assert_eq!(small.ref_wnd, MIN_REF_WND);
    }

    #[test]
    fn a_window_that_was_not_needed_is_taken_back() {
        let mut idle = control(Codepoint::Ect1, 100.0);
        idle.max_in_flight = [30.0 * MSS, 20.0 * MSS];
        idle.shrink(NOW, &Congestion { marked: true, ..Congestion::default() }, 6.0);
        near(idle.ref_wnd, 20.0 * MSS * 0.75);
        assert_eq!(idle.alpha, 0.25);
    }

    /// What a window grows by in a round trip, in segments.
    fn grown(segments: f64, inflection: f64, srtt: f64, calm: f64) -> f64 {
        let mut control = control(Codepoint::NotEct, segments);
        control.ref_wnd_i = inflection * MSS;
        control.congested = Some(Time(NOW.0 - (calm * 1e9) as u64));
        control.max_in_flight = [segments * MSS; 2];
        let bytes = control.ref_wnd;
        control.grow(NOW, srtt, bytes);
        (control.ref_wnd - bytes) / MSS
    }

    #[test]
    fn window_grows_by_a_segment_a_round_trip_faster_when_it_is_calm() {
        near(grown(50.0, 25.0, 0.05, 0.0), 1.0);
        // Near the last congestion a tenth; on a short path by the square of its part of 25 ms.
        near(grown(50.0, 50.0, 0.05, 0.0), 0.1);
        near(grown(50.0, 25.0, 0.0125, 0.0), 0.25);
        // Two per cent of the window more, in full after four seconds.
        near(grown(50.0, 25.0, 0.05, 2.0), 1.5);
        near(grown(50.0, 25.0, 0.05, 9.0), 2.0);
        // And not beyond twice what is in flight.
        let mut idle = control(Codepoint::NotEct, 50.0);
        idle.max_in_flight = [24.0 * MSS; 2];
        idle.grow(NOW, 0.05, 50.0 * MSS);
        near(idle.ref_wnd, 50.0 * MSS);
    }

    #[test]
    fn rate_is_the_window_over_the_round_trip() {
        let mut control = control(Codepoint::NotEct, 10.0);
        control.set_target(NOW, 0.1, 0.5);
        near(control.target, 10.0 * MSS * 8.0 / 0.1);
        // More in flight than the window: less by as much, by a third at most.
        control.set_target(NOW, 0.1, 1.08);
        near(control.target, 10.0 * MSS * 8.0 / 0.1 / 1.2);
        control.set_target(NOW, 0.1, 9.0);
        near(control.target, 10.0 * MSS * 8.0 / 0.1 / 1.5);
        control.set_target(NOW, 0.001, 0.5);
        assert_eq!(control.target, 2.5e6);
    }

    #[test]
    fn delay_counts_from_half_of_its_target_on_unless_marks_tell_more() {
        let mut slow = control(Codepoint::Ect1, 50.0);
        (slow.qdelay, slow.qdelay_avg) = (0.05, 0.045);
        near(slow.congestion(NOW, 0.05).delay.unwrap(), 0.5);
        // 2.5 Mb/s are 12.6 packets in 50 ms, and two of them 16 %.
        (slow.target, slow.alpha, slow.last_mark) = (2.5e6, 0.15, Some(NOW));
        assert!(slow.congestion(NOW, 0.05).delay.is_some());
        slow.alpha = 0.17;
        assert!(slow.congestion(NOW, 0.05).delay.is_none());
        slow.last_mark = Some(Time::ZERO);
        assert!(slow.congestion(NOW, 0.05).delay.is_some(), "the last mark is old");
        slow.qdelay = 0.029;
        assert!(!slow.congestion(NOW, 0.05).any());
    }

    #[test]
    fn window_is_closed_at_half_as_much_again_and_opens_after_a_silence() {
        let mut control = control(Codepoint::NotEct, 2.0);
        control.ref_wnd = MIN_REF_WND;
        let media = |number| Media { number, frame: 0, ip_bytes: 1240, sent: NOW, last: false };
        for number in 0..4 {
            assert_eq!(control.open(), Some(Time::ZERO), "{number}");
            control.sent(NOW, &media(number));
        }
        assert_eq!(control.open(), Some(NOW + SILENCE));
    }

    #[test]
    fn a_sixteenth_of_the_share_of_marks_counts_every_round_trip_or_ten_milliseconds() {
        // A fourth of the packets is marked.
        let alpha = |passed, round_trip, delivered| {
            let at = NOW - Time::from_millis(passed);
            let seen = control(Codepoint::Ect1, 50.0);
            let mut seen = Scream { alpha_at: at, alpha: 0.05, delivered, marked: 2, ..seen };
            seen.measure(NOW, 0.02, round_trip);
            assert_eq!(seen.alpha_at == NOW, seen.delivered == 0 && seen.marked == 0);
            seen.alpha
        };
        near(alpha(10, 0.05, 8), 0.05 + 0.2 / 16.0);
        near(alpha(5, 0.005, 8), 0.05 + 0.2 / 16.0);
        assert_eq!(alpha(9, 0.05, 8), 0.05, "too soon");
        assert_eq!(alpha(4, 0.005, 8), 0.05, "too soon");
        assert_eq!(alpha(10, 0.05, 0), 0.05, "nothing has come");
    }
}
