//! Nanoseconds for one acknowledgement and the segment it lets go, and for one data segment and
//! the acknowledgement it brings.
//!
//! Run by hand: `cargo bench -p sojourn-tcp`.

use sojourn_base::{Size, Time};
use sojourn_tcp::{Endpoint, Event, Flags, Output, Params, Profile, SackBlock, Segment, Spec};
use std::hint::black_box;
use std::time::Instant;

/// Keeps the last segment and counts.
struct Last {
    segment: Segment,
    sent: u64,
    bytes: u64,
}

impl Output for Last {
    #[inline]
    fn send(&mut self, segment: Segment, _: &[SackBlock]) {
        self.segment = segment;
        self.sent += 1;
    }
    #[inline]
    fn deliver(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
    }
    fn event(&mut self, _: Event) {}
}

/// Timed in short runs of which the best counts: other work on the machine cannot slow them all.
const RUNS: u32 = 200;
const ROUNDS: u32 = 50_000;
/// At 1 Gb/s and 1500 bytes: 12 µs a segment.
const GAP: Time = Time(12_000);

fn connected(p: &Params) -> (Endpoint, Endpoint, Last) {
    let mut out = Last { segment: Segment::EMPTY, sent: 0, bytes: 0 };
    let (mut client, mut server) = (Endpoint::client(p, 1), Endpoint::server(p, 1));
    client.open(p, Time::ZERO, &mut out);
    let syn = out.segment;
    server.on_segment(p, Time::ZERO, &syn, &[], &mut out);
    let syn_ack = out.segment;
    client.on_segment(p, Time(1_000_000), &syn_ack, &[], &mut out);
    let ack = out.segment;
    server.on_segment(p, Time(1_000_000), &ack, &[], &mut out);
    (client, server, out)
}

/// The client sends without end; every acknowledgement is of `stride` segments.
fn sender(p: &Params, stride: u32) -> f64 {
    let (mut client, _, mut out) = connected(p);
    let mut now = Time(2_000_000);
    client.write(p, now, u64::MAX, &mut out);
    let mut ack = 2u32;
    let mut tsecr = (now.0 / 1000) as u32;
    let cost = best(|| {
        now += GAP;
        ack = ack.wrapping_add(stride * p.payload);
        let segment = Segment {
            ack,
            tsecr,
            window: p.window_field,
            flags: Flags::ACK,
            options: p.options,
            ..Segment::EMPTY
        };
        client.on_segment(p, now, black_box(&segment), &[], &mut out);
        tsecr = out.segment.tsval;
        black_box(client.deadline());
    });
    assert!(out.sent > u64::from(RUNS * ROUNDS), "{} sent", out.sent);
    assert_eq!(client.timeouts() + client.retransmissions(), 0);
    cost
}

/// The server gets data in order.
fn receiver(p: &Params) -> f64 {
    let (_, mut server, mut out) = connected(p);
    let mut now = Time(2_000_000);
    let mut seq = 2u32;
    let sent = out.sent;
    let cost = best(|| {
        now += GAP;
        let segment = Segment {
            seq,
            ack: 2,
            tsval: (now.0 / 1000) as u32,
            window: p.window_field,
            len: p.payload as u16,
            flags: Flags::ACK,
            options: p.options,
            ..Segment::EMPTY
        };
        seq = seq.wrapping_add(p.payload);
        server.on_segment(p, now, black_box(&segment), &[], &mut out);
        black_box(server.deadline());
    });
    assert_eq!(out.bytes, u64::from(RUNS * ROUNDS) * u64::from(p.payload));
    assert!(out.sent - sent >= u64::from(RUNS * ROUNDS) / 2);
    cost
}

/// Nanoseconds a round of the best run.
fn best(mut round: impl FnMut()) -> f64 {
    let run = |_| {
        let start = Instant::now();
        (0..ROUNDS).for_each(|_| round());
        start.elapsed().as_secs_f64() / f64::from(ROUNDS) * 1e9
    };
    (0..RUNS).map(run).fold(f64::INFINITY, f64::min)
}

fn main() {
    for profile in [Profile::Classic, Profile::Modern] {
        // Windows of which a whole number of segments fills all, so that every ack lets go some.
        let spec = |delayed| Spec {
            profile: Some(profile),
            receive_window: Some(Size(1 << 20)),
            max_window: Some(64),
            delayed_ack: Some(delayed),
            ..Spec::default()
        };
        let resolve = |delayed| Spec::resolve(&[&spec(delayed)]).expect("valid");
        println!("{profile:?}");
        let p = resolve(false);
        println!("  ack -> 1 segment        {:5.1} ns", sender(&p, 1));
        println!("  ack -> 2 segments       {:5.1} ns", sender(&p, 2));
        println!("  data -> ack             {:5.1} ns", receiver(&p));
        let p = resolve(true);
        println!("  data, every second acked {:4.1} ns", receiver(&p));
    }
    println!("endpoint: {} bytes", size_of::<Endpoint>());
}
