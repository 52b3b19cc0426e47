//! PI2 against its formula in double precision, and what the paper says of its decisions.

use crate::common::traffic::{Traffic, odds};
use crate::common::{Token, drain, env, offer, queue, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::*;

const MS: u64 = 1_000_000;

#[test]
fn pi2_follows_its_formula_for_many_instants() {
    let params = pi2::Params { ecn: EcnMarking::On, ..Default::default() };
    let coin = Stream::new(1, Kind::Qdisc, 0, 0);
    let mut q = pi2::Discipline::<Token>::new(&params, &env(10, 1000), coin).unwrap();
    let (mut p, mut old, mut worst, mut inside) = (0.0f64, 0.0, 0.0f64, 0);
    let mut traffic = Traffic::new();
    for k in 1..=60_000u64 {
        let instant = Time(k * 32 * MS);
        let around = [0, 16, 4, 11][(k / 500) as usize % 4];
        let odds = odds(q.packets(), around);
        traffic.go(&mut q, instant, 40, odds, |_, _, _, _| ());
        q.advance(instant);
        let delay = traffic.oldest().map_or(0.0, |came| (instant.0 - came.0) as f64 * 1e-9);
        p = (p + 0.3125 * (delay - 0.02) + 3.125 * (delay - old)).clamp(0.0, 1.0);
        old = delay;
        let base = q.law().controller().base().as_f64();
        worst = worst.max((base - p).abs()).max((q.probability() - p * p).abs());
        inside += u32::from(p > 0.0 && p < 1.0);
        traffic.now = instant;
    }
    assert!(inside > 20_000, "p' was inside (0, 1) at {inside} instants only");
    assert!(worst < 1e-10, "off by {worst:e}");
}

/// A queue with a `p'` of about 0.3 in which 50 packets stand.
fn congested(params: pi2::Params) -> (Qdisc<Token>, Time, f64) {
    let mut q = queue(&Config::Pi2(pi2::Params { beta: 0.0, ..params }), &env(100, 1500));
    let mut now = Time::from_millis(1);
    offer(&mut q, now, 50, Ecn::Ect0);
    while q.probability() < 0.09 {
        now += Time::from_millis(32);
        q.advance(now);
    }
    let base = libm::sqrt(q.probability());
    (q, now, base)
}

/// How many of `n` packets offered are queued, marked and dropped.
fn outcome(q: &mut Qdisc<Token>, now: Time, n: u64, ecn: Ecn) -> [u64; 3] {
    let mut counts = [0; 3];
    for id in 0..n {
        match q.enqueue(now, token(id, 1500, ecn), &mut ()) {
            Verdict::Queued => counts[0] += 1,
            Verdict::Marked => counts[1] += 1,
            Verdict::Dropped(_) => counts[2] += 1,
        }
    }
    counts
}

fn near(count: u64, n: u64, p: f64) {
    let sigma = libm::sqrt(n as f64 * p * (1.0 - p));
    assert!((count as f64 - n as f64 * p).abs() < 5.0 * sigma, "{count} of {n}, p = {p}");
}

#[test]
fn classic_packets_are_hit_with_the_square_and_scalable_ones_with_k_times_p() {
    let n = 100_000;
    let params = pi2::Params { ecn: EcnMarking::On, scalable: true, ..Default::default() };
    let (mut q, now, base) = congested(params);
    assert!((0.3..0.35).contains(&base), "{base}");
    let [_, marked, dropped] = outcome(&mut q, now, n, Ecn::Ect0);
    assert_eq!(dropped, 0);
    near(marked, n, base * base);
    let [_, marked, dropped] = outcome(&mut q, now, n, Ecn::NotEct);
    assert_eq!(marked, 0);
    near(dropped, n, base * base);
    let [_, marked, _] = outcome(&mut q, now, n, Ecn::Ect1);
    near(marked, n, 2.0 * base);
    let [queued, ..] = outcome(&mut q, now, n, Ecn::Ce);
    assert_eq!(queued, n);
    // Without `scalable` ECT(1) is nothing special.
    let (mut q, now, base) = congested(pi2::Params { ecn: EcnMarking::On, ..Default::default() });
    let [_, marked, _] = outcome(&mut q, now, n, Ecn::Ect1);
    near(marked, n, base * base);
}

#[test]
fn pi2_spares_queue_shorter_than_two_packets() {
    let (mut q, now, _) = congested(pi2::Params::default());
    crate::common::drain(&mut q, now, 1);
    for _ in 0..200 {
        assert_eq!(offer(&mut q, now, 1, Ecn::NotEct), [1, 0, 0, 0]);
        crate::common::drain(&mut q, now, 1);
    }
}

#[test]
fn pi2_head_age_moves_p_without_departures() {
    // A link that stands still for a second: an estimate from departures would see nothing.
    let mut q = queue(&Config::Pi2(pi2::Params::default()), &env(100, 1500));
    offer(&mut q, Time::ZERO, 3, Ecn::NotEct);
    q.advance(Time::from_millis(992));
    // Σ 0.3125 (32 ms i − 20 ms) for i = 1 to 31, + 3.125·0.992: the start, below 0, is not.
    let p: f64 = (1..=31).map(|i| 0.3125 * (0.032 * f64::from(i) - 0.02)).sum::<f64>() + 3.1;
    assert!(p > 1.0);
    assert_eq!(q.probability(), 1.0);
    let mut q = queue(
        &Config::Pi2(pi2::Params { beta: 0.0, alpha: 0.03, ..Default::default() }),
        &env(100, 1500),
    );
    offer(&mut q, Time::ZERO, 3, Ecn::NotEct);
    q.advance(Time::from_millis(992));
    let p: f64 = (1..=31).map(|i| 0.03 * (0.032 * f64::from(i) - 0.02)).sum();
    assert!((q.probability() - p * p).abs() < 1e-12, "{} {p}", q.probability());
}

/// Instants that were missed while one packet stood come to the same as each by itself: first the
/// delay is below the target and the probability falls, then it rises.
#[test]
fn pi2_makes_up_for_missed_instants_below_and_above_its_target() {
    for target in [20, 300, 2000] {
        let target = Time::from_millis(target);
        let config = Config::Pi2(pi2::Params { target, ..Default::default() });
        let mut q = queue(&config, &env(12, 1500));
        offer(&mut q, Time::ZERO, 200, Ecn::Ect0);
        let mut now = Time::ZERO;
        while q.probability() < 0.3 {
            now += Time::from_millis(16);
            q.advance(now);
        }
        drain(&mut q, now, 0);
        while q.packets() == 0 {
            offer(&mut q, now, 1, Ecn::NotEct);
        }
        let Qdisc::Pi2(twin) = &q else { unreachable!() };
        let mut each = Qdisc::Pi2(twin.clone());
        for ms in 0..=3000 {
            each.advance(now + Time::from_millis(ms));
            if ms % 777 == 0 {
                let mut at_once = Qdisc::Pi2(twin.clone());
                at_once.advance(now + Time::from_millis(ms));
                assert_eq!(at_once.probability().to_bits(), each.probability().to_bits(), "{ms}");
            }
        }
    }
}
