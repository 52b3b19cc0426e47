//! Random classes with random disciplines in them, for the disciplines that have classes.

use super::case::{Case, Limits};
use proptest::prelude::*;
use sojourn_qdisc::{Config, EcnMarking, cbq, drr, prio};

/// A discipline without classes.
pub(super) fn plain() -> BoxedStrategy<Case> {
    prop_oneof![
        super::droptail::cases(),
        super::pi::cases(),
        super::red::cases(),
        super::pie::cases(),
        super::codel::cases(),
    ]
    .boxed()
}

/// One without classes, or with some that have none themselves.
fn either() -> BoxedStrategy<Case> {
    prop_oneof![
        4 => plain(),
        1 => prios(plain()),
        1 => drrs(plain()),
        1 => cbqs(plain()),
    ]
    .boxed()
}

/// What is true of a discipline over `parts`.
fn over(config: Config, parts: &[Case]) -> Case {
    Case {
        limits: Limits::packets(u32::MAX),
        ecn: parts.iter().map(|part| part.ecn).max_by_key(|ecn| *ecn as u8).unwrap_or_default(),
        drops_capable: true,
        inner_limits: true,
        holds_back: config.holds_back(),
        most_drops: (u32::MAX, u32::MAX),
        ..Case::new(config, u32::MAX, EcnMarking::Off)
    }
}

/// The labels that class `at` of `n` takes: every flow but the last has its class.
fn labels(at: usize, n: usize) -> Vec<String> {
    (0..6).filter(|flow| flow % n == at).map(|flow| format!("flow{flow}")).collect()
}

fn parts(inner: BoxedStrategy<Case>) -> impl Strategy<Value = Vec<Case>> {
    prop::collection::vec(inner, 1..5)
}

fn prios(inner: BoxedStrategy<Case>) -> BoxedStrategy<Case> {
    parts(inner)
        .prop_map(|parts| {
            let class = |(at, part): (usize, &Case)| prio::Class {
                name: format!("c{at}"),
                labels: labels(at, parts.len()),
                dscp: Vec::new(),
                qdisc: part.config.clone(),
            };
            let classes = parts.iter().enumerate().map(class).collect();
            let config = Config::Prio(prio::Params { classes, default: Some("c0".into()) });
            over(config, &parts)
        })
        .boxed()
}

fn drrs(inner: BoxedStrategy<Case>) -> BoxedStrategy<Case> {
    let quantum = prop_oneof![Just(None), (1u64..100_000).prop_map(Some)];
    (parts(inner), prop::collection::vec(0.001f64..1000.0, 5), quantum)
        .prop_map(|(parts, weights, quantum)| {
            let class = |(at, part): (usize, &Case)| drr::Class {
                name: format!("c{at}"),
                weight: weights[at],
                labels: labels(at, parts.len()),
                dscp: Vec::new(),
                qdisc: part.config.clone(),
            };
            let classes = parts.iter().enumerate().map(class).collect();
            let quantum = quantum.map(sojourn_base::Size);
            let config = Config::Drr(drr::Params { classes, quantum, default: None });
            over(config, &parts)
        })
        .boxed()
}

/// Weights, priorities and permissions of five classes.
type Drawn = (Vec<f64>, Vec<u8>, Vec<bool>, cbq::Borrowing, bool, u32);

fn drawn() -> impl Strategy<Value = Drawn> {
    let borrowing = prop_oneof![
        Just(cbq::Borrowing::None),
        Just(cbq::Borrowing::Ancestor),
        Just(cbq::Borrowing::TopLevel),
        Just(cbq::Borrowing::Formal),
    ];
    (
        prop::collection::vec(0.01f64..1.0, 5),
        prop::collection::vec(1u8..=8, 5),
        prop::collection::vec(any::<bool>(), 6),
        borrowing,
        any::<bool>(),
        1u32..100,
    )
}

fn cbqs(inner: BoxedStrategy<Case>) -> BoxedStrategy<Case> {
    (parts(inner), drawn())
        .prop_map(|(parts, (weights, priorities, borrow, borrowing, packets, max_burst))| {
            let sum: f64 = weights.iter().sum();
            let class = |(at, part): (usize, &Case)| cbq::Class {
                priority: priorities[at],
                borrow: borrow[at],
                labels: labels(at, parts.len()),
                ..cbq::Class::new(&format!("c{at}"), weights[at] / sum, &[], part.config.clone())
            };
            let mut classes: Vec<_> = parts.iter().enumerate().map(class).collect();
            if classes.len() > 2 {
                // The last two share a class.
                let inside = classes.split_off(classes.len() - 2);
                let around = cbq::Class::around("around", 0.3 * weights[4] / sum, inside);
                classes.push(cbq::Class { borrow: borrow[5], ..around });
            }
            let rounds = if packets { cbq::Rounds::Packet } else { cbq::Rounds::Weighted };
            let config = cbq::Params { classes, default: None, borrowing, rounds, max_burst };
            over(Config::Cbq(config), &parts)
        })
        .boxed()
}

pub(super) fn prio_cases() -> impl Strategy<Value = Case> {
    prios(either())
}

pub(super) fn drr_cases() -> impl Strategy<Value = Case> {
    drrs(either())
}

pub(super) fn cbq_cases() -> impl Strategy<Value = Case> {
    cbqs(either())
}
