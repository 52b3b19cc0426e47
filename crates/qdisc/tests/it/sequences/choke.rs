use super::case::{Case, hits, magnitude, rest};
use proptest::prelude::*;
use sojourn_qdisc::{Config, choke::Params, red::Hits};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let thresholds = (prop_oneof![Just(0.0), magnitude(0.01, 20.0)], magnitude(0.01, 1e6));
    let wq = prop::option::of(magnitude(1e-9, 1.0));
    (thresholds, magnitude(1e-12, 1.0), wq, (any::<bool>(), hits()), rest()).prop_map(
        |((min_th, more), max_p, wq, (above, (spacing, min_queue)), r)| {
            let (ecn, byte_mode, limit) = r;
            let hits = Hits { spacing, min_queue, ecn, ecn_drop_above_max: above, byte_mode };
            let limit = limit.min(33_554_432);
            let config =
                Config::Choke(Params { min_th, max_th: min_th + more, max_p, wq, hits, limit });
            // The packet that arrives and the one it was compared with.
            Case { drops_capable: true, most_drops: (2, 0), ..Case::new(config, limit, ecn) }
        },
    )
}
