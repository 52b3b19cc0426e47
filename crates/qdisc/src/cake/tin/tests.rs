use super::*;
use crate::Ecn;
use sojourn_base::Kind;

#[derive(Clone, Copy, Debug)]
struct Plain {
    flow: u32,
    source: u32,
}

impl Packet for Plain {
    fn bytes(&self) -> u32 {
        1000
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    fn set_ce(&mut self) {}
    fn flow_hash(&self) -> u32 {
        self.flow
    }
    fn source(&self) -> u32 {
        self.source
    }
    fn destination(&self) -> u32 {
        self.flow
    }
}

const SETTING: Setting =
    Setting { target: 5_000_000, rtt: 100_000_000, mtu: 1500, ecn: EcnMarking::On };

#[test]
fn pairs_of_hosts_fill_the_queues_evenly() {
    let pairs = (0..32).flat_map(|source| (0..32).map(move |flow| Plain { flow, source }));
    let hashes = pairs.map(|pair| Hashes::of(&pair, Isolation::Hosts, 7).flow % 1024);
    let filled: alloc::collections::BTreeSet<u32> = hashes.collect();
    // 1024 at random fill all but 1/e of them.
    assert!((600..700).contains(&filled.len()), "{}", filled.len());
}

#[test]
fn slow_lines_have_longer_targets_and_intervals_and_smaller_quanta() {
    let rules = Rules::new(Part { rate: 1_000_000, quantum: 0 }, &SETTING);
    // 1514 bytes take 12.112 ms.
    assert_eq!((rules.law.target, rules.law.interval), (18_168_000, 113_168_000));
    assert_eq!((rules.law.above, rules.quantum), (48_448_000, 300));
    let rules = Rules::new(Part { rate: 16_000_000, quantum: 0 }, &SETTING);
    assert_eq!(
        (rules.law.target, rules.law.interval, rules.quantum),
        (5_000_000, 100_000_000, 488)
    );
    let rules = Rules::new(Part { rate: 0, quantum: 0 }, &SETTING);
    assert_eq!((rules.law.above, rules.quantum), (5_000_000, 1514));
}

#[test]
fn counts_of_queues_and_of_busy_hosts_are_what_the_queues_say() {
    let part = Part { rate: 10_000_000, quantum: 1024 };
    let mut tin = Tin::new(part, &SETTING, Isolation::TripleIsolate);
    let mut pool = Pool::new();
    let mut coin = Stream::new(1, Kind::Test, 0, 0);
    let (mut now, mut shared) = (Time::ZERO, 0);
    for _ in 0..40_000 {
        now += Time(coin.below(400_000));
        // More flows than a tin has queues, so that some share one; in turns few and many.
        let many = now.0 / 1_000_000_000 % 2 == 0;
        let flow = coin.below(if many { 3000 } else { 30 }) as u32;
        let packet = Plain { flow, source: flow % 7 };
        let at = tin.classify(Hashes::of(&packet, Isolation::TripleIsolate, 9));
        shared += u32::from(!tin.flows[at].line.is_empty());
        tin.append(at, Stamped { packet, at: now }, &mut pool);
        tin.wait(at);
        let mut call = Call { now, ingress: false, budget: 64 };
        for decaying in [true, false] {
            if !tin.is_empty() && coin.below(100) < 55 {
                let at = tin.turn(decaying, &mut coin).expect("a queue waits");
                if let Turn::Sent(_) = tin.serve(at, &mut call, &mut pool, &mut coin, &mut ()) {
                    tin.charge(at, now, 1000);
                }
            }
        }
        let of = |sets: &[Set]| tin.flows.iter().filter(|flow| sets.contains(&flow.set)).count();
        assert_eq!(tin.sparse as usize, of(&[Set::Sparse, Set::SparseWait]));
        assert_eq!(tin.bulk as usize, of(&[Set::Bulk]));
    }
    assert!(shared > 1000);
    let mut sources = [0; QUEUES];
    for flow in tin.flows.iter().filter(|flow| flow.set == Set::Bulk) {
        sources[usize::from(flow.source)] += 1;
    }
    assert!((0..QUEUES).all(|at| tin.sources.load(at as u16) == sources[at]));
    assert!(tin.bulk > 0 && sources.iter().filter(|&&bulk| bulk > 0).count() <= 7);
}

/// A tin of a line at 12 Mb/s, on which the longest packet takes 1.009333 ms.
fn tin() -> Tin {
    Tin::new(Part { rate: 12_000_000, quantum: 500 }, &SETTING, Isolation::TripleIsolate)
}

fn hashes(flow: u32, source: u32) -> Hashes {
    Hashes { flow, source, destination: 1 }
}

/// Appends packets of 1000 bytes that came at `came` to the queue of `flow`, which waits.
fn offer(tin: &mut Tin, pool: &mut Pool<Stamped<Plain>>, flow: u32, came: Time, n: u32) -> usize {
    let at = tin.classify(hashes(flow, flow));
    for _ in 0..n {
        let packet = Plain { flow, source: flow };
        tin.append(at, Stamped { packet, at: came }, pool);
    }
    tin.wait(at);
    at
}

fn coin() -> Stream {
    Stream::new(1, Kind::Test, 0, 0)
}

#[test]
fn a_queue_that_nobody_has_is_given_the_hosts_of_its_packet() {
    let (mut tin, mut pool) = (tin(), Pool::new());
    let at = tin.classify(hashes(5, 100));
    assert_eq!((at, tin.flows[at].source), (5, 100));
    // In no ring yet: what comes next may be of another host.
    assert_eq!(tin.classify(hashes(5, 200)), at);
    assert_eq!(tin.flows[at].source, 200);
    tin.append(at, Stamped { packet: Plain { flow: 5, source: 200 }, at: Time::ZERO }, &mut pool);
    tin.wait(at);
    assert_eq!(tin.classify(hashes(5, 300)), at);
    assert_eq!(tin.flows[at].source, 200, "it stays with its host while it is in a ring");
    // The same where the hash's own place is another's.
    let beside = tin.classify(hashes(5 + 1024, 400));
    assert_eq!((beside, tin.flows[beside].source), (6, 400));
    tin.append(beside, Stamped { packet: Plain { flow: 5, source: 1 }, at: Time::ZERO }, &mut pool);
    tin.wait(beside);
    assert_eq!(tin.classify(hashes(5 + 1024, 500)), beside);
    assert_eq!(tin.flows[beside].source, 400);
}

#[test]
fn a_queue_that_is_shared_counts_for_the_host_of_the_newcomer() {
    let (mut tin, mut pool) = (tin(), Pool::new());
    for flow in 0..8 {
        let at = offer(&mut tin, &mut pool, flow, Time::ZERO, 1);
        assert_eq!(at, flow as usize);
        tin.promote(at);
    }
    assert_eq!((tin.sparse, tin.bulk), (0, 8));
    // All eight places of the set are taken; the newcomer's own is the fourth.
    assert_eq!(tin.classify(hashes(3 + 1024, 99)), 3);
    assert_eq!((tin.flows[3].tag, tin.flows[3].source), (3 + 1024, 99));
    assert_eq!([2, 3, 99].map(|source| tin.sources.load(source)), [1, 0, 1]);
    assert_eq!(tin.destinations.load(1), 8);
}

#[test]
fn at_the_ingress_a_packet_is_late_after_two_packets_of_each_busy_queue() {
    let guard = 2 * 3 * 1_009_333;
    for (ingress, sojourn, late) in [
        (true, guard, false),
        (true, guard + 1, true),
        (false, 5_000_000, false),
        (false, 5_000_001, true),
    ] {
        let (mut tin, mut pool) = (tin(), Pool::new());
        for flow in 0..3 {
            let at = offer(&mut tin, &mut pool, flow, Time::from_secs(1), 2);
            tin.promote(at);
        }
        let now = Time(1_000_000_000 + sojourn);
        let mut call = Call { now, ingress, budget: 64 };
        let turn = tin.serve(0, &mut call, &mut pool, &mut coin(), &mut ());
        assert!(matches!(turn, Turn::Sent(_)));
        assert_eq!(tin.flows[0].cobalt.dropping, late, "{ingress} {sojourn}");
    }
}

#[test]
fn a_call_drops_as_many_packets_as_its_budget_and_never_the_last() {
    for (ingress, budget, standing, left, spent) in
        [(false, 3, 10, 6, 3), (false, 64, 4, 0, 3), (false, 0, 4, 3, 0), (true, 3, 10, 9, 1)]
    {
        let (mut tin, mut pool) = (tin(), Pool::new());
        let at = offer(&mut tin, &mut pool, 0, Time::ZERO, standing);
        // BLUE alone drops whatever comes.
        tin.flows[at].cobalt.blue = Probability::ONE;
        let mut call = Call { now: Time(1), ingress, budget };
        let turn = tin.serve(at, &mut call, &mut pool, &mut coin(), &mut ());
        assert_eq!(matches!(turn, Turn::Dropped(1000)), ingress);
        assert_eq!((tin.packets_in(at), call.budget), (left, budget - spent));
        assert_eq!(tin.backlogs[at], u64::from(left) * 1000);
        let c = &tin.counters;
        let sent = u64::from(!ingress);
        assert_eq!((c.early.packets, c.evicted.packets), (u64::from(spent), u64::from(spent)));
        assert_eq!((c.dequeued.packets, c.dequeued.bytes), (sent, sent * 1000));
        assert_eq!(tin.probability(), Probability::ONE);
    }
}

#[test]
fn a_quantum_is_divided_among_the_busy_queues_of_the_host_with_more() {
    let (mut tin, mut pool) = (tin(), Pool::new());
    // 12 Mb/s over 2¹⁵ are 366 bytes, less what the fraction rounds.
    for (flow, deficit) in [(0, 365), (1, 365), (2, 182)] {
        let at = offer(&mut tin, &mut pool, flow, Time::ZERO, 2);
        assert_eq!(tin.flows[at].deficit, deficit);
        tin.promote(at);
    }
    // Each source has one busy queue, the destination of all has three.
    assert_eq!(tin.quantum(0), 366 * 21_845);
    tin.charge(0, Time::ZERO, 365);
    assert_eq!((tin.flows[0].deficit, tin.deficit), (0, -365));
    // With its deficit used up a queue goes behind the others with a third of a quantum.
    let (mut coin, mut twin) = (coin(), coin());
    assert_eq!(tin.turn(false, &mut coin), Some(1));
    let rounded = (366 * 21_845 + (twin.next_u32() >> 16)) >> 16;
    assert_eq!(tin.flows[0].deficit, i64::from(rounded));
    tin.add_part();
    assert_eq!(tin.deficit, 500 - 365);
}

#[test]
fn a_sparse_queue_with_more_to_send_is_busy_and_one_without_waits_among_the_old() {
    let (mut tin, mut pool, mut coin) = (tin(), Pool::new(), coin());
    let more = offer(&mut tin, &mut pool, 0, Time::ZERO, 2);
    let empty = offer(&mut tin, &mut pool, 1, Time::ZERO, 1);
    assert_eq!((tin.sparse, tin.bulk, tin.waits()), (2, 0, true));
    let mut call = Call { now: Time::ZERO, ingress: false, budget: 64 };
    for at in [more, empty] {
        assert_eq!(tin.turn(false, &mut coin), Some(at));
        let turn = tin.serve(at, &mut call, &mut pool, &mut coin, &mut ());
        assert!(matches!(turn, Turn::Sent(_)));
        tin.charge(at, Time::ZERO, 365);
    }
    assert_eq!(tin.turn(false, &mut coin), Some(more));
    assert_eq!([more, empty].map(|at| tin.flows[at].set), [Set::Bulk, Set::SparseWait]);
    assert_eq!((tin.sparse, tin.bulk), (1, 1));
    // What comes for it now makes it busy.
    offer(&mut tin, &mut pool, 1, Time::ZERO, 1);
    assert_eq!((tin.flows[empty].set, tin.sparse, tin.bulk), (Set::Bulk, 0, 2));
    assert_eq!(tin.longest(), (0, 1000));
    offer(&mut tin, &mut pool, 1, Time::ZERO, 1);
    assert_eq!(tin.longest(), (1, 2000));
}

#[test]
fn a_queue_that_has_emptied_is_nobodys_once_its_cobalt_is_at_rest() {
    let (mut tin, mut pool, mut coin) = (tin(), Pool::new(), coin());
    let at = offer(&mut tin, &mut pool, 0, Time::ZERO, 1);
    tin.shorten(at, Time::ZERO, &mut pool, &mut ());
    assert_eq!((tin.counters.overflow.packets, tin.is_empty()), (1, true));
    let mut call = Call { now: Time::ZERO, ingress: false, budget: 64 };
    // Its overflow has left a signal, due at once, and one look does not take it all back.
    tin.flows[at].cobalt.count = 2;
    let turn = tin.serve(at, &mut call, &mut pool, &mut coin, &mut ());
    assert!(matches!(turn, Turn::Empty));
    assert_eq!((tin.flows[at].set, tin.sparse, tin.waits()), (Set::Decaying, 0, false));
    assert_eq!((tin.turn(false, &mut coin), tin.turn(true, &mut coin)), (None, Some(at)));
    call.now = Time::from_secs(10);
    for _ in 0..2 {
        tin.serve(at, &mut call, &mut pool, &mut coin, &mut ());
    }
    assert_eq!((tin.flows[at].set, tin.turn(true, &mut coin)), (Set::None, None));
}
