//! Mistakes known from other people's queue disciplines, one test each.

mod cake;
mod choke;
mod cobalt;
mod codel;
mod fq_codel;
mod fq_pie;
mod sfq;

use crate::common::{drain, env, marking, offer, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::*;

const MS: u64 = 1_000_000;

/// RED that follows the queue at once, with room between the thresholds.
fn red(ecn: EcnMarking) -> red::Params {
    let hits = red::Hits { ecn, ..Default::default() };
    let (min_th, max_th, max_p) = (10.0, 30.0, 0.1);
    red::Params { min_th, max_th, max_p, wq: Some(1.0), hits, ..Default::default() }
}

/// A queue under `config` with `n` packets standing at time zero. Offering more than that once
/// makes up for what was dropped on the way.
fn standing(config: &Config, n: u32) -> Qdisc<crate::common::Token> {
    let mut q = queue(config, &env(100, 1500));
    while q.packets() < n {
        assert!(q.counters().arrived().packets < 100_000, "cannot be filled to {n}");
        offer(&mut q, Time::ZERO, 1, Ecn::Ect0);
    }
    q
}

/// Offers `n` packets, each to a queue of `length`: what became of them, as `offer` counts.
fn hold(q: &mut Qdisc<crate::common::Token>, length: u32, n: u32, ecn: Ecn) -> [u32; 4] {
    let mut total = [0; 4];
    for _ in 0..n {
        let counts = offer(q, Time::ZERO, 1, ecn);
        (0..4).for_each(|i| total[i] += counts[i]);
        drain(q, Time::ZERO, length);
    }
    total
}

#[test]
fn red_with_ecn_does_not_mark_everything_above_min_th() {
    let mut q = standing(&Config::Red(red(EcnMarking::On)), 20);
    let [queued, marked, early, full] = hold(&mut q, 20, 10_000, Ecn::Ect0);
    // p_b = 0.05, spaced: a hit per (1/p_b + 1)/2 = 10.5 packets.
    assert_eq!((early, full), (0, 0));
    assert!((900..=1000).contains(&marked), "{marked} of {}", queued + marked);
}

#[test]
fn red_with_ecn_does_not_drop_everything_that_is_not_capable() {
    let mut q = standing(&Config::Red(red(EcnMarking::On)), 20);
    let [_, marked, early, full] = hold(&mut q, 20, 10_000, Ecn::NotEct);
    assert_eq!((marked, full), (0, 0));
    assert!((900..=1000).contains(&early), "{early}");
}

#[test]
fn red_that_is_not_gentle_hits_everything_above_max_th_and_not_just_max_p() {
    let mut config = red(EcnMarking::On);
    config.gentle = false;
    // Marking lets the queue be filled beyond max_th.
    config.hits.ecn_drop_above_max = false;
    let mut q = standing(&Config::Red(config.clone()), 31);
    assert_eq!(hold(&mut q, 31, 1000, Ecn::Ect0), [0, 1000, 0, 0]);
    assert_eq!(hold(&mut q, 31, 1000, Ecn::NotEct), [0, 0, 1000, 0]);
    config.hits.ecn_drop_above_max = true;
    let mut q = standing(&Config::Red(config), 30);
    assert_eq!(hold(&mut q, 30, 1000, Ecn::Ect0), [0, 0, 1000, 0]);
    assert_eq!(hold(&mut q, 30, 1000, Ecn::NotEct), [0, 0, 1000, 0]);
}

#[test]
fn gentle_red_rises_from_max_p_to_one_between_max_th_and_its_double() {
    let mut config = red(EcnMarking::On);
    config.hits.ecn_drop_above_max = false;
    let config = Config::Red(config);
    for (length, p) in [(30, 0.1), (45, 0.55), (60, 1.0)] {
        let mut q = standing(&config, length);
        let [_, marked, ..] = hold(&mut q, length, 10_000, Ecn::Ect0);
        assert!((q.probability() - p).abs() < 1e-12, "{length}: {}", q.probability());
        let gap = 10_000.0 / f64::from(marked);
        // The mean of a gap that is uniform on 1..1/p, its last step cut short.
        let whole = (1.0f64 / p).floor();
        let rest = 1.0 - whole * p;
        let expected = p * whole * (whole + 1.0) / 2.0 + rest * (whole + 1.0);
        assert!((gap - expected).abs() < 0.05 * expected, "{length}: {gap} {expected}");
    }
}

#[test]
fn red_drops_capable_packets_above_max_th_unless_told_to_mark() {
    // RFC 3168 section 7; the switch is what the study of ECN-aware ARED turned off.
    for drop in [true, false] {
        let mut config = red(EcnMarking::On);
        config.hits.ecn_drop_above_max = drop;
        // Filled with the limit still far: the first packets find a short queue.
        let mut q = queue(&Config::Red(config), &env(100, 1500));
        while q.packets() < 40 {
            offer(&mut q, Time::ZERO, 1, Ecn::Ect0);
        }
        let [_, marked, early, _] = hold(&mut q, 40, 1000, Ecn::Ect0);
        assert_eq!((marked == 0, early == 0), (drop, !drop), "{marked} {early}");
    }
}

#[test]
fn red_lets_its_average_decay_while_the_link_is_idle() {
    let mut config = red(EcnMarking::On);
    config.wq = Some(0.002);
    (config.min_th, config.max_th) = (100.0, 300.0);
    let mut q = queue(&Config::Red(config), &env(100, 1500));
    let average = |q: &Qdisc<_>| match q {
        Qdisc::Red(q) => q.law().state().average as f64 / (1u64 << 36) as f64,
        _ => unreachable!(),
    };
    for _ in 0..10_000 {
        offer(&mut q, Time::ZERO, 1, Ecn::Ect0);
        drain(&mut q, Time::ZERO, 50);
    }
    let before = average(&q);
    drain(&mut q, Time::ZERO, 0);
    // Half a second of idleness, less the last packet's 120 µs, is 4165.67 packet times.
    offer(&mut q, Time(500 * MS), 1, Ecn::Ect0);
    let packets = (500.0 - 0.12) / 0.12;
    let expected = before * libm::pow(0.998, packets) * 0.998;
    assert!(before > 45.0);
    assert!((average(&q) - expected).abs() < 1e-6, "{} {expected}", average(&q));
}

#[test]
fn red_idle_time_starts_after_last_transmission() {
    let mut config = red(EcnMarking::On);
    config.wq = Some(0.5);
    let mut q = queue(&Config::Red(config), &env(100, 1500));
    offer(&mut q, Time::ZERO, 8, Ecn::Ect0);
    let average = |q: &Qdisc<_>| match q {
        Qdisc::Red(q) => q.law().state().average,
        _ => unreachable!(),
    };
    drain(&mut q, Time::ZERO, 0);
    let before = average(&q);
    // 1500 bytes take 120 µs: at 119 the queue is empty and the link busy.
    offer(&mut q, Time(119_000), 1, Ecn::Ect0);
    assert_eq!(average(&q), before - before / 2);
}

#[test]
fn red_spares_short_queue_only_if_configured() {
    for (min_queue, wanted) in [(0, 100), (40, 100), (41, 0)] {
        let hits = red::Hits { min_queue, ..marking() };
        let config = red::Params { gentle: false, hits, ..red(EcnMarking::On) };
        let mut q = standing(&Config::Red(config), 40);
        let [_, marked, ..] = hold(&mut q, 40, 100, Ecn::Ect0);
        assert_eq!(marked, wanted, "of 100 that find 40, with {min_queue}");
    }
}

#[test]
fn red_spaces_hits_by_count_so_that_none_is_overdue() {
    let mut q = standing(&Config::Red(red(EcnMarking::On)), 20);
    let (mut since, mut longest) = (0, 0);
    for _ in 0..50_000 {
        let [_, marked, ..] = hold(&mut q, 20, 1, Ecn::Ect0);
        since = if marked == 1 { 0 } else { since + 1 };
        longest = longest.max(since);
    }
    // p_b = 0.05. Without spacing a gap beyond 100 packets would be near certain here.
    assert!((15..20).contains(&longest), "{longest}");
}

#[test]
fn red_counts_anew_after_a_drop_by_the_limit() {
    // p_b = 0.05 for ever: without overflow the 20th packet after a hit is certain to be one.
    let mut config = red(EcnMarking::On);
    config.limit = 21;
    let mut q = standing(&Config::Red(config), 20);
    let mut hits = 0;
    for _ in 0..2000 {
        // Nine that pass or are hit, then one more that finds the queue full.
        let [_, marked, ..] = hold(&mut q, 20, 9, Ecn::Ect0);
        let [_, also, _, full] = offer(&mut q, Time::ZERO, 2, Ecn::Ect0);
        drain(&mut q, Time::ZERO, 20);
        hits += marked + also;
        assert_eq!(full, 1);
        match &q {
            Qdisc::Red(q) => assert_eq!(q.law().state().count, 0),
            _ => unreachable!(),
        }
    }
    assert!(hits > 500, "{hits}");
}

#[test]
fn rem_counts_arrivals_that_are_dropped() {
    let config = rem::Params { limit: 1, alpha: 0.0, qref: 0.0, ..Default::default() };
    let mut q = queue(&Config::Rem(config), &env(60, 1500));
    offer(&mut q, Time::ZERO, 110, Ecn::Ect0);
    q.advance(Time(2 * MS));
    // C·T is 10 packets; one of the 110 is in the queue.
    match &q {
        Qdisc::Rem(q) => assert!((q.law().price() - 0.1).abs() < 1e-12, "{}", q.law().price()),
        _ => unreachable!(),
    }
}

#[test]
fn pi_updates_without_any_enqueue() {
    let config = pi::Params { qref: 10.0, ..Default::default() };
    let mut q = standing(&Config::Pi(config), 300);
    // Two seconds of departures only, 20 of them.
    for i in 1..=20 {
        q.dequeue(Time(i * 100 * MS), &mut ());
    }
    match &q {
        Qdisc::Pi(q) => assert_eq!(q.law().statistics().instants, 339),
        _ => unreachable!(),
    }
    // About 340 (a - b) 280 - a 20; the last of the 340 instants is 20 ns after 2 s.
    assert!(q.probability() > 1e-3, "{}", q.probability());
}

#[test]
fn rem_updates_without_any_enqueue() {
    let mut q = standing(&Config::Rem(rem::Params { alpha: 1.0, ..Default::default() }), 300);
    for i in 1..=100 {
        q.dequeue(Time(i * 2 * MS), &mut ());
    }
    assert!(q.probability() > 1e-3, "{}", q.probability());
}

#[test]
fn ared_adapts_without_any_enqueue() {
    let config = ared::Params {
        min_th: Some(5.0),
        max_th: Some(15.0),
        wq: Some(0.01),
        ..Default::default()
    };
    let mut q = queue(&Config::Ared(config), &env(100, 1500));
    let max_p = |q: &Qdisc<_>| match q {
        Qdisc::Ared(q) => q.law().red().state().max_p.as_f64(),
        _ => unreachable!(),
    };
    q.advance(Time(1_600 * MS));
    assert!((max_p(&q) - 0.1 * 0.9f64.powi(3)).abs() < 1e-12, "{}", max_p(&q));
}

#[test]
fn ared_pushes_max_p_up_while_a_long_queue_stands() {
    let config = ared::Params {
        min_th: Some(5.0),
        max_th: Some(15.0),
        wq: Some(1.0),
        hits: marking(),
        ..Default::default()
    };
    let mut q = standing(&Config::Ared(config), 14);
    for i in 1..=10u64 {
        q.advance(Time(i * 500 * MS));
    }
    match &q {
        Qdisc::Ared(q) => {
            let max_p = q.law().red().state().max_p.as_f64();
            assert!((max_p - 0.2).abs() < 1e-12, "{max_p}");
        }
        _ => unreachable!(),
    }
}

#[test]
fn a_packet_marked_before_is_neither_marked_again_nor_dropped() {
    let pi = pi::Params { a: 1.0, b: 0.0, qref: 0.0, ecn: EcnMarking::On, ..Default::default() };
    let rem =
        rem::Params { gamma: 1.0, alpha: 1.0, phi: 2.0, ecn: EcnMarking::On, ..Default::default() };
    let mut red = red(EcnMarking::On);
    red.hits.ecn_drop_above_max = false;
    for config in [Config::Pi(pi), Config::Rem(rem), Config::Red(red)] {
        let mut q = standing(&config, 200);
        q.advance(Time(20 * MS));
        let marked = q.counters().marked;
        // `Token::set_ce` panics if it is called on a packet that is CE already.
        let verdict = q.enqueue(Time(20 * MS), token(1, 1500, Ecn::Ce), &mut ());
        assert_eq!(verdict, Verdict::Queued, "{}", config.name());
        assert_eq!(q.counters().marked, marked);
        // Certain to be hit, as one that is not marked yet shows.
        let verdict = q.enqueue(Time(20 * MS), token(2, 1500, Ecn::Ect1), &mut ());
        assert_eq!(verdict, Verdict::Marked, "{}", config.name());
        let verdict = q.enqueue(Time(20 * MS), token(3, 1500, Ecn::NotEct), &mut ());
        assert_eq!(verdict, Verdict::Dropped(DropReason::Early), "{}", config.name());
    }
}

#[test]
fn a_tick_and_a_packet_at_the_same_instant_run_in_that_order() {
    let config = pi::Params { a: 1.0, b: 0.0, qref: 0.0, frequency: 1000.0, ..Default::default() };
    let mut q = standing(&Config::Pi(config), 5);
    // The tick at 1 ms sees 5 packets, p becomes 1, and the packet of that instant is dropped.
    assert_eq!(offer(&mut q, Time(MS - 1), 1, Ecn::Ect0), [1, 0, 0, 0]);
    assert_eq!(offer(&mut q, Time(MS), 1, Ecn::Ect0), [0, 0, 1, 0]);
}

#[test]
fn pi_does_not_wind_up_beyond_zero_or_one() {
    let config =
        pi::Params { qref: 100.0, a: 1e-3, b: 9e-4, frequency: 100.0, ..Default::default() };
    let mut q = queue(&Config::Pi(config.clone()), &env(100, 1500));
    // A minute of an empty queue, then one too long: the first instant must already respond.
    q.advance(Time(60_000 * MS));
    assert_eq!(q.probability(), 0.0);
    offer(&mut q, Time(60_000 * MS), 200, Ecn::Ect0);
    q.advance(Time(60_010 * MS));
    // p = a (200 − 100) − b (0 − 100) + 0
    assert!((q.probability() - 0.19).abs() < 1e-9, "{}", q.probability());
}

#[test]
fn pi_takes_the_first_queue_it_sees_as_its_previous_one() {
    let config = pi::Params { qref: 100.0, a: 1e-3, b: 9e-4, ..Default::default() };
    let mut q = standing(&Config::Pi(config), 200);
    q.advance(Time(6 * MS));
    assert!((q.probability() - 0.01).abs() < 1e-9, "{}", q.probability());
}

#[test]
fn byte_mode_scales_probability_by_size() {
    let config = pi::Params {
        a: 1e-3,
        b: 0.0,
        qref: 0.0,
        byte_mode: ByteMode { scale_by_size: true, mean_packet: Some(1000), ..Default::default() },
        ..Default::default()
    };
    let mut q = standing(&Config::Pi(config), 400);
    let tick = Time(6 * MS);
    q.advance(tick);
    assert!((q.probability() - 0.4).abs() < 1e-9);
    for (bytes, p) in [(40, 0.016), (500, 0.2), (1500, 0.6), (9000, 1.0)] {
        let n = 40_000;
        let hits = (0..n)
            .filter(|&i| q.enqueue(tick, token(i, bytes, Ecn::NotEct), &mut ()) != Verdict::Queued)
            .count() as f64;
        let sigma = libm::sqrt(n as f64 * p * (1.0 - p));
        assert!((hits - n as f64 * p).abs() <= 5.0 * sigma, "{bytes}: {hits}");
    }
}
