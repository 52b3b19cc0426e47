use super::case::{Case, hits, magnitude, rest, time};
use proptest::prelude::*;
use sojourn_qdisc::{Config, ared::Params, red::Hits};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let thresholds = prop::option::of((magnitude(0.01, 20.0), magnitude(0.01, 10.0)));
    let range = (magnitude(1e-4, 1.0), 0.0..1.0, 0.0..1.0, magnitude(1e-4, 1.0), 0.1..0.999);
    let times = (time(1e4, 1e9), time(1e6, 1e11));
    let wq = prop::option::of(magnitude(1e-9, 1.0));
    (thresholds, range, times, wq, (any::<(bool, bool)>(), hits()), rest()).prop_map(
        |(
            thresholds,
            (bottom, top, start, alpha, beta),
            (delay, interval),
            wq,
            (switches, (spacing, min_queue)),
            r,
        )| {
            let (ecn, byte_mode, limit) = r;
            let hits = Hits { spacing, min_queue, ecn, ecn_drop_above_max: switches.1, byte_mode };
            let top = bottom + (1.0 - bottom) * top;
            let config = Config::Ared(Params {
                target_delay: delay,
                min_th: thresholds.map(|t| t.0),
                max_th: thresholds.map(|t| t.0 + t.1),
                max_p: bottom + (top - bottom) * start,
                bottom,
                top,
                alpha,
                beta,
                interval,
                wq,
                gentle: switches.0,
                hits,
                limit,
            });
            Case { drops_capable: switches.1, ..Case::new(config, limit, ecn) }
        },
    )
}
