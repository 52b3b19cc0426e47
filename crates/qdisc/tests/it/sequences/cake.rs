use super::case::{Case, Limits, ecn, magnitude, time};
use proptest::prelude::*;
use sojourn_base::{Rate, Size};
use sojourn_qdisc::Config;
use sojourn_qdisc::cake::{AckFilter, Framing, Isolation, LinkLayer, Params, Tins};

pub(super) fn cases() -> impl Strategy<Value = Case> {
    let bandwidth = prop::option::of(magnitude(1e3, 1e12).prop_map(|rate| Rate(rate as u64)));
    let tins = prop::sample::select(vec![
        Tins::Besteffort,
        Tins::Diffserv3,
        Tins::Diffserv4,
        Tins::Diffserv8,
        Tins::Precedence,
    ]);
    let isolation = prop::sample::select(vec![
        Isolation::Flowblind,
        Isolation::Srchost,
        Isolation::Dsthost,
        Isolation::Hosts,
        Isolation::Flows,
        Isolation::DualSrchost,
        Isolation::DualDsthost,
        Isolation::TripleIsolate,
    ]);
    let layer = prop::sample::select(vec![LinkLayer::Raw, LinkLayer::Docsis, LinkLayer::PppoePtm]);
    let framing = prop::option::of(prop::sample::select(vec![Framing::None, Framing::Atm]));
    let line = (layer, -64i32..=226, prop::option::of(0u32..=256), framing);
    let filters = vec![AckFilter::Off, AckFilter::Normal, AckFilter::Aggressive];
    let filter = prop::sample::select(filters);
    let memory_limit = prop::option::of(magnitude(9000.0, 1e9).prop_map(|n| Size(n as u64)));
    (
        bandwidth,
        time(2e4, 1e11),
        tins,
        isolation,
        line,
        any::<[bool; 2]>(),
        (filter, ecn(), memory_limit),
    )
        .prop_map(
            |(bandwidth, rtt, tins, isolation, line, switches, (ack_filter, ecn, memory_limit))| {
                let (link_layer, overhead, mpu, framing) = line;
                let [ingress, autorate_ingress] = switches;
                let params = Params {
                    bandwidth,
                    rtt,
                    tins,
                    isolation,
                    link_layer,
                    overhead,
                    mpu,
                    framing,
                    ingress,
                    autorate_ingress,
                    ack_filter,
                    ecn,
                    memory_limit,
                };
                Case {
                    // BLUE drops what could be marked.
                    drops_capable: true,
                    inner_limits: memory_limit.is_none(),
                    holds_back: bandwidth.is_some() || autorate_ingress,
                    // The ACK filter looks for what it may drop.
                    sweeps: ack_filter != AckFilter::Off,
                    // A packet of 64 kB may push out many small ones.
                    most_drops: (2000, 64),
                    limits: Limits { packets: u32::MAX, bytes: memory_limit, time: None },
                    ..Case::new(Config::Cake(params), u32::MAX, ecn)
                }
            },
        )
}
