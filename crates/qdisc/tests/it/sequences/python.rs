use super::case::{Case, ecn, limit};
use crate::common::outside;
use proptest::prelude::*;
use sojourn_qdisc::{Config, external::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let class = prop::sample::select(vec!["pass", "arrival", "departure", "both"]);
    (class, ecn(), limit()).prop_map(|(class, ecn, limit)| {
        outside::install();
        let config = Config::External(Params {
            class: class.into(),
            ecn,
            limit: Some(limit),
            ..Params::default()
        });
        // A class may drop what it likes, at both ends and as many in a row as it likes.
        Case { drops_capable: true, most_drops: (1, u32::MAX), ..Case::new(config, limit, ecn) }
    })
}
