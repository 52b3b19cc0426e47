use super::case::{Case, ecn, magnitude, time};
use proptest::prelude::*;
use sojourn_qdisc::{Config, blue::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let steps = (magnitude(1e-9, 1.0), magnitude(1e-9, 1.0), time(1e3, 1e12));
    let limit = prop_oneof![3 => 1u32..30, 1 => Just(67_108_864)];
    (steps, limit, prop::option::of(1u32..30), ecn()).prop_map(
        |((increment, decrement, freeze_time), limit, high, ecn)| {
            let high_water = high.map(|n| n.min(limit));
            let config =
                Config::Blue(Params { increment, decrement, freeze_time, high_water, ecn, limit });
            Case::new(config, limit, ecn)
        },
    )
}
