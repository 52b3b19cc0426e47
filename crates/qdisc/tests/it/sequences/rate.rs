use super::case::{Case, rest, time};
use proptest::prelude::*;
use sojourn_base::Time;
use sojourn_qdisc::{Config, rate::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let averaging = prop_oneof![Just(Time::ZERO), time(1.0, 1e12)];
    let law = (1u32..=64, 0.0..=0.99, time(1e6, 1e12), averaging);
    (law, rest()).prop_map(|((exponent, start, period, averaging), r)| {
        let (ecn, byte_mode, limit) = r;
        let config =
            Config::Rate(Params { exponent, start, period, averaging, ecn, byte_mode, limit });
        Case::new(config, limit, ecn)
    })
}
