//! CHOKe: what a comparison may and may not do.

use crate::common::{Bin, Token, drain, env, token};
use sojourn_base::{Kind, Stream, Time};
use sojourn_qdisc::*;

fn choke(params: choke::Params) -> choke::Discipline<Token> {
    let coin = Stream::new(1, Kind::Qdisc, 0, 0);
    choke::Discipline::new(&params, &env(100, 1500), coin).unwrap()
}

fn of(id: u64, flow: u32) -> Token {
    Token { flow, ..token(id, 1500, Ecn::NotEct) }
}

/// An average that follows at once, with hardly any early drops.
fn open() -> choke::Params {
    let (min_th, max_th) = (10.0, 1e6);
    choke::Params { min_th, max_th, max_p: 1e-9, wq: Some(1.0), ..Default::default() }
}

#[test]
fn choke_match_drops_and_counts_both_packets() {
    let mut q = choke(open());
    (0..10).for_each(|id| assert_eq!(q.enqueue(Time::ZERO, of(id, 1), &mut ()), Verdict::Queued));
    // Below min_th nothing was compared; the eleventh finds an average of 10.
    let mut bin = Bin::default();
    let verdict = q.enqueue(Time::ZERO, of(10, 1), &mut bin);
    assert_eq!(verdict, Verdict::Dropped(DropReason::Early));
    assert_eq!((q.packets(), q.bytes(), q.matched()), (9, 9 * 1500, 1));
    let reasons: Vec<_> = bin.packets.iter().map(|(_, reason)| *reason).collect();
    assert_eq!(reasons, [DropReason::Early; 2]);
    assert!(bin.packets[0].0.id < 10 && bin.packets[1].0.id == 10);
    let c = q.counters();
    assert_eq!((c.evicted.packets, c.early.packets, c.enqueued.packets), (1, 2, 10));
    assert_eq!(c.arrived().packets, 11);
    // Another flow stays.
    q.enqueue(Time::ZERO, of(11, 1), &mut ());
    assert_eq!(q.enqueue(Time::ZERO, of(12, 2), &mut ()), Verdict::Queued);
}

#[test]
fn choke_compares_with_packet_at_any_place() {
    let mut hits = [0u32; 20];
    let mut random = choke(open());
    for round in 0..4000u64 {
        while random.dequeue(Time::ZERO, &mut ()).is_some() {}
        for i in 0..20 {
            let _ = random.enqueue(Time::ZERO, of(i, i as u32), &mut ());
        }
        // Flow 0 to 19 once each; an arrival of a flow is hit if its packet is drawn, 1 in 20.
        let mut bin = Bin::default();
        let _ = random.enqueue(Time::ZERO, of(100, (round % 20) as u32), &mut bin);
        if let Some((victim, _)) = bin.packets.first() {
            hits[victim.id as usize] += 1;
        }
    }
    // Each position is aimed at 200 times and found in one of 20: 10 on average.
    assert!(hits.iter().all(|&n| (1..=25).contains(&n)), "{hits:?}");
    assert!((140..=260).contains(&hits.iter().sum::<u32>()), "{hits:?}");
}

#[test]
fn an_unresponsive_flow_gets_less_and_less_of_what_it_sends() {
    // The paper's section 3: with a share x of the queue a flow's arrivals are dropped with x.
    // 20 flows at 4 % of the link's rate each and one at 100 %.
    let mut q = choke(open());
    let mut random = Stream::new(3, Kind::Test, 0, 0);
    let (mut now, mut sent, mut got) = (Time::ZERO, 0u32, 0u32);
    for id in 0..400_000 {
        // 1.8 arrivals per departure.
        let flow = if random.below(180) < 100 { 1000 } else { random.below(20) as u32 };
        now += Time(66_667);
        sent += u32::from(flow == 1000);
        let _ = q.enqueue(now, of(id, flow), &mut ());
        if random.below(180) < 100 && q.packets() > 0 {
            got += u32::from(q.dequeue(now, &mut ()).expect("one stands").flow == 1000);
        }
    }
    let through = f64::from(got) / f64::from(sent);
    assert!((0.05..0.5).contains(&through), "{through} of its packets came through");
}

#[test]
fn choke_compacts_holes() {
    // Arrivals and matches without any departure: places must not pile up behind the head.
    let mut q = choke(open());
    for id in 0..100_000u64 {
        let _ = q.enqueue(Time::ZERO, of(id, (id % 3) as u32), &mut ());
    }
    let left = q.packets();
    let mut order = Vec::new();
    while let Some(p) = q.dequeue(Time::ZERO, &mut ()) {
        order.push(p.id);
    }
    assert_eq!(order.len(), left as usize);
    assert!(order.is_sorted());
    assert!(std::mem::size_of_val(&q) < 1000 && q.packets() == 0);
}

#[test]
fn a_flow_alone_in_the_queue_can_be_emptied_by_matches_and_goes_on() {
    let mut q = choke(choke::Params { min_th: 0.0, ..open() });
    for id in 0..1000 {
        let _ = q.enqueue(Time(id), of(id, 1), &mut ());
        assert!(q.packets() <= 1);
    }
    assert_eq!(q.matched(), 500);
    let mut config = queue_of(q);
    drain(&mut config, Time::from_secs(1), 0);
    assert_eq!(config.counters().standing(), Count::default());
}

fn queue_of(q: choke::Discipline<Token>) -> Qdisc<Token> {
    Qdisc::Choke(q)
}
