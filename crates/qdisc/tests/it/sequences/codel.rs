use super::case::{Case, limit, time};
use proptest::prelude::*;
use sojourn_qdisc::{Config, codel::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let times = (time(1e3, 1e8), time(1e3, 1e9), prop::option::of(time(1e3, 1e9)));
    let mtu = prop::option::of(40u32..=65_535);
    (times, any::<bool>(), mtu, limit()).prop_map(
        |((target, interval, ce_threshold), ecn, mtu, limit)| {
            let config = Config::Codel(Params { target, interval, ecn, ce_threshold, mtu, limit });
            let marks = ecn || ce_threshold.is_some();
            Case { drops_capable: !ecn, most_drops: (1, 64), ..Case::new(config, limit, marks) }
        },
    )
}
