//! Random sequences of operations on every discipline with random parameters: whatever validation
//! lets through must keep the books, the order and the rules of ECN, and never panic.

mod common;

use common::{Bin, Token, token};
use proptest::prelude::*;
use sojourn_base::{Kind, Rate, Size, Stream, Time};
use sojourn_qdisc::*;
use std::collections::VecDeque;

/// A number spread evenly over the orders of magnitude.
fn magnitude(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low.ln()..high.ln()).prop_map(f64::exp)
}

fn time(low_ns: f64, high_ns: f64) -> impl Strategy<Value = Time> {
    magnitude(low_ns, high_ns).prop_map(|x| Time(x as u64))
}

type Rest = (bool, bool, bool, Option<u32>, u32);

fn rest() -> impl Strategy<Value = Rest> {
    let limit = prop_oneof![1u32..30, Just(1_000_000), Just(67_108_864)];
    (any::<bool>(), any::<bool>(), any::<bool>(), prop::option::of(40u32..=65_535), limit)
}

fn droptail() -> impl Strategy<Value = Config> {
    prop_oneof![
        (1u32..40).prop_map(|n| droptail::Params { limit: Some(n), ..Default::default() }),
        (1500u64..60_000)
            .prop_map(|n| droptail::Params { limit_bytes: Some(Size(n)), ..Default::default() }),
        time(1e3, 1e10)
            .prop_map(|t| droptail::Params { limit_time: Some(t), ..Default::default() }),
        Just(droptail::Params::default()),
    ]
    .prop_map(Config::Droptail)
}

fn red() -> impl Strategy<Value = Config> {
    let thresholds = (prop_oneof![Just(0.0), magnitude(0.01, 3e7)], magnitude(1e-6, 10.0));
    let wq = prop::option::of(magnitude(1e-9, 1.0));
    (thresholds, magnitude(1e-12, 1.0), wq, (any::<(bool, bool)>(), 0..4u32), rest()).prop_map(
        |((min_th, factor), max_p, wq, ((gentle, above), min_queue), r)| {
            let (ecn, queue_in_bytes, scale_by_size, mean_packet, limit) = r;
            Config::Red(red::Params {
                min_th,
                max_th: min_th * (1.0 + factor) + factor,
                max_p,
                wq,
                gentle,
                min_queue,
                ecn_drop_above_max: above,
                ecn,
                queue_in_bytes,
                scale_by_size,
                mean_packet,
                limit,
            })
        },
    )
}

fn ared() -> impl Strategy<Value = Config> {
    let thresholds = prop::option::of((magnitude(0.01, 20.0), magnitude(0.01, 10.0)));
    let range = (magnitude(1e-4, 1.0), 0.0..1.0, 0.0..1.0, magnitude(1e-4, 1.0), 0.1..0.999);
    let times = (time(1e4, 1e9), time(1e6, 1e11));
    let wq = prop::option::of(magnitude(1e-9, 1.0));
    (thresholds, range, times, wq, any::<(bool, bool)>(), rest()).prop_map(
        |(thresholds, (bottom, top, start, alpha, beta), (delay, interval), wq, switches, r)| {
            let (ecn, queue_in_bytes, scale_by_size, mean_packet, limit) = r;
            let top = bottom + (1.0 - bottom) * top;
            Config::Ared(ared::Params {
                target_delay: delay,
                min_th: thresholds.map(|t| t.0),
                max_th: thresholds.map(|t| t.0 + t.1),
                max_p: bottom + (top - bottom) * start,
                bottom,
                top,
                alpha,
                beta,
                interval,
                wq,
                gentle: switches.0,
                ecn_drop_above_max: switches.1,
                ecn,
                queue_in_bytes,
                scale_by_size,
                mean_packet,
                limit,
            })
        },
    )
}

fn qref() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), magnitude(0.1, 67_108_864.0)]
}

fn pi() -> impl Strategy<Value = Config> {
    (magnitude(1e-15, 2.0), 0.0..1.0, magnitude(1e-3, 1e6), qref(), rest()).prop_map(
        |(a, share, frequency, qref, r)| {
            let (ecn, queue_in_bytes, scale_by_size, mean_packet, limit) = r;
            Config::Pi(pi::Params {
                a,
                b: a * share,
                frequency,
                qref,
                ecn,
                queue_in_bytes,
                scale_by_size,
                mean_packet,
                limit,
            })
        },
    )
}

fn rem() -> impl Strategy<Value = Config> {
    let gains = (magnitude(1e-6, 1.0), 0.0..=1.0, magnitude(1e-6, 1.0));
    (gains, qref(), time(1e3, 1e12), rest()).prop_map(|((gamma, alpha, phi), qref, period, r)| {
        let (ecn, queue_in_bytes, scale_by_size, mean_packet, limit) = r;
        Config::Rem(rem::Params {
            gamma,
            alpha,
            phi: 1.0 + phi,
            qref,
            period,
            ecn,
            queue_in_bytes,
            scale_by_size,
            mean_packet,
            limit,
        })
    })
}

#[derive(Clone, Debug)]
enum Step {
    Enqueue(u32, u8),
    Dequeue,
    Advance,
    Burst(u8),
    Drain,
}

fn steps() -> impl Strategy<Value = Vec<(Time, Step)>> {
    let gap = prop_oneof![
        3 => Just(Time::ZERO),
        6 => (0u64..2_000_000).prop_map(Time),
        1 => time(1e6, 1e15),
    ];
    let step = prop_oneof![
        6 => (prop_oneof![40u32..=100, 40u32..=1500, 40u32..=65_535], 0u8..4)
            .prop_map(|(bytes, ecn)| Step::Enqueue(bytes, ecn)),
        3 => Just(Step::Dequeue),
        2 => Just(Step::Advance),
        1 => (1u8..60).prop_map(Step::Burst),
        1 => Just(Step::Drain),
    ];
    prop::collection::vec((gap, step), 1..300)
}

fn links() -> impl Strategy<Value = Env> {
    (magnitude(1e3, 1e12), 40u32..=9000)
        .prop_map(|(rate, mean_packet)| Env { rate: Rate(rate as u64), mean_packet })
}

fn limits(config: &Config, env: &Env) -> (u32, u64) {
    match config {
        Config::Droptail(p) => (
            p.limit.unwrap_or(if p.limit_bytes.or(p.limit_time.map(|t| Size(t.0))).is_some() {
                u32::MAX
            } else {
                1000
            }),
            match (p.limit_bytes, p.limit_time) {
                (Some(Size(n)), _) => n,
                (_, Some(t)) => (t.0 as u128 * env.rate.0 as u128 / 8_000_000_000) as u64,
                _ => u64::MAX,
            },
        ),
        Config::Red(p) => (p.limit, u64::MAX),
        Config::Ared(p) => (p.limit, u64::MAX),
        Config::Pi(p) => (p.limit, u64::MAX),
        Config::Rem(p) => (p.limit, u64::MAX),
    }
}

fn uses_ecn(config: &Config) -> bool {
    match config {
        Config::Droptail(_) => false,
        Config::Red(p) => p.ecn,
        Config::Ared(p) => p.ecn,
        Config::Pi(p) => p.ecn,
        Config::Rem(p) => p.ecn,
    }
}

/// Whether ECN-capable packets may be dropped early although ECN is on.
fn drops_capable(config: &Config) -> bool {
    match config {
        Config::Red(p) => p.ecn_drop_above_max,
        Config::Ared(p) => p.ecn_drop_above_max,
        _ => false,
    }
}

/// The queue under test, a twin that is never looked at between packets, and what must be true.
struct Harness {
    queue: Qdisc<Token>,
    twin: Qdisc<Token>,
    model: VecDeque<Token>,
    bin: Bin,
    twin_bin: Bin,
    arrived: Count,
    counters: Counters,
    next: u64,
    ecn: bool,
    drops_capable: bool,
    limits: (u32, u64),
}

impl Harness {
    fn enqueue(&mut self, now: Time, bytes: u32, ecn: Ecn) {
        let packet = token(self.next, bytes, ecn);
        self.next += 1;
        self.arrived.add(bytes);
        let drops = self.bin.packets.len();
        let (packets, standing) = (self.queue.packets(), self.queue.bytes());
        let verdict = self.queue.enqueue(now, packet, &mut self.bin);
        assert_eq!(verdict, self.twin.enqueue(now, packet, &mut self.twin_bin));
        let c = &mut self.counters;
        match verdict {
            Verdict::Queued => {
                c.enqueued.add(bytes);
                self.model.push_back(packet);
            }
            Verdict::Marked => {
                assert!(self.ecn && matches!(ecn, Ecn::Ect0 | Ecn::Ect1));
                c.enqueued.add(bytes);
                c.marked.add(bytes);
                self.model.push_back(Token { ecn: Ecn::Ce, times_marked: 1, ..packet });
            }
            Verdict::Dropped(reason) => {
                assert_eq!(self.bin.packets[drops..], [(packet, reason)]);
                let full = packets >= self.limits.0 || standing + u64::from(bytes) > self.limits.1;
                match reason {
                    DropReason::Overflow => {
                        assert!(full);
                        c.overflow.add(bytes);
                    }
                    DropReason::Early => {
                        // What could be marked, or is marked already, must not be dropped.
                        assert!(!self.ecn || !ecn.capable() || self.drops_capable);
                        c.early.add(bytes);
                    }
                }
            }
        }
        if !matches!(verdict, Verdict::Dropped(_)) {
            assert_eq!(self.bin.packets.len(), drops);
        }
    }

    fn dequeue(&mut self, now: Time) {
        let got = self.queue.dequeue(now, &mut self.bin);
        assert_eq!(got, self.twin.dequeue(now, &mut self.twin_bin));
        assert_eq!(got, self.model.pop_front());
        if let Some(packet) = got {
            self.counters.dequeued.add(packet.bytes);
        }
    }

    fn check(&self) {
        let q = &self.queue;
        let bytes: u64 = self.model.iter().map(|p| u64::from(p.bytes)).sum();
        assert_eq!((q.packets() as usize, q.bytes()), (self.model.len(), bytes));
        assert!(q.packets() <= self.limits.0 && q.bytes() <= self.limits.1);
        assert_eq!(q.peek(), self.model.front());
        assert_eq!(q.next_ready(Time(5)), (!self.model.is_empty()).then_some(Time(5)));
        assert_eq!(*q.counters(), self.counters);
        assert_eq!(q.counters().arrived(), self.arrived);
        assert_eq!(q.counters().standing(), Count { packets: self.model.len() as u64, bytes });
        let p = q.probability();
        assert!((0.0..=1.0).contains(&p), "{p}");
    }
}

fn run(config: &Config, env: &Env, steps: &[(Time, Step)]) {
    let build = || Qdisc::new(config, env, Stream::new(9, Kind::Qdisc, 0, 0)).expect("valid");
    let mut h = Harness {
        queue: build(),
        twin: build(),
        model: VecDeque::new(),
        bin: Bin::default(),
        twin_bin: Bin::default(),
        arrived: Count::default(),
        counters: Counters::default(),
        next: 0,
        ecn: uses_ecn(config),
        drops_capable: drops_capable(config),
        limits: limits(config, env),
    };
    let mut now = Time::ZERO;
    for (gap, step) in steps {
        now += *gap;
        match step {
            Step::Enqueue(bytes, ecn) => h.enqueue(now, *bytes, Ecn::from_bits(*ecn)),
            Step::Dequeue => h.dequeue(now),
            Step::Advance => h.queue.advance(now),
            Step::Burst(n) => {
                (0..*n).for_each(|i| h.enqueue(now, 1500, Ecn::from_bits(i)));
            }
            Step::Drain => {
                while h.queue.packets() > 0 {
                    h.dequeue(now);
                }
            }
        }
        h.check();
    }
    assert_eq!(h.bin.packets, h.twin_bin.packets);
}

macro_rules! sequences {
    ($($name:ident: $strategy:expr;)+) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]
            $(#[test]
            fn $name(config in $strategy, env in links(), steps in steps()) {
                prop_assume!(config.validate(&env).is_ok());
                run(&config, &env, &steps);
            })+
        }
    };
}

sequences! {
    droptail_keeps_the_books: droptail();
    red_keeps_the_books: red();
    ared_keeps_the_books: ared();
    pi_keeps_the_books: pi();
    rem_keeps_the_books: rem();
}

#[test]
fn the_sequences_above_cover_every_discipline() {
    assert_eq!(Config::NAMES, ["droptail", "red", "ared", "pi", "rem"]);
    for name in Config::NAMES {
        let config = Config::named(name).expect("listed");
        assert_eq!(config.name(), *name);
        assert!(config.decides_at_enqueue());
        config.validate(&common::env(100, 1500)).expect("defaults are valid");
    }
    assert_eq!(Config::named("nothing"), None);
}
