//! FQ-PIE.

use crate::common::{Token, env, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::fq_pie::Params;
use sojourn_qdisc::*;

const MS: u64 = 1_000_000;

fn marking() -> Params {
    let control = pie::Control { ecn: EcnMarking::On, mark_ecn_th: 1.0, ..Default::default() };
    Params { control, ..Default::default() }
}

fn build(params: Params) -> Qdisc<Token> {
    queue(&Config::FqPie(params), &env(12, 1500))
}

fn of(flow: u32, id: u64, ecn: Ecn) -> Token {
    Token { flow: (flow + 1).wrapping_mul(0x9e37_79b9), ..token(id, 1500, ecn) }
}

/// The probability of a flow's queue and its length.
fn look(q: &mut Qdisc<Token>, flow: u32) -> (f64, u32) {
    match q {
        Qdisc::FqPie(q) => {
            let (state, packets) = q.queue(of(flow, 0, Ecn::Ect0).flow);
            (state.probability.as_f64(), packets)
        }
        _ => unreachable!(),
    }
}

/// A millisecond a packet: one flow that offers 1.2 times what the link can carry, and one that
/// sends a packet each 20 ms. Gives what became of each flow's packets: offered and dropped.
fn overload(q: &mut Qdisc<Token>, ms: u64, ecn: Ecn) -> [[u32; 2]; 2] {
    let mut counts = [[0; 2]; 2];
    let mut id = 0;
    for now in 0..ms {
        let greedy = if now % 5 == 0 { 2 } else { 1 };
        for flow in [0].into_iter().cycle().take(greedy).chain((now % 20 == 0).then_some(1)) {
            let verdict = q.enqueue(Time(now * MS), of(flow, id, ecn), &mut ());
            counts[flow as usize][0] += 1;
            counts[flow as usize][1] += u32::from(matches!(verdict, Verdict::Dropped(_)));
            id += 1;
        }
        q.dequeue(Time(now * MS), &mut ());
    }
    counts
}

#[test]
fn the_flow_that_overloads_the_link_is_dropped_and_the_other_is_not() {
    let mut q = build(Params::default());
    let [greedy, sparse] = overload(&mut q, 60_000, Ecn::NotEct);
    assert!(greedy[1] * 8 > greedy[0], "{greedy:?}");
    assert_eq!(sparse[1], 0);
    assert_eq!(q.counters().overflow.packets, 0);
    let (p, packets) = look(&mut q, 0);
    assert!(p > 0.1 && q.probability() >= p, "{p}");
    assert!(packets < 60, "{packets} stand");
    assert_eq!(look(&mut q, 1).0, 0.0);
}

#[test]
fn marks_come_instead_of_drops_up_to_the_threshold() {
    let mut q = build(marking());
    let [greedy, _] = overload(&mut q, 5_000, Ecn::Ect0);
    assert_eq!(greedy[1], 0);
    assert!(q.counters().marked.packets > 100);
    // What is marked already is not marked again: `Token::set_ce` would panic.
    let mut q = build(marking());
    overload(&mut q, 5_000, Ecn::Ce);
    assert_eq!((q.counters().marked.packets, q.counters().early.packets), (0, 0));
}

#[test]
fn idle_queue_catches_up_on_updates() {
    let mut q = build(Params::default());
    overload(&mut q, 20_000, Ecn::NotEct);
    while q.packets() > 0 {
        q.dequeue(Time(20_000 * MS), &mut ());
    }
    let (before, _) = look(&mut q, 0);
    assert!(before > 0.05, "{before}");
    // RFC 8033 section 4.2: 0.98 at each update once nothing waits; 100 of them.
    q.advance(Time(20_000 * MS + 1500 * MS));
    let (after, _) = look(&mut q, 0);
    assert!(after < before * 0.98f64.powi(95), "{before} {after}");
    q.advance(Time::from_secs(1000));
    assert_eq!(look(&mut q, 0).0, 0.0);
}

#[test]
fn packet_is_dropped_when_all_queues_are_full() {
    let mut q = build(Params { limit: 3, ..Default::default() });
    for id in 0..3 {
        assert_eq!(q.enqueue(Time::ZERO, of(id as u32, id, Ecn::Ect0), &mut ()), Verdict::Queued);
    }
    let verdict = q.enqueue(Time::ZERO, of(7, 7, Ecn::Ect0), &mut ());
    assert_eq!(verdict, Verdict::Dropped(DropReason::Overflow));
}
