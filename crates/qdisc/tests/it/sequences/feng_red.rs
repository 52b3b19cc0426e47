use super::case::{Case, hits, magnitude, rest};
use proptest::prelude::*;
use sojourn_qdisc::{Config, feng_red::Params, red::Hits};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let thresholds = (prop_oneof![Just(0.0), magnitude(0.01, 20.0)], magnitude(0.01, 20.0));
    let range = (magnitude(1e-9, 1.0), 0.0..1.0, 0.0..1.0);
    let factors = (magnitude(1.0, 1000.0), magnitude(1.0, 1000.0));
    let wq = prop::option::of(magnitude(1e-9, 1.0));
    (thresholds, range, factors, wq, (any::<(bool, bool)>(), hits()), rest()).prop_map(
        |(
            (min_th, more),
            (bottom, top, start),
            (alpha, beta),
            wq,
            (switches, (spacing, min_queue)),
            r,
        )| {
            let (ecn, byte_mode, limit) = r;
            let hits = Hits { spacing, min_queue, ecn, ecn_drop_above_max: switches.1, byte_mode };
            let top = bottom + (1.0 - bottom) * top;
            let config = Config::FengRed(Params {
                min_th,
                max_th: min_th + more,
                max_p: bottom + (top - bottom) * start,
                alpha,
                beta,
                bottom,
                top,
                wq,
                gentle: switches.0,
                hits,
                limit,
            });
            Case { drops_capable: switches.1, ..Case::new(config, limit, ecn) }
        },
    )
}
