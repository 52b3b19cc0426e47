//! COBALT: CoDel and BLUE.

use crate::common::{Bin, Token, env, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::cobalt::{Params, State};
use sojourn_qdisc::*;

const MS: u64 = 1_000_000;

fn build(params: Params) -> Qdisc<Token> {
    queue(&Config::Cobalt(params), &env(100, 1500))
}

fn state(q: &Qdisc<Token>) -> &State {
    match q {
        Qdisc::Cobalt(q) => q.state(),
        _ => unreachable!(),
    }
}

fn standing(params: Params, n: u64, ecn: Ecn) -> Qdisc<Token> {
    let mut q = build(params);
    for id in 0..n {
        let _ = q.enqueue(Time::ZERO, token(id, 1500, ecn), &mut ());
    }
    q
}

#[test]
fn the_first_signal_comes_an_interval_after_the_target_is_exceeded_and_then_by_the_law() {
    let mut q = standing(Params { limit: 5000, ..Default::default() }, 4000, Ecn::Ect0);
    let mut marks = vec![];
    // The queue has been in use: after an interval without a packet the first signal comes at once.
    q.dequeue(Time(MS), &mut ());
    let mut now = 6 * MS;
    while marks.len() < 6 {
        if q.dequeue(Time(now), &mut ()).unwrap().times_marked == 1 {
            marks.push(now);
        }
        now += MS / 10;
    }
    // The count is 2 after the first signal.
    let mut expected = 106e6;
    for (n, &at) in marks.iter().enumerate() {
        assert!((0.0..=1e5).contains(&(at as f64 - expected)), "{n}: {at} {expected}");
        expected += 100e6 / ((n + 2) as f64).sqrt();
    }
    assert_eq!(q.counters().dropped().packets, 0);
}

#[test]
fn the_count_is_kept_and_decays_at_its_own_pace_when_the_queue_is_short() {
    let mut q = standing(Params { limit: 50_000, ..Default::default() }, 40_000, Ecn::Ect0);
    let mut now = 6 * MS;
    while state(&q).count < 10 {
        q.dequeue(Time(now), &mut ());
        now += MS / 10;
    }
    // Packets that wait for nothing, one each millisecond.
    while q.packets() > 1 {
        q.dequeue(Time(now), &mut ());
    }
    let from = now;
    let mut counts = vec![];
    while state(&q).count > 0 {
        now += MS;
        let _ = q.enqueue(Time(now), token(0, 1500, Ecn::Ect0), &mut ());
        q.dequeue(Time(now), &mut ());
        if counts.last() != Some(&state(&q).count) {
            counts.push(state(&q).count);
        }
    }
    assert_eq!(counts[counts.len() - 9..], [8, 7, 6, 5, 4, 3, 2, 1, 0]);
    // From 9 down: the sum of 100 ms/√n, and what was left of the last gap.
    let sum: f64 = (1..=9).map(|n| 100.0 / f64::from(n).sqrt()).sum();
    let took = (now - from) as f64 / 1e6;
    assert!((took - sum).abs() < 60.0, "{took} {sum}");
}

#[test]
fn blue_rises_once_in_a_target_however_many_packets_find_the_queue_full() {
    let mut q = standing(Params { limit: 100, ..Default::default() }, 100, Ecn::NotEct);
    for i in 0..1000 {
        // 51 ms of overflow, 20 packets each millisecond; the first change is at 6 ms.
        let at = Time(6 * MS + i * MS / 20);
        let verdict = q.enqueue(at, token(i, 1500, Ecn::Ect0), &mut ());
        assert_eq!(verdict, Verdict::Dropped(DropReason::Overflow));
    }
    // At 6 ms, and then at the first packet that is more than 5 ms later: each 5.05 ms.
    assert_eq!(q.probability(), 10.0 / 256.0);
}

#[test]
fn blue_rises_for_a_packet_that_waited_beyond_the_threshold() {
    let mut q = standing(Params::default(), 1000, Ecn::Ect0);
    q.dequeue(Time(400 * MS), &mut ());
    assert_eq!(q.probability(), 0.0);
    q.dequeue(Time(400 * MS + 1), &mut ());
    assert_eq!(q.probability(), 1.0 / 256.0);
}

#[test]
fn blue_falls_each_target_while_the_queue_is_empty_and_stops_at_nothing() {
    let mut q = standing(Params { limit: 10, ..Default::default() }, 10, Ecn::NotEct);
    let _ = q.enqueue(Time(6 * MS), token(10, 1500, Ecn::Ect0), &mut ());
    assert_eq!(q.probability(), 16.0 / 4096.0);
    while q.packets() > 0 {
        q.dequeue(Time(7 * MS), &mut ());
    }
    // Changed a millisecond ago: not yet.
    for (ms, left) in [(7, 16), (11, 16), (12, 15), (16, 15), (17, 14), (86, 1), (87, 0)] {
        q.advance(Time(ms * MS));
        assert_eq!(q.probability() * 4096.0, f64::from(left), "at {ms} ms");
    }
    q.advance(Time::from_secs(100_000));
    assert_eq!(q.probability(), 0.0);
}

#[test]
fn cobalt_blue_drops_ect_packets_without_marking() {
    let params = Params { increment: 1.0, limit: 50, ..Default::default() };
    let mut q = standing(params, 50, Ecn::Ect0);
    let _ = q.enqueue(Time(110 * MS), token(50, 1500, Ecn::Ect0), &mut ());
    assert_eq!(q.probability(), 1.0);
    let mut bin = Bin::default();
    // All but the last, which may not be dropped.
    let last = q.dequeue(Time(120 * MS), &mut bin).unwrap();
    assert_eq!(last.id, 49);
    assert_eq!(bin.packets.len(), 49);
    for (packet, reason) in bin.packets {
        assert_eq!((packet.times_marked, reason), (0, DropReason::Early));
    }
}

#[test]
fn one_call_drops_at_most_a_batch() {
    let params = Params { increment: 1.0, limit: 500, ..Default::default() };
    let mut q = standing(params, 500, Ecn::NotEct);
    let _ = q.enqueue(Time(110 * MS), token(500, 1500, Ecn::Ect0), &mut ());
    for n in 1..=7 {
        assert!(q.dequeue(Time(120 * MS), &mut ()).is_some());
        assert_eq!(q.counters().early.packets, 64 * n);
    }
}

#[test]
fn slow_link_target_is_four_packets() {
    // 1 Mb/s: 12 ms for 1500 bytes.
    for (ms, above) in [(48, false), (49, true)] {
        let mut q: Qdisc<Token> = queue(&Config::Cobalt(Params::default()), &env(1, 1500));
        for id in 0..10 {
            let _ = q.enqueue(Time::ZERO, token(id, 1500, Ecn::Ect0), &mut ());
        }
        q.dequeue(Time(ms * MS), &mut ());
        assert_eq!(state(&q).dropping, above);
    }
}

#[test]
fn the_last_packet_is_marked_but_never_dropped() {
    for (ecn, marked) in [(Ecn::Ect1, 1), (Ecn::NotEct, 0)] {
        let mut q = standing(Params { limit: 1, ..Default::default() }, 1, ecn);
        // Full: the signal is due at once.
        let _ = q.enqueue(Time(10 * MS), token(1, 1500, ecn), &mut ());
        let packet = q.dequeue(Time(20 * MS), &mut ()).unwrap();
        assert_eq!((packet.id, packet.times_marked), (0, marked));
    }
}
