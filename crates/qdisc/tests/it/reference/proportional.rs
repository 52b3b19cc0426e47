//! The proportional controller against its formula in double precision.

use super::{Traffic, coin, odds};
use crate::common::{Token, env};
use sojourn_base::Time;
use sojourn_qdisc::*;

#[test]
fn proportional_follows_its_formula_for_a_million_arrivals() {
    for (in_bytes, slope, offset) in [(false, 0.02, 80.0), (true, 0.02, 80.5), (true, 5.88e-5, 0.0)]
    {
        let params = proportional::Params {
            slope,
            offset,
            ecn: EcnMarking::On,
            byte_mode: ByteMode {
                queue_in_bytes: in_bytes,
                mean_packet: Some(1000),
                ..Default::default()
            },
            ..Default::default()
        };
        let mut q =
            proportional::Discipline::<Token>::new(&params, &env(10, 1000), coin()).unwrap();
        let (mut worst, mut inside) = (0.0f64, 0);
        let mut traffic = Traffic::new();
        for k in 1..=250_000u64 {
            let odds = odds(q.packets(), 100, k);
            let until = Time(traffic.now.0 + 8 * 800_000);
            let seen = |_: Time, _: u32, before: Standing, q: &proportional::Discipline<Token>| {
                let queue =
                    if in_bytes { before.bytes as f64 / 1000.0 } else { before.packets.into() };
                let p = (slope * (queue - offset)).clamp(0.0, 1.0);
                worst = worst.max((q.probability() - p).abs());
                inside += u32::from(p > 0.0 && p < 1.0);
            };
            traffic.go(&mut q, until, 8, odds, seen, |_, _| ());
        }
        assert!(inside > 100_000, "only {inside} arrivals saw a probability inside (0, 1)");
        assert!(worst < 1e-11, "bytes {in_bytes}: off by {worst:e}");
    }
}

#[test]
fn a_probe_sees_the_probability_of_the_queue_that_stands() {
    let params = proportional::Params { slope: 0.01, offset: 20.0, ..Default::default() };
    let mut q = crate::common::queue(&Config::Proportional(params), &env(10, 1500));
    crate::common::offer(&mut q, Time::ZERO, 20, Ecn::NotEct);
    while q.packets() < 45 {
        crate::common::offer(&mut q, Time::ZERO, 1, Ecn::NotEct);
    }
    for left in [45, 30, 20, 3] {
        crate::common::drain(&mut q, Time::ZERO, left);
        q.advance(Time::ZERO);
        let want = 0.01 * f64::from(left.saturating_sub(20));
        assert!((q.probability() - want).abs() < 1e-15, "{left}: {}", q.probability());
    }
}
