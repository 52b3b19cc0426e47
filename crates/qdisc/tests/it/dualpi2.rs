//! DualPI2 against its formulas in double precision, and what RFC 9332 asks of it.

use crate::common::traffic::{Traffic, odds};
use crate::common::{Bin, Token, env, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::dualpi2::{Decision, Discipline as Dual, Marking, Params, Scheduler};
use sojourn_qdisc::*;

const MS: u64 = 1_000_000;

fn dual(params: &Params) -> Dual<Token> {
    Dual::new(params, &env(10, 1000), Stream::new(1, Kind::Qdisc, 0, 0)).unwrap()
}

fn fill(q: &mut Dual<Token>, now: Time, n: u64, ecn: Ecn) {
    for id in 0..n {
        assert_eq!(q.enqueue(now, token(id, 1500, ecn), &mut ()), Verdict::Queued);
    }
}

#[test]
fn dualpi2_follows_its_formula_for_many_instants() {
    let mut q = dual(&Params::default());
    let (mut p, mut old, mut worst, mut inside) = (0.0f64, 0.0, 0.0f64, 0);
    let mut traffic = Traffic::new();
    traffic.ecn = |random| [Ecn::Ect0, Ecn::Ect1][random.below(2) as usize];
    for k in 1..=60_000u64 {
        let instant = Time(k * 16 * MS);
        let around = [0, 36, 8, 24][(k / 500) as usize % 4];
        let odds = odds(q.packets(), around);
        traffic.go(&mut q, instant, 40, odds, |_, _, _, _| ());
        q.advance(instant);
        let delay = traffic.oldest().map_or(0.0, |came| (instant.0 - came.0) as f64 * 1e-9);
        p = (p + 0.16 * (delay - 0.015) + 3.2 * (delay - old)).clamp(0.0, 1.0);
        old = delay;
        let exact = [p, (2.0 * p).min(1.0), p * p];
        for (got, exact) in q.probabilities().iter().zip(exact) {
            worst = worst.max((got.as_f64() - exact).abs());
        }
        inside += u32::from(p > 0.0 && p < 0.5);
        traffic.now = instant;
    }
    assert!(inside > 15_000, "p' was inside (0, 0.5) at {inside} instants only");
    assert!(worst < 1e-10, "off by {worst:e}");
}

/// A queue whose p' is near `base` and stays there (no gains), with packets of both kinds.
fn at(base: f64, params: Params) -> (Dual<Token>, Time) {
    // One update with the head 1 s old moves p' by alpha·0.985.
    let alpha = base / 0.985;
    let params = Params { alpha, beta: 0.0, tupdate: Time::from_secs(1), ..params };
    let mut q = dual(&params);
    // The update of the first second finds a head that came at 0; the next comes at 2 s.
    fill(&mut q, Time::ZERO, 1, Ecn::Ect0);
    let now = Time::from_secs(1);
    q.advance(now);
    q.dequeue(now, &mut ());
    assert!((q.probabilities()[0].as_f64() - base).abs() < 1e-9);
    (q, now)
}

/// Passes `n` packets through a queue in which others stand: how many were marked and dropped.
fn outcome(q: &mut Dual<Token>, now: Time, n: u64, ecn: Ecn) -> [u64; 2] {
    let mut bin = Bin::default();
    let marked = q.counters().marked.packets;
    for id in 0..n {
        let _ = q.enqueue(now, token(id, 1500, ecn), &mut bin);
        if q.packets() > 8 {
            let _ = q.dequeue(now, &mut bin);
        }
    }
    [q.counters().marked.packets - marked, bin.packets.len() as u64]
}

#[test]
fn the_two_queues_are_coupled_by_p_squared_and_k_times_p() {
    let n = 100_000;
    for decision in [Decision::Recur, Decision::Random] {
        for base in [0.01, 0.1, 0.4] {
            let params = Params { decision, coupling: 2.0, ..Params::default() };
            let near = |count: u64, p: f64| {
                let expected = n as f64 * p;
                let off = if decision == Decision::Recur { 12.0 } else { 5.0 * expected.sqrt() };
                assert!((count as f64 - expected).abs() <= off, "{decision:?} {count} {expected}");
            };
            let (mut q, now) = at(base, params.clone());
            let [marked, dropped] = outcome(&mut q, now, n, Ecn::Ect1);
            assert_eq!(dropped, 0);
            near(marked, 2.0 * base);
            let (mut q, now) = at(base, params.clone());
            let [marked, dropped] = outcome(&mut q, now, n, Ecn::Ect0);
            assert_eq!(dropped, 0);
            near(marked, base * base);
            let (mut q, now) = at(base, params);
            let [marked, dropped] = outcome(&mut q, now, n, Ecn::NotEct);
            assert_eq!(marked, 0);
            near(dropped, base * base);
        }
    }
}

#[test]
fn overload_drops_ect_packets_in_both_queues() {
    let n = 20_000;
    for ecn in [Ecn::Ect0, Ecn::Ect1] {
        let (mut q, now) = at(0.6, Params::default());
        let [marked, dropped] = outcome(&mut q, now, n, ecn);
        // p'² = 0.36; in L what is not dropped is marked, in C what is hit is dropped.
        assert!(dropped.abs_diff(7200) < 20, "{ecn:?} {dropped}");
        let left = if ecn == Ecn::Ect1 { n - dropped - 8 } else { 0 };
        assert!(marked.abs_diff(left) < 20, "{ecn:?} {marked} {left}");
    }
    // Told otherwise p' ends at 1/k, and nothing that can be marked is dropped.
    let params = Params { drop_on_overload: false, alpha: 1.0, ..Params::default() };
    let mut q = dual(&params);
    fill(&mut q, Time::ZERO, 20, Ecn::Ect1);
    q.advance(Time::from_secs(100));
    assert_eq!(q.probabilities().map(Probability::as_f64), [0.5, 1.0, 0.25]);
    let [_, dropped] = outcome(&mut q, Time::from_secs(100), n, Ecn::Ect1);
    assert_eq!(dropped, 0);
}

#[test]
fn ecn_low_bit_selects_queue_and_order_is_kept() {
    let mut q = dual(&Params::default());
    for (id, bits) in (0..400u64).map(|id| (id, (id * 7 % 4) as u8)) {
        let _ = q.enqueue(Time(id), token(id, 1000, Ecn::from_bits(bits)), &mut ());
    }
    let [mut low, mut classic] = [Vec::new(), Vec::new()];
    while let Some(p) = q.dequeue(Time(1000), &mut ()) {
        let bits = (p.id * 7 % 4) as u8;
        if bits % 2 == 1 { low.push(p.id) } else { classic.push(p.id) }
    }
    for ids in [&low, &classic] {
        assert_eq!(ids.len(), 200);
        assert!(ids.is_sorted());
    }
}

#[test]
fn l_queue_is_served_first_and_c_keeps_its_share() {
    for weight in [0.1, 0.3, 0.0] {
        let mut q = dual(&Params { classic_weight: weight, ..Params::default() });
        let mut sent = [0u64; 2];
        // Different sizes: the share is one of bytes.
        let kinds = [(1500, Ecn::Ect1), (400, Ecn::Ect0)];
        for (bytes, ecn) in kinds.repeat(10) {
            let _ = q.enqueue(Time::ZERO, token(0, bytes, ecn), &mut ());
        }
        for id in 0..20_000 {
            // Another of the same kind for each that leaves.
            let left = q.dequeue(Time::ZERO, &mut ()).unwrap();
            let kind = usize::from(left.bytes == 400);
            sent[kind] += u64::from(left.bytes);
            let _ = q.enqueue(Time::ZERO, token(id, left.bytes, kinds[kind].1), &mut ());
        }
        let [low, classic] = sent;
        let share = classic as f64 / (low + classic) as f64;
        assert!((share - weight).abs() < 0.002, "{share} instead of {weight}");
    }
}

#[test]
fn the_time_shifted_fifo_lets_c_go_first_only_if_it_came_so_much_earlier() {
    let shifted = Params {
        scheduler: Scheduler::TimeShifted,
        time_shift: Some(Time::from_millis(30)),
        ..Params::default()
    };
    for (earlier, low) in [(29, true), (30, true), (31, false)] {
        let mut q = dual(&shifted);
        fill(&mut q, Time::ZERO, 2, Ecn::Ect0);
        fill(&mut q, Time::from_millis(earlier), 2, Ecn::Ect1);
        let first = q.dequeue(Time::from_millis(earlier), &mut ()).unwrap();
        assert_eq!(first.ecn == Ecn::Ect1, low, "{earlier} ms");
    }
}

#[test]
fn l_marks_along_its_ramp_or_above_its_step_but_never_a_lone_packet() {
    let tupdate = Time::from_secs(1000);
    for (marking, micros, p) in [
        (Marking::Ramp, 800, 0.0),
        (Marking::Ramp, 1000, 0.5),
        (Marking::Ramp, 1100, 0.75),
        (Marking::Ramp, 1200, 1.0),
        (Marking::Ramp, 90_000, 1.0),
        (Marking::Step, 1000, 0.0),
        (Marking::Step, 1001, 1.0),
    ] {
        let mut q = dual(&Params { marking, tupdate, ..Params::default() });
        fill(&mut q, Time::ZERO, 1001, Ecn::Ect1);
        for _ in 0..1000 {
            let _ = q.dequeue(Time::from_micros(micros), &mut ());
        }
        let marked = q.counters().marked.packets as f64;
        assert!((marked - 1000.0 * p).abs() <= 1.0, "{marking:?} {micros}: {marked}");
        let before = q.counters().marked;
        let _ = q.dequeue(Time::from_secs(1), &mut ());
        assert_eq!(q.counters().marked, before, "a lone packet was marked");
    }
}

#[test]
fn one_dequeue_drops_a_bounded_number_and_never_the_last_packet() {
    let (mut q, now) = at(1.0, Params { limit: 1000, ..Params::default() });
    fill(&mut q, now, 400, Ecn::NotEct);
    // p'² = 1: from the second on each would be dropped.
    let _ = q.dequeue(now, &mut ());
    let mut bin = Bin::default();
    let mut given = 0;
    while q.packets() > 0 {
        let before = bin.packets.len();
        assert!(q.dequeue(now, &mut bin).is_some());
        assert!(bin.packets.len() - before <= 64);
        given += 1;
    }
    assert!((5..=8).contains(&given), "{given}");
}

#[test]
fn a_marked_packet_is_not_marked_again() {
    let (mut q, now) = at(0.49, Params::default());
    fill(&mut q, now, 100, Ecn::Ce);
    // `Token::set_ce` panics if it is called on a packet that is CE.
    while q.dequeue(now + Time::from_millis(5), &mut ()).is_some() {}
    assert_eq!(q.counters().marked.packets, 0);
}

#[test]
fn dualpi2_updates_without_any_call_between() {
    let mut q = dual(&Params::default());
    fill(&mut q, Time::ZERO, 10, Ecn::Ect0);
    let mut each = q.clone();
    q.advance(Time::from_secs(3600));
    (1..=225_000).for_each(|k| each.advance(Time::from_millis(16 * k)));
    assert_eq!(q.probabilities(), each.probabilities());
    assert_eq!(q.probability(), 1.0);
}

#[test]
fn each_queue_counts_its_own_and_a_mark_moves_no_packet_to_the_other() {
    let params = Params { marking: Marking::Step, step_th: Time(0), ..Params::default() };
    let (mut q, now) = at(0.3, Params { limit: 60, ..params });
    fill(&mut q, now, 30, Ecn::Ect0);
    fill(&mut q, now, 30, Ecn::Ect1);
    let over = q.enqueue(now, token(99, 1500, Ecn::Ect1), &mut ());
    assert_eq!(over, Verdict::Dropped(DropReason::Overflow));
    let (mut left, mut marked) = ([0, 0], [0, 0]);
    while let Some(packet) = q.dequeue(now + Time(1), &mut ()) {
        let class = q.class_of(&packet);
        left[class] += 1;
        marked[class] += u64::from(packet.ecn == Ecn::Ce);
    }
    let mut lanes = Vec::new();
    q.classes(&mut |counters| lanes.push(*counters));
    let [low, classic] = lanes[..] else { panic!("two queues") };
    // `at` has passed one packet through C.
    assert_eq!((low.dequeued.packets, classic.dequeued.packets), (left[0], left[1] + 1));
    assert_eq!((low.marked.packets, classic.marked.packets), (marked[0], marked[1]));
    assert!(marked[0] > 0 && marked[1] > 0, "{marked:?}");
    assert_eq!((low.overflow.packets, classic.overflow.packets), (1, 0));
    let all = q.counters();
    assert_eq!(all.enqueued.packets, low.enqueued.packets + classic.enqueued.packets);
    assert_eq!(all.marked.packets, low.marked.packets + classic.marked.packets);
}
