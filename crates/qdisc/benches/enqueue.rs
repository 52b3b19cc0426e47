//! Nanoseconds for one enqueue and one dequeue with 1000 packets standing.
//!
//! Run by hand: `cargo bench -p sojourn-qdisc`, or with names after `--` for some of them only.
//! On a busy machine count instead of timing: `perf stat -e instructions:u,cycles:u`.

use sojourn_base::{Kind, Rate, Stream, Time};
use sojourn_qdisc::{Config, Discipline, Ecn, Env, Packet, Qdisc, Verdict};
use std::hint::black_box;
use std::time::Instant;

/// A packet of `WORDS` times 8 bytes, as the simulator's are.
#[derive(Clone, Copy)]
struct Token<const WORDS: usize> {
    bytes: u32,
    ecn: Ecn,
    _rest: [u64; WORDS],
}

impl<const WORDS: usize> Packet for Token<WORDS> {
    #[inline]
    fn bytes(&self) -> u32 {
        self.bytes
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    #[inline]
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        0
    }
}

/// At 1 Gb/s and 1500 bytes: 12 µs a packet.
const GAP: Time = Time(12_000);
const ROUNDS: u32 = 50_000;

fn measure<const WORDS: usize>(config: &Config) -> f64 {
    let env = Env { rate: Rate(1_000_000_000), mean_packet: 1500 };
    let mut best = f64::INFINITY;
    for _ in 0..500 {
        let coin = Stream::new(1, Kind::Qdisc, 0, 0);
        let mut queue = Qdisc::<Token<WORDS>>::new(config, &env, coin).expect("valid");
        let packet = black_box(Token { bytes: 1500, ecn: Ecn::Ect0, _rest: [0; WORDS] });
        let mut now = Time::ZERO;
        for _ in 0..1000 {
            queue.enqueue(now, packet, &mut ());
        }
        let (mut dropped, mut bytes) = (0u64, 0u64);
        let start = Instant::now();
        for _ in 0..ROUNDS {
            now += GAP;
            let verdict = queue.enqueue(now, packet, &mut ());
            dropped += u64::from(matches!(verdict, Verdict::Dropped(_)));
            let taken = queue.dequeue(now, &mut ()).expect("1000 packets stand");
            bytes += u64::from(taken.bytes());
        }
        black_box((dropped, bytes));
        best = best.min(start.elapsed().as_secs_f64() / f64::from(ROUNDS) * 1e9);
        assert!(queue.packets() > 500, "{} packets left", queue.packets());
    }
    best
}

fn main() {
    println!("{:<10} {:>10} {:>10}   ns for enqueue + dequeue", "", "24 bytes", "40 bytes");
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|a| Config::NAMES.contains(&a.as_str())).collect();
    for &name in Config::NAMES {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let mut config = Config::named(name).expect("listed");
        // ECN on and a setpoint near the standing queue: the probability is neither 0 nor 1.
        match &mut config {
            Config::Droptail(_) => {}
            Config::Red(p) => (p.ecn, p.min_th, p.max_th, p.max_p) = (true, 500.0, 1500.0, 0.1),
            Config::Ared(p) => {
                (p.ecn, p.min_th, p.max_th) = (true, Some(500.0), Some(1500.0));
            }
            Config::Pi(p) => (p.ecn, p.qref, p.a, p.b) = (true, 999.0, 1.822e-6, 1.8219e-6),
            Config::Rem(p) => (p.ecn, p.qref, p.gamma) = (true, 999.0, 1e-5),
        }
        println!("{name:<10} {:>10.2} {:>10.2}", measure::<2>(&config), measure::<4>(&config));
    }
}
