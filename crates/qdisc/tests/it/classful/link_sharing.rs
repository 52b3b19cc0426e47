//! Link-sharing by CBQ: what the paper's guidelines promise.

use super::{Source, assert_close, droptail, run};
use crate::common::{Token, env, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::cbq::{Borrowing, Class, Params, Rounds};
use sojourn_qdisc::{Config, Discipline, Ecn, pi};

fn leaf(flow: u32, share: f64) -> Class {
    Class::new(&format!("c{flow}"), share, &[&format!("flow{flow}")], droptail(100))
}

fn config(classes: Vec<Class>, borrowing: Borrowing) -> Config {
    Config::Cbq(Params { classes, borrowing, ..Params::default() })
}

/// Two agencies with half of the link each; in each an interactive class (priority 1, 20 % of the
/// agency) and one for bulk data: the structure of the paper's figure 1, with two of its agencies.
fn agencies(borrowing: Borrowing) -> Config {
    let bulk = |flow, share| Class { priority: 2, ..leaf(flow, share) };
    let classes = vec![
        Class::around("A", 0.5, vec![leaf(0, 0.2), bulk(1, 0.8)]),
        Class::around("B", 0.5, vec![leaf(2, 0.2), bulk(3, 0.8)]),
    ];
    config(classes, borrowing)
}

const RULES: [Borrowing; 2] = [Borrowing::TopLevel, Borrowing::Formal];

#[test]
fn cbq_gives_agencies_and_classes_their_shares() {
    for rule in RULES {
        let sources = [0, 1, 2, 3].map(|flow| Source::new(flow, 1000, 10e6));
        let shares = run(&agencies(rule), 10, &sources, 30.0).shares::<4>(5.0, 30.0);
        for (share, wanted) in shares.into_iter().zip([0.1, 0.4, 0.1, 0.4]) {
            assert_close(share, wanted, 0.02, "share");
        }
    }
}

#[test]
fn unused_share_stays_in_agency_first() {
    for rule in RULES {
        // A's bulk is silent from 20 s to 40 s; all of A from 40 s on.
        let sources = [
            Source::new(0, 1000, 10e6).between(0.0, 40.0),
            Source::new(1, 1000, 10e6).between(0.0, 20.0),
            Source::new(2, 1000, 10e6),
            Source::new(3, 1000, 10e6),
        ];
        let sent = run(&agencies(rule), 10, &sources, 60.0);
        let silent = sent.shares::<4>(25.0, 40.0);
        assert_close(silent[0], 0.5, 0.02, "A's interactive class has A's half");
        assert_close(silent[2] + silent[3], 0.5, 0.02, "B has its own");
        let alone = sent.shares::<4>(45.0, 60.0);
        assert_close(alone[2] + alone[3], 1.0, 1e-9, "B has all");
        assert_close(sent.rate(3, 45.0, 60.0) + sent.rate(2, 45.0, 60.0), 10e6, 1e5, "no pause");
    }
}

#[test]
fn class_that_may_not_borrow_leaves_link_idle() {
    let classes = vec![leaf(0, 0.5), leaf(1, 0.3), leaf(2, 0.2)];
    let sources = [Source::new(1, 1000, 10e6), Source::new(2, 400, 10e6)];
    let without = run(&config(classes.clone(), Borrowing::None), 10, &sources, 30.0);
    assert_close(without.rate(1, 5.0, 30.0), 3e6, 0.2e6, "its share");
    assert_close(without.rate(2, 5.0, 30.0), 2e6, 0.2e6, "its share");
    let with = run(&config(classes, Borrowing::Ancestor), 10, &sources, 30.0);
    assert_close(with.rate(1, 5.0, 30.0), 6e6, 0.2e6, "three of five");
    assert_close(with.rate(2, 5.0, 30.0), 4e6, 0.2e6, "two of five");
}

#[test]
fn bounded_agency_leaves_other_its_share() {
    let inside = |flow| vec![leaf(flow, 1.0)];
    let a = Class { borrow: false, ..Class::around("A", 0.4, inside(0)) };
    let classes = vec![a, Class::around("B", 0.6, inside(1))];
    let sources = [Source::new(0, 1000, 10e6), Source::new(1, 1000, 1e6)];
    for rule in [Borrowing::Ancestor, Borrowing::TopLevel, Borrowing::Formal] {
        let sent = run(&config(classes.clone(), rule), 10, &sources, 30.0);
        assert_close(sent.rate(0, 5.0, 30.0), 4e6, 0.2e6, "no more than A's share");
        assert_close(sent.rate(1, 5.0, 30.0), 1e6, 0.05e6, "what B wants");
    }
}

#[test]
fn packet_rounds_ignore_packet_sizes() {
    let classes = vec![leaf(0, 0.5), leaf(1, 0.5)];
    let params = Params { classes, rounds: Rounds::Packet, ..Params::default() };
    let sources = [Source::new(0, 1000, 10e6), Source::new(1, 250, 10e6)];
    let sent = run(&Config::Cbq(params), 10, &sources, 20.0);
    assert_close(sent.rate(0, 5.0, 20.0) / sent.rate(1, 5.0, 20.0), 4.0, 0.1, "four to one");
}

#[test]
fn weights_hold_within_each_priority() {
    let second = |flow, share| Class { priority: 2, ..leaf(flow, share) };
    let classes = vec![leaf(0, 0.2), second(1, 0.6), second(2, 0.2)];
    let sources =
        [Source::new(0, 1000, 0.5e6), Source::new(1, 250, 10e6), Source::new(2, 1000, 10e6)];
    let sent = run(&config(classes, Borrowing::Ancestor), 10, &sources, 20.0);
    assert_close(sent.rate(0, 2.0, 20.0), 0.5e6, 0.02e6, "what it asks for");
    let [large, small] = [1, 2].map(|flow| sent.rate(flow, 2.0, 20.0));
    assert_close(large / small, 3.0, 0.05, "three to one");
    assert_close(large + small, 9.5e6, 0.05e6, "all the rest");
}

#[test]
fn turns_within_a_priority_are_of_a_mean_packet_on_average() {
    // Quanta of 1500 and 500 bytes, in packets of 500.
    let second = |flow, share| Class { priority: 2, ..leaf(flow, share) };
    let classes = vec![leaf(0, 0.2), second(1, 0.6), second(2, 0.2)];
    let mut q = queue(&config(classes, Borrowing::Ancestor), &env(10, 1000));
    for id in 0..8 {
        for flow in [1, 2] {
            let _ = q.enqueue(Time::ZERO, Token { flow, ..token(id, 500, Ecn::NotEct) }, &mut ());
        }
    }
    // At an instant far off, when nobody is over its limit.
    let now = |n: u64| Time::from_secs(1000 * (n + 1));
    let order: Vec<u32> =
        (0..8).map(|n| q.dequeue(now(n), &mut ()).expect("stands").flow).collect();
    assert_eq!(order, [1, 1, 1, 2, 1, 1, 1, 2]);
}

#[test]
fn a_burst_after_a_pause_goes_out_at_once() {
    // 1 % of the link, no borrowing: 16 packets of mean size may follow each other.
    let class = Class { borrow: false, ..leaf(0, 0.01) };
    let config = config(vec![class, leaf(1, 0.9)], Borrowing::Ancestor);
    let sources = [Source::new(0, 1000, 8e6).between(5.0, 5.5)];
    let sent = run(&config, 10, &sources, 10.0);
    let burst = sent.0.iter().take_while(|(at, ..)| at.0 < 5_100_000_000).count();
    assert!((16..=20).contains(&burst), "{burst}");
}

#[test]
fn pi_in_each_class_holds_its_own_queue() {
    let pi = Config::Pi(pi::Params { a: 2e-3, b: 1.98e-3, qref: 30.0, ..Default::default() });
    let class = |flow: u32| {
        Class::new(&format!("c{flow}"), 1.0 / 3.0, &[&format!("flow{flow}")], pi.clone())
    };
    let config = config((0..3).map(class).collect(), Borrowing::Ancestor);
    // Unresponsive, a tenth above a third of the link each: PI must drop a tenth in each.
    let sources = [0, 1, 2].map(|flow| Source::new(flow, 1000, 3.7e6));
    let sent = run(&config, 10, &sources, 60.0);
    for share in sent.shares::<3>(20.0, 60.0) {
        assert_close(share, 1.0 / 3.0, 0.01, "a third");
    }
}

#[test]
fn a_class_that_is_held_back_waits_for_its_extra_delay() {
    let longest = |extradelay| {
        let class = Class { borrow: false, extradelay, ..leaf(0, 0.5) };
        let config = config(vec![class, leaf(1, 0.5)], Borrowing::Ancestor);
        let sources = [0, 1].map(|flow| Source::new(flow, 1000, 10e6));
        let sent = run(&config, 10, &sources, 20.0);
        let times: Vec<Time> = sent.0.iter().filter(|one| one.1 == 0).map(|one| one.0).collect();
        times.windows(2).map(|two| two[1] - two[0]).max().unwrap()
    };
    // A packet takes 1.6 ms at the class's own rate.
    assert!(longest(Time::ZERO) < Time::from_millis(5));
    let delayed = longest(Time::from_millis(20));
    assert!((20..25).contains(&(delayed.0 / 1_000_000)), "{delayed}");
}
