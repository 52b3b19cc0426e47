//! CoDel: RFC 8289 section 5.

use crate::common::{Bin, Token, env, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::codel_law::State;
use sojourn_qdisc::*;

const MS: u64 = 1_000_000;
const STEP: u64 = 100_000;

fn codel(params: codel::Params) -> Qdisc<Token> {
    queue(&Config::Codel(params), &env(100, 1500))
}

fn state(q: &Qdisc<Token>) -> &State {
    match q {
        Qdisc::Codel(q) => q.state(),
        _ => unreachable!(),
    }
}

/// A queue that has stood since time zero, with `n` packets of 1500 bytes.
fn standing(params: codel::Params, n: u64, ecn: Ecn) -> Qdisc<Token> {
    let mut q = codel(params);
    for id in 0..n {
        let _ = q.enqueue(Time::ZERO, token(id, 1500, ecn), &mut ());
    }
    q
}

/// Overload for ever: each `STEP` one packet comes and one leaves, of a queue that keeps its
/// length. Gives when packets were dropped or marked, and what was due then.
fn overload(params: codel::Params, ecn: Ecn, signals: usize) -> Vec<(u64, u64)> {
    let mut q = standing(params, 1000, ecn);
    let (mut next, mut now, mut hits) = (1000, 0, vec![]);
    while hits.len() < signals {
        now += STEP;
        let due = state(&q).drop_next.0;
        let before = *q.counters();
        let mut bin = Bin::default();
        assert!(q.dequeue(Time(now), &mut bin).is_some());
        let c = q.counters();
        if c.early != before.early || c.marked != before.marked {
            assert!(bin.packets.len() as u64 + c.marked.packets - before.marked.packets == 1);
            hits.push((now, due));
        }
        while q.packets() < 1000 {
            let _ = q.enqueue(Time(now), token(next, 1500, ecn), &mut ());
            next += 1;
        }
    }
    hits
}

#[test]
fn drops_follow_control_law_within_a_microsecond() {
    // The law of RFC 8289 section 5.6: 0, 100, 170.7, 228.4, 278.4, 323.2, 364.0, 401.8 ms after
    // the first.
    for (ecn, kind) in [
        (EcnMarking::Off, Ecn::Ect0),
        (EcnMarking::On, Ecn::Ect1),
        (EcnMarking::On, Ecn::NotEct),
        (EcnMarking::Ect0, Ecn::Ect1),
    ] {
        let params = codel::Params { ecn, limit: 2000, ..Default::default() };
        let hits = overload(params, kind, 3000);
        let first = hits[0].0;
        // 5 ms at the earliest that the sojourn time can be at the target, then an interval.
        assert_eq!(first, 5 * MS + 100 * MS);
        let published = [100.0, 170.7, 228.4, 278.4, 323.2, 364.0, 401.8];
        let mut exact = first as f64;
        for (n, &(at, due)) in hits[1..].iter().enumerate() {
            exact += 100e6 / ((n + 1) as f64).sqrt();
            assert!((due as f64 - exact).abs() < 1000.0, "{n}: {due} {exact}");
            if let Some(ms) = published.get(n) {
                assert!(((due - first) as f64 / 1e6 - ms).abs() < 0.06, "{n}: {due}");
            }
            // The first time anything is taken out at or after that.
            assert_eq!(at, due.div_ceil(STEP) * STEP, "{n}");
        }
    }
}

#[test]
fn the_packet_at_the_head_is_dropped_and_the_next_one_delivered() {
    let mut q = standing(codel::Params::default(), 100, Ecn::NotEct);
    let mut bin = Bin::default();
    assert_eq!(q.dequeue(Time(10 * MS), &mut bin).unwrap().id, 0);
    assert_eq!(q.dequeue(Time(110 * MS), &mut bin).unwrap().id, 2);
    // And so in the dropping state: 110 + 100 ms.
    assert_eq!(q.dequeue(Time(209 * MS), &mut bin).unwrap().id, 3);
    assert_eq!(q.dequeue(Time(210 * MS), &mut bin).unwrap().id, 5);
    let dropped: Vec<_> = bin.packets.iter().map(|(packet, reason)| (packet.id, *reason)).collect();
    assert_eq!(dropped, [(1, DropReason::Early), (4, DropReason::Early)]);
}

#[test]
fn the_target_and_the_interval_are_kept_to_the_nanosecond() {
    let mut q = standing(codel::Params::default(), 100, Ecn::NotEct);
    q.dequeue(Time(5 * MS - 1), &mut ());
    assert_eq!(state(&q).first_above, None);
    q.dequeue(Time(5 * MS), &mut ());
    assert_eq!(state(&q).first_above, Some(Time(105 * MS)));
    q.dequeue(Time(105 * MS - 1), &mut ());
    assert!(!state(&q).dropping);
    q.dequeue(Time(105 * MS), &mut ());
    assert!(state(&q).dropping);
}

#[test]
fn dropping_ends_with_the_first_packet_that_waited_less_than_the_target() {
    let mut q = standing(codel::Params::default(), 50, Ecn::NotEct);
    q.dequeue(Time(10 * MS), &mut ());
    q.dequeue(Time(110 * MS), &mut ());
    assert!(state(&q).dropping);
    while q.packets() > 0 {
        q.dequeue(Time(111 * MS), &mut ());
    }
    for id in 0..10 {
        let _ = q.enqueue(Time(300 * MS), token(id, 1500, Ecn::NotEct), &mut ());
    }
    // Something is due since 210 ms, but these waited 4.999999 ms.
    q.dequeue(Time(305 * MS - 1), &mut ());
    assert!(!state(&q).dropping);
    assert_eq!(state(&q).first_above, None);
    assert_eq!(q.counters().early.packets, 1);
}

#[test]
fn codel_spares_last_mtu() {
    for (bytes, drops) in [(1500, 0), (1501, 1)] {
        let mut q = standing(codel::Params::default(), 1, Ecn::NotEct);
        let behind = [bytes / 2, bytes - bytes / 2];
        for (id, bytes) in [1500, 1500].into_iter().chain(behind).enumerate() {
            let _ = q.enqueue(Time::ZERO, token(id as u64, bytes, Ecn::NotEct), &mut ());
        }
        q.dequeue(Time(10 * MS), &mut ());
        q.dequeue(Time(60 * MS), &mut ());
        // `bytes` are left behind the packet at the head.
        q.dequeue(Time(110 * MS), &mut ());
        assert_eq!(q.counters().early.packets, drops, "{bytes}");
    }
}

#[test]
fn stalled_link_does_not_drop_whole_queue_at_once() {
    let params = codel::Params { limit: 100_000, ..Default::default() };
    let mut q = standing(params, 100_000, Ecn::NotEct);
    q.dequeue(Time(10 * MS), &mut ());
    q.dequeue(Time(110 * MS), &mut ());
    // An hour: by the law some 324 million drops are due.
    let mut dropped = 1;
    for _ in 0..20 {
        assert!(q.dequeue(Time(3_600_000 * MS), &mut ()).is_some());
        let now = q.counters().early.packets;
        assert_eq!(now - dropped, 64);
        dropped = now;
    }
}

#[test]
fn dropping_resumes_at_the_rate_it_had_as_in_the_rfc() {
    // The RFC takes count − last_count; the others known take count − 2 or count.
    for (pause, resumed) in [(1600 * MS - 1, 9), (1600 * MS, 1)] {
        let mut q = standing(codel::Params::default(), 900, Ecn::NotEct);
        q.dequeue(Time(10 * MS), &mut ());
        let mut now = 110 * MS;
        while state(&q).count < 10 {
            q.dequeue(Time(now), &mut ());
            now = now.max(state(&q).drop_next.0);
        }
        assert_eq!(state(&q).last_count, 1);
        let due = state(&q).drop_next.0;
        while q.packets() > 0 {
            q.dequeue(Time(due - 1), &mut ());
        }
        assert!(!state(&q).dropping);
        // Above the target again for an interval, at `due + pause`.
        let again = due + pause;
        for id in 0..100 {
            let _ = q.enqueue(Time(again - 110 * MS), token(id, 1500, Ecn::NotEct), &mut ());
        }
        q.dequeue(Time(again - 100 * MS), &mut ());
        q.dequeue(Time(again), &mut ());
        let s = state(&q);
        assert!(s.dropping);
        assert_eq!((s.count, s.last_count), (resumed, resumed));
        let next = again as f64 + 100e6 / f64::from(resumed).sqrt();
        assert!((s.drop_next.0 as f64 - next).abs() < 1.0);
    }
}

#[test]
fn ce_packet_passes_and_counts_as_signal() {
    let params = codel::Params { ecn: EcnMarking::On, ..Default::default() };
    let mut q = standing(params, 100, Ecn::Ce);
    q.dequeue(Time(10 * MS), &mut ());
    let packet = q.dequeue(Time(110 * MS), &mut ()).unwrap();
    assert_eq!((packet.id, packet.times_marked), (1, 0));
    assert_eq!(state(&q).count, 1);
    assert_eq!(q.dequeue(Time(210 * MS), &mut ()).unwrap().id, 2);
    assert_eq!(state(&q).count, 2);
    assert_eq!((q.counters().marked.packets, q.counters().dropped().packets), (0, 0));
}

#[test]
fn ce_threshold_marks_every_capable_packet_once() {
    let params = codel::Params {
        ce_threshold: Some(Time(MS)),
        target: Time(2 * MS),
        ecn: EcnMarking::On,
        ..Default::default()
    };
    let mut q = codel(params);
    for (id, ecn) in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce, Ecn::NotEct].into_iter().cycle().enumerate() {
        let _ = q.enqueue(Time::ZERO, token(id as u64, 1500, ecn), &mut ());
        if id == 99 {
            break;
        }
    }
    assert_eq!(q.dequeue(Time(MS), &mut ()).unwrap().times_marked, 0);
    let marks: Vec<_> =
        (0..7).map(|_| q.dequeue(Time(MS + 1), &mut ()).unwrap().times_marked).collect();
    assert_eq!(marks, [1, 0, 0, 1, 1, 0, 0]);
    assert_eq!(q.counters().dropped().packets, 0);
    // Both reasons at once: still one mark, `Token::set_ce` would panic at a second.
    q.dequeue(Time(10 * MS), &mut ());
    assert_eq!(q.dequeue(Time(110 * MS), &mut ()).unwrap().times_marked, 1);
    assert!(state(&q).dropping);
}

#[test]
fn a_full_queue_drops_what_arrives_and_leaves_the_state_alone() {
    let params = codel::Params { limit: 10, ..Default::default() };
    let mut q = standing(params, 10, Ecn::Ect0);
    let before = state(&q).clone();
    let verdict = q.enqueue(Time(200 * MS), token(10, 1500, Ecn::Ect0), &mut ());
    assert_eq!(verdict, Verdict::Dropped(DropReason::Overflow));
    assert_eq!(*state(&q), before);
}
