//! SFQ.

use crate::common::{Bin, Token, env, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::sfq::Params;
use sojourn_qdisc::*;

fn build(params: Params) -> Qdisc<Token> {
    queue(&Config::Sfq(params), &env(10, 1500))
}

fn of(flow: u32, id: u64, bytes: u32) -> Token {
    Token { flow: (flow + 1).wrapping_mul(0x9e37_79b9), ..token(id, bytes, Ecn::NotEct) }
}

fn length(q: &Qdisc<Token>, flow: u32) -> u32 {
    match q {
        Qdisc::Sfq(q) => q.length(of(flow, 0, 0).flow),
        _ => unreachable!(),
    }
}

#[test]
fn saturating_flows_get_equal_shares_of_bytes() {
    let mut q = build(Params { limit: 1000, ..Default::default() });
    let sizes = [1500, 700, 300, 100];
    let (mut sent, mut id) = ([0u32; 4], 0);
    for _ in 0..4000 {
        for (flow, bytes) in sizes.into_iter().enumerate() {
            while length(&q, flow as u32) < 20 {
                let _ = q.enqueue(Time::ZERO, of(flow as u32, id, bytes), &mut ());
                id += 1;
            }
        }
        let packet = q.dequeue(Time::ZERO, &mut ()).unwrap();
        sent[sizes.iter().position(|&bytes| bytes == packet.bytes).unwrap()] += packet.bytes;
    }
    let (most, least) = (sent.iter().max().unwrap(), sent.iter().min().unwrap());
    assert!(most - least <= 3 * 1500, "{sent:?}");
    assert_eq!(q.counters().dropped().packets, 0);
}

#[test]
fn a_new_flow_waits_for_one_round_and_no_longer() {
    let mut q = build(Params { limit: 1000, ..Default::default() });
    for id in 0..100 {
        let _ = q.enqueue(Time::ZERO, of((id % 5) as u32, id, 1500), &mut ());
    }
    q.dequeue(Time::ZERO, &mut ());
    let _ = q.enqueue(Time::ZERO, of(9, 500, 200), &mut ());
    let place = (1..).find(|_| q.dequeue(Time::ZERO, &mut ()).unwrap().id == 500);
    // Behind the other four, and behind the first if that has used up its quantum.
    assert!((5..=6).contains(&place.unwrap()), "{place:?}");
}

#[test]
fn sfq_drops_head_or_tail_of_longest_queue() {
    for (head_drop, lost) in [(false, 9), (true, 0)] {
        let mut q = build(Params { limit: 13, head_drop, ..Default::default() });
        for id in 0..10 {
            let _ = q.enqueue(Time::ZERO, of(0, id, 100), &mut ());
        }
        for id in 10..13 {
            let _ = q.enqueue(Time::ZERO, of(1, id, 1500), &mut ());
        }
        let mut bin = Bin::default();
        assert_eq!(q.enqueue(Time::ZERO, of(2, 20, 100), &mut bin), Verdict::Queued);
        assert_eq!(bin.packets, [(of(0, lost, 100), DropReason::Overflow)]);
        // Of its own queue the packet that arrives is the tail.
        let verdict = q.enqueue(Time::ZERO, of(0, 30, 100), &mut ());
        let expected =
            if head_drop { Verdict::Queued } else { Verdict::Dropped(DropReason::Overflow) };
        assert_eq!((verdict, q.packets()), (expected, 13));
    }
}

#[test]
fn sfq_drops_next_to_be_served_when_all_queues_hold_one_packet() {
    let mut q = build(Params { limit: 5, ..Default::default() });
    for flow in 0..5 {
        let _ = q.enqueue(Time::ZERO, of(flow, u64::from(flow), 1500), &mut ());
    }
    let mut bin = Bin::default();
    assert_eq!(q.enqueue(Time::ZERO, of(5, 5, 1500), &mut bin), Verdict::Queued);
    assert_eq!(bin.packets[0].0.id, 0);
    let rest: Vec<_> = (0..5).map(|_| q.dequeue(Time::ZERO, &mut ()).unwrap().id).collect();
    assert_eq!(rest, [1, 2, 3, 4, 5]);
}

#[test]
fn a_queue_takes_no_more_than_its_depth_and_no_more_queues_than_allowed_are_in_use() {
    let mut q = build(Params { depth: 3, flows: 2, ..Default::default() });
    let mut offer = |flow, id| q.enqueue(Time::ZERO, of(flow, id, 100), &mut ());
    let full = Verdict::Dropped(DropReason::Overflow);
    for id in 0..3 {
        assert_eq!(offer(0, id), Verdict::Queued);
    }
    assert_eq!(offer(0, 3), full);
    assert_eq!(offer(1, 4), Verdict::Queued);
    assert_eq!(offer(2, 5), full);
}

#[test]
fn sfq_perturbation_keeps_order_within_flow() {
    let perturb = Some(Time::from_secs(10));
    let params = Params { divisor: 4, limit: 127, perturb, ..Default::default() };
    let mut q = build(params);
    for id in 0..120 {
        let _ = q.enqueue(Time::ZERO, of((id % 8) as u32, id, 500), &mut ());
    }
    let lengths = |q: &Qdisc<Token>| (0..8).map(|flow| length(q, flow)).collect::<Vec<_>>();
    let before = lengths(&q);
    let mut changed = 0;
    let mut last = [None; 8];
    for k in 1..=10 {
        // Just before the period is over nothing happens.
        for now in [k * 10_000_000_000 - 1, k * 10_000_000_000] {
            let at = lengths(&q);
            let packet = q.dequeue(Time(now), &mut ()).unwrap();
            let flow = (packet.id % 8) as usize;
            assert!(last[flow] < Some(packet.id), "out of order");
            last[flow] = Some(packet.id);
            let moved = lengths(&q).iter().zip(&at).any(|(a, b)| a.abs_diff(*b) > 1);
            assert!(!moved || now % 10_000_000_000 == 0, "changed too early");
            changed += u32::from(moved);
        }
    }
    assert!(changed >= 8, "{changed} of 10: {before:?}");
    while let Some(packet) = q.dequeue(Time::from_secs(100), &mut ()) {
        let flow = (packet.id % 8) as usize;
        assert!(last[flow] < Some(packet.id), "out of order");
        last[flow] = Some(packet.id);
    }
    assert_eq!(q.counters().dropped().packets, 0);
}
