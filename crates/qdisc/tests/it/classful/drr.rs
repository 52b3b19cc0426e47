//! Deficit round robin keeps its shares whatever the sizes of packets.

use super::{Source, assert_close, droptail, run};
use crate::common::{Token, env, queue, token};
use sojourn_base::{Size, Time};
use sojourn_qdisc::{Config, Discipline, Ecn, codel, droptail as tail, drr};

fn config(weights: &[f64], inner: &Config) -> Config {
    let class = |(at, weight): (usize, &f64)| {
        drr::Class::new(&format!("c{at}"), *weight, &[&format!("flow{at}")], inner.clone())
    };
    let classes = weights.iter().enumerate().map(class).collect();
    Config::Drr(drr::Params { classes, ..Default::default() })
}

#[test]
fn overloaded_classes_get_their_weights_within_two_percent() {
    let weights = [1.0, 2.0, 3.0, 4.0];
    let sizes = [1500, 40, 700, 1000];
    let sources: Vec<Source> =
        (0..4).map(|flow| Source::new(flow, sizes[flow as usize], 8e6)).collect();
    let sent = run(&config(&weights, &droptail(50)), 10, &sources, 20.0);
    for (share, weight) in sent.shares::<4>(2.0, 20.0).iter().zip(weights) {
        assert_close(share / (weight / 10.0), 1.0, 0.02, "share over weight");
    }
}

#[test]
fn a_packet_waits_until_its_class_has_the_bytes_for_it() {
    // 500 bytes in a turn: the packets of 1000 of the one need two, those of the other one.
    let classes = [0, 1].map(|flow| {
        drr::Class::new(&format!("c{flow}"), 1.0, &[&format!("flow{flow}")], droptail(10))
    });
    let quantum = Some(Size(500));
    let config = Config::Drr(drr::Params { classes: classes.into(), quantum, default: None });
    let mut q = queue(&config, &env(10, 1000));
    for id in 0..6 {
        for (flow, bytes) in [(0, 1000), (1, 500)] {
            let packet = Token { flow, ..token(id, bytes, Ecn::NotEct) };
            let _ = q.enqueue(Time::ZERO, packet, &mut ());
        }
    }
    let order: Vec<u32> =
        (0..9).map(|_| q.dequeue(Time::ZERO, &mut ()).expect("stands").flow).collect();
    assert_eq!(order, [1, 0, 1, 1, 0, 1, 1, 0, 1]);
}

#[test]
fn drr_keeps_weights_over_codel_without_peek() {
    let weights = [1.0, 2.0, 3.0];
    let inner = Config::Codel(codel::Params { limit: 200, ..Default::default() });
    let sources = [1500, 300, 1000].map(|bytes| (bytes, 6e6));
    let sources: Vec<Source> =
        (0..3).map(|flow| Source::new(flow, sources[flow as usize].0, 6e6)).collect();
    let sent = run(&config(&weights, &inner), 10, &sources, 20.0);
    for (share, weight) in sent.shares::<3>(2.0, 20.0).iter().zip(weights) {
        assert_close(share / (weight / 6.0), 1.0, 0.02, "share over weight");
    }
}

#[test]
fn unused_share_is_divided_by_weight() {
    // The first wants a tenth of its half.
    let sources = [Source::new(0, 500, 0.5e6), Source::new(1, 1500, 9e6), Source::new(2, 200, 9e6)];
    let sent = run(&config(&[5.0, 3.0, 2.0], &droptail(50)), 10, &sources, 20.0);
    let shares = sent.shares::<3>(2.0, 20.0);
    assert_close(shares[0], 0.05, 0.002, "what it wants");
    assert_close(shares[1], 0.95 * 0.6, 0.01, "three of five of the rest");
    assert_close(shares[2], 0.95 * 0.4, 0.01, "two of five of the rest");
}

#[test]
fn a_limit_in_time_is_that_of_the_share() {
    // 2 and 6 Mb/s: 25 and 75 packets of 1000 bytes in 100 ms.
    let limit_time = Some(Time::from_millis(100));
    let inner = Config::Droptail(tail::Params { limit_time, ..Default::default() });
    let mut q = queue(&config(&[5.0, 15.0], &inner), &env(8, 1000));
    for id in 0..200 {
        let packet = Token { flow: (id % 2) as u32, ..token(id, 1000, Ecn::NotEct) };
        let _ = q.enqueue(Time::ZERO, packet, &mut ());
    }
    let mut standing = Vec::new();
    q.classes(&mut |counters| standing.push(counters.standing().packets));
    assert_eq!(standing, [25, 75]);
}
