//! CAKE: its shaper, its tins, whom it is fair to, and its limit.

use crate::common::{Bin, Token, env, queue, token};
use sojourn_base::{Rate, Size, Time};
use sojourn_qdisc::cake::{AckFilter, Isolation, LinkLayer, Params, Tins};
use sojourn_qdisc::*;

const MS: u64 = 1_000_000;

fn of(flow: u32, id: u64, bytes: u32) -> Token {
    Token { flow, ..token(id, bytes, Ecn::NotEct) }
}

fn build(params: Params) -> Qdisc<Token> {
    queue(&Config::Cake(params), &env(100, 1500))
}

fn shaped(mbit: u64) -> Params {
    Params { bandwidth: Some(Rate(mbit * 1_000_000)), ..Params::default() }
}

/// Takes out what may leave until `end`, with `each` before every departure.
fn run(
    q: &mut Qdisc<Token>,
    end: u64,
    mut each: impl FnMut(&mut Qdisc<Token>, u64),
) -> Vec<(u64, Token)> {
    let (mut now, mut sent) = (0, vec![]);
    loop {
        each(q, now);
        let Some(ready) = q.next_ready(Time(now)) else { return sent };
        now = ready.0;
        if now > end {
            return sent;
        }
        sent.push((now, q.dequeue(Time(now), &mut ()).expect("ready")));
    }
}

/// Bytes that each of `flows` sends in ten seconds of which it never lets its queue go empty.
fn shares(params: Params, flows: &[u32]) -> Vec<u64> {
    let mut q = build(Params { rtt: Time::from_secs(50), ..params });
    let mut standing = vec![0u32; flows.len()];
    let mut sent = vec![0u64; flows.len()];
    let (mut id, mut now) = (0, 0);
    while now < 10_000 * MS {
        for (at, flow) in flows.iter().enumerate() {
            while standing[at] < 5 {
                let _ = q.enqueue(Time(now), of(*flow, id, 1000), &mut ());
                (id, standing[at]) = (id + 1, standing[at] + 1);
            }
        }
        now = q.next_ready(Time(now)).expect("packets stand").0;
        let packet = q.dequeue(Time(now), &mut ()).expect("ready");
        let at = flows.iter().position(|flow| *flow == packet.flow).expect("one of them");
        standing[at] -= 1;
        sent[at] += 1000;
    }
    assert_eq!(q.counters().dropped().packets, 0);
    sent
}

fn near(found: u64, wanted: u64) -> bool {
    found.abs_diff(wanted) <= wanted / 50
}

#[test]
fn packets_leave_at_the_rate_of_the_line_with_what_the_line_adds() {
    for (link_layer, gap) in [
        (LinkLayer::Raw, 1_000_000),
        (LinkLayer::Docsis, 1_018_000),
        (LinkLayer::PppoeLlcsnap, 1_166_000),
    ] {
        // 1000 + 40 bytes are 22 cells of 53 bytes.
        let mut q = build(Params { link_layer, ..shaped(8) });
        for id in 0..4 {
            let _ = q.enqueue(Time(5 * MS), of(0, id, 1000), &mut ());
        }
        assert_eq!(q.dequeue(Time(5 * MS), &mut ()).unwrap().id, 0);
        assert_eq!(q.next_ready(Time(5 * MS)), Some(Time(5 * MS + gap)));
        assert_eq!(q.dequeue(Time(5 * MS + gap - 1), &mut ()), None);
        let sent = run(&mut q, u64::MAX, |_, _| ());
        let times: Vec<u64> = sent.iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [1, 2, 3].map(|n| 5 * MS + n * gap));
    }
}

#[test]
fn no_burst_follows_an_idle_time() {
    let mut q = build(shaped(8));
    let _ = q.enqueue(Time::ZERO, of(0, 0, 1000), &mut ());
    q.dequeue(Time::ZERO, &mut ());
    for id in 1..4 {
        let _ = q.enqueue(Time(9000 * MS), of(0, id, 1000), &mut ());
    }
    let times: Vec<u64> = run(&mut q, u64::MAX, |_, _| ()).iter().map(|(at, _)| at / MS).collect();
    assert_eq!(times, [9000, 9001, 9002]);
}

#[test]
fn without_a_bandwidth_the_link_sets_the_pace() {
    let mut q = build(Params::default());
    for id in 0..100 {
        let _ = q.enqueue(Time::ZERO, of(0, id, 1000), &mut ());
    }
    assert_eq!(run(&mut q, 0, |_, _| ()).len(), 100);
}

#[test]
fn a_hundred_flows_do_not_share_queues() {
    // With one place for each hash two of them would in 99 of 100 runs.
    let mut q = build(Params { tins: Tins::Besteffort, ..shaped(8) });
    for id in 0..300 {
        let _ = q.enqueue(Time::ZERO, of(id as u32 % 100, id, 200), &mut ());
    }
    let mut flows: Vec<u32> =
        (0..100).map(|n| q.dequeue(Time(n * MS), &mut ()).unwrap().flow).collect();
    flows.sort_unstable();
    // A quantum is 300 bytes and a packet 200: each sends two in its first turn, one in the next.
    flows.dedup();
    assert_eq!(flows.len(), 50);
}

#[test]
fn hosts_share_evenly_whatever_the_number_of_their_flows() {
    // Sources are the flow's number modulo 3, destinations modulo 2.
    let flows = [0, 3, 6, 9, 12, 15, 18, 21, 1];
    let all = 10_000_000;
    let of = |isolation| {
        let params = Params { isolation, tins: Tins::Besteffort, ..shaped(8) };
        shares(params, &flows)
    };
    let each = of(Isolation::Flows);
    assert!(each.iter().all(|&bytes| near(bytes, all / 9)), "{each:?}");
    let by_source = of(Isolation::DualSrchost);
    assert!(near(by_source[8], all / 2), "{by_source:?}");
    assert!(by_source[..8].iter().all(|&bytes| near(bytes, all / 16)), "{by_source:?}");
    let by_destination = of(Isolation::DualDsthost);
    // Flows 3, 9, 15, 21 and 1 have one, 0, 6, 12 and 18 the other.
    assert!(near(by_destination[8], all / 10), "{by_destination:?}");
    assert!(near(by_destination[0], all / 8), "{by_destination:?}");
    // Flow 1 is one of five of its destination, the others are of eight of their source.
    let triple = of(Isolation::TripleIsolate);
    assert!(near(5 * triple[8], 8 * triple[0]), "{triple:?}");
}

#[test]
fn flowblind_and_host_modes_put_flows_into_one_queue() {
    for (isolation, together, apart) in [
        (Isolation::Flowblind, 1, None),
        (Isolation::Srchost, 3, Some(1)),
        (Isolation::Dsthost, 2, Some(1)),
        (Isolation::Hosts, 6, Some(3)),
    ] {
        let rtt = Time::from_secs(50);
        let order = |other: u32| -> Vec<u32> {
            let mut q = build(Params { tins: Tins::Besteffort, isolation, rtt, ..shaped(8) });
            for id in 0..10 {
                let _ = q.enqueue(Time::ZERO, of(0, id, 1000), &mut ());
            }
            let _ = q.enqueue(Time::ZERO, of(other, 10, 1000), &mut ());
            run(&mut q, u64::MAX, |_, _| ()).iter().map(|(_, packet)| packet.flow).collect()
        };
        assert_eq!(order(together)[10], together, "{isolation:?}");
        if let Some(other) = apart {
            assert_eq!(order(other)[1], other, "{isolation:?}");
        }
    }
}

#[test]
fn tins_come_first_up_to_their_part_and_starve_nobody() {
    // Codepoints are eight times the flow's number modulo 7: default, cs1 and cs6.
    let all = 10_000_000;
    let sent = shares(shaped(8), &[0, 1, 6]);
    assert!(near(sent[1], all / 16) && near(sent[2], all / 4), "{sent:?}");
    let alone = shares(shaped(8), &[6]);
    assert!(near(alone[0], all), "{alone:?}");
}

#[test]
fn without_a_shaper_tins_share_by_their_quanta() {
    let mut q = build(Params { rtt: Time::from_secs(50), ..Params::default() });
    let mut id = 0;
    let mut sent = [0u64; 7];
    for flow in [0, 1, 6] {
        for _ in 0..3000 {
            let _ = q.enqueue(Time::ZERO, of(flow, id, 1000), &mut ());
            id += 1;
        }
    }
    for _ in 0..3000 {
        sent[q.dequeue(Time::ZERO, &mut ()).unwrap().flow as usize] += 1;
    }
    // 1024, 64 and 256 bytes in a round.
    let [best, bulk, voice] = [sent[0], sent[1], sent[6]];
    assert!(near(best, 3000 * 16 / 21) && near(voice, 3000 * 4 / 21), "{sent:?}");
    assert!(near(bulk, 3000 / 21), "{sent:?}");
}

#[test]
fn dropped_packets_count_as_sent_at_the_ingress() {
    // A flow at twice the rate, deaf to drops: what leaves and what is dropped is the rate.
    for ingress in [false, true] {
        let mut q = build(Params { ingress, tins: Tins::Besteffort, ..shaped(8) });
        let mut id = 10;
        for ahead in 0..id {
            let _ = q.enqueue(Time::ZERO, of(0, ahead, 1000), &mut ());
        }
        let mut feed = |q: &mut Qdisc<Token>, now: u64| {
            while id * MS / 2 <= now {
                let _ = q.enqueue(Time(id * MS / 2), of(0, id, 1000), &mut ());
                id += 1;
            }
        };
        let sent = run(&mut q, 3000 * MS, &mut feed).len() as u64;
        let gone = q.counters().early.packets;
        assert!(gone > 100, "{gone}");
        let counted = if ingress { sent + gone } else { sent };
        assert!(counted.abs_diff(3000) <= 2, "{ingress}: {sent} {gone}");
    }
}

#[test]
fn a_limit_takes_from_the_head_of_the_longest_queue() {
    let params = Params { memory_limit: Some(Size(20_000)), ..shaped(8) };
    let mut q = build(params);
    for id in 0..15 {
        let _ = q.enqueue(Time::ZERO, of(0, id, 1000), &mut ());
    }
    let mut bin = Bin::default();
    for id in 15..22 {
        assert_eq!(q.enqueue(Time::ZERO, of(7, id, 1000), &mut bin), Verdict::Queued);
    }
    let dropped: Vec<_> = bin.packets.iter().map(|(packet, reason)| (packet.id, *reason)).collect();
    assert_eq!(dropped, [(0, DropReason::Overflow), (1, DropReason::Overflow)]);
    // One that is larger than all there may be goes itself, after the others.
    let verdict = q.enqueue(Time::ZERO, of(14, 22, 30_000), &mut bin);
    assert_eq!((verdict, q.packets()), (Verdict::Dropped(DropReason::Overflow), 20));
}

#[test]
fn autorate_shapes_below_the_rate_of_the_arrivals() {
    let mut q = build(Params { autorate_ingress: true, ..Params::default() });
    let (mut id, mut now, mut bytes) = (0, 0, 0u64);
    // Pairs of packets at 8 Mb/s on the whole.
    while now < 20_000 * MS {
        for _ in 0..2 {
            let _ = q.enqueue(Time(now), of(0, id, 1000), &mut ());
            id += 1;
        }
        let from = now;
        now += 2 * MS;
        while let Some(at) = q.next_ready(Time(from)).filter(|at| at.0 < now) {
            let packet = q.dequeue(at, &mut ()).expect("ready");
            bytes += u64::from(if at.0 > 10_000 * MS { packet.bytes } else { 0 });
        }
    }
    // 15/16 of 10 MB, and a queue.
    assert!((9_000_000..9_700_000).contains(&bytes), "{bytes}");
}

#[test]
fn autorate_does_not_count_what_the_filter_of_acks_drops() {
    let (ack_filter, autorate_ingress) = (AckFilter::Aggressive, true);
    let mut q = build(Params { ack_filter, autorate_ingress, ..shaped(1) });
    let mut now = 0;
    // 41.6 kb/s of acknowledgements, each of which makes the one before superfluous.
    for id in 0..6000 {
        now += if id % 2 == 0 { 5 * MS } else { 15 * MS };
        let _ = q.enqueue(Time(now), of(0, 11 * id + 5, 52), &mut ());
        assert_eq!(q.packets(), 1);
    }
    q.dequeue(Time(now), &mut ());
    for id in 0..2 {
        let _ = q.enqueue(Time(now), of(0, id, 1000), &mut ());
    }
    q.dequeue(Time(now), &mut ());
    // The estimate has come down as far as it goes, to 255 bytes a second.
    assert!(q.next_ready(Time(now)).is_some_and(|at| at.0 > now + 4000 * MS));
}

#[test]
fn acks_that_a_later_one_makes_superfluous_go_one_at_a_time() {
    // Numbers of packets, which they acknowledge; 0, 1, 11 and 12 echo a mark.
    let left = |ack_filter, ids: &[u64], bytes: u32| -> Vec<u64> {
        let mut q = build(Params { ack_filter, ..shaped(1) });
        for id in ids {
            let _ = q.enqueue(Time::ZERO, of(0, *id, bytes), &mut ());
        }
        run(&mut q, u64::MAX, |_, _| ()).iter().map(|(_, packet)| packet.id).collect()
    };
    let ids = [2, 3, 4, 5];
    assert_eq!(left(AckFilter::Off, &ids, 52), ids);
    assert_eq!(left(AckFilter::Normal, &ids, 52), [4, 5]);
    assert_eq!(left(AckFilter::Aggressive, &ids, 52), [5]);
    // With data, and those that say less than what stands before them.
    assert_eq!(left(AckFilter::Aggressive, &ids, 75), ids);
    assert_eq!(left(AckFilter::Aggressive, &[5, 4, 3], 52), [5, 4, 3]);
    // The last with each echo stays.
    assert_eq!(left(AckFilter::Aggressive, &[8, 9, 10, 11, 12, 13], 52), [10, 12, 13]);
    assert_eq!(left(AckFilter::Normal, &[10, 11, 13], 52), [10, 11, 13]);
    assert_eq!(left(AckFilter::Aggressive, &[2, 2], 52), [2, 2]);
}

#[test]
fn acks_of_other_connections_stay() {
    let mut q = build(Params {
        ack_filter: AckFilter::Aggressive,
        isolation: Isolation::Flowblind,
        tins: Tins::Besteffort,
        ..shaped(1)
    });
    for id in 2..8 {
        let _ = q.enqueue(Time::ZERO, of(id as u32 % 2, id, 52), &mut ());
    }
    let left: Vec<u64> =
        run(&mut q, u64::MAX, |_, _| ()).iter().map(|(_, packet)| packet.id).collect();
    // What stands between two of a connection hides them from the aggressive filter only.
    assert_eq!(left, [4, 5, 6, 7]);
}

/// tc-cake(8): -64 to 256 bytes in all.
#[test]
fn overhead_counts_with_what_the_link_layer_adds() {
    for (link_layer, least, most) in
        [(cake::LinkLayer::Raw, -64, 256), (cake::LinkLayer::Ethernet, -102, 218)]
    {
        let refused = |overhead| {
            let params = cake::Params { link_layer, overhead, ..Default::default() };
            Config::Cake(params).validate(&env(100, 1500)).is_err()
        };
        assert_eq!([least, most].map(refused), [false, false], "{link_layer:?}");
        assert_eq!([least - 1, most + 1].map(refused), [true, true], "{link_layer:?}");
    }
}
