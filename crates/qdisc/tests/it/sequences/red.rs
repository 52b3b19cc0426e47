use super::case::{Case, hits, magnitude, rest};
use proptest::prelude::*;
use sojourn_qdisc::Config;
use sojourn_qdisc::red::{Hits, Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let thresholds = (prop_oneof![Just(0.0), magnitude(0.01, 3e7)], magnitude(1e-6, 10.0));
    let wq = prop::option::of(magnitude(1e-9, 1.0));
    (thresholds, magnitude(1e-12, 1.0), wq, (any::<(bool, bool, bool)>(), hits()), rest()).prop_map(
        |((min_th, factor), max_p, wq, ((gentle, above, idle_decay), (spacing, min_queue)), r)| {
            let (ecn, byte_mode, limit) = r;
            let hits = Hits { spacing, min_queue, ecn, ecn_drop_above_max: above, byte_mode };
            let config = Config::Red(Params {
                preset: None,
                min_th,
                max_th: min_th * (1.0 + factor) + factor,
                max_p,
                wq,
                gentle,
                idle_decay,
                hits,
                limit,
            });
            Case { drops_capable: above, ..Case::new(config, limit, ecn) }
        },
    )
}
