use super::case::{Case, magnitude, rest};
use proptest::prelude::*;
use sojourn_qdisc::{ByteMode, Config, avq::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let buffer = prop_oneof![1u32..200, Just(67_108_864)];
    (0.01..=1.0, magnitude(1e-12, 1000.0), buffer, rest()).prop_map(
        |(gamma, alpha, virtual_buffer, r)| {
            let (ecn, ByteMode { mean_packet, .. }, limit) = r;
            let config =
                Config::Avq(Params { gamma, alpha, virtual_buffer, ecn, mean_packet, limit });
            Case::new(config, limit, ecn)
        },
    )
}
