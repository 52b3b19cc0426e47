//! Calls over a line of constant rate with a queue, first in, first out: what a rate control makes
//! of the line, and what listeners tell.

use sojourn_base::{Rate, Time};
use sojourn_traffic::{
    Call, CallModel, Codepoint, ControlState, Feedback, Frame, Listener, Media, RateControl,
    Sender, Wanted,
};
use std::collections::VecDeque;

const MS: Time = Time::from_millis(1);

/// What lies between the ends.
struct Line {
    rate: f64,
    /// To the listener, and back as much.
    delay: Time,
    /// One of so many packets is lost.
    loses: Option<u64>,
    /// What waits longer is marked.
    marks: Time,
}

/// A call under way.
struct Running {
    model: CallModel,
    line: Line,
    sender: Sender,
    listener: Listener,
    /// When the line is free.
    free: Time,
    forth: VecDeque<(Time, Media, bool)>,
    back: VecDeque<(Time, Feedback)>,
    frames: Vec<Frame>,
    feedbacks: Vec<Feedback>,
    states: Vec<ControlState>,
    /// Media and when they were sent, and through the line.
    through: Vec<(Media, Time)>,
}

impl Running {
    fn new(call: &Call, line: Line) -> Self {
        let model = call.compile().unwrap();
        Self {
            sender: Sender::new(&model, Time::ZERO, 0),
            listener: Listener::new(&model, Time::ZERO),
            model,
            line,
            free: Time::ZERO,
            forth: VecDeque::new(),
            back: VecDeque::new(),
            frames: Vec::new(),
            feedbacks: Vec::new(),
            states: Vec::new(),
            through: Vec::new(),
        }
    }

    fn until(&mut self, end: Time) -> &mut Self {
        loop {
            let forth = self.forth.front().map_or(Time::MAX, |(at, ..)| *at);
            let back = self.back.front().map_or(Time::MAX, |(at, _)| *at);
            let (speaks, tells) = (self.sender.next(), self.listener.next_feedback());
            let now = forth.min(back).min(speaks).min(tells);
            if now > end {
                return self;
            }
            if now == forth {
                let (_, media, marked) = self.forth.pop_front().unwrap();
                self.listener.receive(&self.model, now, &media, marked);
            } else if now == back {
                let (_, feedback) = self.back.pop_front().unwrap();
                self.sender.hear(now, &feedback);
                self.states.push(self.sender.control_state());
            } else if now == speaks {
                self.speak(now);
            } else if let Some(feedback) = self.listener.feedback(&self.model, now) {
                self.back.push_back((now + self.line.delay, feedback.clone()));
                self.feedbacks.push(feedback);
            }
            self.frames.extend(std::iter::from_fn(|| self.listener.due(now)));
        }
    }

    fn speak(&mut self, now: Time) {
        let Self { sender, listener, model, line, free, forth, through, .. } = self;
        sender.step(model, now, &mut |wanted| match wanted {
            Wanted::Captured(frame, packets) => listener.expect(model, frame, now, packets),
            Wanted::Send(media) => {
                let takes = f64::from(media.ip_bytes) * 8e9 / line.rate;
                let marked = free.saturating_sub(now) > line.marks;
                *free = (*free).max(now) + Time(takes as u64);
                through.push((media, *free));
                if line.loses.is_none_or(|each| media.number % each != each - 1) {
                    forth.push_back((*free + line.delay, media, marked));
                }
            }
        });
    }

    /// Bits per second that went through the line in a span, headers included.
    fn sent(&self, from: Time, to: Time) -> f64 {
        let within = self.through.iter().filter(|(_, at)| (from..to).contains(at));
        let bytes: u32 = within.map(|(media, _)| media.ip_bytes).sum();
        f64::from(bytes) * 8.0 / (to - from).as_secs_f64()
    }
}

fn line(rate: f64) -> Line {
    Line { rate, delay: MS * 20, loses: None, marks: Time::MAX }
}

fn fixed(rate: u64) -> Call {
    let rate = Rate(rate);
    Call { control: RateControl::Fixed, initial_rate: rate, max_rate: rate, ..Call::default() }
}

#[test]
fn a_fixed_call_fills_its_frames_and_is_told_of_every_packet_once() {
    let call = fixed(1_500_000);
    let mut running = Running::new(&call, line(1e8));
    running.until(Time::from_secs(10));
    // 30 frames a second; those of the last 150 ms are not due.
    let due = running.frames.len();
    assert!((294..=296).contains(&due), "{due}");
    assert!(running.frames.iter().all(|frame| frame.in_time));
    for pair in running.frames.windows(2) {
        assert_eq!(pair[1].due - pair[0].due, Time(1_000_000_000 / 30));
    }
    // A thirtieth of a second, cut to nanoseconds, makes 6249 bytes: six packets, whose payload
    // leaves at 2.5 times the rate.
    for packets in running.through.chunk_by(|a, b| a.0.frame == b.0.frame).take(290) {
        assert_eq!(packets.len(), 6);
        assert_eq!(packets.iter().map(|(media, _)| media.ip_bytes - 40).sum::<u32>(), 6249);
        let last: Vec<_> = packets.iter().map(|(media, _)| media.last).collect();
        assert_eq!(last, [false, false, false, false, false, true]);
        for pair in packets.windows(2) {
            let gap = (pair[1].0.sent - pair[0].0.sent).as_secs_f64();
            let exact = f64::from(pair[0].0.ip_bytes - 40) * 8.0 / (2.5 * 1.5e6);
            assert!((gap - exact).abs() < 2e-9, "{gap}");
        }
    }
    let told = running.feedbacks.iter().flat_map(|feedback| &feedback.arrivals);
    assert!(told.clone().zip(0..).all(|(arrival, number)| arrival.number == number));
    // Of those since the last feedback nothing is known yet: three or four frames' packets.
    let untold = running.through.len() - told.count();
    assert!(untold <= 24, "{untold}");
    let at: Vec<_> = running.feedbacks.iter().map(|feedback| feedback.at).collect();
    assert!(at.iter().zip(1..).all(|(at, n)| *at == MS * 100 * n), "{at:?}");
    assert_eq!(running.sender.target(), 1.5e6);
    let state = ControlState { target: 1.5e6, ..ControlState::default() };
    assert!(running.states.iter().all(|found| *found == state));
}

#[test]
fn a_frame_is_late_unless_all_of_it_comes_within_the_deadline() {
    // 600 kb/s through 400: each second's frames are another half second late.
    let call = fixed(600_000);
    let mut slow = Running::new(&call, line(4e5));
    slow.until(Time::from_secs(10));
    let first_late = slow.frames.iter().position(|frame| !frame.in_time).unwrap();
    assert!(slow.frames[first_late..].iter().all(|frame| !frame.in_time));
    // A frame comes in time while its wait and its own 53 ms are 130 ms at most.
    for (frame, packets) in
        slow.frames.iter().zip(slow.through.chunk_by(|a, b| a.0.frame == b.0.frame))
    {
        let came = packets.last().unwrap().1 + MS * 20;
        assert_eq!(frame.in_time, came <= frame.due);
    }
    // Each frame is three packets: of ten in a row one is lost.
    let mut lossy = Running::new(&call, Line { loses: Some(10), ..line(1e8) });
    lossy.until(Time::from_secs(10));
    for (number, frame) in lossy.frames.iter().enumerate() {
        let packets = 3 * number..3 * number + 3;
        assert_eq!(frame.in_time, packets.into_iter().all(|packet| packet % 10 != 9), "{number}");
    }
}

#[test]
fn controls_find_the_rate_of_a_line_and_keep_its_queue_short() {
    for control in [RateControl::Gcc, RateControl::Scream] {
        let call = Call { control, ..Call::default() };
        let mut running = Running::new(&call, line(1.5e6));
        running.until(Time::from_secs(60));
        let used = running.sent(Time::from_secs(30), Time::from_secs(60)) / 1.5e6;
        assert!((0.7..1.001).contains(&used), "{control:?}: {used}");
        let late = running.through.iter().filter(|(media, _)| media.sent > Time::from_secs(30));
        let waits: Vec<f64> = late.map(|(media, at)| (*at - media.sent).as_secs_f64()).collect();
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        assert!(mean < 0.1, "{control:?}: {mean} s");
        let targets = running.states.iter().map(|state| state.target);
        assert!(targets.clone().all(|target| (150e3..=2.5e6).contains(&target)));
        assert_eq!(running.states.last().unwrap().target, running.sender.target());
    }
}

#[test]
fn states_are_those_of_the_control() {
    let gcc = Call::default();
    let mut running = Running::new(&gcc, line(1.5e6));
    running.until(Time::from_secs(60));
    for name in ["increase", "decrease", "hold"] {
        let of_name = running.states.iter().filter(|state| state.state == Some(name));
        assert!(of_name.count() > 0, "{name}");
    }
    assert!(running.states.iter().all(|state| state.window.is_none()));

    let scream = Call { control: RateControl::Scream, ..Call::default() };
    let mut running = Running::new(&scream, line(1e9));
    running.until(Time::from_secs(60));
    let last = running.states.last().unwrap();
    // Nothing waits on the line: the round trip is its delay, and the rate the greatest.
    let round_trip = last.smoothed_rtt.unwrap();
    assert!((0.040..0.041).contains(&round_trip), "{round_trip}");
    assert_eq!((last.target, last.state), (2.5e6, None));
    let most = 2.0 * 2.5e6 * round_trip / 8.0;
    assert!(last.in_flight.unwrap() <= most, "{last:?}");
    assert!(last.window.unwrap() * 8.0 / round_trip >= 2.5e6, "{last:?}");
}

#[test]
fn feedback_by_rate_is_two_per_cent_of_it_while_packets_come() {
    let rate = Rate(8_000_000);
    let call = Call { control: RateControl::Scream, max_rate: rate, ..Call::default() };
    let mut running = Running::new(&call, line(1e9));
    running.until(Time::from_secs(61));
    assert_eq!(running.sender.target(), 8e6);
    // Packets of 100 bytes that take 160 kb/s are 200 a second, while packets come: a frame goes
    // out in two thirds of its time.
    let last = running.feedbacks.iter().filter(|feedback| feedback.at > Time::from_secs(51));
    let each_second = last.count() as f64 / 10.0;
    assert!((133.0..=200.0).contains(&each_second), "{each_second}");
}

#[test]
fn marks_of_l4s_keep_the_queue_shorter_than_delay_alone() {
    let mean = |marks| {
        let call = Call { control: RateControl::Scream, ecn: Codepoint::Ect1, ..Call::default() };
        let mut running = Running::new(&call, Line { marks, ..line(1.5e6) });
        running.until(Time::from_secs(60));
        let used = running.sent(Time::from_secs(30), Time::from_secs(60)) / 1.5e6;
        assert!((0.6..1.001).contains(&used), "{used}");
        let late = running.through.iter().filter(|(media, _)| media.sent > Time::from_secs(30));
        let waits: Vec<f64> = late.map(|(media, at)| (*at - media.sent).as_secs_f64()).collect();
        waits.iter().sum::<f64>() / waits.len() as f64
    };
    let (marked, unmarked) = (mean(MS * 5), mean(Time::MAX));
    assert!(marked < 0.7 * unmarked, "{marked} {unmarked}");
}

#[test]
fn frames_smaller_than_their_headers_are_in_time() {
    // 20 bytes, as a codec of speech has them.
    let mut running =
        Running::new(&Call { frame_rate: 50, min_rate: Rate(8000), ..fixed(8000) }, line(1e8));
    running.until(Time::from_secs(10));
    assert!(running.frames.len() > 480 && running.frames.iter().all(|frame| frame.in_time));
    assert!(running.through.iter().all(|(media, _)| media.ip_bytes == 60));
}
