//! Nanoseconds and bytes for one update of each of 4096 controllers, 512 queues of 8 classes: the
//! bank, and plain fixed-point PI one after the other.
//!
//! Run by hand: `cargo bench -p sojourn-qdisc --bench bank`; with `--no-default-features` without
//! AVX2. The target is a pass in 5 µs.

use sojourn_base::{Kind, Stream};
use sojourn_qdisc::Probability;
use sojourn_qdisc::bank::{Bank, Gains, Grid};
use sojourn_qdisc::pi::{Constants, Params};
use std::hint::black_box;
use std::time::Instant;

const QUEUES: usize = 512;
const CLASSES: usize = 8;
const ALL: usize = QUEUES * CLASSES;
/// Different states of the queues, taken in turn, each near the one before.
const INSTANTS: usize = 64;
/// Few, so that some rounds are not interrupted on a busy machine.
const PASSES: usize = 16;

/// The paper's example, sampled each millisecond.
const A: f64 = 1.8194e-5;
const B: f64 = 1.8184e-5;

fn instants() -> Vec<Vec<u16>> {
    let mut random = Stream::new(1, Kind::Test, 0, 0);
    let mut queues: Vec<u16> = (0..ALL).map(|_| 150 + random.below(100) as u16).collect();
    (0..INSTANTS)
        .map(|_| {
            for q in &mut queues {
                *q = (*q + random.below(21) as u16).saturating_sub(10).clamp(100, 400);
            }
            queues.clone()
        })
        .collect()
}

/// The least time of a pass in nanoseconds, over many rounds.
fn least(instants: &[Vec<u16>], mut pass: impl FnMut(&[u16])) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..4000 {
        let start = Instant::now();
        for k in 0..PASSES {
            pass(black_box(&instants[k % INSTANTS]));
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / PASSES as f64);
    }
    best
}

fn main() {
    let instants = instants();
    let show = |name: &str, ns: f64, bytes: usize| {
        println!(
            "{name:<28} {:>8.2} µs a pass {:>8.3} ns a controller {bytes:>4} bytes",
            ns / 1e3,
            ns / ALL as f64
        );
    };

    let classes: Vec<_> = (0..CLASSES)
        .map(|i| {
            let table = Grid::Geometric.table(16, 0.001, 0.1 * (i + 1) as f64, &[]);
            (Gains::new(A, B, 200).expect("valid"), table.expect("valid"))
        })
        .collect();
    let mut bank = Bank::new(&classes, QUEUES).expect("valid");
    let ns = least(&instants, |queues| bank.update(queues));
    show("bank, with levels", ns, Bank::state_bytes());

    let constants =
        Constants::new(&Params { a: A, b: B, qref: 200.0, ..Params::default() }).expect("valid");
    let mut plain = vec![(Probability::ZERO, 200i64 << 36); ALL];
    let ns = least(&instants, |queues| {
        for ((p, previous), &q) in plain.iter_mut().zip(queues) {
            let queue = i64::from(q) << 36;
            *p = constants.step(*p, queue, *previous);
            *previous = queue;
        }
    });
    show("plain fixed-point PI", ns, size_of::<(Probability, i64)>());
    black_box((&bank, &plain));
}
