//! Nanoseconds for one acknowledgement at windows up to 10 Gb/s times 200 ms, with and without
//! holes: time must not grow with the window.
//!
//! Run by hand: `cargo bench -p sojourn-tcp --bench windows`.

use sojourn_base::{Size, Time};
use sojourn_tcp::{Endpoint, Event, Flags, Output, Params, Profile, SackBlock, Segment, Spec};
use std::time::Instant;

/// Remembers where sending has got to.
struct Sent {
    next: u32,
    segments: u64,
}

impl Output for Sent {
    #[inline]
    fn send(&mut self, segment: Segment, _: &[SackBlock]) {
        let end = segment.seq.wrapping_add(u32::from(segment.len));
        if end.wrapping_sub(self.next) < 1 << 31 {
            self.next = end;
        }
        self.segments += 1;
    }
    fn deliver(&mut self, _: u32) {}
    fn event(&mut self, _: Event) {}
}

struct Sender {
    p: Params,
    end: Endpoint,
    out: Sent,
    now: Time,
    /// What is acknowledged.
    una: u32,
}

const MSS: u32 = 1448;
/// At 10 Gb/s.
const GAP: Time = Time(1200);

impl Sender {
    /// A sender whose window is `window` segments, all outstanding.
    fn new(profile: Profile, window: u32) -> Self {
        let spec = Spec {
            profile: Some(profile),
            mss: Some(MSS),
            timestamps: Some(false),
            receive_window: Some(Size(1_073_725_440)),
            initial_window: Some(window.min(1000)),
            max_window: Some(window),
            hystart: Some(false),
            min_rto: Some(Time::from_secs(100)),
            max_rto: Some(Time::from_secs(3600)),
            initial_rto: Some(Time::from_secs(100)),
            ..Spec::default()
        };
        let p = Spec::resolve(&[&spec]).expect("valid");
        let mut out = Sent { next: 1, segments: 0 };
        let mut end = Endpoint::client(&p, 0);
        end.open(&p, Time::ZERO, &mut out);
        let now = Time::from_millis(200);
        let syn_ack =
            Segment { ack: 1, flags: Flags::SYN | Flags::ACK, window: u16::MAX, ..Segment::EMPTY };
        end.on_segment(&p, now, &syn_ack, &[], &mut out);
        let mut s = Self { p, end, out, now, una: 1 };
        s.ack(1, &[]); // the scaled window
        s.end.write(&s.p, s.now, u64::MAX, &mut s.out);
        while s.end.in_flight() / MSS < window {
            s.ack(s.una.wrapping_add(2 * MSS), &[]);
        }
        s
    }

    fn ack(&mut self, ack: u32, sacks: &[SackBlock]) {
        self.now += GAP;
        self.una = ack;
        let segment = Segment {
            seq: 1,
            ack,
            window: self.p.window_field,
            flags: Flags::ACK,
            sacks: sacks.len() as u8,
            ..Segment::EMPTY
        };
        self.end.on_segment(&self.p, self.now, &segment, sacks, &mut self.out);
    }

    /// Acknowledges a window of segments of which `holes` are missing, one acknowledgement for each
    /// that arrived; returns nanoseconds for each.
    fn round(&mut self, window: u32, holes: u32) -> f64 {
        let place = |n: u32, una: u32| una.wrapping_add(n * MSS);
        let (una, every) = (self.una, window / holes.max(1));
        let mut blocks = [SackBlock::default(); 3];
        let mut runs = 0;
        let start = Instant::now();
        let mut acks = 0u32;
        for n in 0..window {
            if holes == 0 {
                self.ack(place(n + 1, una), &[]);
            } else if n % every == 0 {
                blocks.rotate_right(1);
                let at = place(n + 1, una);
                blocks[0] = SackBlock { start: at, end: at };
                runs = (runs + 1).min(3);
                continue;
            } else {
                blocks[0].end = place(n + 1, una);
                self.ack(una, &blocks[..runs]);
            }
            acks += 1;
        }
        start.elapsed().as_secs_f64() * 1e9 / f64::from(acks)
    }
}

fn main() {
    for profile in [Profile::Classic, Profile::Modern] {
        println!("{profile:?}: ns an acknowledgement");
        for (window, holes) in [
            (100, 0),
            (100, 10),
            (10_000, 0),
            (10_000, 10),
            (10_000, 5000),
            (170_000, 0),
            (170_000, 10),
            (170_000, 5000),
        ] {
            let best = (0..7)
                .map(|_| {
                    let mut sender = Sender::new(profile, window);
                    let times = (1_000_000 / window / 20).max(1);
                    if holes == 0 {
                        (0..times).map(|_| sender.round(window, 0)).sum::<f64>() / f64::from(times)
                    } else {
                        sender.round(window, holes)
                    }
                })
                .fold(f64::INFINITY, f64::min);
            println!("  window {window:6}, holes {holes:4}: {best:7.1}");
        }
    }
}
