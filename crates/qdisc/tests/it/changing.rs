//! Parameters that change while packets stand in a queue.

use crate::common::{Token, env, offer, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::*;

const MS: Time = Time::from_millis(1);

/// Disciplines that go on with other parameters.
fn changeable() -> [Config; 7] {
    [
        Config::Droptail(Default::default()),
        Config::Codel(Default::default()),
        Config::Red(Default::default()),
        Config::Ared(Default::default()),
        Config::Pi(Default::default()),
        Config::Rem(Default::default()),
        Config::Pie(Default::default()),
    ]
}

/// Overloads a link of 12 Mb/s twofold, so that a queue is busy: what becomes of each packet.
fn overload(q: &mut Qdisc<Token>, from: u64, to: u64) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for ms in from..to {
        for n in 0..2 {
            let packet = token(2 * ms + n, 1500, Ecn::NotEct);
            verdicts.push(q.enqueue(MS * ms, packet, &mut ()));
        }
        q.dequeue(MS * ms, &mut ());
    }
    verdicts
}

#[test]
fn change_to_the_same_parameters_changes_nothing() {
    for config in changeable() {
        let env = env(12, 1500);
        let (mut changed, mut left_alone) = (queue(&config, &env), queue(&config, &env));
        overload(&mut changed, 0, 3000);
        overload(&mut left_alone, 0, 3000);
        assert!(changed.change(&config, &env).unwrap(), "{}", config.name());
        assert_eq!(changed.probability(), left_alone.probability(), "{}", config.name());
        let after = [&mut changed, &mut left_alone].map(|q| overload(q, 3000, 6000));
        assert_eq!(after[0], after[1], "{}", config.name());
        assert_eq!(changed.packets(), left_alone.packets());
        assert!(after[0].contains(&Verdict::Queued));
    }
}

/// What other thresholds make of the average that RED has reached: nothing has been forgotten.
#[test]
fn red_goes_on_from_its_average_with_other_thresholds() {
    let red = |min_th: f64, max_th: f64| {
        Config::Red(red::Params { min_th, max_th, wq: Some(0.01), ..Default::default() })
    };
    let env = env(12, 1500);
    let mut q = queue(&red(100.0, 300.0), &env);
    offer(&mut q, Time::ZERO, 50, Ecn::NotEct);
    offer(&mut q, MS, 40, Ecn::NotEct);
    assert_eq!(q.probability(), 0.0);
    q.change(&red(5.0, 60.0), &env).unwrap();
    assert!(q.probability() > 0.0, "the average is above the new threshold at once");
}

/// A period's arrivals were counted in bytes, and are not taken for so many packets.
#[test]
fn rem_counts_anew_where_it_counted_in_bytes() {
    let rem = |queue_in_bytes| {
        let byte_mode = ByteMode { queue_in_bytes, ..Default::default() };
        Config::Rem(rem::Params { byte_mode, ..Default::default() })
    };
    let env = env(12, 1500);
    let mut q = queue(&rem(true), &env);
    overload(&mut q, 0, 101);
    let before = q.probability();
    assert!(q.change(&rem(false), &env).unwrap());
    overload(&mut q, 101, 102);
    q.advance(MS * 103);
    let after = q.probability();
    assert!(after > before && after < 1.1 * before, "{before} {after}");
}

#[test]
fn smaller_limit_holds_for_the_next_packet_and_keeps_what_stands() {
    let of = |limit| Config::Droptail(droptail::Params::packets(limit));
    let env = env(12, 1500);
    let mut q = queue(&of(100), &env);
    offer(&mut q, Time::ZERO, 50, Ecn::NotEct);
    assert!(q.change(&of(20), &env).unwrap());
    assert_eq!((q.packets(), offer(&mut q, MS, 2, Ecn::NotEct)), (50, [0, 0, 0, 2]));
    while q.packets() > 19 {
        q.dequeue(MS, &mut ());
    }
    assert_eq!(offer(&mut q, MS, 2, Ecn::NotEct), [1, 0, 0, 1]);
}

#[test]
fn discipline_does_not_become_another() {
    let env = env(12, 1500);
    let mut q = queue(&Config::Red(Default::default()), &env);
    assert!(!q.change(&Config::Pie(Default::default()), &env).unwrap());
    let mut q = queue(&Config::FqCodel(Default::default()), &env);
    let other = fq_codel::Params { limit: 77, ..Default::default() };
    assert!(!q.change(&Config::FqCodel(other), &env).unwrap());
    let none = droptail::Params::packets(0);
    let mut q = queue(&Config::Droptail(Default::default()), &env);
    assert!(q.change(&Config::Droptail(none), &env).is_err());
}

#[test]
fn what_was_counted_stays_counted() {
    let counted = |q: &Qdisc<Token>| match q {
        Qdisc::Red(q) => format!("{:?}", q.law().statistics()),
        Qdisc::Ared(q) => format!("{:?} {:?}", q.law().statistics(), q.law().red().statistics()),
        Qdisc::Pi(q) => format!("{:?}", q.law().statistics()),
        Qdisc::Rem(q) => format!("{:?}", q.law().statistics()),
        Qdisc::Pie(q) => q.law().state().steps.to_string(),
        Qdisc::Codel(_) | Qdisc::Droptail(_) => String::new(),
        _ => unreachable!(),
    };
    for config in changeable() {
        let env = env(12, 1500);
        let mut q = queue(&config, &env);
        overload(&mut q, 0, 3000);
        let (statistics, counters) = (counted(&q), *q.counters());
        assert!(q.change(&config, &env).unwrap());
        assert_eq!((counted(&q), *q.counters()), (statistics, counters), "{}", config.name());
    }
}
