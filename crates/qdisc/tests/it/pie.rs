//! PIE against its formulas in double precision, and mistakes known from other PIEs.

use crate::common::traffic::{Traffic, odds};
use crate::common::{Token, drain, env, offer, queue, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::*;

const MS: u64 = 1_000_000;

fn coin() -> Stream {
    Stream::new(1, Kind::Qdisc, 0, 0)
}

fn state(q: &Qdisc<Token>) -> &pie::State {
    match q {
        Qdisc::Pie(q) => q.law().state(),
        _ => unreachable!(),
    }
}

/// RFC 8033, section 4.2, in double precision; delays in seconds.
fn update(p: f64, delay: f64, old: f64, high: f64) -> f64 {
    let scale = match p {
        p if p < 1e-6 => 2048.0,
        p if p < 1e-5 => 512.0,
        p if p < 1e-4 => 128.0,
        p if p < 1e-3 => 32.0,
        p if p < 1e-2 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    };
    let mut change = (0.125 * (delay - 0.015) + 1.25 * (delay - old)) / scale;
    if p >= 0.1 && change > 0.02 {
        change = 0.02;
    }
    if delay > high {
        change += 0.02;
    }
    let mut p = (p + change).max(0.0);
    if delay == 0.0 && old == 0.0 {
        p *= 0.98;
    }
    p
}

#[test]
fn pie_follows_its_formula_through_every_band() {
    for (delay, high_delay, max_probability) in [
        (pie::Delay::Timestamps, None, 1.0),
        (pie::Delay::Timestamps, Some(Time::from_millis(20)), 1.0),
        (pie::Delay::Timestamps, Some(Time::from_millis(20)), 2.5),
        (pie::Delay::Rate, None, 1.0),
    ] {
        let params = pie::Control {
            delay,
            high_delay,
            max_probability,
            ecn: EcnMarking::On,
            mark_ecn_th: 1.0,
            ..Default::default()
        };
        let mut q = pie::Discipline::<Token>::new(&params.into(), &env(10, 1000), coin()).unwrap();
        let high = high_delay.map_or(f64::INFINITY, Time::as_secs_f64);
        let (mut p, mut old, mut worst, mut bands) = (0.0f64, 0.0, 0.0f64, [0u32; 8]);
        let mut most = 0.0f64;
        let (mut last, mut cycle, mut average) = (0.0, None::<(u64, u64)>, 0.0f64);
        let mut traffic = Traffic::new();
        for k in 1..=60_000u64 {
            let instant = Time(k * 15 * MS);
            let around = [0, 150, 8, 60][(k / 1500) as usize % 4];
            let odds = odds(q.packets(), around);
            traffic.go(&mut q, instant, 40, odds, |now, packet, came, q| {
                last = if q.packets() == 0 { 0.0 } else { (now.0 - came.0) as f64 * 1e-9 };
                // Section 5.2.
                if let Some((sent, since)) = cycle
                    && sent >= 16_384
                {
                    let took = (now.0 - since) as f64 * 1e-9;
                    average = if average == 0.0 { took } else { 0.75 * average + 0.25 * took };
                    cycle = None;
                }
                match &mut cycle {
                    Some((sent, _)) => *sent += u64::from(packet.bytes),
                    None if q.bytes() >= 16_384 => cycle = Some((packet.bytes.into(), now.0)),
                    None => {}
                }
            });
            let measured = match delay {
                pie::Delay::Timestamps => last,
                pie::Delay::Rate => q.bytes() as f64 * average / 16_384.0,
            };
            q.advance(instant);
            p = update(p, measured, old, high).min(max_probability);
            (old, most) = (measured, p.max(most));
            worst = worst.max((q.probability() - p.min(1.0)).abs());
            let band = if p == 0.0 { 0 } else { (7.0 + p.log10()).clamp(0.0, 6.0) as usize + 1 };
            bands[band] += 1;
            traffic.now = instant;
        }
        assert!(bands.iter().all(|&n| n > 20), "{delay:?}: updates by band {bands:?}");
        assert!(bands[7] > 2000, "{delay:?}: {bands:?}");
        assert_eq!(most, max_probability, "it was reached");
        // The rate's own integers: an average in 2⁻¹⁶ ns, a delay in whole ns.
        let bound = if delay == pie::Delay::Rate { 1e-6 } else { 1e-9 };
        assert!(worst < bound, "{delay:?}: off by {worst:e}");
    }
}

/// A queue with `p` = 1 or near, in which `left` packets stand that came at 10 s.
fn congested(control: pie::Control, left: u32) -> (Qdisc<Token>, Time) {
    let params = pie::Params { control, limit: 2000 };
    let mut q = queue(&Config::Pie(params), &env(100, 1500));
    offer(&mut q, Time::ZERO, 1000, Ecn::Ect0);
    let mut now = Time::ZERO;
    // Every second one leaves; its delay grows.
    while q.probability() < 1.0 && q.packets() > left {
        now += Time::from_secs(1);
        q.dequeue(now, &mut ());
    }
    drain(&mut q, now, left);
    (q, now)
}

#[test]
fn batched_updates_equal_single_updates() {
    // Delays of the last packet: none, below, at and above the target, far above it.
    for (i, delay) in [0, 3 * MS, 15 * MS, 17 * MS, 600 * MS, 0].into_iter().enumerate() {
        for high in [None, Some(Time::from_millis(250))] {
            let params = pie::Control { high_delay: high, ..Default::default() };
            let (mut q, mut now) = congested(params, if delay == 0 { 0 } else { 40 });
            if i == 3 {
                // Up from nothing, through all bands.
                q = queue(&Config::Pie(pie::Params::default()), &env(100, 1500));
                now = Time::ZERO;
                offer(&mut q, now, 40, Ecn::Ect0);
            }
            if delay > 0 {
                now += Time::from_secs(1);
                q.dequeue(now, &mut ());
                offer(&mut q, now, 1, Ecn::Ect0);
                drain(&mut q, Time(now.0 + delay), 1);
                now = Time(now.0 + delay);
            }
            let mut other = match &q {
                Qdisc::Pie(q) => Qdisc::Pie(q.clone()),
                _ => unreachable!(),
            };
            let before = state(&q).steps;
            q.advance(now + Time::from_secs(3600));
            for k in 0..=240_000 {
                other.advance(now + Time::from_millis(15 * k));
            }
            let (a, b) = (state(&q), state(&other));
            assert_eq!(a.probability, b.probability, "{delay} {high:?}");
            assert_eq!((a.delay_old, a.burst), (b.delay_old, b.burst));
            let most = if a.delay_old == 0 { 1500 } else { 10 };
            assert!(a.steps - before <= most, "{delay}: {} steps", a.steps - before);
        }
    }
}

#[test]
fn an_update_that_does_not_wait_for_another_is_one_step() {
    let mut q = queue(&Config::Pie(pie::Params::default()), &env(12, 1500));
    offer(&mut q, Time::ZERO, 100, Ecn::Ect0);
    for n in 1..=100 {
        q.advance(Time(n * 15 * MS));
        assert_eq!(state(&q).steps, n);
    }
}

#[test]
fn pie_updates_without_any_enqueue() {
    let mut q = queue(&Config::Pie(pie::Params::default()), &env(100, 1500));
    offer(&mut q, Time::ZERO, 100, Ecn::Ect0);
    for i in 1..=50 {
        q.dequeue(Time(i * 20 * MS), &mut ());
    }
    assert_eq!(state(&q).burst, 0);
    assert!(q.probability() > 0.1, "{}", q.probability());
}

#[test]
fn an_idle_link_lets_p_decay_although_its_last_packet_waited_long() {
    // Without beta, or the fall of the delay alone takes p to 0.
    let (mut q, now) = congested(pie::Control { beta: 0.0, ..Default::default() }, 0);
    assert!(q.probability() > 0.9, "{}", q.probability());
    q.advance(now + Time::from_millis(15 * 50));
    // From 1: −0.001875, then ×0.98, 49 or 50 times.
    let p = q.probability();
    assert!((0.25..0.36).contains(&p), "{p}");
    q.advance(now + Time::from_secs(60));
    assert_eq!(q.probability(), 0.0);
}

#[test]
fn pie_burst_allowance_covers_one_burst() {
    let mut q = queue(&Config::Pie(pie::Params::default()), &env(100, 1500));
    let mut now = Time::from_secs(100);
    q.advance(now);
    // A queue of 1000 packets that stands for 140 ms: nothing may be dropped.
    while now < Time::from_millis(100_140) {
        let n = 1000 - q.packets();
        assert_eq!(offer(&mut q, now, n, Ecn::NotEct)[2], 0, "{now:?}");
        now += Time::from_micros(120);
        q.dequeue(now, &mut ());
    }
    let mut dropped = 0;
    while now < Time::from_millis(102_000) {
        let n = 1000 - q.packets();
        dropped += offer(&mut q, now, n, Ecn::NotEct)[2];
        now += Time::from_micros(120);
        q.dequeue(now, &mut ());
    }
    assert!(dropped > 10, "{dropped}");
}

#[test]
fn mark_ecn_th_separates_marking_from_dropping() {
    for (th, marks) in [(0.1, false), (1.0, true)] {
        let params = pie::Control { ecn: EcnMarking::On, mark_ecn_th: th, ..Default::default() };
        let (mut q, now) = congested(params, 100);
        assert!(q.probability() > 0.5);
        let [_, marked, early, _] = offer(&mut q, now, 100, Ecn::Ect0);
        assert_eq!((marked > 30, early > 30), (marks, !marks), "{marked} {early}");
    }
}

/// Gaps between hits while p stays as it is.
fn gaps(derandomize: bool) -> (f64, Vec<u32>) {
    let params = pie::Control {
        derandomize,
        ecn: EcnMarking::On,
        alpha: 0.0,
        beta: 0.3,
        max_burst: Time::ZERO,
        ..Default::default()
    };
    let mut q = queue(&Config::Pie(params.into()), &env(100, 1500));
    offer(&mut q, Time::ZERO, 100, Ecn::Ect0);
    // One change of the delay, by 0.4 s: p = 0.12/2048, and then once more per band.
    let (mut now, mut wait) = (Time(0), 0u64);
    while q.probability() < 0.05 {
        wait += 100 * MS;
        now += Time(wait);
        offer(&mut q, now, 1, Ecn::Ect0);
        q.dequeue(now, &mut ());
        q.advance(Time(now.0 + 15 * MS));
        assert!(now < Time::from_secs(10_000));
    }
    let p = q.probability();
    let (mut gaps, mut gap) = (vec![0; 400], 0);
    now += Time(15 * MS);
    for id in 0..200_000 {
        gap += 1;
        if q.enqueue(now, token(id, 1500, Ecn::Ect0), &mut ()) == Verdict::Marked {
            gaps[gap.min(399)] += 1;
            gap = 0;
        }
    }
    (p, gaps)
}

#[test]
fn drops_are_spaced_between_085_and_85_unless_switched_off() {
    let (p, spaced) = gaps(true);
    assert!((0.05..0.1).contains(&p), "{p}");
    let (first, last) = ((0.85 / p).ceil() as usize, (8.5 / p).ceil() as usize);
    let least = spaced.iter().position(|&n| n > 0).unwrap();
    let most = spaced.iter().rposition(|&n| n > 0).unwrap();
    assert!(least >= first && least <= first + 2, "{least} {first}");
    assert!(most <= last, "{most} {last}");
    // After 0.85 each is hit with p: the mean gap is about 0.85/p + 1/p − 1.
    let hits: u32 = spaced.iter().sum();
    let mean = 200_000.0 / f64::from(hits);
    let expected = first as f64 - 1.0 + 1.0 / p;
    assert!((mean - expected).abs() < 0.05 * expected, "{mean} {expected}");

    let (p, free) = gaps(false);
    let hits: u32 = free.iter().sum();
    assert!((200_000.0 / f64::from(hits) - 1.0 / p).abs() < 0.06 / p);
    assert!(free[1] > 100, "two in a row happen: {}", free[1]);
}

#[test]
fn two_packets_always_pass_and_so_do_all_while_the_delay_is_short() {
    let (mut q, now) = congested(pie::Control::default(), 2);
    assert!(q.probability() > 0.9);
    for _ in 0..100 {
        assert_eq!(offer(&mut q, now, 1, Ecn::NotEct)[2], 0);
        drain(&mut q, now, 2);
    }
    // With p below 0.2 and a delay below half the target nothing is dropped.
    let (mut q, mut now) = congested(pie::Control::default(), 60);
    while q.probability() >= 0.2 {
        // Packets that waited 5 ms.
        now += Time::from_millis(5);
        offer(&mut q, now, 3, Ecn::NotEct);
        drain(&mut q, now, 3);
        drain(&mut q, now + Time::from_millis(5), 2);
    }
    now += Time::from_millis(5);
    while q.packets() < 100 {
        assert_eq!(offer(&mut q, now, 1, Ecn::NotEct)[2], 0, "p = {}", q.probability());
    }
}

/// Linux's rules, without what a start of flows is not about.
fn guarded(linux_guards: bool) -> pie::Control {
    pie::Control { linux_guards, ..Default::default() }
}

#[test]
fn linux_guards_spend_allowance_at_departures() {
    for (linux_guards, left) in [(false, 150 * MS), (true, 50 * MS)] {
        let first_update = Some(Time::from_millis(500));
        let params = pie::Control { first_update, ..guarded(linux_guards) };
        let mut q = queue(&Config::Pie(params.into()), &env(100, 1500));
        offer(&mut q, Time::ZERO, 300, Ecn::NotEct);
        for at in [200, 250, 300] {
            q.dequeue(Time::from_millis(at), &mut ());
        }
        // The time since the first departure.
        assert_eq!(state(&q).burst, left, "{linux_guards}");
        // Six updates whose delay is 300 ms: spent by the updates, or not at all.
        q.advance(Time::from_millis(500 + 5 * 15));
        assert!(q.probability() > 0.0);
        let left = if linux_guards { left } else { 150 * MS - 6 * 15 * MS };
        assert_eq!(state(&q).burst, left, "{linux_guards}");
    }
}

#[test]
fn linux_guards_renew_allowance_at_updates() {
    let mut q = queue(&Config::Pie(guarded(true).into()), &env(100, 1500));
    offer(&mut q, Time::ZERO, 300, Ecn::NotEct);
    for at in 1..=15 {
        q.dequeue(Time(at * 14 * MS), &mut ());
    }
    assert!(state(&q).burst < 50 * MS && q.probability() > 0.0);
    let mut now = Time::from_secs(10);
    drain(&mut q, now, 0);
    now += Time::from_secs(60);
    q.advance(now);
    assert_eq!((q.probability(), state(&q).burst), (0.0, 150 * MS));
}

#[test]
fn linux_guards_hold_p_while_a_packet_stands() {
    for (linux_guards, decays) in [(false, true), (true, false)] {
        for (stands, falls) in [(false, true), (true, decays)] {
            let (mut q, now) = congested(pie::Control { beta: 0.0, ..guarded(linux_guards) }, 0);
            let was = q.probability();
            if stands {
                offer(&mut q, now, 1, Ecn::NotEct);
            }
            q.advance(now + Time::from_millis(150));
            // alpha takes 0.001875 at each of ten updates, and the decay 2 %.
            let by_alpha = was - 10.0 * 0.125 * 0.015;
            let fell = q.probability() < by_alpha - 0.01;
            assert_eq!(fell, falls, "{linux_guards} {stands}: {was} to {}", q.probability());
        }
    }
}

#[test]
fn pie_early_drop_guard_uses_configured_delay() {
    for (linux_guards, passes) in [(false, true), (true, false)] {
        let params =
            pie::Control { alpha: 0.0, beta: 0.0, max_burst: Time::ZERO, ..guarded(linux_guards) };
        let mut q = queue(&Config::Pie(params.into()), &env(100, 1500));
        let Qdisc::Pie(inner) = &mut q else { unreachable!() };
        let (core, mut s) = (inner.law().core().clone(), inner.law().state().clone());
        s.probability = Probability::clamped((1 << Probability::BITS) / 10);
        let standing = Standing { packets: 60, bytes: 90_000 };
        // The update saw a short delay, and since then a packet left after a long one.
        (s.delay_old, s.delay) = (MS, 50 * MS);
        let mut coin = coin();
        let hits = (0..200)
            .filter(|_| core.arrival(&mut s, 1500, standing, &mut coin) != managed::Signal::Pass);
        assert_eq!(hits.count() == 0, passes, "{linux_guards}");
    }
}
