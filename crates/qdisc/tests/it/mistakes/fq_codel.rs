//! FQ-CoDel: RFC 8290 section 4.

use crate::common::{Bin, Token, env, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::*;

const MS: u64 = 1_000_000;
/// What 1500 bytes take at 10 Mb/s.
const SLOT: u64 = 1_200_000;

fn of(flow: u32, id: u64, bytes: u32) -> Token {
    // Hashes spread over all bits, as a hash does.
    Token { flow: (flow + 1).wrapping_mul(0x9e37_79b9), ..token(id, bytes, Ecn::NotEct) }
}

fn build(params: fq_codel::Params) -> Qdisc<Token> {
    queue(&Config::FqCodel(params), &env(10, 1500))
}

fn inner(q: &mut Qdisc<Token>) -> &mut fq_codel::Discipline<Token> {
    match q {
        Qdisc::FqCodel(q) => q,
        _ => unreachable!(),
    }
}

#[test]
fn a_flow_that_was_idle_goes_first_and_only_for_one_quantum() {
    let mut q = build(fq_codel::Params::default());
    for id in 0..50 {
        let _ = q.enqueue(Time::ZERO, of(0, id, 1500), &mut ());
    }
    assert_eq!(q.dequeue(Time::ZERO, &mut ()).unwrap().id, 0);
    // The first is now among the old ones; two packets of another flow come, then a third's.
    for id in [100, 101, 102] {
        let _ = q.enqueue(Time(MS), of(1, id, 1500), &mut ());
    }
    let _ = q.enqueue(Time(MS), of(2, 200, 60), &mut ());
    let order: Vec<_> = (0..8).map(|_| q.dequeue(Time(MS), &mut ()).unwrap().id).collect();
    // Flow 1 has sent its quantum with one packet and waits behind flow 0; flow 2 is still new.
    assert_eq!(order, [100, 200, 1, 101, 2, 102, 3, 4]);
}

#[test]
fn returning_flow_is_not_new_forever() {
    let mut q = build(fq_codel::Params::default());
    for id in 0..1000 {
        let _ = q.enqueue(Time::ZERO, of(0, id, 1500), &mut ());
    }
    q.dequeue(Time::ZERO, &mut ());
    // A flow that sends a packet whenever its last one has left: it must not starve the other.
    let mut others = 0;
    let mut waiting = false;
    for id in 0..200 {
        if !waiting {
            let _ = q.enqueue(Time::ZERO, of(1, 10_000 + id, 1500), &mut ());
            waiting = true;
        }
        if q.dequeue(Time::ZERO, &mut ()).unwrap().id >= 10_000 {
            waiting = false;
        } else {
            others += 1;
        }
    }
    assert!((98..=101).contains(&others), "{others} of 200");
}

#[test]
fn saturating_flows_get_equal_shares_of_bytes_whatever_the_size_of_their_packets() {
    let mut q = build(fq_codel::Params { target: Time::from_secs(100), ..Default::default() });
    let sizes = [1500, 700, 300, 100];
    let mut sent = [0u32; 4];
    let mut id = 0;
    for _ in 0..4000 {
        for (flow, bytes) in sizes.into_iter().enumerate() {
            while inner(&mut q).queue(of(flow as u32, 0, 0).flow).2 < 20 {
                let _ = q.enqueue(Time::ZERO, of(flow as u32, id, bytes), &mut ());
                id += 1;
            }
        }
        let packet = q.dequeue(Time::ZERO, &mut ()).unwrap();
        sent[sizes.iter().position(|&bytes| bytes == packet.bytes).unwrap()] += packet.bytes;
    }
    let (most, least) = (sent.iter().max().unwrap(), sent.iter().min().unwrap());
    assert!(most - least <= 2 * 1500 + 1500, "{sent:?}");
}

#[test]
fn sparse_flow_waits_few_quanta_among_ten_bulk_flows() {
    // 64 kb/s as 200 bytes each 25 ms, against ten flows that always have something to send.
    let mut q = build(fq_codel::Params::default());
    let mut waits = vec![];
    let (mut id, mut call, mut now) = (1000u64, 0u64, 0u64);
    let mut sent_at = std::collections::BTreeMap::new();
    while waits.len() < 2000 {
        for flow in 0..10 {
            while inner(&mut q).queue(of(flow, 0, 0).flow).2 < 40 {
                let _ = q.enqueue(Time(now), of(flow, id, 1500), &mut ());
                id += 1;
            }
        }
        // While this packet is on the wire the call's next one may come.
        let packet = q.dequeue(Time(now), &mut ()).unwrap();
        if let Some(at) = sent_at.remove(&packet.id) {
            waits.push(now - at);
        }
        let end = now + SLOT * u64::from(packet.bytes) / 1500;
        while call * 25 * MS <= end {
            let at = (call * 25 * MS).max(now);
            id += 1;
            sent_at.insert(id, at);
            let _ = q.enqueue(Time(at), of(77, id, 200), &mut ());
            call += 1;
        }
        now = end;
    }
    assert!(inner(&mut q).queue(of(77, 0, 0).flow).2 <= 1);
    waits.sort_unstable();
    // The packet in service, and one of a flow that has just used up a quantum.
    let p99 = waits[waits.len() * 99 / 100];
    assert!(p99 <= 2 * SLOT, "{} ms", p99 as f64 / 1e6);
    assert_eq!(q.counters().overflow.packets, 0);
}

#[test]
fn a_limit_takes_from_the_longest_queue_half_of_it_and_at_most_a_batch() {
    for (long, lost) in [(40, 20), (900, 64)] {
        let mut q = build(fq_codel::Params { limit: long + 10, ..Default::default() });
        for id in 0..u64::from(long) {
            let _ = q.enqueue(Time::ZERO, of(0, id, 1000), &mut ());
        }
        for id in 1000..1010 {
            let _ = q.enqueue(Time::ZERO, of(1, id, 1000), &mut ());
        }
        let mut bin = Bin::default();
        let verdict = q.enqueue(Time(MS), of(2, 2000, 1000), &mut bin);
        assert_eq!(verdict, Verdict::Queued);
        let dropped: Vec<_> = bin.packets.iter().map(|(packet, _)| packet.id).collect();
        assert_eq!(dropped, (0..lost).collect::<Vec<_>>(), "from the head");
        assert!(bin.packets.iter().all(|(_, reason)| *reason == DropReason::Overflow));
        let (_, state, left) = inner(&mut q).queue(of(0, 0, 0).flow);
        assert_eq!((u64::from(state.count), u64::from(left)), (lost, u64::from(long) - lost));
    }
}

#[test]
fn packet_dropped_on_own_arrival_is_reported() {
    let mut q = build(fq_codel::Params { limit: 1, ..Default::default() });
    assert_eq!(q.enqueue(Time::ZERO, of(0, 0, 100), &mut ()), Verdict::Queued);
    let mut bin = Bin::default();
    let verdict = q.enqueue(Time::ZERO, of(1, 1, 1500), &mut bin);
    assert_eq!(verdict, Verdict::Dropped(DropReason::Overflow));
    assert_eq!(bin.packets[0].0.id, 1);
    assert_eq!(q.dequeue(Time::ZERO, &mut ()).unwrap().id, 0);
    // Its queue is empty and still waits its turn: nothing comes, and nothing breaks.
    assert_eq!(q.dequeue(Time::ZERO, &mut ()), None);
}

#[test]
fn drops_in_one_call_are_bounded_over_all_queues() {
    let mut q =
        build(fq_codel::Params { flows: 65_536, ecn: EcnMarking::Off, ..Default::default() });
    // A packet in each of a thousand queues; each queue's CoDel sees the packets of all.
    for round in 0..2 {
        for flow in 0..1000 {
            let _ = q.enqueue(Time::ZERO, of(flow, u64::from(round * 1000 + flow), 1500), &mut ());
        }
    }
    for _ in 0..1000 {
        q.dequeue(Time(10 * MS), &mut ());
    }
    assert_eq!(q.counters().early.packets, 0);
    let mut before = 0;
    while q.packets() > 100 {
        assert!(q.dequeue(Time(200 * MS), &mut ()).is_some());
        let now = q.counters().early.packets;
        assert!(now - before <= 64, "{}", now - before);
        before = now;
    }
    assert!(before > 800, "{before}");
}

#[test]
fn codel_mtu_compares_whole_backlog() {
    for (whole_backlog, drops) in [(true, 1), (false, 0)] {
        let params = fq_codel::Params { whole_backlog, ecn: EcnMarking::Off, ..Default::default() };
        let mut q = build(params);
        let _ = q.enqueue(Time::ZERO, of(0, 0, 1500), &mut ());
        let _ = q.enqueue(Time::ZERO, of(0, 1, 1500), &mut ());
        for id in 2..40 {
            let _ = q.enqueue(Time::ZERO, of(1, id, 1500), &mut ());
        }
        assert_eq!(q.dequeue(Time(10 * MS), &mut ()).unwrap().id, 0);
        q.dequeue(Time(10 * MS), &mut ());
        // Flow 0 has one packet left; another 37 stand beside it.
        q.dequeue(Time(111 * MS), &mut ());
        q.dequeue(Time(111 * MS), &mut ());
        let (_, _, left) = inner(&mut q).queue(of(0, 0, 0).flow);
        assert_eq!(left, 0);
        // One of flow 1 is dropped in any case.
        assert_eq!(q.counters().early.packets, 1 + drops, "{whole_backlog}");
    }
}

#[test]
fn ect_packets_are_marked_by_default() {
    let mut q = build(fq_codel::Params::default());
    for id in 0..100 {
        let _ = q.enqueue(Time::ZERO, Token { ecn: Ecn::Ect0, ..of(0, id, 1500) }, &mut ());
    }
    q.dequeue(Time(10 * MS), &mut ());
    assert_eq!(q.dequeue(Time(110 * MS), &mut ()).unwrap().times_marked, 1);
    assert_eq!((q.counters().marked.packets, q.counters().early.packets), (1, 0));
}

#[test]
fn ce_threshold_may_be_for_some_packets_alone() {
    for (ecn, selector, marks) in [
        (EcnMarking::On, fq_codel::CeThresholdSelector::Any, [1, 1, 0, 0]),
        (EcnMarking::On, fq_codel::CeThresholdSelector::Ect1, [0, 1, 0, 0]),
        (EcnMarking::Off, fq_codel::CeThresholdSelector::Any, [1, 1, 0, 0]),
        (EcnMarking::Ect0, fq_codel::CeThresholdSelector::Any, [1, 0, 0, 0]),
    ] {
        let mut q = build(fq_codel::Params {
            ecn,
            ce_threshold: Some(Time(MS)),
            ce_threshold_selector: selector,
            ..fq_codel::Params::default()
        });
        for (id, ecn) in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce, Ecn::NotEct].into_iter().enumerate() {
            let _ = q.enqueue(Time::ZERO, Token { ecn, ..of(0, id as u64, 1500) }, &mut ());
        }
        let found = [(); 4].map(|()| q.dequeue(Time(MS + 1), &mut ()).unwrap().times_marked);
        assert_eq!(found, marks, "{ecn:?} {selector:?}");
    }
}

#[test]
fn ce_threshold_selector_needs_a_threshold() {
    let selector = fq_codel::CeThresholdSelector::Ect1;
    let params = fq_codel::Params { ce_threshold_selector: selector, ..Default::default() };
    let error = params.validate(&env(10, 1500)).unwrap_err().to_string();
    assert!(error.starts_with("ce_threshold_selector = \"ect1\": needs ce_threshold"), "{error}");
    // Nor is there anything to select where ECT(1) is taken for not ECN-capable.
    let params = fq_codel::Params { ecn: EcnMarking::Ect0, ce_threshold: Some(Time(MS)), ..params };
    let error = params.validate(&env(10, 1500)).unwrap_err().to_string();
    assert!(error.starts_with("ce_threshold_selector = \"ect1\": ecn = \"ect0\" takes"), "{error}");
}
