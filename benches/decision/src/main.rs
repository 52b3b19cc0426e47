//! What one decision of RED costs, with nothing around it but the loop.
//!
//! `cargo run --release -- [million decisions = 20] [repetitions = 1]` prints a JSON line per
//! pattern, as benches/peers/rte_red/bench.c does for DPDK's RED: the same thresholds (100 and 300
//! packets), `max_p` (1/10), weight (2⁻⁹) and queue lengths. RED is not gentle, as DPDK's is not.

use sojourn_base::{Kind, Rate, Stream, Time};
use sojourn_qdisc::managed::{Law, Signal};
use sojourn_qdisc::red::{Params, Red};
use sojourn_qdisc::{Env, Standing};
use std::hint::black_box;
use std::time::Instant;

/// At 100 Mb/s and 1500 bytes.
const GAP: u64 = 120_000;
const BYTES: u32 = 1500;
const STEPS: usize = 65_536;

/// The same walk as the peer's: reflected single steps between 0 and 500.
fn walk() -> Vec<u16> {
    let (mut state, mut queue) = (1u64, 200i32);
    (0..STEPS)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            queue = (queue + if state >> 63 == 1 { 1 } else { -1 }).clamp(0, 500);
            queue as u16
        })
        .collect()
}

fn law() -> Red {
    let params = Params {
        min_th: 100.0,
        max_th: 300.0,
        max_p: 0.1,
        wq: Some(1.0 / 512.0),
        gentle: false,
        ..Params::default()
    };
    let env = Env { rate: Rate(100_000_000), mean_packet: BYTES };
    Red::new(&params, &env).expect("valid parameters")
}

// As the peer's, which its header makes a part of the loop.
#[inline(always)]
fn decide(law: &mut Red, coin: &mut Stream, i: u64, queue: u32) -> u64 {
    let standing = Standing { packets: queue, bytes: u64::from(queue) * u64::from(BYTES) };
    u64::from(law.arrival(Time(i * GAP), BYTES, standing, coin) != Signal::Pass)
}

/// Nanoseconds for a decision and the share of drops.
fn measure(decisions: u64, length: impl Fn(u64) -> u32) -> (f64, f64) {
    let (mut law, mut coin) = (law(), Stream::new(1, Kind::Qdisc, 0, 0));
    // Start from the average that the pattern ends at.
    for i in 0..100_000 {
        decide(&mut law, &mut coin, i, length(0));
    }
    let start = Instant::now();
    let mut drops = 0;
    for i in 100_000..100_000 + decisions {
        // Keep the compiler from knowing the length.
        drops += decide(&mut law, &mut coin, i, black_box(length(i)));
    }
    (start.elapsed().as_secs_f64() * 1e9 / decisions as f64, drops as f64 / decisions as f64)
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let decisions = arguments.next().unwrap_or(20) * 1_000_000;
    let repetitions = arguments.next().unwrap_or(1).max(1);
    let steps = walk();
    for (name, constant) in
        [("below", Some(50)), ("between", Some(200)), ("above", Some(500)), ("walk", None)]
    {
        let mut costs: Vec<(f64, f64)> = (0..repetitions)
            .map(|_| match constant {
                Some(queue) => measure(decisions, |_| queue),
                None => measure(decisions, |i| u32::from(steps[i as usize % STEPS])),
            })
            .collect();
        costs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (least, dropped) = costs[0];
        let middle = costs[costs.len() / 2].0;
        println!(
            "{{\"tool\":\"sojourn\",\"pattern\":\"{name}\",\"ns_min\":{least:.3},\
             \"ns_median\":{middle:.3},\"dropped\":{dropped:.4}}}"
        );
    }
}
