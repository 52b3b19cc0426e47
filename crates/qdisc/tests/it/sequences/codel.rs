use super::case::{Case, ecn, limit, time};
use proptest::prelude::*;
use sojourn_qdisc::{Config, EcnMarking, codel::Params};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let times = (time(1e3, 1e8), time(1e3, 1e9), prop::option::of(time(1e3, 1e9)));
    let mtu = prop::option::of(40u32..=65_535);
    (times, ecn(), mtu, limit()).prop_map(|((target, interval, ce_threshold), ecn, mtu, limit)| {
        let config = Config::Codel(Params { target, interval, ecn, ce_threshold, mtu, limit });
        let drops_capable = ecn == EcnMarking::Off;
        // The threshold marks in any case.
        let marks = if drops_capable { ce_threshold.is_some().into() } else { ecn };
        Case { drops_capable, most_drops: (1, 64), ..Case::new(config, limit, marks) }
    })
}
