use super::case::{Case, ecn, limit, magnitude, time};
use proptest::prelude::*;
use sojourn_qdisc::{Config, cobalt::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let times = (time(1e3, 1e8), time(1e3, 1e9), time(1e3, 1e9));
    let steps = (magnitude(1e-6, 1.0), magnitude(1e-6, 1.0));
    let mtu = prop::option::of(40u32..=65_535);
    (times, steps, (ecn(), any::<bool>()), mtu, limit()).prop_map(
        |(times, steps, flags, mtu, limit)| {
            let (ecn, first_interval) = flags;
            let config = Config::Cobalt(Params {
                target: times.0,
                interval: times.1,
                first_interval,
                blue_threshold: times.2,
                increment: steps.0,
                decrement: steps.1,
                ecn,
                mtu,
                limit,
            });
            // BLUE drops what could be marked.
            Case { drops_capable: true, most_drops: (1, 64), ..Case::new(config, limit, ecn) }
        },
    )
}
