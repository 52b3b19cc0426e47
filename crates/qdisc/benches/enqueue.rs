//! Nanoseconds for one enqueue and one dequeue with 1000 packets standing, of 16 flows in turn.
//!
//! Run by hand: `cargo bench -p sojourn-qdisc`, or with names after `--` for some of them only.
//! On a busy machine count instead of timing: `perf stat -e instructions:u,cycles:u`.

use sojourn_base::{Kind, Rate, Stream, Time};
use sojourn_qdisc::{
    Config, Discipline, Ecn, EcnMarking, Env, Packet, Qdisc, Verdict, cbq, droptail, drr,
    label_hash, prio,
};
use std::hint::black_box;
use std::time::Instant;

/// A packet of 16 and `WORDS` times 8 bytes, as the simulator's are.
#[derive(Clone, Copy)]
struct Token<const WORDS: usize> {
    bytes: u32,
    flow: u32,
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
        self.flow
    }
    #[inline]
    fn label(&self) -> u32 {
        self.flow
    }
}

/// At 1 Gb/s and 1500 bytes: 12 µs a packet.
const GAP: Time = Time(12_000);
const ROUNDS: u32 = 50_000;

fn label(flow: usize) -> String {
    format!("flow{flow}")
}

/// Nanoseconds, and the packets that stand at the end.
fn measure<const WORDS: usize>(config: &Config) -> (f64, u32) {
    let env = Env { rate: Rate(1_000_000_000), mean_packet: 1500 };
    let (mut best, mut standing) = (f64::INFINITY, 0);
    for _ in 0..500 {
        let coin = Stream::new(1, Kind::Qdisc, 0, 0);
        let mut queue = Qdisc::<Token<WORDS>>::new(config, &env, coin).expect("valid");
        let packet = black_box(Token { bytes: 1500, flow: 0, ecn: Ecn::Ect0, _rest: [0; WORDS] });
        // Hashes as they are: spread over all bits.
        let hashes: [u32; 16] = std::array::from_fn(|flow| label_hash(&label(flow)));
        let of = |i: u32| Token { flow: hashes[i as usize % 16], ..packet };
        let mut now = Time::ZERO;
        for i in 0..1000 {
            queue.enqueue(now, of(i), &mut ());
        }
        let (mut dropped, mut bytes) = (0u64, 0u64);
        let start = Instant::now();
        for i in 0..ROUNDS {
            now += GAP;
            let verdict = queue.enqueue(now, of(i), &mut ());
            dropped += u64::from(matches!(verdict, Verdict::Dropped(_)));
            // None where a shaper holds packets back.
            bytes += queue.dequeue(now, &mut ()).map_or(0, |packet| u64::from(packet.bytes()));
        }
        black_box((dropped, bytes));
        best = best.min(start.elapsed().as_secs_f64() / f64::from(ROUNDS) * 1e9);
        standing = queue.packets();
    }
    (best, standing)
}

fn main() {
    println!("{:<12} {:>10} {:>10}   ns for enqueue + dequeue", "", "24 bytes", "40 bytes");
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|a| Config::NAMES.contains(&a.as_str())).collect();
    for &name in Config::NAMES {
        if !wanted.is_empty() && !wanted.iter().any(|w| w == name) {
            continue;
        }
        let mut config = Config::named(name).expect("listed");
        // What a class written in Python takes is not this crate's.
        if matches!(config, Config::External(_)) {
            continue;
        }
        // ECN on and a setpoint near the standing queue: the probability is neither 0 nor 1.
        match &mut config {
            Config::Red(p) => {
                (p.hits.ecn, p.min_th, p.max_th, p.max_p) = (EcnMarking::On, 500.0, 1500.0, 0.1)
            }
            Config::Ared(p) => {
                (p.hits.ecn, p.min_th, p.max_th) = (EcnMarking::On, Some(500.0), Some(1500.0));
            }
            Config::FengRed(p) => {
                (p.hits.ecn, p.min_th, p.max_th) = (EcnMarking::On, 500.0, 1500.0)
            }
            Config::Choke(p) => (p.hits.ecn, p.min_th, p.max_th) = (EcnMarking::On, 500.0, 1500.0),
            Config::Blue(p) => (p.ecn, p.limit, p.high_water) = (EcnMarking::On, 2000, Some(999)),
            Config::Avq(p) => p.ecn = EcnMarking::On,
            Config::Pi(p) => {
                (p.ecn, p.qref, p.a, p.b) = (EcnMarking::On, 999.0, 1.822e-6, 1.8219e-6)
            }
            Config::PiTable(p) => {
                let p = &mut p.pi;
                (p.ecn, p.qref, p.a, p.b) = (EcnMarking::On, 999.0, 1.822e-6, 1.8219e-6);
            }
            Config::Pie(p) => {
                let p = &mut p.control;
                (p.ecn, p.mark_ecn_th, p.target) = (EcnMarking::On, 1.0, Time::from_millis(12));
            }
            Config::Pi2(p) => (p.ecn, p.target) = (EcnMarking::On, Time::from_millis(12)),
            Config::Dualpi2(p) => {
                (p.target, p.alpha, p.beta) = (Time::from_millis(12), 0.001, 1.0);
            }
            Config::Rem(p) => (p.ecn, p.qref, p.gamma) = (EcnMarking::On, 999.0, 1e-5),
            // Marking keeps the queue standing, above the target throughout.
            Config::Codel(p) => p.ecn = EcnMarking::On,
            // A class for each flow.
            Config::Prio(p) => {
                let class = |at| prio::Class::new(&label(at), &[&label(at)], droptail::config());
                (p.classes, p.default) = ((0..16).map(class).collect(), None);
            }
            Config::Drr(p) => {
                let class =
                    |at| drr::Class::new(&label(at), 1.0, &[&label(at)], droptail::config());
                p.classes = (0..16).map(class).collect();
            }
            Config::Cbq(p) => {
                let class =
                    |at| cbq::Class::new(&label(at), 0.0625, &[&label(at)], droptail::config());
                p.classes = (0..16).map(class).collect();
            }
            _ => {}
        }
        let ((small, _), (large, standing)) = (measure::<1>(&config), measure::<3>(&config));
        println!("{name:<12} {small:>10.2} {large:>10.2}   {standing} packets stand at the end");
    }
}
