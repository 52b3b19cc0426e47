use super::case::{Case, limit, time};
use proptest::prelude::*;
use sojourn_qdisc::{Config, EcnMarking, sfq::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let sizes = (1u32..12, 1u32..8, prop_oneof![1u32..20, Just(65_536)]);
    let quantum = prop::option::of(256u32..10_000);
    let perturb = prop::option::of(time(1e6, 1e9));
    (sizes, quantum, perturb, any::<bool>(), limit()).prop_map(
        |((divisor, flows, depth), quantum, perturb, head_drop, limit)| {
            let config =
                Config::Sfq(Params { divisor, flows, depth, quantum, perturb, head_drop, limit });
            Case {
                inner_limits: true,
                sweeps: perturb.is_some(),
                // When the hash changes, what finds no place in the new queues.
                most_drops: if perturb.is_some() { (u32::MAX, u32::MAX) } else { (1, 0) },
                ..Case::new(config, limit, EcnMarking::Off)
            }
        },
    )
}
