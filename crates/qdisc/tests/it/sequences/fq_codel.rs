use super::case::{Case, Limits, ecn, limit, time};
use proptest::prelude::*;
use sojourn_base::Size;
use sojourn_qdisc::{
    Config, EcnMarking,
    fq_codel::{CeThresholdSelector, Params},
};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let times = (time(1e3, 1e8), time(1e3, 1e9), prop::option::of(time(1e3, 1e9)));
    let mtu = prop::option::of(40u32..=65_535);
    let quantum = prop::option::of(256u32..10_000);
    let bytes = prop_oneof![9000u64..200_000, Just(1 << 40)];
    let queues = (1u32..12, quantum, limit(), bytes);
    (times, (ecn(), any::<(bool, bool)>()), mtu, queues).prop_map(
        |(
            (target, interval, ce_threshold),
            (ecn, (whole_backlog, ect1)),
            mtu,
            (flows, quantum, limit, bytes),
        )| {
            let memory_limit = Size(bytes);
            let ce_threshold_selector = match (ce_threshold, ect1) {
                (Some(_), true) if ecn != EcnMarking::Ect0 => CeThresholdSelector::Ect1,
                _ => CeThresholdSelector::Any,
            };
            let config = Config::FqCodel(Params {
                target,
                interval,
                ecn,
                ce_threshold,
                ce_threshold_selector,
                mtu,
                whole_backlog,
                flows,
                quantum,
                limit,
                memory_limit,
            });
            let drops_capable = ecn == EcnMarking::Off;
            // The threshold marks in any case.
            let marks = if drops_capable { ce_threshold.is_some().into() } else { ecn };
            Case {
                drops_capable,
                // A packet of 64 kB may push out many small ones.
                most_drops: (2000, 64),
                limits: Limits { packets: limit, bytes: Some(memory_limit), time: None },
                ..Case::new(config, limit, marks)
            }
        },
    )
}
