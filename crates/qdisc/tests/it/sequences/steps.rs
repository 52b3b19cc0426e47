//! Random operations, and random links.

use super::case::{magnitude, time};
use proptest::prelude::*;
use sojourn_base::{Rate, Time};
use sojourn_qdisc::Env;

#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Bytes, ECN field, flow.
    Enqueue(u32, u8, u32),
    Dequeue,
    /// Looks at the queue, and not at its twin.
    Advance,
    /// So many packets of 1500 bytes at once, of so many flows.
    Burst(u8, u8),
    /// Takes everything out.
    Drain,
}

/// Operations with the time that passes before each.
pub(super) fn steps() -> impl Strategy<Value = Vec<(Time, Step)>> {
    let gap = prop_oneof![
        3 => Just(Time::ZERO),
        6 => (0u64..2_000_000).prop_map(Time),
        1 => time(1e6, 1e15),
    ];
    let bytes = prop_oneof![40u32..=100, 40u32..=1500, 40u32..=65_535];
    // Half the packets are of one flow.
    let flow = prop_oneof![Just(0u32), 0u32..7];
    let step = prop_oneof![
        6 => (bytes, 0u8..4, flow).prop_map(|(bytes, ecn, flow)| Step::Enqueue(bytes, ecn, flow)),
        3 => Just(Step::Dequeue),
        2 => Just(Step::Advance),
        1 => (1u8..60, 1u8..7).prop_map(|(n, flows)| Step::Burst(n, flows)),
        1 => Just(Step::Drain),
    ];
    prop::collection::vec((gap, step), 1..300)
}

pub(super) fn links() -> impl Strategy<Value = Env> {
    (magnitude(1e3, 1e12), 40u32..=9000)
        .prop_map(|(rate, mean_packet)| Env { rate: Rate(rate as u64), mean_packet })
}
