use super::case::{Case, magnitude, qref, rest};
use proptest::prelude::*;
use sojourn_qdisc::{Config, proportional::Params};

pub(crate) fn cases() -> impl Strategy<Value = Case> {
    (magnitude(1e-15, 2.0), qref(), rest()).prop_map(|(slope, offset, (ecn, byte_mode, limit))| {
        let config = Config::Proportional(Params { slope, offset, ecn, byte_mode, limit });
        Case::new(config, limit, ecn)
    })
}
