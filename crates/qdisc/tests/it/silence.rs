//! A long silence is crossed in a bounded number of steps, and to the same end as tick by tick.

use crate::common::{drain, env, marking, offer, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::*;

const HOUR: Time = Time::from_secs(3600);

/// Looks at `q` every 100 ms for an hour.
fn look_on(q: &mut Qdisc<crate::common::Token>, from: Time) {
    for i in 0..=36_000 {
        q.advance(from + Time::from_millis(100 * i));
    }
}

/// A queue in the same state.
fn twin(q: &Qdisc<crate::common::Token>) -> Qdisc<crate::common::Token> {
    match q {
        Qdisc::Pi(q) => Qdisc::Pi(q.clone()),
        Qdisc::Rem(q) => Qdisc::Rem(q.clone()),
        Qdisc::Ared(q) => Qdisc::Ared(q.clone()),
        _ => unreachable!("no law that samples"),
    }
}

#[test]
fn pi_crosses_an_hour_in_two_steps() {
    let config = Config::Pi(pi::Params { qref: 100.0, ..Default::default() });
    for left in [0, 99, 101, 300] {
        let mut q = queue(&config, &env(100, 1500));
        offer(&mut q, Time::ZERO, 400, Ecn::Ect0);
        let mut now = Time::from_secs(20);
        q.advance(now);
        assert!(q.probability() > 0.01);
        drain(&mut q, now, left);
        let mut other = twin(&q);
        let steps = |q: &Qdisc<_>| match q {
            Qdisc::Pi(q) => q.law().statistics().steps,
            _ => unreachable!(),
        };
        let before = steps(&q);
        now += HOUR;
        q.advance(now);
        assert_eq!(steps(&q) - before, 2);
        look_on(&mut other, now - HOUR);
        assert_eq!(q.probability().to_bits(), other.probability().to_bits());
        match (&q, &other) {
            (Qdisc::Pi(a), Qdisc::Pi(b)) => {
                assert_eq!(a.law().state(), b.law().state());
                assert_eq!(a.law().statistics().instants, b.law().statistics().instants);
            }
            _ => unreachable!(),
        }
        if left == 0 {
            assert_eq!(q.probability(), 0.0);
        }
    }
}

#[test]
fn rem_lets_its_price_decay_in_closed_form() {
    let params = rem::Params { gamma: 1e-6, ..Default::default() };
    let mut q = queue(&Config::Rem(params.clone()), &env(100, 1500));
    offer(&mut q, Time::ZERO, 100_000, Ecn::Ect0);
    q.advance(Time::from_secs(100));
    drain(&mut q, Time::from_secs(100), 0);
    let price = |q: &Qdisc<_>| match q {
        Qdisc::Rem(q) => q.law().price(),
        _ => unreachable!(),
    };
    let before = price(&q);
    assert!(before > 1.0, "{before}");
    let mut other = twin(&q);
    // C·T = 100e6/8/1500·0.002 = 16.67 packets; each instant takes γ (α·20 + 16.67) off.
    let n = 20_000;
    q.advance(Time::from_secs(100) + Time::from_millis(2 * n));
    let expected = before - n as f64 * 1e-6 * (0.1 * 20.0 + 50.0 / 3.0);
    assert!((price(&q) - expected).abs() < 1e-6, "{} {expected}", price(&q));
    for i in 1..=n {
        other.advance(Time::from_secs(100) + Time::from_millis(2 * i));
    }
    assert_eq!(price(&q).to_bits(), price(&other).to_bits());
    let steps = match &q {
        Qdisc::Rem(q) => q.law().statistics().steps,
        _ => unreachable!(),
    };
    q.advance(Time::from_secs(100_000));
    assert_eq!(price(&q), 0.0);
    match &q {
        Qdisc::Rem(q) => assert_eq!(q.law().statistics().steps - steps, 2),
        _ => unreachable!(),
    }
}

#[test]
fn ared_crosses_an_hour_in_the_steps_that_its_range_allows() {
    // With so slow an average it takes minutes from above the target to below.
    for (left, wq) in [(0, 1e-6), (0, 1e-3), (12, 1e-3), (5, 1e-3)] {
        let config = Config::Ared(ared::Params {
            min_th: Some(5.0),
            max_th: Some(15.0),
            wq: Some(wq),
            hits: marking(),
            ..Default::default()
        });
        let mut q = queue(&config, &env(100, 1500));
        offer(&mut q, Time::ZERO, if wq < 1e-5 { 6000 } else { 400 }, Ecn::Ect0);
        let now = Time::from_millis(400);
        drain(&mut q, now, left);
        let mut other = twin(&q);
        let before = match &q {
            Qdisc::Ared(q) => q.law().red().state().average >> 36,
            _ => unreachable!(),
        };
        assert!(before > 11, "the average starts above the target: {before}");
        q.advance(now + HOUR);
        look_on(&mut other, now);
        match (&q, &other) {
            (Qdisc::Ared(a), Qdisc::Ared(b)) => {
                assert_eq!(a.law().red().state(), b.law().red().state());
                assert_eq!(a.law().statistics(), b.law().statistics());
                // At least from 0.1 to 0.01 by 0.9 or to 0.5 by 0.01; at most up and down again.
                let steps = a.law().statistics().steps;
                assert!((22..=90).contains(&steps), "{steps}");
                assert_eq!(a.law().statistics().instants, 7200);
            }
            _ => unreachable!(),
        }
    }
}

#[test]
fn batched_updates_equal_single_updates() {
    let pi = pi::Params { qref: 30.0, frequency: 1000.0, ..Default::default() };
    let rem = rem::Params { period: Time::from_millis(1), ..Default::default() };
    let ared = ared::Params {
        interval: Time::from_millis(1),
        min_th: Some(5.0),
        max_th: Some(15.0),
        wq: Some(0.1),
        limit: 100,
        ..Default::default()
    };
    for config in [Config::Pi(pi), Config::Rem(rem), Config::Ared(ared)] {
        let (mut q, mut each) = (queue(&config, &env(100, 1500)), queue(&config, &env(100, 1500)));
        let (mut ms, mut nonzero) = (0, 0);
        for i in 0..4000u64 {
            let gap = 1 + i * 7 % 5;
            for k in 1..=gap {
                each.advance(Time::from_millis(ms + k));
            }
            ms += gap;
            q.advance(Time::from_millis(ms));
            assert_eq!(q.probability().to_bits(), each.probability().to_bits(), "{i}");
            nonzero += u32::from(q.probability() > 0.0);
            let (n, left) = ([60, 45, 20, 0][(i / 100) as usize % 4], [40, 25, 0][i as usize % 3]);
            for q in [&mut q, &mut each] {
                offer(q, Time::from_millis(ms), n, Ecn::Ect0);
                drain(q, Time::from_millis(ms), left);
            }
        }
        assert!(nonzero > 500, "{}: {nonzero}", config.name());
    }
}

#[test]
fn updates_reach_end_of_time_without_panic() {
    for name in Config::NAMES {
        let mut q = queue(&crate::common::outside::sample(name), &env(100, 1500));
        offer(&mut q, Time::ZERO, 100, Ecn::Ect0);
        q.advance(Time(u64::MAX - 1));
        offer(&mut q, Time(u64::MAX - 1), 100, Ecn::Ect0);
        drain(&mut q, Time::MAX, 0);
        offer(&mut q, Time::MAX, 1, Ecn::Ect0);
        assert!((0.0..=1.0).contains(&q.probability()));
    }
}

#[test]
fn an_instant_that_does_not_wait_for_another_is_one_step() {
    let params = pi::Params { frequency: 100.0, ..Default::default() };
    let mut q = queue(&Config::Pi(params), &env(12, 1500));
    for ms in 0..=1000 {
        q.enqueue(Time::from_millis(ms), token(ms, 1500, Ecn::NotEct), &mut ());
        q.dequeue(Time::from_millis(ms), &mut ());
    }
    let Qdisc::Pi(q) = &q else { unreachable!() };
    let statistics = q.law().statistics();
    assert_eq!((statistics.steps, statistics.instants), (100, 100));
}

#[test]
fn a_price_that_rises_and_falls_by_the_same_steps_comes_back() {
    // 10 packets in each period: none and twice as many are as far from it.
    let period = Time::from_millis(10);
    let params = rem::Params { period, qref: 0.0, ..Default::default() };
    let mut q = queue(&Config::Rem(params), &env(12, 1500));
    let mut now = Time::ZERO;
    let mut next = |q: &mut Qdisc<_>, packets| {
        offer(q, now, packets, Ecn::Ect0);
        drain(q, now, 0);
        now += period;
        q.advance(now);
        let Qdisc::Rem(q) = q else { unreachable!() };
        q.law().state().exponent
    };
    let before = (0..10).map(|_| next(&mut q, 20)).last().unwrap();
    assert!(before > 0);
    for _ in 0..1000 {
        assert!(next(&mut q, 0) < before);
        assert_eq!(next(&mut q, 20), before);
    }
}
