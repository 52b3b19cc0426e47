use super::case::{Case, Limits, time};
use proptest::prelude::*;
use sojourn_base::Size;
use sojourn_qdisc::{Config, EcnMarking, droptail::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    prop_oneof![
        (1u32..40).prop_map(Params::packets),
        (1500u64..60_000).prop_map(|n| Params { limit_bytes: Some(Size(n)), ..Default::default() }),
        time(1e3, 1e10).prop_map(|t| Params { limit_time: Some(t), ..Default::default() }),
        Just(Params::default()),
    ]
    .prop_map(|params| {
        let others = params.limit_bytes.is_some() || params.limit_time.is_some();
        let packets = params.limit.unwrap_or(if others { u32::MAX } else { 1000 });
        let limits = Limits { packets, bytes: params.limit_bytes, time: params.limit_time };
        Case { limits, ..Case::new(Config::Droptail(params), packets, EcnMarking::Off) }
    })
}
