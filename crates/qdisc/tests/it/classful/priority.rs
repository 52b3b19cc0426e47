//! Strict priority is strict.

use super::{Source, assert_close, droptail, run};
use crate::common::{Token, env, outside, queue, token};
use sojourn_base::Time;
use sojourn_qdisc::{Config, Discipline, Ecn, Verdict, drr, external, prio};

fn config() -> Config {
    let class =
        |at: usize| prio::Class::new(&format!("c{at}"), &[&format!("flow{at}")], droptail(1000));
    Config::Prio(prio::Params { classes: (0..3).map(class).collect(), default: None })
}

#[test]
fn a_class_sends_only_while_all_before_it_are_empty() {
    let mut q = queue(&config(), &env(10, 1000));
    let mut standing = [0u32; 3];
    let mut random = sojourn_base::Stream::new(3, sojourn_base::Kind::Start, 0, 0);
    for id in 0..20_000 {
        let now = Time(id * 1000);
        if random.below(2) == 0 {
            let flow = random.below(3) as u32;
            let _ = q.enqueue(now, Token { flow, ..token(id, 500, Ecn::NotEct) }, &mut ());
            standing[flow as usize] += 1;
        } else if let Some(packet) = q.dequeue(now, &mut ()) {
            let first = standing.iter().position(|&n| n > 0).expect("something stood");
            assert_eq!(packet.flow as usize, first);
            standing[first] -= 1;
        } else {
            assert_eq!(standing, [0; 3]);
        }
    }
}

#[test]
fn lowest_class_starves_and_recovers() {
    let sources = [Source::new(0, 1000, 12e6).between(5.0, 10.0), Source::new(2, 1000, 8e6)];
    let sent = run(&config(), 10, &sources, 15.0);
    assert_close(sent.rate(2, 1.0, 5.0), 8e6, 1e5, "alone");
    assert_close(sent.rate(2, 5.1, 10.0), 0.0, 1e4, "below");
    assert!(sent.rate(2, 11.0, 15.0) > 7.9e6);
}

#[test]
fn a_class_that_drops_all_it_has_leaves_its_turn_to_the_next() {
    let weighed = || {
        let class = |flow: u32, qdisc| {
            drr::Class::new(&format!("c{flow}"), 1.0, &[&format!("flow{flow}")], qdisc)
        };
        let classes = vec![class(0, dropping()), class(1, droptail(10))];
        Config::Drr(drr::Params { classes, ..drr::Params::default() })
    };
    let strict = || {
        let class = |flow: u32, qdisc| {
            prio::Class::new(&format!("c{flow}"), &[&format!("flow{flow}")], qdisc)
        };
        let classes = vec![class(0, dropping()), class(1, droptail(10))];
        Config::Prio(prio::Params { classes, default: None })
    };
    for config in [weighed(), strict()] {
        let mut q = queue(&config, &env(10, 1000));
        let mut other = 0;
        for id in 0..300 {
            for flow in [0, 1] {
                let packet = Token { flow, ..token(id, 500, Ecn::NotEct) };
                assert_eq!(q.enqueue(Time::ZERO, packet, &mut ()), Verdict::Queued);
            }
            // One of the two at least leaves.
            let first = q.dequeue(Time::ZERO, &mut ()).expect("flow 1 stands");
            other += u32::from(first.flow == 1);
            while q.dequeue(Time::ZERO, &mut ()).is_some() {}
            assert_eq!(q.packets(), 0);
        }
        assert!(q.counters().early.packets > 50 && other > 20);
    }
}

/// Drops some of its packets when they are about to leave.
fn dropping() -> Config {
    outside::install();
    let class = "departure".into();
    Config::External(external::Params { class, ..external::Params::default() })
}

#[test]
fn dscp_selects_class_of_unlabelled_packets() {
    let mut q = queue(&Config::named("prio").unwrap(), &env(10, 1000));
    // Flow 5 is cs5 and so "high", flow 1 is cs1 and so "low", flow 3 is "middle".
    for (id, flow) in [1, 3, 5, 1, 3, 5].into_iter().enumerate() {
        let packet = Token { flow, ..token(id as u64, 500, Ecn::NotEct) };
        let class = q.class_of(&packet);
        assert_eq!(class, [5, 3, 1].iter().position(|&f| f == flow).unwrap());
        let _ = q.enqueue(Time::ZERO, packet, &mut ());
    }
    let order: Vec<u32> =
        std::iter::from_fn(|| q.dequeue(Time::ZERO, &mut ())).map(|packet| packet.flow).collect();
    assert_eq!(order, [5, 5, 3, 3, 1, 1]);
}

#[test]
fn the_last_of_own_classes_takes_what_no_class_names() {
    let class = |name: &str| prio::Class::new(name, &[], Config::named("droptail").unwrap());
    let classes = vec![class("first"), class("last")];
    let own = Config::Prio(prio::Params { classes, ..prio::Params::default() });
    own.validate(&env(10, 1000)).unwrap();
    let q = queue(&own, &env(10, 1000));
    assert_eq!(q.class_of(&token(0, 500, Ecn::NotEct)), 1);
}
