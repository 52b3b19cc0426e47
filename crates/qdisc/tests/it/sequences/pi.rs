use super::case::{Case, magnitude, qref, rest};
use proptest::prelude::*;
use sojourn_qdisc::{Config, pi::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    (magnitude(1e-15, 2.0), 0.0..1.0, magnitude(1e-3, 1e6), qref(), rest()).prop_map(
        |(a, share, frequency, qref, r)| {
            let (ecn, byte_mode, limit) = r;
            let config =
                Config::Pi(Params { a, b: a * share, frequency, qref, ecn, byte_mode, limit });
            Case::new(config, limit, ecn)
        },
    )
}
