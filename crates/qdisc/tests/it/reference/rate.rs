//! Feedback on the rate against its formula in double precision.

use super::{Traffic, coin};
use crate::common::{Token, env};
use sojourn_base::Time;
use sojourn_qdisc::*;

#[test]
fn rate_follows_its_formula_at_every_instant() {
    for (in_bytes, averaging, start) in
        [(false, 0, 0.0), (false, 7_000_000, 0.0), (true, 300_000, 0.6), (true, 50_000_000, 0.0)]
    {
        let params = rate::Params {
            exponent: 6,
            start,
            period: Time::from_millis(2),
            averaging: Time(averaging),
            ecn: EcnMarking::On,
            byte_mode: ByteMode {
                queue_in_bytes: in_bytes,
                mean_packet: Some(1000),
                ..Default::default()
            },
            ..Default::default()
        };
        // 32 Mb/s and 1000-byte packets: C·T is 8 packets.
        let mut q = rate::Discipline::<Token>::new(&params, &env(32, 1000), coin()).unwrap();
        let keep = match averaging {
            0 => 0.0,
            tau => libm::exp(-2e6 / tau as f64),
        };
        let (mut load, mut worst, mut worst_load, mut inside) = (0.0f64, 0.0f64, 0.0f64, 0);
        let mut traffic = Traffic::new();
        for k in 1..=60_000u64 {
            let instant = Time(k * 2_000_000);
            let (mut count, mut bytes) = (0.0, 0.0);
            let seen = |_: Time, b: u32, _: Standing, _: &_| {
                count += 1.0;
                bytes += f64::from(b);
            };
            // From next to nothing to more than the link, by stretches.
            traffic.go(
                &mut q,
                instant,
                [1, 6, 9, 12, 15][(k / 500) as usize % 5],
                180,
                seen,
                |_, _| (),
            );
            q.advance(instant);
            let x = (if in_bytes { bytes / 1000.0 } else { count }) / 8.0;
            load = x + (load - x) * keep;
            let share = ((load - start) / (1.0 - start)).clamp(0.0, 1.0);
            let p = libm::pow(share, 6.0);
            worst_load = worst_load.max((q.law().load() - load).abs());
            worst = worst.max((q.probability() - p).abs());
            inside += u32::from(p > 0.0 && p < 1.0);
            traffic.now = instant;
            while q.packets() > 200 {
                let _ = q.dequeue(traffic.now, &mut ());
            }
        }
        assert!(inside > 10_000, "the price was in its range at {inside} instants only");
        assert!(worst < 1e-9 && worst_load < 1e-9, "off by {worst:e}, load by {worst_load:e}");
    }
}

#[test]
fn silence_equals_as_many_instants_without_arrivals() {
    let params = rate::Params { averaging: Time::from_millis(50), ..Default::default() };
    let make = || rate::Discipline::<Token>::new(&params, &env(8, 1000), coin()).unwrap();
    let (mut once, mut often) = (make(), make());
    for q in [&mut once, &mut often] {
        for packet in 0..40 {
            let _ = q.enqueue(Time::ZERO, crate::common::token(packet, 1000, Ecn::Ect0), &mut ());
        }
    }
    for tick in 1..=30 {
        often.advance(Time::from_millis(10 * tick));
    }
    once.advance(Time::from_millis(300));
    assert!(often.law().load() > 1e-3);
    assert!((once.law().load() - often.law().load()).abs() < 1e-10);
}
